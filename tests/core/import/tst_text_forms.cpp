// Every variation of syntax that the field shows (cases/README.md, section 2), on texts of our own.
#include "core/import/open_graph.h"
#include "graph/collectives.h"
#include "support/test_data.h"

#include <QTest>

using namespace gs;
using namespace gs::test;

namespace {

const std::string kBody =
    "        ag: \"bf16[16]\" = torch.ops._c10d_functional.all_gather_into_tensor.default(p0, 2, '0');  p0 = "
    "None\n"
    "        w: \"bf16[16]\" = torch.ops._c10d_functional.wait_tensor.default(ag);  ag = None\n"
    "        return (w,)\n";
const std::string kHeader = "    def forward(self, p0: \"bf16[8]\"):\n";
const std::string kGraph = "class GraphModule(torch.nn.Module):\n" + kHeader + kBody;

/// `text` with `prefix` in front of each line.
std::string prefixed(const std::string& text, const std::string& prefix) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        out += prefix + text.substr(at, end - at);
        at = end;
    }
    return out;
}

std::string forward(const std::string& statements,
                    const std::string& arguments = "x: \"f32[4]\", y: \"f32[4]\"") {
    return "def forward(self, " + arguments + "):\n" + prefixed(statements, "    ");
}

std::string targetOf(const Graph& graph, const char* name) {
    const auto id = graph.find(name);
    return id ? std::string(graph.targetText(*id)) : std::string("no such node");
}

} // namespace

class TstTextForms : public QObject {
    Q_OBJECT
private slots:
    void containers_data();
    void containers();
    void severalGraphs();
    void interleavedRanks();
    void headers();
    void statements();
    void values();
    void returns();
    void collectives_data();
    void collectives();
    void groupsThatAreObjects();
    void copiesOfFsdp2();
    void wrappedOperators();
    void graphForm();
};

void TstTextForms::containers_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("stage");
    const auto row = [](const char* name, const std::string& text, const char* stage = "") {
        QTest::newRow(name) << QString::fromStdString(text) << stage;
    };
    const std::string log =
        "I0120 22:19:37.446000 23 site-packages/torch/_functorch/x.py:15] [0/0] [__aot_graphs] ";
    row("plain", kGraph);
    row("lambda class", "class <lambda>(torch.nn.Module):\n" + kHeader + kBody);
    row("other class", "class joint_helper(torch.nn.Module):\n" + kHeader + kBody);
    row("path in front", " /opt/torch/fx/_lazy_graph_module.py " + kGraph);
    row("eval key in front", "<eval_with_key>.31 " + kGraph);
    row("no class", "def forward(self, p0: \"bf16[8]\"):\n" + kBody);
    row("another name", "def step(self, p0: \"bf16[8]\"):\n" + kBody);
    row("licence above", "# Copyright\n# Licence\nb8: type\n# Graph[rank=0](fw, gid=0)\n" + kGraph,
        "fw, gid=0");
    row("banner", "TRACED GRAPH\n ===== AFTER POST GRAD =====\n" + kGraph, "AFTER POST GRAD");
    row("full prefix", prefixed(kGraph, log), "aot_graphs");
    row("torchrun prefix", prefixed(kGraph, "[rank0]:" + log), "aot_graphs");
    row("doubled rank", prefixed(kGraph, "[rank0]:[rank0]:" + log), "aot_graphs");
    row("cut rank", prefixed(kGraph, "rank0]:[rank0]:" + log), "aot_graphs");
    row("shortened prefix",
        prefixed(kGraph, "torch/_inductor/compile_fx.py:910] [0/1] [__post_grad_graphs] "),
        "post_grad_graphs");
    row("attempt in the id",
        prefixed(kGraph, "V0120 22:19:37.446000 23 torch/x.py:1] [!1/0/0_2] [__graph_code] "), "graph_code");
    row("C++ log lines between",
        prefixed(kGraph.substr(0, kGraph.find("        ag")), log) +
            "[rank7]:[E901 05:20:03.123992144 ProcessGroupNCCL.cpp:632] Watchdog\n" +
            prefixed(kGraph.substr(kGraph.find("        ag")), log),
        "aot_graphs");
    row("quoted", prefixed(kGraph, "> "));
    row("fenced", "Some words.\n```python\n" + kGraph + "```\nMore words.\n");
    row("indented below a heading", "        post_grad_graph:\n" + prefixed(kGraph, "        "),
        "post_grad_graph");
    row("in comments", prefixed(kGraph, "# "));
    row("coloured", "\x1b[34mclass\x1b[0m GraphModule(torch.nn.Module):\n" + kHeader + kBody);
    row("Windows line ends", [] {
        std::string text;
        for (const char c : kGraph)
            text += c == '\n' ? "\r\n" : std::string(1, c);
        return text;
    }());
    row("lines of spaces",
        "class GraphModule(torch.nn.Module):\n" + kHeader + "        \n    \n" + kBody + "        \n");
    row("structured log",
        "V0728 16:17:28.174000 60 torch/x.py:1] {\"artifact\": {\"name\": \"before_post_grad_graph\", "
        "\"encoding\": "
        "\"string\"}, \"rank\": 0, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0}\n" +
            prefixed(kGraph, "\t"),
        "before_post_grad_graph");
    row("comments repeat statements", "class GraphModule(torch.nn.Module):\n" + kHeader +
                                          "         # File: <eval_with_key>.9:3 in forward, code: ag = "
                                          "torch.ops._c10d_functional.all_gather_into_"
                                          "tensor.default(p0, 2, '0');  p0 = None\n" +
                                          kBody);
}

