#include "profile/agreement.h"

#include "base/hash.h"
#include "profile/protocol.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

/// Bytes of a graph's text that ranks send to one another to find what differs.
constexpr size_t kMostText = size_t{256} << 20;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// One field of what a rank says of itself, by rank.
std::vector<std::string> column(const std::vector<Json>& offers, const char* name) {
    std::vector<std::string> out;
    for (const Json& offer : offers)
        out.push_back(offer.is_object() ? offer.value(name, std::string()) : std::string());
    return out;
}

/// First rank whose field differs from rank 0's; -1 if all are equal.
int32_t firstOther(const std::vector<std::string>& values) {
    for (size_t r = 1; r < values.size(); ++r) {
        if (values[r] != values[0])
            return static_cast<int32_t>(r);
    }
    return -1;
}

/// First line in which two settings texts differ.
std::string firstDifference(const std::string& a, const std::string& b) {
    size_t begin = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
        begin = a[i] == '\n' ? i + 1 : begin;
    const auto line = [&](const std::string& text) {
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    return fmt::format("\"{}\" and \"{}\"", line(a), line(b));
}

Status checkEqual(const std::vector<Json>& offers) {
    for (const char* field : {"protocol", "version"}) {
        const auto values = column(offers, field);
        if (const int32_t r = firstOther(values); r >= 0)
            return Error{"other-version",
                         fmt::format("rank {} has {} {}, rank 0 has {}", r, field,
                                     values[static_cast<size_t>(r)], values[0]),
                         {},
                         "install the same version of Gatherscope on all machines"};
    }
    for (const char* field : {"backend", "settings"}) {
        const auto values = column(offers, field);
        if (const int32_t r = firstOther(values); r >= 0)
            return Error{"other-settings",
                         fmt::format("rank {} measures with other {} than rank 0: {}", r, field,
                                     firstDifference(values[0], values[static_cast<size_t>(r)])),
                         {},
                         "start all ranks with the same options"};
    }
    return Unit{};
}

/// The graph of every rank: texts of distinct ones travel once.
Result<std::vector<RankProgram>> exchangeGraphs(ControlPlane& plane, const RankOffer& offer,
                                                const std::vector<std::string>& hashes,
                                                const std::vector<std::string>& labels) {
    const auto own = static_cast<size_t>(plane.rank());
    std::map<std::string, size_t> first;
    for (size_t r = 0; r < hashes.size(); ++r)
        first.try_emplace(hashes[r], r);
    std::string text;
    if (first[hashes[own]] == own) {
        if (Result<InputText> read = offer.text(); read && read->text.size() <= kMostText)
            text = std::move(read->text);
    }
    const Result<std::vector<std::string>> texts = plane.allGather(text);
    if (!texts)
        return texts.error();
    std::map<std::string, GraphPtr> graphs;
    for (const auto& [hash, rank] : first) {
        Diagnostics ignored;
        const Result<ImportedGraph> read =
            importText({labels[rank], texts.value()[rank]}, -1, -1, ignored, {});
        if (!read)
            return Error{"rank-abort",
                         fmt::format("rank {} has another graph ({}), and it cannot be compared: {}", rank,
                                     labels[rank], read.error().message),
                         {},
                         "give all ranks the same graph file"};
        graphs[hash] = read->graph;
    }
    std::vector<RankProgram> programs;
    for (size_t r = 0; r < hashes.size(); ++r) {
        RankProgram program;
        program.rank = static_cast<int32_t>(r);
        program.label = fmt::format("rank {}", r);
        program.file = labels[r];
        program.graphs = {{graphs[hashes[r]]->info().name, {}, graphs[hashes[r]]}};
        programs.push_back(std::move(program));
    }
    return programs;
}

std::string sideText(const RankComparison& comparison, const RankSide& side) {
    if (side.rank < 0)
        return "nothing";
    return fmt::format("{}: {}", comparison.ranks[static_cast<size_t>(side.rank)].program.label, side.text);
}

Agreement toAgreement(const RankComparison& comparison) {
    Agreement out;
    out.mode = comparison.mode;
    out.verdict = comparison.verdict;
    out.first_what = comparison.first_what;
    out.first_a = sideText(comparison, comparison.first_a);
    out.first_b = sideText(comparison, comparison.first_b);
    return out;
}

/// Union by key; the lowest rank that has a key describes it.
Result<std::vector<WorkItem>> unite(const std::vector<std::string>& lists, std::vector<WorkItem>& own) {
    std::map<std::string, WorkItem> all;
    std::map<std::string, size_t> owners;
    for (const std::string& list : lists) {
        Result<std::vector<WorkItem>> items = decodeWork(list);
        if (!items)
            return items.error();
        for (WorkItem& item : items.value()) {
            ++owners[item.key];
            all.try_emplace(item.key, std::move(item));
        }
    }
    for (const WorkItem& item : own) {
        WorkItem& shared = all[item.key];
        shared.here = true;
        shared.graph = item.graph;
        shared.node = item.node;
        shared.region = item.region;
    }
    std::vector<WorkItem> out;
    for (auto& [key, item] : all) {
        item.everywhere = owners[key] == lists.size() || item.work == WorkKind::Collective;
        if (item.communicates && !item.everywhere)
            item.cannot = "only some ranks have it, and it communicates";
        out.push_back(std::move(item));
    }
    sortWork(out);
    return out;
}

} // namespace

Result<Agreement> agree(ControlPlane& plane, const RankOffer& offer, std::vector<WorkItem>& work) {
    const std::string list = encodeWork(work);
    const Json own = {{"protocol", std::to_string(kProtocolVersion)},
                      {"version", offer.version},
                      {"backend", offer.backend},
                      {"settings", offer.settings},
                      {"label", offer.label},
                      {"graph", hexDigits(offer.graph->structuralHash())},
                      {"keys", hexDigits(Hash64().text(list).value())}};
    const Result<std::vector<std::string>> gathered = plane.allGather(dump(own));
    if (!gathered)
        return gathered.error();
    std::vector<Json> offers;
    for (const std::string& text : gathered.value())
        offers.push_back(Json::parse(text, nullptr, false));
    if (const Status equal = checkEqual(offers); !equal)
        return equal.error();
    Agreement agreement;
    agreement.verdict = fmt::format("{} ranks have the same graph", plane.size());
    const std::vector<std::string> hashes = column(offers, "graph");
    if (firstOther(hashes) >= 0) {
        Result<std::vector<RankProgram>> programs =
            exchangeGraphs(plane, offer, hashes, column(offers, "label"));
        if (!programs)
            return programs.error();
        agreement = toAgreement(*compareRanks(std::move(programs).value()));
    }
    if (agreement.mode == RankMode::Abort)
        return Error{"rank-abort",
                     fmt::format("{} First difference ({}): {} / {}", agreement.verdict, agreement.first_what,
                                 agreement.first_a, agreement.first_b),
                     {},
                     "`gatherscope-cli compare` with the ranks' files shows them side by side"};
    if (firstOther(column(offers, "keys")) >= 0) {
        const Result<std::vector<std::string>> lists = plane.allGather(list);
        if (!lists)
            return lists.error();
        Result<std::vector<WorkItem>> united = unite(lists.value(), work);
        if (!united)
            return united.error();
        work = std::move(united).value();
    }
    return agreement;
}

} // namespace gs
