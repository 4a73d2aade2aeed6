// The roofline and the analytical model against PyTorch 2.15's estimates and the corpus' cost tables.
#include "cost/analytical_model.h"
#include "graph/graph_builder.h"
#include "import/importer.h"
#include "support/golden_count.h"
#include "support/test_data.h"

#include <QTest>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace gs;
using Json = nlohmann::json;

namespace {

GraphPtr readGraph(const std::string& name) {
    const auto path = test::corpusPath("graphs/" + name + ".json");
    if (!path)
        return nullptr;
    Diagnostics diagnostics;
    const auto imported = importGraph(*path, -1, -1, diagnostics, {});
    return imported ? imported->graph : nullptr;
}

bool near(double got, double want) {
    return std::abs(got - want) <= 1e-12 * std::abs(want);
}

/// estimate_roofline_runtime_ms: half the FLOPs at 75 % of the peak, all of the bandwidth.
RooflineParams torchParams(const Json& data) {
    RooflineParams params;
    for (const auto& [name, tflops] : data.at("tflops").items())
        params.peak_flops[static_cast<size_t>(dtypeFromName(name))] = tflops.get<double>() * 1e12;
    params.other_peak_flops = data.at("tflops_other").get<double>() * 1e12;
    params.memory_bandwidth = data.at("dram_gbps").get<double>() * 1e9;
    params.compute_efficiency = 2 * 0.75;
    params.peak_of_input = false;
    params.count_repeats = true;
    return params;
}

/// FORMAT.md, "costs".
DevicePreset corpusDevice() {
    DevicePreset device;
    device.name = "corpus";
    RooflineParams& params = device.roofline;
    params.other_peak_flops = 494e12;
    for (DType dtype : {DType::BFloat16, DType::Float16})
        params.peak_flops[static_cast<size_t>(dtype)] = 989e12;
    for (DType dtype : {DType::Float8E4M3FN, DType::Float8E5M2})
        params.peak_flops[static_cast<size_t>(dtype)] = 1979e12;
    params.memory_bandwidth = 3.35e12;
    params.compute_efficiency = 0.5;
    params.memory_efficiency = 0.5;
    params.peak_of_input = false;
    params.broadcast_once = false;
    device.uses_nccl = false;
    device.links = {5, 12, 450, 50, 0.5};
    return device;
}

Value tensor(DType dtype, std::initializer_list<int64_t> shape) {
    Value value;
    value.kind = Value::Kind::Tensor;
    value.tensor.dtype = dtype;
    for (int64_t size : shape)
        value.tensor.shape.push_back({size, kEmptyString});
    return value;
}

/// A graph of one call on `inputs`.
GraphPtr oneCall(std::string_view target, const std::vector<Value>& inputs, const Value& out) {
    GraphBuilder builder;
    std::vector<Arg> args;
    for (const Value& input : inputs) {
        const std::string name = "x" + std::to_string(builder.size());
        const NodeId id = builder.addNode(name, NodeOp::Placeholder, name);
        builder.setValue(id, input);
        args.push_back(builder.nodeArg(id));
    }
    const NodeId call = builder.addNode("call", NodeOp::CallFunction, target);
    builder.setArgs(call, args);
    builder.setValue(call, out);
    return builder.finish(nullptr);
}

std::optional<CostEstimate> priceCall(const GraphPtr& graph, const char* device = "h100") {
    const CollectiveTable collectives(*graph);
    return makeAnalyticalModel(*findDevicePreset(device))
        ->estimate(*graph, collectives, graph->find("call").value());
}

} // namespace

