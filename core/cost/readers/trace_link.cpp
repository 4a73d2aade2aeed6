#include "cost/readers/trace_link.h"

#include "cost/readers/collective_names.h"
#include "cost/readers/comm_facts.h"
#include "cost/readers/intervals.h"
#include "cost/readers/trace_index.h"

#include <array>
#include <set>

namespace gs {

namespace {

/// What a range's or a kernel's name says, worked out once per distinct name.
struct NameFacts {
    bool known = false;
    bool op = false;     ///< an operator that a graph node may stand for
    bool record = false; ///< record_param_comms
    CollectiveKind kind = CollectiveKind::None;
    KernelClass kernel;
};

/// Device work of one call, to be united with the rest of it.
struct Piece {
    uint32_t range = 0;
    int64_t start = 0;
    int64_t end = 0;
    bool innermost = false;
};

class TraceLinker {
public:
    TraceLinker(TraceEvents& events, const JobContext& job) : events_(events), job_(job) {
        names_.resize(events.texts.size());
    }

    Result<LinkedTrace> link() {
        const auto by_start = [](const DeviceWork& a, const DeviceWork& b) { return a.start < b.start; };
        const bool done = sortUnlessCancelled(events_.work, by_start, job_) && index_.build(events_, job_) &&
                          linkWork() && uniteOps() && uniteCollectives() && addAnnotations();
        if (!done)
            return Error{"cancelled", "cancelled", {}, ""};
        summarize();
        return std::move(out_);
    }

private:
    const NameFacts& name(StringId id) {
        NameFacts& facts = names_[id];
        if (facts.known)
            return facts;
        const std::string_view text = events_.texts.view(id);
        facts.known = true;
        facts.kind = collectiveOfRange(text);
        facts.record = text == "record_param_comms";
        facts.kernel = classifyKernel(text);
        facts.op = facts.kind == CollectiveKind::None && text.find("::") != std::string_view::npos &&
                   text.substr(0, 8) != "autograd" && text.substr(0, 15) != "torch::autograd";
        return facts;
    }

    bool cancelledAt(size_t index) const { return index % 65536 == 0 && job_.cancelled(); }

    bool linkWork() {
        for (size_t i = 0; i < events_.work.size(); ++i) {
            if (cancelledAt(i))
                return false;
            const DeviceWork& work = events_.work[i];
            if (work.kind == DeviceWorkKind::Annotation)
                continue;
            if (work.kind == DeviceWorkKind::Kernel)
                ++out_.summary.kernels;
            if (const LaunchCall* call = index_.launch(work.correlation); !call) {
                out_.summary.without_launch += work.kind == DeviceWorkKind::Kernel ? 1 : 0;
            } else if (work.start < call->start) {
                ++out_.summary.early_kernels;
                out_.summary.earliest_ns = std::max(out_.summary.earliest_ns, call->start - work.start);
            }
            const uint32_t range = index_.rangeOf(work);
            if (isCommunication(work, range))
                addCommunication(static_cast<uint32_t>(i), range);
            else
                addCompute(work, range);
        }
        return true;
    }

    bool isCommunication(const DeviceWork& work, uint32_t range) {
        if (work.comm > 0 || name(work.name).kernel.communication)
            return true;
        if (range == kNoRange)
            return false;
        const HostRange& at = events_.ranges[range];
        return name(at.name).record || (at.annotation && name(at.name).kind != CollectiveKind::None);
    }

    void addCompute(const DeviceWork& work, uint32_t range) {
        compute_.push_back({work.stream, work.start, work.end});
        bool of_op = false;
        for (; range != kNoRange; range = index_.parent(range)) {
            const HostRange& at = events_.ranges[range];
            if (at.annotation || !name(at.name).op)
                continue;
            pieces_.push_back({range, work.start, work.end, !of_op});
            of_op = true;
        }
        if (!of_op && work.kind == DeviceWorkKind::Kernel)
            ++out_.summary.without_op;
    }

