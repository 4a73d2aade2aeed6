#include "import/companions.h"

#include "graph/collectives.h"
#include "import/fx_scan.h"
#include "import/graph_list.h"
#include "import/watchdog.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

namespace fs = std::filesystem;

namespace gs {

namespace {

/// Artifacts of torch's structured log and files of tlparse by name. Source: PyTorch 2.15 (trace_structured)
/// and tlparse.
struct KnownArtifact {
    std::string_view name;
    Companion::Kind kind;
    std::string_view what;
};
constexpr KnownArtifact kArtifacts[] = {
    {"inductor_runtime_and_tensor_meta", Companion::Kind::Costs, "Inductor's runtime estimates"},
    {"runtime_estimations", Companion::Kind::Costs, "runtime estimates of all ranks"},
    {"fx_compute_nodes_runtime_estimation", Companion::Kind::Costs, "estimates of compute nodes"},
    {"fx_collectives_analytical_estimation", Companion::Kind::Costs, "estimates of collectives"},
    {"fx_collectives_node_runtime_estimation", Companion::Kind::Costs, "estimates of collectives"},
    {"node_runtime_estimation", Companion::Kind::Costs, "runtime estimates"},
    {"graph_execution", Companion::Kind::ExecutionOrder, "execution order of the compiled graphs"},
    {"inductor_collective_schedule", Companion::Kind::CollectiveSchedule, "schedule of the collectives"},
    {"chromium_trace_with_runtime", Companion::Kind::Trace, "trace of the compiler with estimates"},
};

const KnownArtifact* knownArtifact(std::string_view name) {
    for (const KnownArtifact& item : kArtifacts) {
        if (name == item.name)
            return &item;
    }
    return nullptr;
}

constexpr size_t kMaxSiblings = 20000;

/// "0_1" in "….inductor_collective_schedule.0_1.json" → "0/1".
std::string compileIdOfName(std::string_view rest) {
    const size_t first = rest.find_first_of("0123456789");
    if (first != 1 || rest[0] != '.')
        return {};
    const size_t mark = rest.find('_', first);
    const size_t end =
        rest.find_first_not_of("0123456789", mark == std::string_view::npos ? first : mark + 1);
    if (mark == std::string_view::npos || mark > end)
        return {};
    return std::string(rest.substr(first, mark - first)) + "/" +
           std::string(rest.substr(mark + 1, end - mark - 1));
}

/// The strings after each `key` in a JSON text ("compile_id": "0/1"), or all strings for an empty key.
std::vector<std::string> jsonStrings(std::string_view json, std::string_view key) {
    std::vector<std::string> found;
    const std::string wanted = fmt::format("\"{}\"", key);
    for (size_t at = 0; at < json.size();) {
        if (!key.empty()) {
            at = json.find(wanted, at);
            if (at == std::string_view::npos)
                break;
            at += wanted.size();
        }
        const size_t open = json.find('"', at);
        const size_t close = open == std::string_view::npos ? open : json.find('"', open + 1);
        if (close == std::string_view::npos)
            break;
        found.emplace_back(json.substr(open + 1, close - open - 1));
        at = close + 1;
    }
    return found;
}

/// Texts of companions; a log that holds several is read once.
class CompanionTexts {
public:
    explicit CompanionTexts(const InputText& input) : input_(input) {}

    std::string_view of(const Companion& companion) {
        const std::string_view text = companion.file == input_.path ? input_.text : file(companion.file);
        return companion.length > 0 ? text.substr(std::min(companion.offset, text.size()), companion.length)
                                    : text;
    }

private:
    const std::string& file(const std::string& path) {
        const auto [found, added] = files_.try_emplace(path);
        Diagnostics ignored;
        if (added) {
            if (Result<InputText> other = readInput(path, ignored))
                found->second = std::move(other->text);
        }
        return found->second;
    }

