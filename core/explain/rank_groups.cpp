#include "base/hash.h"
#include "explain/rank_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gs::ranks {

namespace {

/// Differences told one by one; the rest is counted.
constexpr size_t kMaxDifferences = 200;

/// Collectives of a rank on one group, with their hashes.
struct Sequence {
    std::vector<int32_t> items;
    std::vector<uint64_t> hashes;
};

Sequence sequenceOf(const ComparedRank& rank, uint32_t group) {
    Sequence out;
    for (size_t i = 0; i < rank.collectives.size(); ++i) {
        if (rank.collectives[i].group != group)
            continue;
        out.items.push_back(static_cast<int32_t>(i));
        out.hashes.push_back(rank.collectives[i].hash);
    }
    return out;
}

int32_t cell(const Sequence& of, int32_t index) {
    return index < 0 ? -1 : of.items[static_cast<size_t>(index)];
}

/// Rows of the first class, with what other classes have beside and between them.
void fillRows(RankGroup& group, const std::vector<Sequence>& classes) {
    const size_t count = classes.size(), length = classes.front().items.size();
    std::vector<RankRow> base(length);
    std::vector<std::vector<std::vector<int32_t>>> extra(length + 1,
                                                         std::vector<std::vector<int32_t>>(count));
    for (size_t i = 0; i < length; ++i) {
        base[i].cells.assign(count, -1);
        base[i].cells[0] = classes[0].items[i];
    }
    for (size_t c = 1; c < count; ++c) {
        size_t before = 0; // the row of the first class that comes next
        for (const auto& [i, j] : alignHashes(classes[0].hashes, classes[c].hashes)) {
            if (i < 0) {
                extra[before][c].push_back(cell(classes[c], j));
                continue;
            }
            const auto row = static_cast<size_t>(i);
            before = row + 1;
            base[row].cells[c] = cell(classes[c], j);
            base[row].equal = base[row].equal && j >= 0 &&
                              classes[0].hashes[row] == classes[c].hashes[static_cast<size_t>(j)];
        }
    }
    for (size_t i = 0; i <= length; ++i) {
        size_t most = 0;
        for (const std::vector<int32_t>& items : extra[i])
            most = std::max(most, items.size());
        for (size_t k = 0; k < most; ++k) {
            RankRow row{std::vector<int32_t>(count, -1), false};
            for (size_t c = 1; c < count; ++c) {
                if (k < extra[i][c].size())
                    row.cells[c] = extra[i][c][k];
            }
            group.rows.push_back(std::move(row));
        }
        if (i < length)
            group.rows.push_back(std::move(base[i]));
    }
    group.differing = static_cast<size_t>(
        std::count_if(group.rows.begin(), group.rows.end(), [](const RankRow& row) { return !row.equal; }));
}

/// One side of a class' difference that has no partner in its row.
struct Lonely {
    uint32_t group = 0;
    int32_t item = -1;
};

class Differences {
public:
    Differences(RankComparison& comparison, size_t other)
        : out_(comparison), other_(other), rank_a_(comparison.classes.front().ranks.front()),
          rank_b_(comparison.classes[other].ranks.front()) {}

    void run() {
        for (uint32_t g = 0; g < out_.groups.size(); ++g) {
            for (const RankRow& row : out_.groups[g].rows)
                look(g, row.cells[0], row.cells[other_]);
        }
        pairUp();
        for (const Lonely& item : missing_)
            addMissing(item, true);
        for (const Lonely& item : extra_)
            addMissing(item, false);
    }

private:
    const RankCollective& itemOf(int32_t rank, int32_t index) const {
        return out_.ranks[static_cast<size_t>(rank)].collectives[static_cast<size_t>(index)];
    }
    std::string_view detail(int32_t rank, const RankCollective& item) const {
        return out_.ranks[static_cast<size_t>(rank)].program.graphs[item.graph].graph->text(item.detail);
    }
    uint64_t withoutGroup(int32_t rank, int32_t index) const {
        const RankCollective& item = itemOf(rank, index);
        return Hash64()
            .number(static_cast<int64_t>(item.kind))
            .number(static_cast<int64_t>(item.dtype))
            .number(item.bytes)
            .text(detail(rank, item))
            .value();
    }

    void look(uint32_t group, int32_t a, int32_t b) {
        if (a < 0 && b < 0)
            return;
        if (a < 0)
            extra_.push_back({group, b});
        else if (b < 0)
            missing_.push_back({group, a});
        else if (itemOf(rank_a_, a).hash != itemOf(rank_b_, b).hash)
            addUnlike(group, a, b);
    }