void TstTextForms::containers() {
    QFETCH(QString, text);
    QFETCH(QString, stage);
    const Opened opened = openText(text.toStdString());
    QVERIFY2(opened.result.ok(), opened.result.ok() ? "" : opened.result.error().message.c_str());
    QCOMPARE(opened.result.value().entries.size(), size_t{1});
    QCOMPARE(QString::fromStdString(opened.result.value().entries[0].stage), stage);
    for (const Diagnostic& item : opened.diagnostics.all())
        QVERIFY2(item.code == "fragment", item.message.c_str());
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(table.weightGatherCount(), size_t{1});
    QCOMPARE(table[0].waits.size(), size_t{1});
    QCOMPARE(table[0].output_bytes, int64_t{32});
    QVERIFY(opened.graph().output() != kNoNode);
}

void TstTextForms::severalGraphs() {
    const std::string text = "=====================\n[Rank 1] Dynamo Graph.\n" + kGraph +
                             "3 broadcast: tensor([[1, 1]])\n" + "---------- Backward graph 0 ----------\n" +
                             kGraph + "\n" + kGraph;
    const Opened opened = openText(text);
    QVERIFY(opened.result.ok());
    const auto& entries = opened.result.value().entries;
    QCOMPARE(entries.size(), size_t{3});
    QCOMPARE(entries[0].name, std::string("Dynamo Graph"));
    QCOMPARE(entries[0].rank, 1);
    QCOMPARE(entries[1].name, std::string("Backward graph 0"));
    QCOMPARE(entries[2].name, std::string("GraphModule"));
}

/// Lines of four ranks mixed at random keep to their ranks.
void TstTextForms::interleavedRanks() {
    std::vector<std::string> lines[4];
    for (int rank = 0; rank < 4; ++rank) {
        std::string text = kGraph;
        text.insert(text.find("        return"),
                    prefixed("        extra: \"bf16[16]\" = torch.ops.aten.relu.default(w)\n", ""));
        const std::string prefix = "[rank" + std::to_string(rank) + "]:V1129 11:37:54.090000 " +
                                   std::to_string(26508 + rank) +
                                   " torch/_inductor/x.py:106] [0/0] [__post_grad_graphs] ";
        const std::string own = prefixed(rank % 2 ? text : kGraph, prefix);
        for (size_t at = 0; at < own.size();) {
            const size_t end = own.find('\n', at) + 1;
            lines[rank].push_back(own.substr(at, end - at));
            at = end;
        }
    }
    std::string mixed;
    for (size_t i = 0, turn = 7; i < 24; ++i, turn = turn * 5 + 3) {
        for (int rank = 0; rank < 4; ++rank) {
            auto& own = lines[(static_cast<size_t>(rank) + turn) % 4];
            if (!own.empty()) {
                mixed += own.front();
                own.erase(own.begin());
            }
        }
    }
    for (int rank = 0; rank < 4; ++rank) {
        Diagnostics diagnostics;
        const auto one = importText({"log", mixed}, -1, rank, diagnostics, {});
        QVERIFY(one.ok());
        QCOMPARE(one->entries.size(), size_t{4});
        QCOMPARE(one->graph->info().rank, rank);
        QCOMPARE(one->graph->size(), static_cast<size_t>(4 + rank % 2));
        QCOMPARE(diagnostics.all().size(), size_t{0});
    }
}