    /// Kernels of one call belong together; it is the outermost range that names a collective.
    void addCommunication(uint32_t index, uint32_t range) {
        const DeviceWork& work = events_.work[index];
        communication_.push_back({work.stream, work.start, work.end});
        if (work.kind == DeviceWorkKind::Kernel) {
            ++out_.summary.comm_kernels;
            const std::string_view text = events_.texts.view(work.name);
            ++out_.summary.comm_names[std::string(text.substr(0, text.find('(')))];
        }
        uint32_t call = kNoRange;
        for (uint32_t at = range; at != kNoRange; at = index_.parent(at)) {
            const NameFacts& facts = name(events_.ranges[at].name);
            if (facts.record || facts.kind != CollectiveKind::None)
                call = at;
        }
        comm_work_.push_back({call, index, range});
    }

    bool uniteOps() {
        const auto less = [](const Piece& a, const Piece& b) {
            return a.range != b.range ? a.range < b.range : a.start < b.start;
        };
        if (!sortUnlessCancelled(pieces_, less, job_))
            return false;
        for (size_t i = 0; i < pieces_.size();) {
            const HostRange& range = events_.ranges[pieces_[i].range];
            OpCall call{range.name, range.signature, pieces_[i].start, 0, false};
            Union length;
            for (const uint32_t of = pieces_[i].range; i < pieces_.size() && pieces_[i].range == of; ++i) {
                length.add(pieces_[i].start, pieces_[i].end);
                call.innermost = call.innermost || pieces_[i].innermost;
            }
            call.ns = length.total();
            out_.ops.push_back(call);
        }
        if (events_.work.empty())
            useHostTimes();
        return sortUnlessCancelled(
            out_.ops, [](const OpCall& a, const OpCall& b) { return a.start < b.start; }, job_);
    }

    /// A run on the CPU: operators take the time that they take.
    void useHostTimes() {
        for (const HostRange& range : events_.ranges) {
            const NameFacts& facts = name(range.name);
            if (!range.annotation && facts.op)
                out_.ops.push_back({range.name, range.signature, range.start, range.end - range.start, true});
        }
        out_.summary.host_only = !events_.ranges.empty();
    }

    struct CommWork {
        uint32_t call = kNoRange;
        uint32_t work = 0;
        uint32_t range = kNoRange; ///< innermost
    };

    bool uniteCollectives() {
        const auto less = [](const CommWork& a, const CommWork& b) {
            return a.call != b.call ? a.call < b.call : a.work < b.work;
        };
        if (!sortUnlessCancelled(comm_work_, less, job_))
            return false;
        for (size_t i = 0; i < comm_work_.size();) {
            if (job_.cancelled())
                return false;
            const CommWork& first = comm_work_[i];
            const DeviceWork& work = events_.work[first.work];
            CommSources sources{&work, {}};
            for (uint32_t at = first.range; at != kNoRange; at = index_.parent(at))
                sources.ranges.push_back(&events_.ranges[at]);
            CollectiveCall call = describeCollective(events_, sources, out_.summary.group_conflicts);
            call.start = work.start;
            Union length;
            do {
                const DeviceWork& part = events_.work[comm_work_[i].work];
                length.add(part.start, part.end);
                ++i;
            } while (i < comm_work_.size() && first.call != kNoRange && comm_work_[i].call == first.call);
            call.ns = length.total();
            addCollective(std::move(call));
        }
        return true;
    }

    void addCollective(CollectiveCall call) {
        const bool known = call.kind != CollectiveKind::None && call.kind != CollectiveKind::Other;
        ++out_.summary.comm_kinds[known ? std::string(collectiveKindName(call.kind)) : "unknown"];
        out_.collectives.push_back(std::move(call));
    }

    /// Annotations on the device count only where no kernel of communication lies below them.
    bool addAnnotations() {
        std::sort(communication_.begin(), communication_.end(),
                  [](const Stretch& a, const Stretch& b) { return a.start < b.start; });
        std::vector<int64_t> latest; // latest end of all that begin up to here
        for (const Stretch& item : communication_)
            latest.push_back(latest.empty() ? item.end : std::max(latest.back(), item.end));
        for (const DeviceWork& work : events_.work) {
            if (work.kind != DeviceWorkKind::Annotation || name(work.name).kind == CollectiveKind::None)
                continue;
            const auto after =
                std::lower_bound(communication_.begin(), communication_.end(), work.end,
                                 [](const Stretch& item, int64_t end) { return item.start < end; });
            if (after != communication_.begin() &&
                latest[static_cast<size_t>(after - communication_.begin()) - 1] > work.start)
                continue;
            CommSources sources{&work, {}};
            for (uint32_t at = index_.byExternal(work.external); at != kNoRange; at = index_.parent(at))
                sources.ranges.push_back(&events_.ranges[at]);
            CollectiveCall call = describeCollective(events_, sources, out_.summary.group_conflicts);
            call.start = work.start;
            call.ns = work.end - work.start;
            ++out_.summary.annotated_only;
            addCollective(std::move(call));
        }
        if (events_.work.empty())
            addHostCollectives();
        return sortUnlessCancelled(
            out_.collectives,
            [](const CollectiveCall& a, const CollectiveCall& b) { return a.start < b.start; }, job_);
    }

