#include "profile/exchange.h"

#include "base/median.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

/// What a rank waits for the others after it failed in an operator that needs them all.
constexpr std::chrono::seconds kPatienceAfterFault{5};

} // namespace

Measurement summarise(std::vector<int64_t> samples) {
    if (samples.empty())
        return Measurement::failure("it gave no samples");
    std::sort(samples.begin(), samples.end());
    const size_t n = samples.size();
    return {{}, median(samples), samples[n * 3 / 4] - samples[n / 4], static_cast<int64_t>(n), {}};
}

Result<std::vector<Measurement>> Exchange::share(const Measurement& own) {
    const std::string stop = stop_ ? stop_() : std::string();
    const Json line = {stop, own.fault, own.ns, own.second, own.samples, own.note};
    const auto lines = plane_.allGather(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (!lines)
        return lines.error();
    std::vector<Measurement> all;
    for (size_t r = 0; r < lines.value().size(); ++r) {
        const Json said = Json::parse(lines.value()[r], nullptr, false);
        if (!said.is_array() || said.size() != 6)
            return Error{"bad-message", fmt::format("rank {} is out of step", r), {}, ""};
        if (const auto why = said[0].get<std::string>(); !why.empty())
            return Error{"stopped", fmt::format("rank {} stops: {}", r, why), {}, ""};
        all.push_back({said[1].get<std::string>(), said[2].get<int64_t>(), said[3].get<int64_t>(),
                       said[4].get<int64_t>(), said[5].get<std::string>()});
        if (!all.back().fault.empty())
            all.back().fault = fmt::format("rank {}: {}", r, all.back().fault);
    }
    return all;
}

Result<std::string> Exchange::agreeToRun(const std::string& fault) {
    const auto all = share(Measurement::failure(fault));
    if (!all)
        return all.error();
    for (const Measurement& one : all.value()) {
        if (!one.fault.empty())
            return one.fault;
    }
    return std::string();
}

Result<Reconciled> Exchange::reconcile(const Measurement& own, bool communicating) {
    const bool alone = communicating && !own.fault.empty();
    if (alone)
        plane_.setTimeLimit(kPatienceAfterFault);
    const auto all = share(own);
    if (!all && alone && all.error().code == "rank-lost")
        return Error{"rank-failed",
                     fmt::format("rank {} failed inside a collective: {}", plane_.rank(), own.fault),
                     {},
                     "the others wait in it: all ranks have to end"};
    if (!all)
        return all.error();
    if (alone)
        plane_.setTimeLimit(std::nullopt);
    Reconciled out;
    int64_t least = -1;
    size_t measured = 0;
    for (const Measurement& one : all.value()) {
        if (!one.fault.empty() && out.reason.empty())
            out.reason = one.fault;
        if (out.note.empty())
            out.note = one.note;
        if (one.ns < 0)
            continue;
        ++measured;
        least = least < 0 ? one.ns : std::min(least, one.ns);
        out.second_ns = std::max(out.second_ns, one.second);
        if (measured == 1 || one.ns > out.ns) {
            out.ns = one.ns;
            out.spread_ns = one.second;
            out.samples = one.samples;
        }
    }
    if (measured == 0 && out.reason.empty())
        out.reason = "no rank has it";
    if (measured > 1)
        out.skew_ns = out.ns - least;
    return out;
}

} // namespace gs
