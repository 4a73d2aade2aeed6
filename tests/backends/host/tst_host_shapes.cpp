// Calls whose shapes, dimensions and numbers contradict each other: a graph is a file, and one bad node must
// not take the rank, and with it the whole profile, down.
#include "backends/host/op_check.h"

#include <algorithm>

using namespace gs;
using namespace gs::test;

namespace {

using Shape = std::vector<int64_t>;
constexpr DType kFloat = DType::Float32, kInt = DType::Int64;

Value listOf(std::vector<Value> items) {
    Value list;
    list.kind = Value::Kind::List;
    list.items = std::move(items);
    return list;
}

/// A call to be refused. `make` adds it to the graph.
struct Wrong {
    const char* name;
    std::function<NodeId(OpGraph&)> make;
};

/// (x, dim) of operators along a dimension.
Wrong along(const char* name, const char* target, Shape in, int64_t dim, Shape out) {
    return {name, [=](OpGraph& g) {
                return g.call(target, {g.input(kFloat, in), g.i(dim), g.b.boolArg(false)},
                              stridedValue(kFloat, out));
            }};
}

Wrong two(const char* name, const char* target, Shape a, Shape b, Shape out, DType second = kFloat) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, a), y = g.input(second, b);
                return g.call(target, {x, y}, stridedValue(kFloat, out));
            }};
}

Wrong three(const char* name, const char* target, Shape a, Shape b, Shape c, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, a), y = g.input(kFloat, b), z = g.input(kFloat, c);
                return g.call(target, {x, y, z}, stridedValue(kFloat, out));
            }};
}

Wrong softmaxBackward(const char* name, Shape gradient, Shape result, int64_t dim, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, gradient), y = g.input(kFloat, result);
                return g.call("aten._softmax_backward_data.default", {x, y, g.i(dim), g.i(6)},
                              stridedValue(kFloat, out));
            }};
}

Wrong norm(const char* name, const char* target, Shape in, Shape sizes, Shape weight, Shape bias, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, in), w = g.input(kFloat, weight), b = g.input(kFloat, bias);
                const bool rms = std::string(target).find("rms") != std::string::npos;
                return g.call(target, {x, g.ints(sizes), w, rms ? g.f(1e-5) : b, g.f(1e-5)},
                              stridedValue(kFloat, out));
            }};
}

Wrong sum(const char* name, const char* target, Shape in, Shape dims, Shape out) {
    return {name, [=](OpGraph& g) {
                return g.call(target, {g.input(kFloat, in), g.ints(dims)}, stridedValue(kFloat, out));
            }};
}

Wrong cat(const char* name, Shape a, Shape b, int64_t dim, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, a), y = g.input(kFloat, b);
                return g.call("aten.cat.default", {g.b.listArg({x, y}), g.i(dim)}, stridedValue(kFloat, out));
            }};
}

/// (x, list of integers, further integers)
Wrong listed(const char* name, const char* target, Shape in, Shape list, Shape rest, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, in);
                const Arg sizes = g.ints(list);
                if (rest.size() < 2)
                    return g.call(target, {x, sizes}, stridedValue(kFloat, out));
                if (rest.size() == 2)
                    return g.call(target, {x, sizes, g.i(rest[0]), g.i(rest[1])}, stridedValue(kFloat, out));
                return g.call(target, {x, sizes, g.i(rest[0]), g.i(rest[1]), g.i(rest[2]), g.i(rest[3])},
                              stridedValue(kFloat, out));
            }};
}

/// gather and scatter: (x, dim, indices, source)
Wrong indexed(const char* name, const char* target, Shape in, int64_t dim, Shape index, Shape source,
              Shape out, DType result = kFloat) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, in), i = g.input(kInt, index), s = g.input(kFloat, source);
                return g.call(target, {x, g.i(dim), i, s}, stridedValue(result, out));
            }};
}

