#include "schedule/schedule.h"

namespace gs {

std::string_view verdictName(Verdict verdict) {
    switch (verdict) {
    case Verdict::NotCandidate:
        return "not-a-candidate";
    case Verdict::Hidden:
        return "hidden";
    case Verdict::ComputeLimited:
        return "COMPUTE-LIMITED";
    }
    return "not-a-candidate";
}

std::string_view bindingReasonName(BindingReason reason) {
    switch (reason) {
    case BindingReason::None:
        return "none";
    case BindingReason::GraphStart:
        return "graph-start";
    case BindingReason::DataDependency:
        return "data-dep";
    case BindingReason::Effect:
        return "effect";
    case BindingReason::Claimed:
        return "claimed";
    case BindingReason::Order:
        return "order";
    case BindingReason::NoConsumer:
        return "no-consumer";
    case BindingReason::NoWait:
        return "no-wait";
    case BindingReason::NotWeightGather:
        return "not-a-weight-gather";
    case BindingReason::Budget:
        return "budget";
    case BindingReason::Depth:
        return "depth";
    case BindingReason::ProgramOrder:
        return "program-order";
    case BindingReason::ByHand:
        return "by-hand";
    case BindingReason::Ranks:
        return "ranks";
    case BindingReason::Invalid:
        return "invalid";
    }
    return "none";
}

} // namespace gs
