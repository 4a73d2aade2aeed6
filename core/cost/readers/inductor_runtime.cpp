// Inductor's runtime estimates as TORCH_TRACE and tlparse write them:
//
//     {"ops":[{"name":"extern_kernels.mm","type":"compute","estimated_runtime_ns":6885841.87,"outputs":[…]}]}
//
// one entry per scheduler node in order; and the older benchmark table of collectives,
// {"world_size":8,"collective_benchmarks":{KEY:{"benchmarked_ms":…,"analytical_nccl_ms":…}}}.
#include "cost/cost_file.h"
#include "cost/readers/collective_names.h"
#include "cost/readers/cost_reader.h"
#include "cost/readers/inductor_keys.h"
#include "cost/readers/measured_model.h"
#include "cost/readers/op_signature.h"
#include "import/json_scan.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

int sniff(std::string_view head) {
    const size_t first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || head[first] != '{')
        return 0;
    const bool runtime = head.find("\"estimated_runtime_ns\"") != std::string_view::npos;
    return runtime || head.find("\"collective_benchmarks\"") != std::string_view::npos ? 90 : 0;
}

/// Nanoseconds of a number, or nothing if it is none that can be believed.
std::optional<int64_t> timeOf(const Json& value, double unit_ns) {
    if (!value.is_number())
        return std::nullopt;
    const double ns = value.get<double>() * unit_ns;
    if (!(ns >= 0) || ns > static_cast<double>(kMaxFileCostNs))
        return std::nullopt;
    return std::llround(ns);
}

class RuntimeReader {
public:
    RuntimeReader(const std::string& path, Diagnostics& diagnostics)
        : path_(path), diagnostics_(diagnostics) {
        costs_.path = path;
        costs_.file_name = std::filesystem::path(path).filename().string();
        costs_.what = "list of estimates";
        costs_.provenance = Provenance::Imported;
        costs_.one_step = true;
        costs_.hint =
            "Inductor names fused kernels after buffers (op1_op2), which an FX graph does not have; open "
            "the scheduler-level graph, or let the analytical model fill these: "
            "cost_sources=file,analytical";
    }

    void readOps(const Json& ops) {
        size_t index = 0;
        for (const Json& op : ops) {
            ++index;
            const auto name = op.is_object() ? op.find("name") : op.end();
            const auto time = op.is_object() ? op.find("estimated_runtime_ns") : op.end();
            const bool named = op.is_object() && name != op.end() && name->is_string();
            const auto ns = named && time != op.end() ? timeOf(*time, 1) : std::nullopt;
            if (ns)
                addOp(name->get<std::string>(), *ns);
            else
                fault(fmt::format("entry {} of \"ops\" has no name or no time from 0 ns to an hour", index));
        }
    }

    void readBenchmarks(const Json& benchmarks) {
        for (const auto& [key, row] : benchmarks.items()) {
            std::optional<int64_t> ns;
            std::string from;
            for (const char* column : {"benchmarked_ms", "analytical_nccl_ms", "analytical_inductor_ms"}) {
                if (const auto found = row.is_object() ? row.find(column) : row.end();
                    !ns && row.is_object() && found != row.end()) {
                    ns = timeOf(*found, 1e6);
                    ns = ns && *ns > 0 ? ns : std::nullopt;
                    from = column;
                }
            }
            auto point = collectiveOfKey(key);
            if (!ns || !point) {
                fault(fmt::format("\"{}\" is no collective with a time", key.substr(0, 200)));
                continue;
            }
            point->time.ns = *ns;
            point->time.note = from;
            costs_.collectives.push_back(std::move(*point));
        }
    }

    CostModelPtr finish() { return makeMeasuredModel(std::move(costs_)); }

private:
    void addOp(const std::string& name, int64_t ns) {
        if (name.find("wait_tensor") != std::string::npos)
            return; // typed "compute" there; waits cost nothing by themselves
        const CollectiveKind kind =
            name.find("c10d") == std::string::npos ? CollectiveKind::None : collectiveOfName(name);
        if (kind != CollectiveKind::None) {
            costs_.ordered_collectives[kind].push_back(ns);
            return;
        }
        if (name.find('.') != std::string::npos) {
            costs_.ordered_ops[opPacket(name)].push_back(ns);
            return;
        }
        MeasuredTime time;
        time.ns = ns;
        time.note = "Inductor's estimate";
        costs_.named.emplace(name, time);
    }

    void fault(std::string what) {
        diagnostics_.add(
            {Severity::Warning, "bad-cost", {path_, 0, 0}, {}, std::move(what), "the entry is ignored"});
    }

    std::string path_;
    Diagnostics& diagnostics_;
    MeasuredCosts costs_;
};

Result<CostModelPtr> read(const std::string& path, Diagnostics& diagnostics, const JobContext&) {
    const Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    const Json file = Json::parse(input->text, nullptr, false);
    if (file.is_discarded()) {
        const JsonFault fault = findJsonFault(input->text);
        const SourcePos where{path, std::max(fault.line, 1U), std::max(fault.column, 1U)};
        return Error{"bad-json", fmt::format("{}:{}:{}: {}", path, where.line, where.column, fault.message),
                     where, "copy the file again"};
    }
    RuntimeReader reader(path, diagnostics);
    const Json none = Json::array();
    const auto member = [&](const char* key) -> const Json& {
        const auto found = file.is_object() ? file.find(key) : file.end();
        return file.is_object() && found != file.end() ? *found : none;
    };
    if (!file.is_object() || (!member("ops").is_array() && !member("collective_benchmarks").is_object()))
        return Error{"not-a-cost-file",
                     fmt::format("{}: no list \"ops\" at the top of the file", path),
                     {path, 1, 1},
                     "tlparse writes inductor_runtime_and_tensor_meta files with such a list"};
    if (member("ops").is_array())
        reader.readOps(member("ops"));
    if (member("collective_benchmarks").is_object())
        reader.readBenchmarks(member("collective_benchmarks"));
    return reader.finish();
}

} // namespace

CostReader inductorRuntimeReader() {
    return {"inductor-runtime", "Inductor's runtime estimates (JSON)", sniff, read};
}

} // namespace gs