Wrong put(const char* name, Shape in, Shape index, Shape values, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, in), i = g.input(kInt, index), v = g.input(kFloat, values);
                return g.call("aten.index_put.default", {x, g.b.listArg({i}), v}, stridedValue(kFloat, out));
            }};
}

Wrong loss(const char* name, Shape in, Shape target, Shape out, Shape total) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, in), t = g.input(kInt, target);
                return g.call("aten.nll_loss_forward.default", {x, t, {}, g.i(1), g.i(-100)},
                              listOf({stridedValue(kFloat, out), stridedValue(kFloat, total)}));
            }};
}

Wrong lossBackward(const char* name, Shape target, Shape total, Shape out) {
    return {name, [=](OpGraph& g) {
                const Arg s = g.input(kFloat, {}), x = g.input(kFloat, {8, 5}), t = g.input(kInt, target),
                          w = g.input(kFloat, total);
                return g.call("aten.nll_loss_backward.default", {s, x, t, {}, g.i(1), g.i(-100), w},
                              stridedValue(kFloat, out));
            }};
}

Wrong sort(const char* name, const char* target, int64_t k, int64_t dim, Shape values, Shape indices) {
    return {name, [=](OpGraph& g) {
                const Arg x = g.input(kFloat, {3, 8});
                return g.call(target, {x, g.i(k), g.i(dim)},
                              listOf({stridedValue(kFloat, values), stridedValue(kInt, indices)}));
            }};
}

std::vector<Wrong> rowForms() {
    return {
        along("softmax dim", "aten._softmax.default", {4, 8}, 7, {4, 8}),
        along("softmax dim below", "aten._softmax.default", {4, 8}, -3, {4, 8}),
        along("softmax result", "aten._softmax.default", {4, 8}, -1, {2, 2}),
        along("softmax rank", "aten._softmax.default", {4, 8}, 0, {8}),
        along("log_softmax dim", "aten._log_softmax.default", {4, 8}, 7, {4, 8}),
        along("log_softmax result", "aten._log_softmax.default", {400, 8}, 1, {4, 8}),
        softmaxBackward("softmax backward dim", {4, 8}, {4, 8}, 9, {4, 8}),
        softmaxBackward("softmax backward input", {40, 80}, {4, 8}, 1, {40, 80}),
        softmaxBackward("softmax backward result", {40, 80}, {40, 80}, 1, {4, 8}),
        softmaxBackward("softmax backward rank", {40, 80}, {80}, 1, {40, 80}),
        along("cumsum dim", "aten.cumsum.default", {4, 8}, 5, {4, 8}),
        along("cumsum dim far", "aten.cumsum.default", {4, 8}, INT64_MIN, {4, 8}),
        along("cumsum result", "aten.cumsum.default", {400, 8}, 0, {4, 8}),
        along("cumsum other rows", "aten.cumsum.default", {400, 8}, 1, {4, 8}),
        norm("rms_norm weight", "aten.rms_norm.default", {40, 80}, {80}, {8}, {80}, {40, 80}),
        norm("rms_norm result", "aten.rms_norm.default", {400, 8}, {8}, {8}, {8}, {4, 8}),
        norm("rms_norm sizes", "aten.rms_norm.default", {40, 80}, {8}, {8}, {8}, {40, 80}),
        norm("layer_norm weight", "aten.layer_norm.default", {40, 80}, {80}, {8}, {80}, {40, 80}),
        norm("layer_norm bias", "aten.layer_norm.default", {40, 80}, {80}, {80}, {8}, {40, 80}),
        norm("layer_norm result", "aten.layer_norm.default", {400, 8}, {8}, {8}, {8}, {4, 8}),
        norm("layer_norm rank", "aten.layer_norm.default", {8}, {8, 8}, {8}, {8}, {8}),
        sum("sum result", "aten.sum.dim_IntList", {4, 8}, {0}, {3}),
        sum("sum small", "aten.sum.dim_IntList", {4, 80000}, {0}, {3}),
        sum("sum large", "aten.sum.dim_IntList", {4, 8}, {0}, {80000}),
        sum("sum not reduced", "aten.sum.dim_IntList", {4, 8}, {0}, {4, 8}),
        sum("sum dim", "aten.sum.dim_IntList", {4, 8}, {2}, {4}),
        sum("sum dim below", "aten.sum.dim_IntList", {4, 8}, {-3}, {4}),
        sum("mean result", "aten.mean.dim", {4, 8}, {1}, {5}),
        sum("amax result", "aten.amax.default", {4, 8}, {1}, {400}),
        sum("amin result", "aten.amin.default", {4, 8}, {1}, {2, 8}),
        sum("prod rank", "aten.prod.dim_int", {4, 8}, {1}, {4, 1, 1}),
        sum("any result", "aten.any.dim", {4, 8}, {1}, {3}),
        sum("all result", "aten.all.dim", {4, 8}, {1}, {3}),
        two("mse_loss inputs", "aten.mse_loss.default", {40, 80}, {4, 8}, {}),
        two("mse_loss result", "aten.mse_loss.default", {4, 8}, {4, 8}, {0}),
        sort("topk more than there is", "aten.topk.default", 20, 1, {3, 20}, {3, 20}),
        sort("topk other k", "aten.topk.default", 2, 1, {3, 4}, {3, 4}),
        sort("topk rows", "aten.topk.default", 2, 1, {1, 2}, {1, 2}),
        sort("topk indices", "aten.topk.default", 2, 1, {3, 2}, {1, 1}),
        sort("topk dim", "aten.topk.default", 2, 2, {3, 2}, {3, 2}),
        sort("sort result", "aten.sort.default", 0, 0, {3, 4}, {3, 4}),
    };
}