void TstTextForms::headers() {
    const Opened typed = openText(forward("add = torch.ops.aten.add.Tensor(a, b)\nreturn (add,)\n",
                                          "a: \"f32[4, 2][2, 1]cuda:0\", b: \"bf16[2*s0, (s1//2)]\", c, d : "
                                          "torch.distributed.tensor.DTensor, e: \"Sym(s77)\", "
                                          "f: \"Sym((s77//2))\", g: \"f32[]\", wait_tensor: \"i64[32]\""));
    QVERIFY(typed.result.ok());
    const Graph& graph = typed.graph();
    QCOMPARE(int(graph.placeholdersEnd()), 8);
    const auto value = [&](const char* name) { return graph.value(graph.find(name).value()); };
    QCOMPARE(value("a").tensor.stride.size(), size_t{2});
    QCOMPARE(value("b").tensor.shape.size(), size_t{2});
    QVERIFY(value("b").tensor.shape[0].symbolic());
    QCOMPARE(value("c").kind, Value::Kind::None);
    QCOMPARE(value("d").kind, Value::Kind::None);
    QCOMPARE(value("e").kind, Value::Kind::Symbol);
    QCOMPARE(value("f").kind, Value::Kind::Symbol);
    QCOMPARE(value("g").bytes(), int64_t{4});
    QCOMPARE(graph.node(graph.find("wait_tensor").value()).kind, NodeKind::Placeholder);
    // pytree form, with types first and names later
    const Opened tree = openText(
        "def forward(self, primals, tangents):\n    primals_1: \"f32[8]\"; tangents_1: \"f32[8]\"\n"
        "    primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
        "    mul: \"f32[8]\" = torch.ops.aten.mul.Tensor(primals_1, tangents_1)\n"
        "    return pytree.tree_unflatten([mul], self._out_spec)\n");
    QVERIFY(tree.result.ok());
    QCOMPARE(int(tree.graph().placeholdersEnd()), 2);
    QCOMPARE(tree.graph().value(tree.graph().find("primals_1").value()).bytes(), int64_t{32});
    // one argument a line, with descriptions
    const Opened wide = openText(
        "def forward(\n    self,\n    # PlainAOTInput(idx=0)\n    a: \"f32[8]\",\n    b: \"f32[8]\",\n):\n"
        "    add: \"f32[8]\" = torch.ops.aten.add.Tensor(a, b);  a = b = None\n    return (add,)\n");
    QVERIFY(wide.result.ok());
    QCOMPARE(int(wide.graph().placeholdersEnd()), 2);
}