    /// gloo's annotations on the host.
    void addHostCollectives() {
        for (uint32_t i = 0; i < events_.ranges.size(); ++i) {
            const HostRange& range = events_.ranges[i];
            const std::string_view text = events_.texts.view(range.name);
            if (name(range.name).kind == CollectiveKind::None || text.substr(0, 5) != "gloo:")
                continue;
            CommSources sources{nullptr, {}};
            for (uint32_t at = i; at != kNoRange; at = index_.parent(at))
                sources.ranges.push_back(&events_.ranges[at]);
            CollectiveCall call = describeCollective(events_, sources, out_.summary.group_conflicts);
            call.start = range.start;
            call.ns = range.end - range.start;
            addCollective(std::move(call));
        }
    }

    void summarize() {
        TraceSummary& summary = out_.summary;
        summary.rank = events_.rank;
        summary.world_size = events_.world_size;
        summary.events = events_.events;
        summary.has_metadata = !events_.comms.empty();
        for (const HostRange& range : events_.ranges) {
            summary.has_ops = summary.has_ops || !range.annotation;
            summary.has_shapes = summary.has_shapes || (!range.annotation && range.signature != kEmptyString);
        }
        countLaunchedOnly();
        summary.comm_streams = streamNames(communication_);
        summary.compute_streams = streamNames(compute_);
        const Overlap overlap = measureOverlap(communication_, compute_, events_.streams);
        summary.comm_ns = overlap.first_ns;
        summary.compute_ns = overlap.second_ns;
        summary.overlap_ns = overlap.both_ns;
    }

    /// Operators of collectives without device work: a window of a longer trace cuts them apart.
    void countLaunchedOnly() {
        std::set<uint32_t> with_work;
        for (const CommWork& item : comm_work_)
            with_work.insert(item.call);
        for (uint32_t i = 0; i < events_.ranges.size() && !events_.work.empty(); ++i) {
            const NameFacts& facts = name(events_.ranges[i].name);
            if (facts.kind == CollectiveKind::None || events_.ranges[i].annotation || with_work.count(i) > 0)
                continue;
            bool outermost = true;
            for (uint32_t at = index_.parent(i); at != kNoRange && outermost; at = index_.parent(at))
                outermost = name(events_.ranges[at].name).kind == CollectiveKind::None;
            if (outermost)
                ++out_.summary.launched_only[std::string(collectiveKindName(plainKind(facts.kind)))];
        }
    }

    std::vector<std::string> streamNames(const std::vector<Stretch>& items) const {
        std::set<uint32_t> streams;
        for (const Stretch& item : items)
            streams.insert(item.stream);
        std::vector<std::string> names;
        for (uint32_t stream : streams)
            names.push_back(events_.streams[stream]);
        return names;
    }

    TraceEvents& events_;
    const JobContext& job_;
    TraceIndex index_;
    std::vector<NameFacts> names_;
    std::vector<Piece> pieces_;
    std::vector<CommWork> comm_work_;
    std::vector<Stretch> communication_;
    std::vector<Stretch> compute_;
    LinkedTrace out_;
};

} // namespace

std::string_view kindSourceName(KindSource source) {
    static constexpr std::array<std::string_view, 4> kNames = {"metadata", "operator", "annotation",
                                                               "kernel name"};
    return kNames[static_cast<size_t>(source)];
}

Result<LinkedTrace> linkTrace(TraceEvents& events, const JobContext& job) {
    return TraceLinker(events, job).link();
}

} // namespace gs