std::vector<Wrong> productAndCopyForms() {
    return {
        two("mm terms", "aten.mm.default", {4, 800}, {8, 3}, {4, 3}),
        two("mm result", "aten.mm.default", {40, 8}, {8, 30}, {4, 3}),
        two("mm without terms", "aten.mm.default", {4, 0}, {8, 3}, {4, 3}),
        two("mm rank", "aten.mm.default", {4, 8}, {8}, {4}),
        two("bmm batch", "aten.bmm.default", {5, 4, 8}, {2, 8, 3}, {5, 4, 3}),
        two("bmm result batch", "aten.bmm.default", {5, 4, 8}, {5, 8, 3}, {2, 4, 3}),
        three("addmm bias", "aten.addmm.default", {2}, {4, 8}, {8, 3}, {4, 3}),
        three("addmm bias rank", "aten.addmm.default", {1, 1, 1, 3}, {4, 8}, {8, 3}, {4, 3}),
        three("addmm terms", "aten.addmm.default", {3}, {4, 8}, {7, 3}, {4, 3}),
        three("baddbmm bias", "aten.baddbmm.default", {2, 4, 3}, {5, 4, 8}, {5, 8, 3}, {5, 4, 3}),
        three("linear bias", "aten.linear.default", {4, 8}, {3, 8}, {2}, {4, 3}),
        two("linear terms", "torch._C._nn.linear", {4, 8}, {3, 80}, {4, 3}),
        two("linear result", "torch._C._nn.linear", {40, 8}, {3, 8}, {4, 3}),
        two("linear without terms", "torch._C._nn.linear", {4, 0}, {3, 8}, {4, 3}),
        two("add operand", "aten.add.Tensor", {4, 8}, {3}, {4, 8}),
        two("add rank", "aten.add.Tensor", {2, 4, 8}, {8}, {4, 8}),
        two("mul result", "aten.mul.Tensor", {400, 8}, {400, 8}, {4, 8}),
        two("maximum column", "aten.maximum.default", {40, 8}, {4, 1}, {40, 8}),
        two("silu_backward", "aten.silu_backward.default", {40, 8}, {4, 8}, {40, 8}),
        three("where", "aten.where.self", {40, 8}, {40, 8}, {4, 8}, {40, 8}),
        three("addcmul", "aten.addcmul.default", {40, 8}, {40, 8}, {5}, {40, 8}),
        along("relu result", "aten.relu.default", {400, 8}, 0, {4, 8}),
        along("cast result", "aten._to_copy.default", {400, 8}, 0, {4, 8}),
        along("gelu result", "aten.gelu.default", {400, 8}, 0, {8}),
        cat("cat sum", {4, 3}, {4, 5}, 1, {4, 9}),
        cat("cat other sizes", {4, 3}, {40, 5}, 1, {4, 8}),
        cat("cat dim", {4, 3}, {4, 5}, 2, {4, 8}),
        cat("cat rank", {4, 3}, {40, 5, 2}, 1, {4, 3}),
        cat("cat broadcast", {1, 3}, {4, 5}, 1, {4, 8}),
        listed("pad result", "aten.constant_pad_nd.default", {2, 3}, {1, 1}, {}, {2, 4}),
        listed("pad other dimension", "aten.constant_pad_nd.default", {20, 3}, {1, 1}, {}, {2, 5}),
        listed("pad far", "aten.constant_pad_nd.default", {2, 3}, {INT64_MAX, 1}, {}, {2, 4}),
        listed("pad far below", "aten.constant_pad_nd.default", {2, 3}, {INT64_MIN, 1}, {}, {2, 4}),
        listed("pad cuts", "aten.constant_pad_nd.default", {2, 3}, {-4, 5}, {}, {2, 4}),
        listed("select_backward of nothing", "aten.select_backward.default", {8}, {0, 8}, {0, 0}, {0, 8}),
        listed("select_backward index", "aten.select_backward.default", {8}, {4, 8}, {0, 4}, {4, 8}),
        listed("select_backward below", "aten.select_backward.default", {8}, {4, 8}, {0, -5}, {4, 8}),
        listed("select_backward gradient", "aten.select_backward.default", {800}, {4, 8}, {0, 1}, {4, 8}),
        listed("select_backward dim", "aten.select_backward.default", {8}, {4, 8}, {2, 1}, {4, 8}),
        listed("slice_backward end", "aten.slice_backward.default", {2, 4}, {2, 5}, {1, 3, 9, 1}, {2, 5}),
        listed("slice_backward step", "aten.slice_backward.default", {2, 4}, {2, 5}, {1, 0, 5, INT64_MAX},
               {2, 5}),
        listed("slice_backward gradient", "aten.slice_backward.default", {20, 4}, {2, 5}, {1, 0, 4, 1},
               {2, 5}),
        listed("slice_backward dim", "aten.slice_backward.default", {2, 4}, {2, 5}, {3, 0, 4, 1}, {2, 5}),
    };
}

