// Costs as a Chrome trace that Inductor's profile-guided estimation reads (torch 2.14 and newer, the setting
// profile_guided_estimations_profile_path). What its loader looks at, by torch/_inductor/fx_passes/
// profile_guided_estimation.py of torch 2.15: of operators a "cpu_op" with sizes, strides and one type, and
// the kernels with the same "External id"; of collectives the kernel's own arguments. It finds an operator by
// name, sizes and strides of its direct tensor arguments and the type of its *result* (which is why that type
// stands first here), a collective by kind, ranks, type and elements of its result.
#include "base/version.h"
#include "cost/operands.h"
#include "export/exporters.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

/// Type of an operator's inputs as the loader knows it; empty = it knows none, so nothing would be found.
std::string_view operatorType(DType dtype) {
    switch (dtype) {
    case DType::Float32:
        return "float";
    case DType::Float64:
        return "double";
    case DType::BFloat16:
        return "c10::BFloat16";
    case DType::Float16:
        return "c10::Half";
    case DType::Int64:
        return "long int";
    case DType::Int32:
        return "int";
    case DType::Int16:
        return "int16";
    case DType::Int8:
        return "signed char";
    case DType::UInt8:
        return "unsigned char";
    case DType::Bool:
        return "bool";
    case DType::Complex64:
        return "c10::complex<float>";
    case DType::Complex128:
        return "c10::complex<double>";
    default:
        return {};
    }
}

/// Type of a message, as ScalarType is printed.
std::string_view messageType(DType dtype) {
    switch (dtype) {
    case DType::Float32:
        return "Float";
    case DType::Float64:
        return "Double";
    case DType::BFloat16:
        return "BFloat16";
    case DType::Float16:
        return "Half";
    case DType::Int64:
        return "Long";
    case DType::Int32:
        return "Int";
    case DType::Int16:
        return "Short";
    case DType::Int8:
        return "Char";
    case DType::UInt8:
        return "Byte";
    case DType::Bool:
        return "Bool";
    case DType::Float8E4M3FN:
        return "Float8_e4m3fn";
    case DType::Float8E5M2:
        return "Float8_e5m2";
    default:
        return {};
    }
}

/// The collectives that the loader is asked about, and how the profiler names and NCCL runs them.
struct Message {
    std::string_view target, name, kernel;
};
constexpr Message kMessages[] = {
    {"_c10d_functional.all_gather_into_tensor", "_allgather_base", "ncclDevKernel_AllGather"},
    {"_c10d_functional.all_gather_into_tensor_out", "_allgather_base", "ncclDevKernel_AllGather"},
    {"_c10d_functional.reduce_scatter_tensor", "_reduce_scatter_base", "ncclDevKernel_ReduceScatter"},
    {"_c10d_functional.all_reduce", "allreduce", "ncclDevKernel_AllReduce"},
    {"_c10d_functional.all_to_all_single", "all_to_all", "ncclDevKernel_SendRecv"}};

const Message* messageOf(std::string_view target) {
    for (const Message& message : kMessages) {
        if (target.starts_with(message.target) &&
            (target.size() == message.target.size() || target[message.target.size()] == '.'))
            return &message;
    }
    return nullptr;
}

