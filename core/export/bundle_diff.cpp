#include "export/bundle_diff.h"

#include "base/hash.h"
#include "base/units.h"
#include "import/bundle_json.h"
#include "import/importer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

struct Loaded {
    Json json;
    std::vector<std::string> edited; ///< what says that parts were changed after the bundle was made
};

/// The graph is read, too: what a bundle states of it must be true.
Result<Loaded> load(const std::string& path) {
    Diagnostics diagnostics;
    Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    Json json = Json::parse(input->text, nullptr, false);
    if (!looksLikeBundle(input->text) || !json.is_object() || !json.contains("analysis"))
        return Error{"not-a-bundle",
                     fmt::format("{}: this is no bundle", path),
                     {path, 1, 0},
                     "`export --format bundle` writes them"};
    const Result<ImportedGraph> graph = importText(input.value(), -1, -1, diagnostics, {});
    if (!graph)
        return graph.error();
    simdjson::dom::parser parser;
    simdjson::dom::object root;
    Diagnostics changes;
    if (parser.parse(input->text).get(root) == simdjson::SUCCESS)
        checkBundleParts(root, kBundleParts, path, changes);
    Loaded loaded{std::move(json), {}};
    for (const Diagnostic& item : changes.all())
        loaded.edited.push_back(item.message);
    return loaded;
}