std::vector<Wrong> indexForms() {
    return {
        two("embedding result", "aten.embedding.default", {50, 16}, {2, 7}, {2, 7, 8}, kInt),
        two("embedding fewer", "aten.embedding.default", {50, 16}, {200, 7}, {2, 7, 16}, kInt),
        two("embedding of one", "aten.embedding.default", {50, 16}, {200, 7}, {1, 1, 16}, kInt),
        two("embedding of nothing", "aten.embedding.default", {0, 16}, {2, 7}, {2, 7, 16}, kInt),
        {"embedding type",
         [](OpGraph& g) {
             const Arg w = g.input(kFloat, {50, 16}), i = g.input(kInt, {2, 7});
             return g.call("aten.embedding.default", {w, i}, stridedValue(DType::BFloat16, {2, 7, 16}));
         }},
        {"embedding backward",
         [](OpGraph& g) {
             const Arg s = g.input(kFloat, {2, 7, 8}), i = g.input(kInt, {2, 7});
             return g.call("aten.embedding_dense_backward.default", {s, i, g.i(5), g.i(-1)},
                           stridedValue(kFloat, {5, 16}));
         }},
        {"embedding backward table",
         [](OpGraph& g) {
             const Arg s = g.input(kFloat, {2, 7, 16}), i = g.input(kInt, {2, 7});
             return g.call("aten.embedding_dense_backward.default", {s, i, g.i(50000), g.i(-1)},
                           stridedValue(kFloat, {5, 8}));
         }},
        {"index result",
         [](OpGraph& g) {
             const Arg x = g.input(kFloat, {50, 16}), i = g.input(kInt, {70});
             return g.call("aten.index.Tensor", {x, g.b.listArg({i})}, stridedValue(kFloat, {7, 16}));
         }},
        {"index too many",
         [](OpGraph& g) {
             const Arg x = g.input(kFloat, {50}), i = g.input(kInt, {7}), j = g.input(kInt, {7});
             return g.call("aten.index.Tensor", {x, g.b.listArg({i, j})}, stridedValue(kFloat, {7}));
         }},
        {"index shapes",
         [](OpGraph& g) {
             const Arg x = g.input(kFloat, {50, 16}), i = g.input(kInt, {7}), j = g.input(kInt, {5});
             return g.call("aten.index.Tensor", {x, g.b.listArg({i, j})}, stridedValue(kFloat, {7}));
         }},
        put("index_put values", {50, 16}, {7}, {5, 16}, {50, 16}),
        put("index_put width", {50, 16}, {7}, {7, 80}, {50, 16}),
        put("index_put result", {50, 16}, {7}, {7, 16}, {5, 16}),
    };
}