std::string micros(int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::string jsonText(std::string_view text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Launches have numbers of their own: where both are equal, readers take a file for one of those that state
/// the launch twice and no operator.
constexpr int64_t kFirstLaunch = 1'000'000;

/// One record of the trace: all calls that the loader cannot tell apart.
struct Record {
    int64_t sum_ns = 0;
    int64_t calls = 0;
    int64_t least_ns = 0, most_ns = 0;
    const CostEntry* first = nullptr;
    std::string operator_args;       ///< of the cpu_op; empty for a collective
    std::string kernel, kernel_args; ///< of the kernel
    std::string name;                ///< of the cpu_op

    int64_t mean() const { return (sum_ns + calls / 2) / calls; }
};

class PgeTrace {
public:
    explicit PgeTrace(const Analysis& analysis) {
        // Inductor estimates its own graph, before anything was merged; what was merged adds other sizes.
        add(analysis.before);
        if (analysis.after.graph != analysis.before.graph)
            add(analysis.after);
    }

    std::string text(const Graph& graph) const {
        std::string out = "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"otherData\":" +
                          Json{{"madeBy", fmt::format("{} {}", kProgramName, programVersion())},
                               {"note", "costs of a graph, not a recording"},
                               {"graph", graph.info().name}}
                              .dump(-1, ' ', false, Json::error_handler_t::replace) +
                          ",\n\"distributedInfo\":" + groups(graph) + ",\n\"traceEvents\":[\n" +
                          "{\"ph\":\"M\",\"pid\":0,\"tid\":7,\"name\":\"thread_name\",\"args\":{\"name\":"
                          "\"stream 7\"}},\n{\"ph\":\"M\",\"pid\":0,\"tid\":20,\"name\":\"thread_name\","
                          "\"args\":{\"name\":\"stream 20\"}}";
        int64_t at = 0, id = 0;
        for (const auto& [key, record] : records_)
            out += event(record, ++id, at);
        return out + "\n]}\n";
    }

    /// What the loader will not find, and what it will find only as a mean.
    std::vector<std::string> warnings() const {
        std::vector<std::string> out;
        for (const auto& [reason, count] : left_out_)
            out.push_back(fmt::format("{} node{} left out: {}", count, count == 1 ? " is" : "s are", reason));
        const auto mixed = std::count_if(records_.begin(), records_.end(), [](const auto& item) {
            return item.second.least_ns != item.second.most_ns;
        });
        if (mixed > 0)
            out.push_back(
                fmt::format("{} record{} the mean of nodes that Inductor cannot tell apart but whose "
                            "costs differ",
                            mixed, mixed == 1 ? " is" : "s are"));
        return out;
    }

private:
    void add(const Program& program) {
        const Graph& graph = *program.graph;
        for (NodeId id = 0; id < graph.size(); ++id) {
            const NodeKind kind = graph.node(id).kind;
            if (kind != NodeKind::Compute && kind != NodeKind::Launch)
                continue;
            const CostEntry* entry = program.costs->entry(id);
            std::string key, reason;
            Record record;
            if (!entry || entry->provenance == Provenance::Missing || entry->ns <= 0)
                reason = "their cost is missing or 0";
            else if (kind == NodeKind::Launch)
                reason = describeMessage(program, id, record, key);
            else
                reason = describeOperator(graph, id, record, key);
            if (!reason.empty()) {
                // Of the merged program only what the loader can use is new.
                if (&program == first_ || !first_)
                    ++left_out_[reason];
                continue;
            }
            Record& of = records_.try_emplace(std::move(key), std::move(record)).first->second;
            of.least_ns = of.calls == 0 ? entry->ns : std::min(of.least_ns, entry->ns);
            of.most_ns = std::max(of.most_ns, entry->ns);
            of.sum_ns += entry->ns;
            of.calls += 1;
            of.first = of.first ? of.first : entry;
        }
        first_ = first_ ? first_ : &program;
    }

    /// Sizes and strides of a tensor; false if one of them is not known.
    static bool appendTensor(const TensorMeta& tensor, Json& sizes, Json& strides) {
        Json size = Json::array(), stride = Json::array();
        for (const Dim& dim : tensor.shape)
            size.push_back(dim.value);
        for (const Dim& dim : tensor.stride)
            stride.push_back(dim.value);
        const auto unknown = [](const Dim& dim) { return dim.value < 0; };
        if (!tensor.has_stride || std::any_of(tensor.shape.begin(), tensor.shape.end(), unknown) ||
            std::any_of(tensor.stride.begin(), tensor.stride.end(), unknown))
            return false;
        sizes.push_back(std::move(size));
        strides.push_back(std::move(stride));
        return true;
    }

    static const TensorMeta* resultOf(const Graph& graph, NodeId id) {
        const Value& value = readValue(graph, id);
        if (value.kind == Value::Kind::Tensor)
            return &value.tensor;
        const bool list = value.kind == Value::Kind::List && !value.items.empty() &&
                          value.items.front().kind == Value::Kind::Tensor;
        return list ? &value.items.front().tensor : nullptr;
    }

    /// Why the loader could not find it; empty if it can.
    static std::string describeOperator(const Graph& graph, NodeId id, Record& record, std::string& key) {
        const std::string_view target = graph.targetText(id);
        const size_t first = target.find('.'), last = target.rfind('.');
        const std::string_view space = target.substr(0, std::min(first, target.size()));
        if (first == last || space == "higher_order" || space == "torch" || space == "operator")
            return "Inductor looks up operators of a schema only";
        const TensorMeta* result = resultOf(graph, id);
        const std::string_view type = result ? operatorType(result->dtype) : std::string_view();
        if (type.empty())
            return "the type of their result has no name in a trace";
        Json sizes = Json::array(), strides = Json::array();
        for (const Arg& arg : graph.children(graph.node(id).args)) {
            const NodeId from = arg.node();
            if (from == kNoNode || readValue(graph, from).kind != Value::Kind::Tensor)
                continue;
            const TensorMeta& tensor = readValue(graph, from).tensor;
            if (tensor.shape.empty())
                return "they read a tensor without dimensions, which the loader drops";
            if (!appendTensor(tensor, sizes, strides))
                return "sizes or strides of what they read are not known";
        }
        if (sizes.empty())
            return "no argument of theirs is a tensor by itself";
        record.name = fmt::format("{}::{}", space, target.substr(first + 1, last - first - 1));
        Json types = Json::array(), concrete = Json::array();
        for (size_t i = 0; i < sizes.size(); ++i) {
            types.push_back(type);
            concrete.push_back("");
        }
        record.operator_args =
            fmt::format("\"Input Dims\":{},\"Input type\":{},\"Input Strides\":{},\"Concrete Inputs\":{}",
                        sizes.dump(), types.dump(), strides.dump(), concrete.dump());
        record.kernel = record.name;
        key = "1 " + record.name + record.operator_args;
        return {};
    }

    static std::string describeMessage(const Program& program, NodeId id, Record& record, std::string& key) {
        const Graph& graph = *program.graph;
        const Message* message = messageOf(graph.targetText(id));
        const int32_t index = program.collectives->indexOf(id);
        if (!message || index < 0)
            return "Inductor estimates no collectives of their kind";
        const Collective& item = (*program.collectives)[static_cast<size_t>(index)];
        const TensorMeta* result = resultOf(graph, id);
        const std::string_view type = result ? messageType(result->dtype) : std::string_view();
        if (type.empty() || result->numel() <= 0)
            return "elements or type of what they yield are not known";
        const std::vector<int32_t> ranks = ranksOf(graph, item);
        if (ranks.empty())
            return "the ranks of their group are not known";
        const int64_t bytes = dtypeBytes(result->dtype);
        const int64_t in_elements = item.input_bytes < 0 || bytes == 0 ? 0 : item.input_bytes / bytes;
        record.kernel = message->kernel;
        record.kernel_args = fmt::format(
            "\"Collective name\":\"{}\",\"In msg nelems\":{},\"Out msg nelems\":{},\"Group size\":{},"
            "\"dtype\":\"{}\",\"Process Group Name\":{},\"Process Group Ranks\":\"{}\"",
            message->name, in_elements, result->numel(), ranks.size(), type,
            jsonText(graph.text(graph.groups()[item.group].name)), Json(ranks).dump());
        key = fmt::format("2 {} {} {} {:020}", message->name, Json(ranks).dump(), type, result->numel());
        return {};
    }

    /// Sorted; a group as large as the world has all ranks.
    static std::vector<int32_t> ranksOf(const Graph& graph, const Collective& item) {
        if (item.group == kNoGroup)
            return {};
        std::vector<int32_t> ranks = graph.groups()[item.group].ranks;
        if (ranks.empty() && item.group_size > 0 && item.group_size == graph.info().world_size) {
            ranks.resize(static_cast<size_t>(item.group_size));
            std::iota(ranks.begin(), ranks.end(), 0);
        }
        std::sort(ranks.begin(), ranks.end());
        return ranks;
    }

    static std::string groups(const Graph& graph) {
        Json list = Json::array();
        for (const ProcessGroup& group : graph.groups())
            list.push_back({{"pg_name", graph.text(group.name)},
                            {"pg_desc", graph.text(group.description)},
                            {"backend_config", "cuda:nccl"},
                            {"pg_size", group.size},
                            {"ranks", group.ranks}});
        return Json{{"backend", "nccl"},
                    {"rank", graph.info().rank},
                    {"world_size", graph.info().world_size},
                    {"pg_count", list.size()},
                    {"pg_config", std::move(list)}}
            .dump(-1, ' ', false, Json::error_handler_t::replace);
    }

    /// The operator's host range, if it has one, and its kernel; one after the other on the time axis.
    static std::string event(const Record& record, int64_t id, int64_t& at) {
        const bool message = record.operator_args.empty();
        const int64_t ns = record.mean();
        std::string out;
        if (!message)
            out =
                fmt::format(",\n{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":{},\"pid\":1,\"tid\":1,\"ts\":{},"
                            "\"dur\":{},\"args\":{{\"External id\":{},{}}}}}",
                            jsonText(record.name), micros(at), micros(ns), id, record.operator_args);
        out += fmt::format(
            ",\n{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":{},\"pid\":0,\"tid\":{},\"ts\":{},\"dur\":{},"
            "\"args\":{{\"External id\":{},\"correlation\":{},\"device\":0,\"stream\":{}{}{},\"calls\":{},"
            "\"provenance\":\"{}\",\"source\":{}}}}}",
            jsonText(record.kernel), message ? 20 : 7, micros(at), micros(ns), id, kFirstLaunch + id,
            message ? 20 : 7, message ? "," : "", record.kernel_args, record.calls,
            provenanceName(record.first->provenance), jsonText(record.first->source));
        at += ns;
        return out;
    }

    std::map<std::string, Record> records_; ///< by what the loader looks up
    std::map<std::string, size_t> left_out_;
    const Program* first_ = nullptr;
};

} // namespace

Exporter pgeTraceExporter() {
    return {"pge", "Profile for Inductor's estimates (Chrome trace)", "trace.json",
            [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(PgeTrace(analysis).text(*analysis.before.graph));
            },
            [](const Analysis& analysis, const ExportOptions&) { return PgeTrace(analysis).warnings(); }};
}

} // namespace gs