class TestRoofline : public QObject {
    Q_OBJECT

private slots:
    void torchEstimates() {
        const auto path = test::corpusPath("golden/comm/roofline_fx.json");
        if (!path)
            return;
        const Json data = Json::parse(test::readAll(*path));
        const RooflineParams params = torchParams(data);
        size_t nodes = 0, zeros = 0, collectives = 0;
        test::GoldenCount count;
        for (const auto& [name, golden] : data.at("graphs").items()) {
            const GraphPtr graph = readGraph(name);
            if (!graph) {
                count.not_run["graphs/" + name + ".json"] +=
                    golden["roofline_ms"].size() + golden["nccl_ms"].size();
                continue;
            }
            const CollectiveTable table(*graph);
            for (NodeId id = 0; id < graph->size(); ++id) {
                const std::string node(graph->name(id));
                const double want = golden["roofline_ms"].value(node, 0.0);
                count.compared += golden["roofline_ms"].contains(node) ? 1 : 0;
                if (!graph->isCall(id) || graph->hasTrait(id, kTraitView) ||
                    graph->value(id).kind == Value::Kind::None) {
                    QCOMPARE(want, 0.0);
                    ++zeros;
                    continue;
                }
                const auto got = roofline(*graph, id, params);
                QVERIFY2(got && near(got->ns / 1e6, want), (name + ": " + node).c_str());
                ++nodes;
            }
            for (const Collective& collective : table.all()) {
                const std::string node(graph->name(collective.launch));
                const int64_t bytes = collectiveMessageBytes(*graph, collective);
                QCOMPARE(bytes, golden["collective_size_bytes"].at(node).get<int64_t>());
                const auto kind = ncclCollective(collective.kind);
                QVERIFY(kind);
                const auto got = ncclEstimate({}, {collective.group_size}, *kind, bytes);
                QVERIFY2(got && near(got->us / 1000, golden["nccl_ms"].at(node)), node.c_str());
                ++collectives;
            }
        }
        count.compared += collectives;
        test::reportGoldens("comm", "roofline_fx", count);
        std::printf("roofline_fx.json: %zu nodes, %zu of them 0 by definition, %zu collectives\n",
                    nodes + zeros, zeros, collectives);
    }

    void corpusTables() {
        const DevicePreset device = corpusDevice();
        const CostModelPtr model = makeAnalyticalModel(device);
        size_t compute = 0, collective = 0, unknown = 0, files = 0;
        for (const std::string& name : test::corpusGraphs()) {
            if (name.starts_with("snodes_") || name.starts_with("tagged_") || name.starts_with("dynamo_") ||
                name.starts_with("prim29_"))
                continue; // another formula, or no table
            const auto path = test::corpusPath("costs/" + name + ".roofline.json");
            if (!path)
                continue;
            const Json costs = Json::parse(test::readAll(*path)).at("nodes");
            const GraphPtr graph = readGraph(name);
            const CollectiveTable table(*graph);
            ++files;
            for (const auto& [node, ns] : costs.items()) {
                const NodeId id = graph->find(node).value();
                const auto got = model->estimate(*graph, table, id);
                const bool launch = graph->node(id).kind == NodeKind::Launch;
                if (!got) { // the corpus takes an unbacked size as 0, we say that it is not known
                    const Collective& item = table[static_cast<size_t>(table.indexOf(id))];
                    QVERIFY2(launch && std::min(item.input_bytes, item.output_bytes) < 0, node.c_str());
                    ++unknown;
                    continue;
                }
                QVERIFY2(got->ns == ns.get<int64_t>(), qPrintable(QString("%1: %2: %3, table %4")
                                                                      .arg(name.c_str(), node.c_str())
                                                                      .arg(got->ns)
                                                                      .arg(ns.get<int64_t>())));
                ++(launch ? collective : compute);
            }
        }
        std::printf("costs/*.roofline.json: %zu compute nodes and %zu collectives of %zu files equal, %zu of "
                    "unknown size\n",
                    compute, collective, files, unknown);
        if (files > 60) {
            QCOMPARE(compute, size_t{9477});
            QVERIFY(unknown < 60);
        }
    }

    void presets() {
        for (const char* id : {"a100", "h100", "H200", "b200", "mi300x", "cpu"})
            QVERIFY2(findDevicePreset(id), id);
        QVERIFY(!findDevicePreset("abacus"));
        for (const DevicePreset& device : devicePresets()) {
            QVERIFY(device.roofline.peak(DType::BFloat16) >= device.roofline.peak(DType::Float32));
            QVERIFY(device.roofline.peak(DType::Int64) > 0);
            QVERIFY(device.memory_bytes > 0);
            for (const char* field : {"peak_tflops", "memory_gbps", "launch_floor_ns", "compute_efficiency",
                                      "memory_efficiency", "gpus_per_node", "intra_gbps", "inter_gbps"}) {
                const bool stated = std::any_of(device.sources.begin(), device.sources.end(),
                                                [&](const auto& item) { return item.first == field; });
                QVERIFY2(stated, (device.id + ": " + field).c_str());
            }
        }
        // The base's numbers, where a device gives none.
        QCOMPARE(findDevicePreset("h200")->roofline.peak(DType::BFloat16), 989.5e12);
        QCOMPARE(findDevicePreset("h200")->roofline.memory_bandwidth, 4.8e12);
        QCOMPARE(findDevicePreset("b200")->nccl.generation, NcclGeneration::Blackwell);
    }

