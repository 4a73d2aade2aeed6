#include "cost/readers/collective_names.h"

#include <array>
#include <string>
#include <tuple>
#include <utility>

namespace gs {

namespace {

/// Letters and digits in lower case: "_allgather_base_" and "all_gather_base" are one.
std::string squeezed(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out += c;
    }
    return out;
}

CollectiveKind kindOfStart(const std::string& text) {
    using Kind = CollectiveKind;
    static constexpr std::array<std::pair<std::string_view, Kind>, 9> kStarts = {{
        {"allgather", Kind::AllGather},
        {"reducescatter", Kind::ReduceScatter},
        {"allreduce", Kind::AllReduce},
        {"alltoall", Kind::AllToAll},
        {"broadcast", Kind::Broadcast},
        {"sendrecv", Kind::Other},
        {"send", Kind::Other},
        {"recv", Kind::Other},
        {"reduce", Kind::Other},
    }};
    for (const auto& [start, kind] : kStarts) {
        if (text.compare(0, start.size(), start) == 0)
            return kind;
    }
    return Kind::None;
}

/// Without namespaces: "c10d::x" → "x". Only the namespaces of collectives count.
bool dropNamespace(std::string_view& name) {
    static constexpr std::array<std::string_view, 12> kSpaces = {"_c10d_functional_autograd::",
                                                                 "_c10d_functional::",
                                                                 "c10d_functional::",
                                                                 "c10d::",
                                                                 "_c10d_functional.",
                                                                 "c10d_functional.",
                                                                 "c10d.",
                                                                 "nccl:",
                                                                 "rccl:",
                                                                 "gloo:",
                                                                 "ucc:",
                                                                 "mpi:"};
    for (std::string_view space : kSpaces) {
        if (name.substr(0, space.size()) == space) {
            name.remove_prefix(space.size());
            return true;
        }
    }
    return false;
}

} // namespace

CollectiveKind plainKind(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::AllGatherCoalesced:
        return CollectiveKind::AllGather;
    case CollectiveKind::ReduceScatterCoalesced:
        return CollectiveKind::ReduceScatter;
    case CollectiveKind::AllReduceCoalesced:
        return CollectiveKind::AllReduce;
    default:
        return kind;
    }
}

CollectiveKind collectiveOfRange(std::string_view name) {
    return dropNamespace(name) ? kindOfStart(squeezed(name)) : CollectiveKind::None;
}

CollectiveKind collectiveOfName(std::string_view name) {
    if (name.substr(0, 10) == "torch.ops.")
        name.remove_prefix(10);
    dropNamespace(name);
    return kindOfStart(squeezed(name.substr(0, 64)));
}

KernelClass classifyKernel(std::string_view name) {
    using Kind = CollectiveKind;
    KernelClass out;
    const std::string_view head = name.substr(0, 64);
    const bool nccl = head.find("ncclKernel") != std::string_view::npos ||
                      head.find("ncclDevKernel") != std::string_view::npos ||
                      head.find("ncclSymk") != std::string_view::npos ||
                      head.find("rcclGenericKernel") != std::string_view::npos ||
                      head.find("mscclKernel") != std::string_view::npos;
    const bool other = head.find("multimem_all_reduce") != std::string_view::npos ||
                       head.find("cross_device_reduce") != std::string_view::npos;
    if (!nccl && !other)
        return out;
    out.communication = true;
    static constexpr std::array<std::tuple<std::string_view, std::string_view, Kind>, 9> kNames = {{
        {"AllGather", "AllGather", Kind::AllGather},
        {"ReduceScatter", "ReduceScatter", Kind::ReduceScatter},
        {"AllReduce", "AllReduce", Kind::AllReduce},
        {"all_reduce", "AllReduce", Kind::AllReduce},
        {"cross_device_reduce", "AllReduce", Kind::AllReduce},
        {"Broadcast", "Broadcast", Kind::Broadcast},
        {"AllToAll", "AllToAll", Kind::AllToAll},
        {"SendRecv", "SendRecv", Kind::None},
        {"Reduce", "Reduce", Kind::Other},
    }};
    const std::string_view base = name.substr(0, name.find('('));
    for (const auto& [part, shown, kind] : kNames) {
        if (base.find(part) != std::string_view::npos) {
            out.shown = shown;
            out.kind = kind;
            return out;
        }
    }
    out.shown = "Generic";
    return out;
}

DType dtypeOfTrace(std::string_view name) {
    if (name.substr(0, 5) == "c10::")
        name.remove_prefix(5);
    if (name.substr(0, 7) == "Tensor(")
        name = name.substr(7, name.size() < 8 ? 0 : name.size() - 8);
    if (name.substr(0, 5) == "c10::")
        name.remove_prefix(5);
    static constexpr std::array<std::pair<std::string_view, DType>, 36> kNames = {{
        {"float", DType::Float32},
        {"Float", DType::Float32},
        {"double", DType::Float64},
        {"Double", DType::Float64},
        {"Half", DType::Float16},
        {"BFloat16", DType::BFloat16},
        {"long int", DType::Int64},
        {"long", DType::Int64},
        {"Long", DType::Int64},
        {"long long", DType::Int64},
        {"int", DType::Int32},
        {"Int", DType::Int32},
        {"short", DType::Int16},
        {"short int", DType::Int16},
        {"Short", DType::Int16},
        {"signed char", DType::Int8},
        {"char", DType::Int8},
        {"Char", DType::Int8},
        {"unsigned char", DType::UInt8},
        {"Byte", DType::UInt8},
        {"bool", DType::Bool},
        {"Bool", DType::Bool},
        {"unsigned short", DType::UInt16},
        {"unsigned int", DType::UInt32},
        {"unsigned long", DType::UInt64},
        {"Float8_e4m3fn", DType::Float8E4M3FN},
        {"Float8_e5m2", DType::Float8E5M2},
        {"Float8_e4m3fnuz", DType::Float8E4M3FNUZ},
        {"Float8_e5m2fnuz", DType::Float8E5M2FNUZ},
        {"Float8_e8m0fnu", DType::Float8E8M0FNU},
        {"complex<float>", DType::Complex64},
        {"ComplexFloat", DType::Complex64},
        {"complex<double>", DType::Complex128},
        {"ComplexDouble", DType::Complex128},
        {"complex<Half>", DType::Complex32},
        {"ComplexHalf", DType::Complex32},
    }};
    for (const auto& [text, dtype] : kNames) {
        if (text == name)
            return dtype;
    }
    return dtypeFromName(name);
}

} // namespace gs