/// The member at `path` ("a/b"), or null.
const Json& at(const Json& json, std::string_view path) {
    static const Json kNull;
    const Json* here = &json;
    while (!path.empty()) {
        const size_t slash = std::min(path.find('/'), path.size());
        const std::string key(path.substr(0, slash));
        if (!here->is_object() || !here->contains(key))
            return kNull;
        here = &(*here)[key];
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return *here;
}

std::string shown(const Json& value) {
    if (value.is_null())
        return {};
    return value.is_string() ? value.get<std::string>()
                             : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Figures in units that people read.
std::string figure(const std::string& name, const Json& value) {
    if (!value.is_number_integer())
        return shown(value);
    if (name.ends_with("_ns"))
        return formatTime(value.get<int64_t>());
    return name.ends_with("_bytes") ? formatBytes(value.get<int64_t>()) : shown(value);
}

std::string textOf(const Json& object, const char* key) {
    return object.is_object() && object.contains(key) ? shown(object[key]) : std::string();
}

class Comparison {
public:
    Comparison(const Json& a, const Json& b) : a_(a), b_(b) {
        diff_.name_a = shown(at(a, "analysis/graph/name"));
        diff_.name_b = shown(at(b, "analysis/graph/name"));
    }

    BundleDiff run() {
        member("graph", "name", "analysis/graph/name");
        for (const char* hash : {"source", "before", "after"})
            member("graph", fmt::format("structural hash, {}", hash), fmt::format("hashes/{}", hash));
        members("setting", "request/settings");
        list("edit", "request/edits");
        members("version", "versions");
        decisions();
        for (const char* side : {"before", "after"})
            figures(side);
        figureMember("lower_bound_ns", "analysis/simulation/lower_bound_ns");
        if (diff_.changes.empty())
            member("decision", "order of all nodes", "hashes/order");
        ranks();
        costs("after");
        if (at(a_, "costs/before") != at(b_, "costs/before"))
            costs("before");
        return std::move(diff_);
    }

private:
    void add(std::string_view what, std::string name, std::string a, std::string b) {
        diff_.changes.push_back({std::string(what), std::move(name), std::move(a), std::move(b)});
    }

    void member(std::string_view what, std::string name, const std::string& path) {
        const Json &a = at(a_, path), &b = at(b_, path);
        if (a != b)
            add(what, std::move(name), shown(a), shown(b));
    }

    /// All members of an object, of either side.
    void members(std::string_view what, const std::string& path) {
        const Json &a = at(a_, path), &b = at(b_, path);
        for (const auto& [key, value] : a.items()) {
            const Json& other = at(b, key);
            if (value != other)
                add(what, key, shown(value), shown(other));
        }
        for (const auto& [key, value] : b.items()) {
            if (!a.contains(key))
                add(what, key, {}, shown(value));
        }
    }

    void list(std::string_view what, const std::string& path) {
        const Json &a = at(a_, path), &b = at(b_, path);
        for (const Json& item : a) {
            if (std::find(b.begin(), b.end(), item) == b.end())
                add(what, {}, shown(item), {});
        }
        for (const Json& item : b) {
            if (std::find(a.begin(), a.end(), item) == a.end())
                add(what, {}, {}, shown(item));
        }
    }

    void figureMember(const std::string& name, const std::string& path) {
        const Json &a = at(a_, path), &b = at(b_, path);
        if (a != b)
            add("simulation", name, figure(name, a), figure(name, b));
    }

    void figures(const std::string& side) {
        for (const char* name : {"step_ns", "compute_ns", "comm_ns", "exposed_ns", "peak_gathered_bytes"}) {
            const std::string path = fmt::format("analysis/simulation/{}/{}", side, name);
            const Json &a = at(a_, path), &b = at(b_, path);
            if (a != b)
                add("simulation", fmt::format("{} {}", side, name), figure(name, a), figure(name, b));
        }
    }

    void decisions() {
        const auto byLaunch = [](const Json& list) {
            std::map<std::string, const Json*> out;
            for (const Json& item : list)
                out.emplace(textOf(item, "launch"), &item);
            return out;
        };
        const Json& in_a = at(a_, "analysis/schedule/decisions");
        const Json& in_b = at(b_, "analysis/schedule/decisions");
        const auto of_a = byLaunch(in_a), of_b = byLaunch(in_b);
        for (const Json& item : in_a) {
            const auto other = of_b.find(textOf(item, "launch"));
            const std::string mine = decision(item);
            const std::string its = other == of_b.end() ? std::string() : decision(*other->second);
            if (mine != its)
                add("decision", label(item), mine, its);
        }
        for (const Json& item : in_b) {
            if (!of_a.count(textOf(item, "launch")))
                add("decision", label(item), {}, decision(item));
        }
    }

    static std::string label(const Json& item) {
        const std::string launch = textOf(item, "launch"), parameter = textOf(item, "parameter");
        return parameter.empty() || parameter == launch ? launch : fmt::format("{} ({})", parameter, launch);
    }

    static std::string decision(const Json& item) {
        const Json& exposed = at(item, "exposed_after_ns");
        return fmt::format("{} at {}, {}, exposed {}", textOf(item, "verdict"), textOf(item, "target"),
                           textOf(item, "reason"), figure("exposed_ns", exposed));
    }

    /// What each rank runs, wherever its files are.
    static std::string programText(const Json& bundle, const Json& program) {
        Hash64 hash;
        for (const Json& item : at(program, "graphs")) {
            const Json& number = at(item, "graph");
            const int64_t index = number.is_number_integer() ? number.get<int64_t>() : -2;
            const Json& graphs = at(bundle, "ranks/graphs");
            static const Json kNull;
            const Json& graph = index == -1 ? at(bundle, "graph")
                                : index >= 0 && index < static_cast<int64_t>(graphs.size())
                                    ? graphs[static_cast<size_t>(index)]
                                    : kNull;
            hash.text(textOf(item, "compile_id"))
                .text(shown(at(graph, "nodes")))
                .text(shown(at(graph, "groups")));
        }
        return fmt::format("rank {}, graphs {}", textOf(program, "rank"), hexDigits(hash.value()));
    }

    void ranks() {
        const Json &a = at(a_, "ranks/programs"), &b = at(b_, "ranks/programs");
        for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
            const std::string mine = i < a.size() ? programText(a_, a[i]) : std::string();
            const std::string its = i < b.size() ? programText(b_, b[i]) : std::string();
            if (mine != its)
                add("graph", fmt::format("other ranks, program {}", i + 1), mine, its);
        }
    }

    /// By key: several entries share one where a source gives equal nodes different numbers.
    void costs(const std::string& program) {
        struct Sum {
            std::string label, provenance;
            size_t calls = 0;
            int64_t total_ns = 0;
            bool missing = false;
            std::map<std::string, std::string> of_node; ///< name → what it costs
            std::string text() const {
                return calls == 0
                           ? std::string()
                           : fmt::format("{}{}, {}",
                                         missing ? ""
                                                 : formatTime(total_ns / static_cast<int64_t>(calls)) + " ",
                                         provenance, counted(calls, "call"));
            }
            bool operator==(const Sum& other) const {
                return provenance == other.provenance && calls == other.calls && total_ns == other.total_ns &&
                       of_node == other.of_node;
            }
        };
        std::map<std::string, std::pair<Sum, Sum>> sums;
        const auto collect = [&](const Json& bundle, bool second) {
            for (const Json& entry : at(bundle, "costs/" + program)) {
                auto& pair = sums[textOf(entry, "key")];
                Sum& sum = second ? pair.second : pair.first;
                const size_t calls = at(entry, "nodes").size();
                const Json& ns = at(entry, "ns");
                sum.label = textOf(entry, "label");
                const std::string word = textOf(entry, "provenance");
                if (sum.provenance.find(word) == std::string::npos)
                    sum.provenance += (sum.provenance.empty() ? "" : "+") + word;
                sum.calls += calls;
                for (const Json& node : at(entry, "nodes"))
                    sum.of_node[shown(node)] = fmt::format("{} {}", figure("_ns", ns), word);
                sum.missing = !ns.is_number_integer();
                if (!sum.missing)
                    sum.total_ns += ns.get<int64_t>() * static_cast<int64_t>(calls);
            }
        };
        collect(a_, false);
        collect(b_, true);
        for (const auto& [key, pair] : sums) {
            if (pair.first == pair.second)
                continue;
            std::string mine = pair.first.text(), its = pair.second.text();
            if (mine == its) { // the same in sum: the first node that tells them apart
                const auto [x, y] = std::mismatch(pair.first.of_node.begin(), pair.first.of_node.end(),
                                                  pair.second.of_node.begin(), pair.second.of_node.end());
                if (x != pair.first.of_node.end())
                    mine += fmt::format(", {} {}", x->first, x->second);
                if (y != pair.second.of_node.end())
                    its += fmt::format(", {} {}", y->first, y->second);
            }
            const std::string& label = pair.first.calls > 0 ? pair.first.label : pair.second.label;
            add("cost", program == "before" ? label + " (before)" : label, std::move(mine), std::move(its));
        }
    }

    const Json& a_;
    const Json& b_;
    BundleDiff diff_;
};

} // namespace