    const InputText& input_;
    std::map<std::string, std::string> files_;
};

std::string placeOf(const Companion& companion) {
    const std::string name = fs::path(companion.file).filename().string();
    return companion.line > 0 ? fmt::format("{} line {}", name, companion.line) : name;
}

bool belongs(const Companion& companion, const GraphEntry& entry) {
    const bool rank = companion.rank < 0 || entry.rank < 0 || companion.rank == entry.rank;
    return rank && (companion.compile_id.empty() || companion.compile_id == entry.compile_id);
}

void reportCosts(const std::vector<Companion>& companions, const GraphEntry& entry,
                 Diagnostics& diagnostics) {
    std::string names;
    size_t count = 0;
    for (const Companion& item : companions) {
        if ((item.kind != Companion::Kind::Costs && item.kind != Companion::Kind::Trace) ||
            !belongs(item, entry))
            continue;
        if (++count <= 6)
            names += fmt::format("{}{} ({})", count > 1 ? ", " : "", item.what, placeOf(item));
    }
    if (count > 0)
        diagnostics.add({Severity::Info,
                         "costs-beside",
                         {},
                         {},
                         fmt::format("estimates of this compilation lie beside the graph: {}{}", names,
                                     count > 6 ? ", …" : ""),
                         "add them as costs to use them: --costs FILE"});
}

void reportExecutionOrder(const std::vector<Companion>& companions, const GraphEntry& entry,
                          CompanionTexts& texts, Diagnostics& diagnostics) {
    std::map<int32_t, std::vector<std::string>> order_of_rank;
    for (const Companion& item : companions) {
        if (item.kind == Companion::Kind::ExecutionOrder)
            order_of_rank[item.rank] = jsonStrings(texts.of(item), "compile_id");
    }
    const auto own =
        order_of_rank.count(entry.rank) ? order_of_rank.find(entry.rank) : order_of_rank.find(-1);
    if (own != order_of_rank.end() && !own->second.empty())
        diagnostics.add(
            {Severity::Info,
             "execution-order",
             {},
             {},
             fmt::format("the compiled graphs ran in this order: {}", fmt::join(own->second, ", ")),
             ""});
    for (const auto& [rank, order] : order_of_rank) {
        const auto& first = order_of_rank.begin()->second;
        if (order == first)
            continue;
        const size_t at = static_cast<size_t>(
            std::mismatch(first.begin(), first.end(), order.begin(), order.end()).first - first.begin());
        const auto name = [&](const std::vector<std::string>& list) {
            return at < list.size() ? "[" + list[at] + "]" : std::string("nothing more");
        };
        diagnostics.add({Severity::Warning,
                         "execution-order-differs",
                         {},
                         {},
                         fmt::format("rank {} ran {} as its graph number {}, rank {} ran {}: collectives of "
                                     "different graphs meet each other",
                                     order_of_rank.begin()->first, name(first), at + 1, rank, name(order)),
                         "compare the ranks"});
    }
}

/// "torch.ops._c10d_functional.all_reduce_.default" → "all_reduce": in place and out forms are the same.
std::string plainOperator(std::string_view target) {
    const size_t last = target.rfind('.');
    std::string_view name = last == std::string_view::npos ? target : target.substr(0, last);
    name = name.substr(name.rfind('.') + 1);
    if (name.size() > 4 && name.substr(name.size() - 4) == "_out")
        name.remove_suffix(4);
    if (!name.empty() && name.back() == '_')
        name.remove_suffix(1);
    return std::string(name);
}

/// The collectives after Inductor's passes must be those of the schedule that the same rank recorded.
void reportSchedule(const std::vector<Companion>& companions, const GraphEntry& entry, const Graph& graph,
                    CompanionTexts& texts, Diagnostics& diagnostics) {
    if (entry.stage.find("post_grad_graph") == std::string::npos ||
        entry.stage.find("before") != std::string::npos || entry.compile_id.empty())
        return;
    std::multiset<std::string> own;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph.node(id).kind == NodeKind::Launch)
            own.insert(plainOperator(graph.targetText(id)));
    }
    const Companion* nearest = nullptr;
    size_t least = 0;
    std::string difference;
    for (const Companion& item : companions) {
        if (item.kind != Companion::Kind::CollectiveSchedule || !belongs(item, entry) ||
            item.compile_id.empty())
            continue;
        std::multiset<std::string> recorded;
        for (const std::string& target : jsonStrings(texts.of(item), {})) {
            if (opTraits(std::string_view(target).substr(target.rfind("torch.ops.", 0) == 0 ? 10 : 0)).bits &
                kTraitCollective)
                recorded.insert(plainOperator(target));
        }
        if (recorded == own)
            return; // forward and backward share a compile id: one of them is this graph's
        std::vector<std::string> missing, extra;
        std::set_difference(own.begin(), own.end(), recorded.begin(), recorded.end(),
                            std::back_inserter(missing));
        std::set_difference(recorded.begin(), recorded.end(), own.begin(), own.end(),
                            std::back_inserter(extra));
        if (nearest && missing.size() + extra.size() >= least)
            continue;
        nearest = &item;
        least = missing.size() + extra.size();
        difference = missing.empty() ? fmt::format("{} is only in the schedule", fmt::join(extra, ", "))
                                     : fmt::format("{} is missing from it", fmt::join(missing, ", "));
    }
    if (nearest)
        diagnostics.add(
            {Severity::Warning,
             "schedule-differs",
             {nearest->file, nearest->line, 0},
             {},
             fmt::format("the recorded schedule of the collectives ({}) is not that of this graph: {}",
                         placeOf(*nearest), difference),
             "the graph is analysed as it stands; the run may have done what the schedule says"});
}