void TstTextForms::statements() {
    const Opened opened =
        openText(forward("l_x_ = x\n"
                         "wait_tensor_2 = torch.ops.c10d_functional.wait_tensor.default(y);\n"
                         "full_default: \"f32[]\" = torch.ops.aten.full.default([], 1, dtype = "
                         "torch.float32);  full_default = None\n"
                         "longer: \"f32[4]\" = torch.ops.aten.add.Tensor(y, alpha = 2);  \\\n"
                         "    l_x_ = None\n"
                         "tuple_1 = torch.ops.aten.split.Tensor(y, 2)\n"
                         "first: \"f32[2]\" = tuple_1[0]\n"
                         "keyed = tuple_1['output_ptr']\n"
                         "weight = self.layers.weight\n"
                         "ge: \"Sym(u0 >= 0)\" = y >= 0\n"
                         "floordiv = y // 2\n"
                         "linear = torch._C._nn.linear(y, weight)\n"
                         "relu = torch.nn.functional.relu(linear, inplace = False)\n"
                         "prim = torch__dynamo_variables_tensor_prim_redistribute_1(relu)\n"
                         "moved = relu.redistribute(placements = [Replicate()])\n"
                         "iadd = relu;  iadd += y;  last = iadd\n"
                         "getitem_31 = tuple_1[1]  # local residual\n"
                         "return (first, getitem_31)\n"));
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    QCOMPARE(targetOf(graph, "wait_tensor_2"), std::string("c10d_functional.wait_tensor.default"));
    QCOMPARE(graph.inputs(graph.find("longer").value()).size(), size_t{1});
    QCOMPARE(targetOf(graph, "first"), std::string("operator.getitem"));
    QCOMPARE(targetOf(graph, "keyed"), std::string("operator.getitem"));
    QCOMPARE(graph.node(graph.find("weight").value()).op, NodeOp::GetAttr);
    QCOMPARE(targetOf(graph, "ge"), std::string("operator.ge"));
    QCOMPARE(targetOf(graph, "floordiv"), std::string("operator.floordiv"));
    QCOMPARE(targetOf(graph, "linear"), std::string("torch._C._nn.linear"));
    QCOMPARE(targetOf(graph, "prim"), std::string("torch._dynamo.variables.tensor.prim_redistribute"));
    QCOMPARE(graph.node(graph.find("moved").value()).op, NodeOp::CallMethod);
    QCOMPARE(targetOf(graph, "getitem_31"), std::string("operator.getitem"));
    QCOMPARE(opened.count("unknown-input"), size_t{0});
}

void TstTextForms::values() {
    const Opened opened = openText(forward(
        "many = torch.ops.higher_order.flex_attention(x, y, (4096, x, (), {'BACKEND': 'AUTO', 'n': [1, 2]}), "
        "0.0721, inf, -inf, "
        "9223372036854775807, True, None, \"Runtime assertion failed for expression u0 >= 0 on node 'ge'\", "
        "lambda a, *b: a);  "
        "x = None\n"
        "kernel = torch.ops.higher_order.triton_kernel_wrapper_functional(kernel_idx = 0, grid = [(8, 1, "
        "1)], kwargs = "
        "{'output_ptr': y}, tensors_to_clone = ['output_ptr'])\n"
        "typed: \"f8e4m3fn[4]\" = torch.ops.prims.convert_element_type.default(y, torch.float8_e4m3fn)\n"
        "empty: \"i32[0, 16]\" = torch.ops.aten.empty.memory_format([0, 16], dtype = torch.int32, device = "
        "device(type='cuda', index=1))\n"
        "return (many, kernel, typed, empty)\n"));
    QVERIFY(opened.result.ok());
    for (const Diagnostic& item : opened.diagnostics.all())
        QVERIFY2(false, item.message.c_str());
    const Graph& graph = opened.graph();
    QCOMPARE(graph.inputs(graph.find("many").value()).size(), size_t{2});
    QCOMPARE(graph.inputs(graph.find("kernel").value()).size(), size_t{1}); // through a dictionary
    QCOMPARE(graph.value(graph.find("typed").value()).tensor.dtype, DType::Float8E4M3FN);
    QCOMPARE(graph.value(graph.find("empty").value()).bytes(), int64_t{0}); // an empty shard
    const Arg* device = graph.kwarg(graph.find("empty").value(), "device");
    QCOMPARE(std::string(graph.text(device->text)), std::string("cuda:1"));
}

void TstTextForms::returns() {
    for (const auto& [text, inputs] : {std::pair<const char*, size_t>{"return (a, b)", 2},
                                       {"return (a,)", 1},
                                       {"return [a, b]", 2},
                                       {"return [None]", 0},
                                       {"return a, b", 2},
                                       {"return (None, None, a)", 1},
                                       {"return a", 1},
                                       {"return pytree.tree_unflatten([a, b], self._out_spec)", 2}}) {
        const Opened opened =
            openText(forward("a = torch.ops.aten.relu.default(x)\nb = torch.ops.aten.relu.default(y)\n" +
                             std::string(text) + "\n"));
        QVERIFY2(opened.result.ok(), text);
        QVERIFY2(opened.graph().output() != kNoNode, text);
        QCOMPARE(opened.graph().inputs(opened.graph().output()).size(), inputs);
    }
}