std::vector<Wrong> elementForms() {
    return {
        indexed("gather index", "aten.gather.default", {2, 3}, 1, {50000, 50}, {1}, {50000, 50}),
        indexed("gather result", "aten.gather.default", {6, 9}, 1, {6, 2}, {1}, {1, 1}),
        indexed("gather dim", "aten.gather.default", {6, 9}, 2, {6, 2}, {1}, {6, 2}),
        indexed("gather rank", "aten.gather.default", {6, 9}, 1, {6}, {1}, {6}),
        indexed("gather type", "aten.gather.default", {6, 9}, 1, {6, 2}, {1}, {6, 2}, DType::BFloat16),
        indexed("scatter index", "aten.scatter.src", {2, 3}, 1, {50, 3}, {50, 3}, {2, 3}),
        indexed("scatter source", "aten.scatter.src", {50, 3}, 1, {50, 3}, {2, 3}, {50, 3}),
        indexed("scatter_add index", "aten.scatter_add.default", {2, 3}, 1, {50, 50}, {2, 3}, {2, 3}),
        indexed("scatter_add source", "aten.scatter_add.default", {50, 3}, 1, {50, 50}, {2, 3}, {50, 3}),
        indexed("scatter_add result", "aten.scatter_add.default", {50, 3}, 1, {2, 3}, {2, 3}, {2, 3}),
        indexed("scatter_add dim", "aten.scatter_add.default", {50, 3}, -3, {2, 3}, {2, 3}, {50, 3}),
        {"scatter over its indices",
         [](OpGraph& g) {
             const Arg x = g.input(kInt, {6, 9});
             return g.call("aten.scatter_.value", {x, g.i(1), x, g.i(1'000'000)}, stridedValue(kInt, {6, 9}));
         }},
        indexed("index_select result", "aten.index_select.default", {50, 16}, 0, {7}, {1}, {7, 8}),
        indexed("index_select fewer", "aten.index_select.default", {50, 16}, 0, {70}, {1}, {7, 16}),
        loss("nll targets", {8, 5}, {4}, {}, {}),
        loss("nll target rank", {8, 5}, {}, {}, {}),
        loss("nll total", {8, 5}, {8}, {}, {0}),
        lossBackward("nll backward targets", {4}, {}, {8, 5}),
        lossBackward("nll backward target rank", {}, {}, {8, 5}),
        lossBackward("nll backward total", {8}, {0}, {8, 5}),
        lossBackward("nll backward result", {8}, {}, {80, 5}),
    };
}

} // namespace

