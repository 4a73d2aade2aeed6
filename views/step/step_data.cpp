#include "views/step/step_data.h"

#include "views/step/step_text.h"

#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr double kPageWindows = 6;  ///< a page is so many times as long as the typical step's span
constexpr double kPageInner = 0.04; ///< margin of a page that a span keeps free
constexpr double kPageLead = 0.12;  ///< margin to the right of the step that begins a page
constexpr int64_t kFarLaunch = 8;   ///< a launch further than so many windows is not on the page

/// From where the step ends to where it begins, with the launch unless that is far away.
TimeRange spanOf(const StepData& data, size_t index) {
    const SweepStep& step = data.step(index);
    const TimeRange claim = data.claim(index);
    TimeRange span{std::min({claim.begin_ns, data.at(step.end), data.at(step.target)}),
                   std::max(claim.end_ns, data.at(step.pointer < step.start ? step.start : step.end))};
    const int64_t length = std::max<int64_t>(1, span.length());
    for (const uint32_t place : {data.decision(index).cur, step.target}) {
        if (data.at(place) - span.end_ns <= kFarLaunch * length)
            span.end_ns = std::max(span.end_ns, data.at(place));
    }
    const auto need = static_cast<int64_t>(data.decision(index).need_ns);
    span.begin_ns = std::min(span.begin_ns, claim.end_ns - need);
    return span;
}

TimeRange within(TimeRange range, TimeRange full) {
    const int64_t length = std::min(range.length(), full.length());
    const int64_t begin = std::clamp(range.begin_ns, full.begin_ns, full.end_ns - length);
    return {begin, begin + length};
}

void makePages(StepData& data) {
    std::vector<TimeRange> spans;
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < data.sweep.steps.size(); ++i) {
        spans.push_back(spanOf(data, i));
        lengths.push_back(spans.back().length());
    }
    std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2),
                     lengths.end());
    const double typical = static_cast<double>(lengths[lengths.size() / 2]) * kPageWindows;
    const int64_t usual = std::clamp<int64_t>(std::llround(typical), 1, data.full().length());
    int64_t first = 0;
    for (TimeRange& span : spans) {
        span.begin_ns = std::max(span.begin_ns, -usual / 2); // a longer need is cut
        first = std::min(first, span.begin_ns);
    }
    data.lead_ns = -first;

    const TimeRange full = data.reach();
    TimeRange page;
    for (const TimeRange& span : spans) {
        const auto margin = static_cast<int64_t>(static_cast<double>(page.length()) * kPageInner);
        const bool left_free = span.begin_ns >= page.begin_ns + (page.begin_ns > 0 ? margin : 0);
        const bool right_free = span.end_ns <= page.end_ns - (page.end_ns < full.end_ns ? margin : 0);
        const bool fits = page.length() > 0 && page.length() <= 2 * usual && left_free && right_free;
        if (!fits) {
            const auto wide = static_cast<int64_t>(static_cast<double>(span.length()) * 1.3);
            const int64_t length = std::max(usual, wide);
            const int64_t end = span.end_ns + static_cast<int64_t>(static_cast<double>(length) * kPageLead);
            page = within({end - length, end}, full);
        }
        data.pages.push_back(page);
    }
}

} // namespace

std::shared_ptr<const StepData> StepData::build(SnapshotPtr snapshot) {
    auto data = std::make_shared<StepData>();
    data->snapshot = std::move(snapshot);
    if (!data->snapshot || !data->snapshot->after.graph) {
        data->message =
            StepText::tr("No graph is open.\nOpen one to step through the sweep, gather by gather.");
        return data;
    }
    const Program& program = data->program();
    data->sweep = sweepSteps({*program.graph,
                              *program.collectives,
                              *program.costs,
                              data->snapshot->request.settings,
                              {},
                              data->snapshot->request.edits});
    std::vector<Slice> slices;
    data->at_ns.push_back(0);
    for (NodeId id = 0; id < program.graph->size(); ++id) {
        const auto ns = static_cast<int64_t>(data->sweep.compute_ns[id]);
        if (ns > 0)
            slices.push_back({data->at_ns.back(), data->at_ns.back() + ns, id, 0, false});
        data->at_ns.push_back(data->at_ns.back() + ns);
    }
    data->compute = SliceIndex(std::move(slices));
    if (data->sweep.steps.empty())
        data->message = StepText::tr("This program has no weight gather that could move.\nThe sweep has "
                                     "nothing to do here.");
    else if (data->compute.empty())
        data->message = StepText::tr("No compute of this program has a cost.\nThe sweep counts compute: add "
                                     "a cost file, or let the device's model estimate it.");
    else
        makePages(*data);
    return data;
}

int StepData::stepOf(const Selection& selection) const {
    if (size() == 0 || selection.kind == Selection::Kind::None)
        return -1;
    const auto id = graph().find(selection.name.toStdString());
    if (!id)
        return -1;
    const int32_t collective = program().collectives->indexOf(*id);
    if (collective < 0)
        return -1;
    const NodeId launch = (*program().collectives)[static_cast<size_t>(collective)].launch;
    const auto& all = sweep.decisions; // in program order
    const auto found = std::lower_bound(all.begin(), all.end(), launch,
                                        [](const Decision& d, NodeId node) { return d.launch < node; });
    if (found == all.end() || found->launch != launch)
        return -1;
    return static_cast<int>(all.end() - found) - 1;
}

Selection StepData::selectionFor(size_t index) const {
    return {Selection::Kind::Gather, nodeName(graph(), step(index).launch)};
}

TimeRange StepData::claim(size_t index) const {
    const SweepStep& item = step(index);
    const int64_t end = at(item.start) + std::llround(decision(index).carry_in_ns);
    const int64_t begin = at(item.end) + std::llround(item.left_over_ns);
    return {std::min(begin, end), end};
}

int64_t StepData::front(size_t index, double fill) const {
    const int64_t from = at(step(index).start);
    const int64_t to = at(step(index).end);
    return from - std::llround(static_cast<double>(from - to) * std::clamp(fill, 0.0, 1.0));
}

double StepData::found(size_t index, double fill) const {
    const SweepStep& item = step(index);
    double sum = decision(index).carry_in_ns;
    const int64_t now = front(index, fill);
    for (size_t i = item.first_walked; i < item.last_walked && at(sweep.walked[i].node) >= now; ++i)
        sum = sweep.walked[i].sum_ns;
    return sum;
}

double StepData::nextFill(size_t index, double fill, int by) const {
    const SweepStep& item = step(index);
    const int64_t from = at(item.start);
    const int64_t length = from - at(item.end);
    if (length <= 0)
        return 1;
    const int64_t now = front(index, fill);
    double before = 0;
    for (size_t i = item.first_walked; i < item.last_walked; ++i) {
        const int64_t place = at(sweep.walked[i].node);
        const double part = static_cast<double>(from - place) / static_cast<double>(length);
        if (by > 0 && place < now)
            return part;
        if (by < 0 && place <= now)
            return before;
        before = part;
    }
    return by > 0 ? 1 : before;
}

int StepData::claimOver(TimeRange range, size_t limit) const {
    for (size_t i = std::min(limit, size()); i-- > 0;) {
        const TimeRange item = claim(i);
        if (item.length() > 0 && range.overlaps(item.begin_ns, item.end_ns))
            return static_cast<int>(i);
    }
    return -1;
}

} // namespace gs