    void customDevices() {
        const auto path =
            std::filesystem::temp_directory_path() /
            ("gatherscope_devices_" + std::to_string(QCoreApplication::applicationPid()) + ".json");
        const auto load = [&](const std::string& devices) {
            std::ofstream(path) << R"({"format":"gatherscope.devices","version":1,"devices":[)" << devices
                                << "]}";
            Diagnostics diagnostics;
            return loadDevicePresets(path.string(), diagnostics);
        };
        const auto good = load(R"({"id":"Mine","base":"H100","inter_gbps":25,"peak_tflops":{"float32":60}},)"
                               R"({"id":"next","base":"mine","memory_gbps":4000})");
        QVERIFY2(good.ok(), good.ok() ? "" : good.error().message.c_str());
        QCOMPARE(good->size(), size_t{2});
        QCOMPARE(good->at(0).id, std::string("mine"));
        QCOMPARE(good->at(0).nccl.inter_node_gbps.value(), 25.0);
        QCOMPARE(good->at(0).roofline.peak(DType::Float32), 60e12);
        QCOMPARE(good->at(1).roofline.peak(DType::BFloat16), 989.5e12);
        QCOMPARE(good->at(1).nccl.inter_node_gbps.value(), 25.0);
        const std::pair<const char*, const char*> kBad[] = {
            {R"({"base":"h100"})", "no \"id\""},
            {R"({"id":"x"})", "\"name\""},
            {R"({"id":"x","base":"y"})", "base \"y\""},
            {R"({"id":"x","base":"h100","memory_gbps":-1})", "\"memory_gbps\" is -1"},
            {R"({"id":"x","base":"h100","memory_gbps":"fast"})", "\"fast\""},
            {R"({"id":"x","base":"h100","memory_efficiency":1.5})", "\"memory_efficiency\" is 1.5"},
            {R"({"id":"x","base":"h100","gpus_per_node":0})", "gpus_per_node"},
            {R"({"id":"x","base":"h100","generation":"KEPLER"})", "KEPLER"},
            {R"({"id":"x","base":"h100","peak_tflops":{"bfloat17":1}})", "bfloat17"},
            {R"({"id":"x","base":"h100","collectives":"pigeon"})", "pigeon"},
            {"", "at least one device"}};
        for (const auto& [text, expected] : kBad) {
            const auto got = load(text);
            QVERIFY2(!got.ok() && got.error().message.find(expected) != std::string::npos,
                     got.ok() ? text : got.error().message.c_str());
        }
        const auto broken = load("{\n\"id\" 3}");
        QVERIFY(!broken.ok());
        QCOMPARE(broken.error().code, std::string("bad-json"));
        QCOMPARE(broken.error().where.line, 2U);
        std::filesystem::remove(path);
    }

