#include "cost/readers/comm_facts.h"

#include "cost/readers/collective_names.h"
#include "cost/readers/op_signature.h"

namespace gs {

namespace {

constexpr int64_t kLargest = int64_t{1} << 50; ///< bytes; more is a damaged number

int64_t elementsOf(const std::vector<std::vector<int64_t>>& shapes) {
    int64_t sum = 0;
    for (const std::vector<int64_t>& shape : shapes) {
        int64_t product = 1;
        for (int64_t size : shape) {
            if (size < 0 || size > kLargest || (size > 0 && product > kLargest / size))
                return -1;
            product *= size;
        }
        sum += product;
        if (sum > kLargest)
            return -1;
    }
    return sum;
}

int64_t bytesOf(int64_t elements, DType dtype) {
    return elements < 0 || elements > kLargest || dtype == DType::Unknown ? kUnknownSize
                                                                          : elements * dtypeBytes(dtype);
}

void takeMetadata(const TraceEvents& events, const CommFacts& facts, CollectiveCall& call) {
    call.dtype = dtypeOfTrace(events.texts.view(facts.dtype));
    call.input_bytes = bytesOf(facts.in_elements, call.dtype);
    call.output_bytes = bytesOf(facts.out_elements, call.dtype);
    call.group = std::string(events.texts.view(facts.group));
}

/// Sizes from the arguments of the operator: c10d's base forms write (output, input), the functional ones
/// and the annotations begin with the input.
void takeShapes(std::string_view name, const Signature& items, CollectiveCall& call) {
    if (items.empty())
        return;
    const bool output_first =
        name.substr(0, 6) == "c10d::" && name.find("base_") != std::string_view::npos && items.size() >= 2;
    const SignatureItem& input = output_first ? items[1] : items[0];
    if (call.dtype == DType::Unknown)
        call.dtype = input.dtype;
    if (call.input_bytes < 0)
        call.input_bytes = bytesOf(elementsOf(input.shapes), call.dtype);
    if (call.output_bytes < 0 && output_first)
        call.output_bytes = bytesOf(elementsOf(items[0].shapes), call.dtype);
}

/// Ranks by the sizes of a gather or a reduce-scatter; 0 if they do not tell.
int64_t ratioOf(const CollectiveCall& call) {
    const bool gather = call.kind == CollectiveKind::AllGather;
    if (!gather && call.kind != CollectiveKind::ReduceScatter)
        return 0;
    const int64_t small = gather ? call.input_bytes : call.output_bytes;
    const int64_t large = gather ? call.output_bytes : call.input_bytes;
    return small > 0 && large >= small && large % small == 0 ? large / small : 0;
}

void fillSizes(CollectiveCall& call) {
    const int64_t size = call.group_size;
    if (call.kind == CollectiveKind::AllReduce || call.kind == CollectiveKind::Broadcast) {
        call.output_bytes = call.output_bytes < 0 ? call.input_bytes : call.output_bytes;
        call.input_bytes = call.input_bytes < 0 ? call.output_bytes : call.input_bytes;
    }
    if (size <= 0 || size > 10'000'000)
        return;
    if (call.kind == CollectiveKind::AllGather && call.output_bytes < 0 && call.input_bytes >= 0 &&
        call.input_bytes < kLargest / size)
        call.output_bytes = call.input_bytes * size;
    if (call.kind == CollectiveKind::ReduceScatter && call.output_bytes < 0 && call.input_bytes >= 0)
        call.output_bytes = call.input_bytes / size;
}

} // namespace

int64_t countRanks(std::string_view text) {
    if (text.empty() || text.find("..") != std::string_view::npos)
        return 0;
    int64_t count = 0;
    bool digit = false;
    for (char c : text) {
        const bool now = c >= '0' && c <= '9';
        count += now && !digit ? 1 : 0;
        digit = now;
    }
    return count;
}

CollectiveCall describeCollective(const TraceEvents& events, const CommSources& sources, size_t& conflicts) {
    CollectiveCall call;
    const auto text = [&](StringId id) { return events.texts.view(id); };
    const CommFacts* facts =
        sources.work && sources.work->comm > 0 ? &events.comms[sources.work->comm - 1] : nullptr;
    const auto offer = [&](CollectiveKind kind, KindSource source) {
        if (call.kind == CollectiveKind::None && kind != CollectiveKind::None) {
            call.kind = plainKind(kind);
            call.source = source;
        }
    };
    for (const HostRange* range : sources.ranges) {
        if (!facts && range->comm > 0 &&
            collectiveOfName(text(events.comms[range->comm - 1].name)) != CollectiveKind::None)
            facts = &events.comms[range->comm - 1];
    }
    if (facts) {
        takeMetadata(events, *facts, call);
        offer(collectiveOfName(text(facts->name)), KindSource::Metadata);
    }
    for (const bool annotation : {false, true}) {
        for (const HostRange* range : sources.ranges) {
            if (range->annotation == annotation)
                offer(collectiveOfRange(text(range->name)),
                      annotation ? KindSource::Annotation : KindSource::Operator);
        }
    }
    for (const HostRange* range : sources.ranges) {
        if (range->signature != kEmptyString && collectiveOfRange(text(range->name)) != CollectiveKind::None)
            takeShapes(text(range->name), traceSignature(text(range->signature)), call);
    }
    if (sources.work) {
        call.kernel = sources.work->name;
        if (sources.work->kind == DeviceWorkKind::Annotation)
            offer(collectiveOfRange(text(call.kernel)), KindSource::Annotation);
        else
            offer(classifyKernel(text(call.kernel)).kind, KindSource::KernelName);
    }
    const int64_t ratio = ratioOf(call);
    const int64_t stated = facts ? std::max<int64_t>(0, facts->group_size) : 0;
    const int64_t listed = facts ? countRanks(text(facts->ranks)) : 0;
    for (int64_t size : {ratio, stated, listed}) {
        if (call.group_size == 0 && size > 0)
            call.group_size = size;
    }
    for (const TraceGroup& group : events.groups) {
        if (call.group_size == 0 && !call.group.empty() && group.name == call.group)
            call.group_size = std::max<int64_t>(0, group.size);
    }
    if ((stated > 0 && stated != call.group_size) || (listed > 0 && listed != call.group_size))
        ++conflicts;
    fillSizes(call);
    return call;
}

} // namespace gs