    /// The same collective elsewhere: on another group, or in another place of its own.
    void pairUp() {
        std::multimap<uint64_t, size_t> by_hash;
        for (size_t i = 0; i < extra_.size(); ++i)
            by_hash.emplace(withoutGroup(rank_b_, extra_[i].item), i);
        std::vector<bool> used(extra_.size(), false);
        std::vector<Lonely> left;
        for (const Lonely& item : missing_) {
            const uint64_t hash = withoutGroup(rank_a_, item.item);
            const auto found = by_hash.lower_bound(hash);
            if (found == by_hash.end() || found->first != hash) {
                left.push_back(item);
                continue;
            }
            const Lonely& other = extra_[found->second];
            used[found->second] = true;
            by_hash.erase(found);
            const bool order = other.group == item.group;
            add(order ? "rank-order" : "rank-group", item.group, item.item, other.item,
                order ? "issue the same collectives in another order on one group"
                      : "issue the same collective on different groups",
                order ? "the n-th collective of a group must be the same on all its ranks"
                      : "all ranks of a group must take part in its collectives");
        }
        missing_ = std::move(left);
        std::vector<Lonely> rest;
        for (size_t i = 0; i < extra_.size(); ++i) {
            if (!used[i])
                rest.push_back(extra_[i]);
        }
        extra_ = std::move(rest);
    }

    void addUnlike(uint32_t group, int32_t a, int32_t b) {
        const RankCollective& x = itemOf(rank_a_, a);
        const RankCollective& y = itemOf(rank_b_, b);
        if (x.kind != y.kind)
            add("rank-kind", group, a, b, "issue different collectives at the same place of their group",
                "NCCL matches them by number: the job hangs or mixes up data");
        else if (x.dtype != y.dtype)
            add("rank-dtype", group, a, b, "send different dtypes", "cast to one dtype on all ranks");
        else if (x.bytes != y.bytes)
            add("rank-bytes", group, a, b, "send different sizes",
                "pad the shards to one size: NCCL expects equal counts");
        else
            add("rank-reduce-op", group, a, b, "reduce with different operations", "use one operation");
    }

    void addMissing(const Lonely& item, bool in_b) {
        RankDifference made = start("rank-missing", item.group);
        made.a = in_b ? sideOf(out_, rank_a_, item.item) : RankSide{rank_a_, -1, 0, kNoNode, {}};
        made.b = in_b ? RankSide{rank_b_, -1, 0, kNoNode, {}} : sideOf(out_, rank_b_, item.item);
        made.message = fmt::format("{}: {}; {} does not", classLabel(out_, in_b ? rank_a_ : rank_b_),
                                   (in_b ? made.a : made.b).text, classLabel(out_, in_b ? rank_b_ : rank_a_));
        made.hint = "the others wait for it for ever: issue it on all ranks of the group, or on none";
        push(std::move(made));
    }

    void add(const char* code, uint32_t group, int32_t a, int32_t b, const char* what, const char* hint) {
        RankDifference made = start(code, group);
        made.a = sideOf(out_, rank_a_, a);
        made.b = sideOf(out_, rank_b_, b);
        made.message = fmt::format("{} and {} {}: {} | {}", classLabel(out_, rank_a_),
                                   classLabel(out_, rank_b_), what, made.a.text, made.b.text);
        made.hint = hint;
        push(std::move(made));
    }

    static RankDifference start(const char* code, uint32_t group) {
        RankDifference made;
        made.code = code;
        made.group = static_cast<int32_t>(group);
        return made;
    }

    void push(RankDifference made) {
        if (out_.differences.size() < kMaxDifferences)
            out_.differences.push_back(std::move(made));
        else
            ++out_.dropped;
    }

    RankComparison& out_;
    size_t other_;
    int32_t rank_a_, rank_b_;
    std::vector<Lonely> missing_, extra_;
};

} // namespace

void compareGroups(RankComparison& comparison) {
    for (uint32_t g = 0; g < comparison.groups.size(); ++g) {
        std::vector<Sequence> sequences;
        for (const RankClass& of : comparison.classes)
            sequences.push_back(sequenceOf(comparison.ranks[static_cast<size_t>(of.ranks.front())], g));
        fillRows(comparison.groups[g], sequences);
    }
    for (size_t c = 1; c < comparison.classes.size(); ++c)
        Differences(comparison, c).run();
    // Of equal severity the one that comes first in the program comes first.
    std::stable_sort(comparison.differences.begin(), comparison.differences.end(),
                     [](const RankDifference& a, const RankDifference& b) {
                         const auto place = [](const RankDifference& d) {
                             return std::max(d.a.collective, d.b.collective);
                         };
                         return place(a) < place(b);
                     });
}

} // namespace gs::ranks