bool BundleDiff::found() const {
    return std::any_of(changes.begin(), changes.end(),
                       [](const BundleChange& change) { return change.what != "version"; });
}

Result<BundleDiff> compareBundles(const std::string& path_a, const std::string& path_b) {
    const Result<Loaded> a = load(path_a);
    if (!a)
        return a.error();
    const Result<Loaded> b = load(path_b);
    if (!b)
        return b.error();
    BundleDiff diff = Comparison(a->json, b->json).run();
    for (const std::string& message : a->edited)
        diff.changes.push_back({"edited bundle", path_a, message, {}});
    for (const std::string& message : b->edited)
        diff.changes.push_back({"edited bundle", path_b, {}, message});
    return diff;
}

std::string bundleDiffText(const BundleDiff& diff, size_t lines) {
    std::string out = diff.name_a == diff.name_b ? fmt::format("{}\n", diff.name_a)
                                                 : fmt::format("{} against {}\n", diff.name_a, diff.name_b);
    if (diff.changes.empty())
        return out + "no difference\n";
    std::string last;
    size_t listed = 0, more = 0;
    const auto closeKind = [&] {
        if (more > 0)
            out += fmt::format("  … and {} more\n", more);
        more = listed = 0;
    };
    for (const BundleChange& change : diff.changes) {
        if (change.what != last) {
            closeKind();
            last = change.what;
            out += last + "\n";
        }
        if (++listed > lines) {
            ++more;
            continue;
        }
        out += fmt::format("  {}{}{} → {}\n", change.name, change.name.empty() ? "" : ": ",
                           change.a.empty() ? "(none)" : change.a, change.b.empty() ? "(none)" : change.b);
    }
    closeKind();
    return out;
}

std::string bundleDiffJson(const BundleDiff& diff) {
    Json changes = Json::array();
    for (const BundleChange& change : diff.changes)
        changes.push_back({{"what", change.what}, {"name", change.name}, {"a", change.a}, {"b", change.b}});
    return Json{{"format", "gatherscope.bundle-diff"},
                {"version", 1},
                {"a", diff.name_a},
                {"b", diff.name_b},
                {"same", !diff.found()},
                {"changes", std::move(changes)}}
               .dump(2, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

} // namespace gs
