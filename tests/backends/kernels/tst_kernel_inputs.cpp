// How the tensors that generated kernels read are filled: as the registry says, within bounds.
#include "profile/backends/kernels/fused_kernel.h"

#include <QTest>

using namespace gs;

class TestKernelInputs : public QObject {
    Q_OBJECT

private:
    static KernelTensor tensorOf(NodeId node, DType dtype) {
        KernelTensor tensor;
        tensor.node = node;
        tensor.dtype = dtype;
        tensor.shape = {4, 8};
        tensor.strides = {8, 1};
        return tensor;
    }

private slots:
    void theRegistryCounts() {
        const NodeId node(3), other(4);
        TensorSpec positive;
        positive.fill = InputFill::Positive;
        const TensorSpec spec = kernelInput(tensorOf(node, DType::Float32), {{node, positive}});
        QVERIFY(spec.fill == InputFill::Positive);
        QCOMPARE(spec.storageBytes(), int64_t{4 * 32}); // the kernel's own layout
        QVERIFY(kernelInput(tensorOf(other, DType::Float32), {{node, positive}}).fill == InputFill::Random);
        QVERIFY(kernelInput(tensorOf(other, DType::Int32), {}).fill == InputFill::Zeros);
    }

    void indicesStayInside_data() {
        QTest::addColumn<int>("fill");
        QTest::addColumn<qlonglong>("bound");
        QTest::addColumn<qlonglong>("expected");
        const auto row = [](const char* name, InputFill fill, qlonglong bound, qlonglong expected) {
            QTest::newRow(name) << int(fill) << bound << expected;
        };
        row("smaller", InputFill::Indices, 3, 3);
        row("equal", InputFill::Indices, 10, 10);
        row("greater", InputFill::Indices, 11, 10);
        row("none", InputFill::Zeros, 0, 10);
        row("random", InputFill::Random, 0, 10);
        row("offsets", InputFill::Offsets, 5, 10);
    }

    void indicesStayInside() {
        QFETCH(int, fill);
        QFETCH(qlonglong, bound);
        QFETCH(qlonglong, expected);
        const NodeId node(3);
        KernelTensor tensor = tensorOf(node, DType::Int64);
        tensor.holds_indices = true;
        tensor.index_limit = 10;
        TensorSpec stated;
        stated.fill = static_cast<InputFill>(fill);
        stated.bound = bound;
        const TensorSpec spec = kernelInput(tensor, {{node, stated}});
        QVERIFY(spec.fill == InputFill::Indices);
        QCOMPARE(qlonglong(spec.bound), expected);
    }

    void otherIndices() {
        const NodeId node(3);
        KernelTensor tensor = tensorOf(node, DType::Int64);
        tensor.holds_indices = true;
        tensor.index_limit = 8;
        TensorSpec stated;
        stated.fill = InputFill::Permutation; // of 0 … 7
        QVERIFY(kernelInput(tensor, {{node, stated}}).fill == InputFill::Permutation);
        tensor.index_limit = 7;
        QVERIFY(kernelInput(tensor, {{node, stated}}).fill == InputFill::Indices);
        tensor.index_limit = 0;
        QCOMPARE(kernelInput(tensor, {}).bound, int64_t{1});
    }
};

QTEST_GUILESS_MAIN(TestKernelInputs)
#include "tst_kernel_inputs.moc"