class TestHostShapes : public QObject {
    Q_OBJECT
private slots:
    void contradictionsAreRefused_data() {
        QTest::addColumn<int>("list");
        QTest::addColumn<int>("at");
        int list = 0;
        for (const auto forms : {rowForms, productAndCopyForms, indexForms, elementForms}) {
            int at = 0;
            for (const Wrong& wrong : forms())
                QTest::newRow(wrong.name) << list << at++;
            ++list;
        }
    }
    void contradictionsAreRefused() {
        QFETCH(int, list);
        QFETCH(int, at);
        using Forms = std::vector<Wrong> (*)();
        const Forms forms[] = {rowForms, productAndCopyForms, indexForms, elementForms};
        OpGraph g;
        Prepared made = prepare(g, forms[list]()[static_cast<size_t>(at)].make(g));
        if (made.op) // so that a checker of memory sees what it does
            (void)made.op->run();
        QVERIFY2(!made.op, "it was prepared");
        // Its inputs could not be made, or the backend saw the contradiction.
        QVERIFY2(made.error.code == "not-supported" || made.error.code == "unknown-shape" ||
                     made.error.code == "no-indices",
                 (made.error.code + ": " + made.error.message).c_str());
        QVERIFY(!made.error.message.empty());
    }

    void manyDimensionsAreRefused() {
        const Shape many(20, 2), strides = [] {
            Shape out;
            for (int d = 0; d < 20; ++d) // gaps between all: nothing is joined
                out.push_back(d % 2);
            return out;
        }();
        for (const char* target : {"aten.full.default", "aten.add.Tensor"}) {
            OpGraph g;
            Prepared made = prepare(g, g.call(target, {g.i(1), g.i(2)}, stridedValue(kFloat, many, strides)));
            QVERIFY2(!made.op, target);
            QCOMPARE(made.error.code, std::string("not-supported"));
        }
    }

    void complexOperandsThatDoNotFit() {
        OpGraph g;
        const Arg x = g.input(DType::Complex64, {300, 40}), y = g.input(DType::Complex64, {3, 40});
        Prepared made =
            prepare(g, g.call("aten.mul.Tensor", {x, y}, stridedValue(DType::Complex64, {3, 40})));
        QVERIFY(!made.op);
        QCOMPARE(made.error.code, std::string("not-supported"));
    }

    void regionsThatDoNotFit() {
        OneRank plane;
        HostBackend backend(plane);
        const Value value = stridedValue(kFloat, {48, 64});
        for (const Shape& operand : {Shape{48, 60}, Shape{4, 64}, Shape{2, 48, 64}, Shape{0}}) {
            OpGraph g;
            const Arg a = g.input(kFloat, {48, 64}), b = g.input(kFloat, operand);
            const NodeId silu = g.call("aten.silu.default", {a}, value);
            const NodeId product = g.call("aten.mul.Tensor", {g.b.nodeArg(silu), b}, value);
            const GraphPtr graph = g.finish();
            const auto op = backend.prepareRegion(*graph, {{silu, product}});
            QVERIFY(!op.ok());
            QCOMPARE(op.error().code, std::string("not-supported"));
        }
        OpGraph g; // without a tensor at its head
        const NodeId sum = g.call("aten.add.Tensor", {g.i(1), g.i(2)}, value);
        const NodeId silu = g.call("aten.silu.default", {g.b.nodeArg(sum)}, value);
        const GraphPtr graph = g.finish();
        auto op = backend.prepareRegion(*graph, {{sum, silu}});
        QVERIFY(op.ok() && op.value()->run().ok());
        QVERIFY(!backend.prepareRegion(*graph, {}).ok());
    }
};

QTEST_GUILESS_MAIN(TestHostShapes)
#include "tst_host_shapes.moc"