/// Which collectives of the graph NCCL's watchdog named when they hung.
void reportTimeouts(const std::vector<Companion>& companions, const Graph& graph, CompanionTexts& texts,
                    Diagnostics& diagnostics) {
    for (const Companion& item : companions) {
        if (item.kind != Companion::Kind::Timeouts)
            continue;
        const CollectiveTable table(graph);
        for (const WatchdogTimeout& timeout : watchdogTimeouts(texts.of(item))) {
            const WatchdogMatch match = matchTimeout(timeout, graph, table);
            const NodeId one = match.launches.size() == 1 ? match.launches.front() : match.by_number;
            diagnostics.add({Severity::Warning,
                             "watchdog-timeout",
                             {item.file, timeout.line, 0},
                             one == kNoNode ? std::string() : std::string(graph.name(one)),
                             timeoutText(timeout, graph, match),
                             "compare the ranks: one of them did not issue it, or issued it elsewhere"});
        }
    }
}

} // namespace

std::vector<Companion> companionsInLog(const InputText& input) {
    std::vector<Companion> found;
    if (hasWatchdogTimeouts(input.text))
        found.push_back(
            {Companion::Kind::Timeouts, "timeouts of NCCL's watchdog", input.path, 0, 0, 0, -1, {}});
    constexpr std::string_view kMark = "\"artifact\": {\"name\": \"";
    const std::string_view text = input.text;
    size_t counted = 0;
    uint32_t line = 1;
    for (size_t at = findText(text, kMark); at != std::string_view::npos;
         at = findText(text, kMark, at + 1)) {
        const size_t name = at + kMark.size();
        const KnownArtifact* known =
            knownArtifact(text.substr(name, std::min(text.find('"', name), text.size()) - name));
        const size_t head_end = text.find('\n', at);
        if (!known || head_end == std::string_view::npos)
            continue;
        Companion item{known->kind, std::string(known->what), input.path, head_end + 1, 0, 0, -1, {}};
        size_t end = head_end + 1;
        while (end < text.size() && text[end] == '\t')
            end = std::min(text.find('\n', end), text.size() - 1) + 1;
        item.length = end - item.offset;
        line +=
            static_cast<uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                                             text.begin() + static_cast<std::ptrdiff_t>(item.offset), '\n'));
        counted = item.offset;
        item.line = line;
        const size_t begin = text.rfind('\n', at) + 1;
        GraphHeading heading;
        heading.readJson(text.substr(begin, head_end - begin));
        item.rank = heading.rank;
        item.compile_id = heading.compile_id;
        if (item.length > 0)
            found.push_back(std::move(item));
    }
    return found;
}

std::optional<Companion> companionByName(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    for (const KnownArtifact& item : kArtifacts) {
        const size_t at = name.find(item.name);
        if (at == std::string::npos || (at > 0 && name[at - 1] != '.' && name[at - 1] != '_'))
            continue;
        return Companion{item.kind,
                         std::string(item.what),
                         path,
                         0,
                         0,
                         0,
                         rankOfPath(fs::path(name)),
                         compileIdOfName(std::string_view(name).substr(at + item.name.size()))};
    }
    return std::nullopt;
}

std::vector<Companion> companionsBeside(const std::string& path) {
    std::vector<Companion> found;
    const fs::path file(path);
    const int32_t rank = rankOfPath(file.filename());
    std::error_code error;
    size_t seen = 0;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    for (fs::directory_iterator it(folder, error), end; !error && it != end && seen < kMaxSiblings;
         it.increment(error), ++seen) {
        auto companion = companionByName(it->path().string());
        if (!companion)
            continue;
        const bool same_rank = rank < 0 || companion->rank < 0 || companion->rank == rank;
        if (same_rank || companion->kind == Companion::Kind::ExecutionOrder)
            found.push_back(std::move(*companion));
    }
    std::sort(found.begin(), found.end(),
              [](const Companion& a, const Companion& b) { return a.file < b.file; });
    return found;
}

void reportCompanions(const std::vector<Companion>& companions, const GraphEntry& entry, const Graph& graph,
                      const InputText& input, Diagnostics& diagnostics) {
    if (companions.empty())
        return;
    reportCosts(companions, entry, diagnostics);
    CompanionTexts texts(input);
    reportExecutionOrder(companions, entry, texts, diagnostics);
    reportSchedule(companions, entry, graph, texts, diagnostics);
    reportTimeouts(companions, graph, texts, diagnostics);
}

} // namespace gs
