#include "explain/measured_match.h"

#include <algorithm>

namespace gs {

namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

/// Longest common subsequence; for the sizes of one step. Memory: a bit per pair.
Pairs longestCommon(const std::vector<CollectiveMark>& program, const std::vector<CollectiveMark>& calls) {
    constexpr size_t kMostPairs = size_t{64} << 20;
    const size_t n = program.size(), m = std::min(calls.size(), kMostPairs / std::max<size_t>(n, 1));
    std::vector<uint32_t> row(m + 1, 0), next(m + 1, 0);
    std::vector<bool> from_above((n + 1) * (m + 1), false); // the best of (i, j) leaves out program[i]
    std::vector<bool> taken((n + 1) * (m + 1), false);
    for (size_t i = n; i-- > 0;) {
        std::swap(row, next);
        row[m] = 0;
        for (size_t j = m; j-- > 0;) {
            const size_t at = i * (m + 1) + j;
            if (program[i].fits(calls[j])) {
                row[j] = next[j + 1] + 1;
                taken[at] = true;
            } else {
                from_above[at] = next[j] >= row[j + 1];
                row[j] = std::max(next[j], row[j + 1]);
            }
        }
    }
    Pairs out;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        const size_t at = i * (m + 1) + j;
        if (taken[at])
            out.emplace_back(i++, j++);
        else
            from_above[at] ? ++i : ++j;
    }
    return out;
}

} // namespace

bool CollectiveMark::fits(const CollectiveMark& other) const {
    const auto same = [](int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; };
    return kind == other.kind && same(output_bytes, other.output_bytes) &&
           same(input_bytes, other.input_bytes);
}

std::vector<Pairs> matchSteps(const std::vector<CollectiveMark>& program,
                              const std::vector<CollectiveMark>& calls) {
    std::vector<Pairs> steps;
    const size_t n = program.size();
    for (size_t begin = 0; n > 0 && begin + n <= calls.size();) {
        size_t i = 0;
        while (i < n && program[i].fits(calls[begin + i]))
            ++i;
        if (i < n) {
            ++begin;
            continue;
        }
        Pairs step;
        for (i = 0; i < n; ++i)
            step.emplace_back(i, begin + i);
        steps.push_back(std::move(step));
        begin += n;
    }
    if (steps.empty()) {
        if (Pairs best = longestCommon(program, calls); !best.empty())
            steps.push_back(std::move(best));
    }
    return steps;
}

} // namespace gs
