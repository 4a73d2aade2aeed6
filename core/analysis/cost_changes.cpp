#include "analysis/cost_changes.h"

#include <algorithm>
#include <cstdlib>

namespace gs {

namespace {

/// Entries of one key, added up.
struct KeyTotal {
    const CostEntry* first = nullptr;
    int64_t calls = 0;
    int64_t known_calls = 0;
    int64_t total_ns = 0;
    int64_t perCall() const { return known_calls > 0 ? total_ns / known_calls : -1; }
};

std::map<std::string, KeyTotal> totalsOf(const CostTable& table) {
    std::map<std::string, KeyTotal> totals;
    for (const CostEntry& entry : table.entries()) {
        KeyTotal& total = totals[entry.key];
        const auto calls = static_cast<int64_t>(entry.nodes.size());
        const bool known = entry.provenance != Provenance::Missing;
        if (!total.first || (known && total.first->provenance == Provenance::Missing))
            total.first = &entry;
        total.calls += calls;
        if (!known)
            continue;
        // A key that no node uses still has its number.
        total.known_calls += std::max<int64_t>(calls, 1);
        total.total_ns += entry.ns * std::max<int64_t>(calls, 1);
    }
    return totals;
}

CostChange makeChange(const std::string& key, const KeyTotal* before, const KeyTotal* after) {
    const KeyTotal& shown = after ? *after : *before;
    CostChange change;
    change.key = key;
    change.kind = shown.first->kind;
    change.label = shown.first->label;
    change.calls = shown.calls;
    if (before) {
        change.old_ns = before->perCall();
        change.old_source = before->first->provenance;
    }
    if (after) {
        change.new_ns = after->perCall();
        change.new_source = after->first->provenance;
        change.samples = after->first->samples;
        change.spread_ns = after->first->spread_ns;
        change.rank_skew_ns = after->first->rank_skew_ns;
        change.note = after->first->note;
    }
    return change;
}

} // namespace

std::vector<CostChange> costChanges(const Analysis& before, const Analysis& after) {
    const std::map<std::string, KeyTotal> old_totals = totalsOf(*before.after.costs);
    const std::map<std::string, KeyTotal> new_totals = totalsOf(*after.after.costs);
    std::vector<CostChange> changes;
    changes.reserve(new_totals.size());
    for (const auto& [key, total] : new_totals) {
        const auto old = old_totals.find(key);
        changes.push_back(makeChange(key, old == old_totals.end() ? nullptr : &old->second, &total));
    }
    for (const auto& [key, total] : old_totals) {
        if (new_totals.count(key) == 0)
            changes.push_back(makeChange(key, &total, nullptr));
    }
    std::stable_sort(changes.begin(), changes.end(), [](const CostChange& a, const CostChange& b) {
        return std::abs(a.stepNs()) > std::abs(b.stepNs());
    });
    return changes;
}

size_t movedLaunches(const Analysis& before, const Analysis& after) {
    size_t moved = 0;
    for (const Decision& decision : after.after.schedule->decisions) {
        if (decision.verdict == Verdict::NotCandidate)
            continue;
        const auto other = before.after.graph->find(after.after.graph->name(decision.launch));
        const Decision* earlier = other ? before.decisionFor(*other) : nullptr;
        moved += !earlier || earlier->target != decision.target ? 1 : 0;
    }
    return moved;
}

} // namespace gs