void TstTextForms::collectives_data() {
    QTest::addColumn<QString>("call");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("group");
    QTest::addColumn<int>("size");
    const auto row = [](const char* call, CollectiveKind kind, const char* group, int size) {
        QTest::newRow(call) << call << static_cast<int>(kind) << group << size;
    };
    using K = CollectiveKind;
    row("_c10d_functional.all_gather_into_tensor.default(x, 8, '0')", K::AllGather, "0", 8);
    row("_c10d_functional.all_gather_into_tensor(x, 8, 'default')", K::AllGather, "default", 8);
    row("_c10d_functional.all_gather_into_tensor_out.default(x, 2, 'tp:0', out = y)", K::AllGather, "tp:0",
        2);
    row("_c10d_functional.all_gather_into_tensor_coalesced.default([x, y], 2, '0')", K::AllGatherCoalesced,
        "0", 2);
    row("_c10d_functional_autograd.all_gather_into_tensor.default(x, 4, '7')", K::AllGather, "7", 4);
    row("_c10d_functional.reduce_scatter_tensor.default(x, 'avg', 2, '513')", K::ReduceScatter, "513", 2);
    row("_c10d_functional.reduce_scatter_tensor_coalesced.default([x, y], 'sum', 2, '0')",
        K::ReduceScatterCoalesced, "0", 2);
    row("_c10d_functional.all_reduce.default(x, 'sum', '12')", K::AllReduce, "12", 0);
    row("_c10d_functional.all_reduce_.default(x, 'avg', '0')", K::AllReduce, "0", 0);
    row("_c10d_functional.all_reduce_coalesced.default([x, y], 'sum', '0')", K::AllReduceCoalesced, "0", 0);
    row("_c10d_functional.all_to_all_single.default(x, [0, 2, 0], [0, 0, 2], '1033')", K::AllToAll, "1033",
        0);
    row("_c10d_functional.broadcast.default(x, 0, '[[0, 1]]')", K::Broadcast, "[[0, 1]]", 0);
    row("c10d_functional.all_gather_into_tensor.default(x, 'ptd:0', [0, 1], 2)", K::AllGather, "ptd:0", 2);
    row("c10d_functional.reduce_scatter_tensor.default(x, 'SUM', 'ptd:0', [0, 1, 2, 3], 4)", K::ReduceScatter,
        "ptd:0", 4);
    row("symm_mem._low_contention_all_gather.default(x, '0')", K::AllGather, "0", 0);
}

void TstTextForms::collectives() {
    QFETCH(QString, call);
    QFETCH(int, kind);
    QFETCH(QString, group);
    QFETCH(int, size);
    const Opened opened = openText(forward("c = torch.ops." + call.toStdString() + "\nreturn (c,)\n"));
    QVERIFY(opened.result.ok());
    const CollectiveTable table(opened.graph());
    QCOMPARE(table.size(), size_t{1});
    QCOMPARE(static_cast<int>(table[0].kind), kind);
    const ProcessGroup& own = opened.graph().groups()[table[0].group];
    QCOMPARE(QString::fromUtf8(opened.graph().text(own.name).data(),
                               static_cast<int>(opened.graph().text(own.name).size())),
             group);
    QVERIFY(size == 0 || table[0].group_size == size);
    QVERIFY(table[0].waits.empty()); // launched here and returned
    QCOMPARE(opened.result.value().entries[0].collectives, size_t{1});
}