    /// H100: a product that is bound by arithmetic, one by memory, one by the launch.
    void notes() {
        const auto mm = [](int64_t m, int64_t k, int64_t n) {
            return oneCall("aten.mm.default",
                           {tensor(DType::BFloat16, {m, k}), tensor(DType::BFloat16, {k, n})},
                           tensor(DType::BFloat16, {m, n}));
        };
        const auto big = priceCall(mm(8192, 4096, 6144));
        QCOMPARE(big->note, std::string("compute bound: 412 GFLOP at 693 TFLOP/s"));
        QCOMPARE(big->ns, int64_t(std::nearbyint(2.0 * 8192 * 4096 * 6144 / (989.5e12 * 0.7) * 1e9)));
        const auto thin = priceCall(mm(16384, 16384, 1));
        QVERIFY2(thin->note.starts_with("memory bound: 537 MB at 2.85 TB/s"), thin->note.c_str());
        const auto tiny = priceCall(mm(8, 8, 8));
        QCOMPARE(tiny->ns, int64_t{2000});
        QVERIFY(tiny->note.starts_with("launch floor"));
        // 8-bit operands count at the 8-bit peak, whatever the result is.
        const auto eight = priceCall(
            oneCall("aten._scaled_mm.default",
                    {tensor(DType::Float8E4M3FN, {8192, 8192}), tensor(DType::Float8E4M3FN, {8192, 8192})},
                    tensor(DType::BFloat16, {8192, 8192})));
        QVERIFY(eight->note.ends_with("1.39 PFLOP/s"));
        QCOMPARE(priceCall(oneCall("aten._unsafe_view.default", {tensor(DType::BFloat16, {8, 8})},
                                   tensor(DType::BFloat16, {64})))
                     ->note,
                 std::string("starts no kernel"));
    }

    /// Unknown sizes give no estimate, huge ones the largest; nothing is negative or silently 0.
    void extremes() {
        const auto bf16 = DType::BFloat16;
        const Value unknown = tensor(bf16, {kUnknownSize, 8});
        QVERIFY(!priceCall(oneCall("aten.relu.default", {unknown}, unknown)));
        QVERIFY(!priceCall(oneCall("aten.relu.default", {tensor(DType::Unknown, {8})}, tensor(bf16, {8}))));
        QVERIFY(!priceCall(oneCall("aten.relu.default", {tensor(bf16, {8})}, Value{})));
        QVERIFY(!priceCall(
            oneCall("aten.mm.default", {tensor(bf16, {8, 9}), tensor(bf16, {8, 8})}, tensor(bf16, {8, 8}))));
        constexpr int64_t kHuge = 1'000'000'000;
        const Value huge = tensor(bf16, {kHuge, kHuge});
        for (const char* device : {"h100", "cpu", "mi300x"}) {
            QCOMPARE(priceCall(oneCall("aten.mm.default", {huge, huge}, huge), device)->ns, kMaxCostNs);
            const auto copy = priceCall(oneCall("aten.relu.default", {huge}, huge), device);
            QVERIFY(copy->ns > 0 && copy->ns <= kMaxCostNs);
            const Value none = tensor(bf16, {0});
            QVERIFY(priceCall(oneCall("aten.relu.default", {none}, none), device)->ns > 0);
        }
        const Value most = tensor(bf16, {kHugeSize, kHugeSize, kHugeSize});
        QCOMPARE(priceCall(oneCall("aten.mm.default", {most, most}, most)).has_value(), false);
        QVERIFY(priceCall(oneCall("aten.relu.default", {most}, most))->ns <= kMaxCostNs);
    }

    /// Ranks of a group on different nodes make its collective slower, if the file states them.
    void placement() {
        const auto gather = [](std::vector<int32_t> ranks) {
            GraphBuilder builder;
            builder.addGroup("g", std::move(ranks), "");
            const NodeId x = builder.addNode("x", NodeOp::Placeholder, "x");
            builder.setValue(x, tensor(DType::BFloat16, {1 << 20}));
            const NodeId call = builder.addNode("call", NodeOp::CallFunction,
                                                "_c10d_functional.all_gather_into_tensor.default");
            builder.setArgs(call,
                            {builder.nodeArg(x), builder.intArg(4), builder.textArg(Arg::Kind::String, "g")});
            builder.setValue(call, tensor(DType::BFloat16, {4 << 20}));
            return builder.finish(nullptr);
        };
        for (const char* device : {"h100", "mi300x"}) {
            const auto near_by = priceCall(gather({8, 9, 10, 11}), device);
            const auto spread = priceCall(gather({0, 8, 16, 24}), device);
            const auto unstated = priceCall(gather({}), device);
            QVERIFY(near_by && spread && unstated);
            QVERIFY(spread->ns > 2 * near_by->ns);
            QCOMPARE(unstated->ns, near_by->ns);
            QVERIFY2(spread->note.find("4 ranks on 4 nodes") != std::string::npos, spread->note.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestRoofline)
#include "tst_roofline.moc"