void TstTextForms::groupsThatAreObjects() {
    const Opened mesh = openText(
        forward("c: \"f32[8]\" = torch.ops._c10d_functional.all_gather_into_tensor.default(x, 2, pg)\n"
                "w: \"f32[8]\" = torch.ops._c10d_functional.wait_tensor.default(c)\nreturn (w,)\n",
                "x: \"f32[4]\", pg"));
    QVERIFY(mesh.result.ok());
    const CollectiveTable table(mesh.graph());
    QCOMPARE(table[0].group_size, 2);
    QCOMPARE(std::string(mesh.graph().text(mesh.graph().groups()[table[0].group].name)), std::string("pg"));
    const Opened eager = openText(
        forward("_torchbind_obj0 = self._torchbind_obj0\n"
                "out: \"f32[16]\" = torch.ops.aten.empty.memory_format([16])\n"
                "_allgather_base_ = torch.ops.c10d._allgather_base_.default(out, x, _torchbind_obj0, False)\n"
                "broadcast_ = torch.ops.c10d.broadcast_.default([y], _torchbind_obj0, 0, 0, False, "
                "-1)\nreturn (out,)\n"));
    QVERIFY(eager.result.ok());
    QVERIFY(eager.find("eager-trace"));
    const CollectiveTable two(eager.graph());
    QCOMPARE(two.size(), size_t{2});
    QCOMPARE(two[0].group_size, 4); // from the sizes
    QCOMPARE(two[0].group, two[1].group);
}

/// FSDP2: shards are packed, gathered, split into memory that parameters keep, and freed after use.
void TstTextForms::copiesOfFsdp2() {
    const Opened opened = openText(forward(
        "pack = torch.ops.fsdp.all_gather_copy_in.default([a, b], [4, 4], 8, 2, 0, torch.float32, "
        "device(type='cuda', index=0))\n"
        "input: \"f32[8]\" = pack[0]\n"
        "output: \"f32[16]\" = pack[1]\n"
        "ag: \"f32[16]\" = torch.ops._c10d_functional.all_gather_into_tensor_out.default(input, 2, '0', out "
        "= output)\n"
        "w: \"f32[16]\" = torch.ops._c10d_functional.wait_tensor.default(ag)\n"
        "v: \"f32[2, 8]\" = torch.ops.aten.view.default(w, [2, -1])\n"
        "m1: \"f32[8]\" = torch.ops.aten.empty.memory_format([8])\n"
        "m2: \"f32[8]\" = torch.ops.aten.empty.memory_format([8])\n"
        "s1: \"f32[2, 4]\" = torch.ops.aten.as_strided.default(m1, [2, 4], [4, 1], 0)\n"
        "s2: \"f32[2, 4]\" = torch.ops.aten.as_strided.default(m2, [2, 4], [4, 1], 0)\n"
        "split = torch.ops.fsdp.split_with_sizes_copy.default(v, [4, 4], 1, out = [s1, s2]);  split = None\n"
        "copy_ = torch.ops.fsdp.copy_.default(pa, m1);  copy_ = None\n"
        "set_ = torch.ops.fsdp.set_.default(pb, m2);  set_ = None\n"
        "use_a: \"f32[8]\" = torch.ops.aten.relu.default(pa)\n"
        "use_b: \"f32[8]\" = torch.ops.aten.relu.default(pb)\n"
        "free = torch.ops.inductor.resize_storage_bytes_.default(pa, 0);  free = None\n"
        "later = torch.ops.aten.relu.default(pa)\n"
        "return (use_a, use_b, later)\n",
        "a: \"f32[4]\", b: \"f32[4]\", pa: \"f32[8]\", pb: \"f32[8]\""));
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    const CollectiveTable table(graph);
    QCOMPARE(table.size(), size_t{1});
    QVERIFY(table[0].weight_gather);
    QCOMPARE(table[0].parameters, (std::vector<NodeId>{graph.find("a").value(), graph.find("b").value()}));
    QCOMPARE(table[0].consumers,
             (std::vector<NodeId>{graph.find("use_a").value(), graph.find("use_b").value()}));
    QCOMPARE(table[0].input_bytes, int64_t{32});
    // the newer form packs into a buffer that is given to it
    const Opened newer =
        openText(forward("buffer: \"f32[16]\" = torch.ops.aten.empty.memory_format([16])\n"
                         "pack = torch.ops.fsdp.all_gather_copy_in.default([x, y], buffer, [4, 4], 8, 0)\n"
                         "shard: \"f32[8]\" = pack[0]\n"
                         "ag: \"f32[16]\" = torch.ops._c10d_functional.all_gather_into_tensor.default(shard, "
                         "2, '0')\nreturn (ag,)\n"));
    QVERIFY(newer.result.ok());
    QCOMPARE(CollectiveTable(newer.graph())[0].parameters.size(), size_t{2});
}

void TstTextForms::wrappedOperators() {
    const Opened functionalized = openText(forward(
        "ag: \"f32[8]\" = torch.ops._c10d_functional.all_gather_into_tensor.default(x, 2, '0')\n"
        "w: \"f32[8]\" = torch.ops._c10d_functional.wait_tensor.default(ag)\n"
        "out: \"f32[8]\" = torch.ops.aten.empty.memory_format([8])\n"
        "auto = torch.ops.higher_order.auto_functionalized_v2(torch.ops.fsdp.split_with_sizes_copy.default, "
        "all_gather_output = w, all_gather_input_split_sizes = [4], dim = 1, _out_length = 1, _all_bases = "
        "[out])\n"
        "weight: \"f32[8]\" = auto[1]\n"
        "use: \"f32[8]\" = torch.ops.aten.relu.default(weight)\nreturn (use,)\n"));
    QVERIFY(functionalized.result.ok());
    const CollectiveTable table(functionalized.graph());
    QCOMPARE(table[0].consumers, std::vector<NodeId>{functionalized.graph().find("use").value()});
    // a wait that another scheduler tied to a matmul is still a wait
    const Opened tied = openText(
        "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4, 4]\"):\n"
        "        ag: \"f32[8, 4]\" = torch.ops._c10d_functional.all_gather_into_tensor.default(x, 2, '0')\n"
        "        mm: \"f32[4, 4]\" = torch.ops.aten.mm.default(x, x)\n"
        "        subgraph_w = self.subgraph_w\n"
        "        w: \"f32[8, 4]\" = torch.ops.higher_order.control_deps((mm,), subgraph_w, ag)\n"
        "        return (w, mm)\n\n"
        "    class subgraph_w(torch.nn.Module):\n"
        "        def forward(self, dep_0: \"f32[8, 4]\"):\n"
        "            wait_tensor: \"f32[8, 4]\" = torch.ops._c10d_functional.wait_tensor.default(dep_0)\n"
        "            return wait_tensor\n");
    QVERIFY(tied.result.ok());
    const NodeId wait = tied.graph().find("w").value();
    QCOMPARE(tied.graph().node(wait).kind, NodeKind::Wait);
    QCOMPARE(tied.graph().weakInputs(wait).size(), size_t{1});
    QCOMPARE(CollectiveTable(tied.graph())[0].waits, std::vector<NodeId>{wait});
}

void TstTextForms::graphForm() {
    const Opened opened = openText(
        "graph():\n"
        "    %p0 : [#users=1] = placeholder[target=p0]\n"
        "    %x : torch.Tensor [num_users=1] = placeholder[target=x](default=None)\n"
        "    %local : [users=1] = call_function[target=torch._dynamo.variables.torch.prim from_local](args = "
        "(%x,), kwargs = {})\n"
        "    %ag : [num_users=1] = "
        "call_function[target=torch.ops._c10d_functional.all_gather_into_tensor.default](args = (%p0, 8, 0), "
        "kwargs = {})  # noqa: E501\n"
        "    %w : Tensor \"f32[8, 4][4, 1]cpu\"[num_users=1] = "
        "call_function[target=torch.ops._c10d_functional.wait_tensor.default](args = (%ag,), kwargs = {})\n"
        "    %c : [num_users=1] = call_method[target=clone](args = (%w,), kwargs = {inplace: False})\n"
        "    return (c, local)\n");
    QVERIFY(opened.result.ok());
    const Graph& graph = opened.graph();
    QCOMPARE(graph.size(), size_t{7});
    QCOMPARE(std::string(graph.text(graph.groups()[0].name)), std::string("0")); // a string without quotes
    QCOMPARE(graph.groups()[0].size, 8);
    QCOMPARE(targetOf(graph, "local"), std::string("torch._dynamo.variables.torch.prim from_local"));
    QCOMPARE(opened.result.value().entries[0].nodes, size_t{7});
}

QTEST_GUILESS_MAIN(TstTextForms)
#include "tst_text_forms.moc"
