// Matrix products the way torch runs them on NVIDIA devices (aten/src/ATen/cuda/CUDABlas.cpp): cuBLASLt, the
// first algorithm of its heuristic, a bias along the rows as an epilogue.
#include "profile/backends/cuda/cuda_op.h"

#include <array>
#include <cublasLt.h>
#include <fmt/format.h>

namespace gs::cuda {

namespace {

Status checkedBlas(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return Unit{};
    const char* code = status == CUBLAS_STATUS_NOT_SUPPORTED ? "not-supported" : "device-error";
    return Error{code, fmt::format("{}: {}", what, cublasLtGetStatusString(status)), {}, {}};
}

std::optional<cudaDataType> dataType(DType dtype) {
    switch (dtype) {
    case DType::Float64:
        return CUDA_R_64F;
    case DType::Float32:
        return CUDA_R_32F;
    case DType::Float16:
        return CUDA_R_16F;
    case DType::BFloat16:
        return CUDA_R_16BF;
    default:
        return std::nullopt;
    }
}

/// A matrix (or batch of them) as it lies in memory.
struct Matrix {
    DType dtype = DType::Unknown;
    int64_t batch = 1, rows = 0, columns = 0;
    int64_t leading = 0; ///< distance of neighbouring rows, or of columns if they come first
    int64_t batch_stride = 0;
    bool by_columns = false;

    int64_t bytes() const {
        const int64_t lines = by_columns ? columns : rows, length = by_columns ? rows : columns;
        return ((batch - 1) * batch_stride + (lines - 1) * leading + length) * dtypeBytes(dtype);
    }
};

Result<Matrix> matrixOf(const TensorMeta* tensor) {
    if (!tensor || tensor->shape.size() < 2 || tensor->shape.size() > 3)
        return Error{"not-supported", "an operand that is no matrix", {}, {}};
    const size_t rank = tensor->shape.size();
    Matrix matrix;
    matrix.dtype = tensor->dtype;
    matrix.rows = tensor->shape[rank - 2].value;
    matrix.columns = tensor->shape[rank - 1].value;
    matrix.batch = rank == 3 ? tensor->shape[0].value : 1;
    if (matrix.rows < 0 || matrix.columns < 0 || matrix.batch < 0)
        return Error{"unknown-shape", "a size has no number", {}, {}};
    if (matrix.rows == 0 || matrix.columns == 0 || matrix.batch == 0)
        return Error{"not-supported", "an empty product", {}, {}};
    matrix.leading = matrix.columns;
    matrix.batch_stride = matrix.rows * matrix.columns;
    if (!tensor->has_stride || tensor->stride.size() != rank)
        return matrix;
    const int64_t down = tensor->stride[rank - 2].value, right = tensor->stride[rank - 1].value;
    const int64_t batch = rank == 3 ? tensor->stride[0].value : matrix.batch_stride;
    // Others are copied before the product, which then sees them as they are here by default.
    if (right == 1 && down >= matrix.columns) {
        matrix.leading = down;
        matrix.batch_stride = batch;
    } else if (down == 1 && right >= matrix.rows) {
        matrix.by_columns = true;
        matrix.leading = right;
        matrix.batch_stride = batch;
    }
    return matrix;
}

class MatmulOp final : public CudaOp {
public:
    MatmulOp(cublasLtHandle_t handle, cudaStream_t stream) : CudaOp(stream), handle_(handle) {}
    ~MatmulOp() override {
        for (cublasLtMatrixLayout_t layout : {a_, b_, c_, d_}) {
            if (layout)
                cublasLtMatrixLayoutDestroy(layout);
        }
        if (operation_)
            cublasLtMatmulDescDestroy(operation_);
    }
    MatmulOp(const MatmulOp&) = delete;
    MatmulOp& operator=(const MatmulOp&) = delete;

    /// Column-major libraries compute the transposed product: the operands change places. `bias`: of each
    /// column of the result, or a whole matrix that is added.
    Status describe(const Matrix& a, const Matrix& b, const Matrix& out, const TensorMeta* bias) {
        const auto type = dataType(out.dtype);
        if (!type || a.dtype != out.dtype || b.dtype != out.dtype || a.columns != b.rows || out.by_columns)
            return Error{"not-supported", "operands of these types or sizes", {}, {}};
        const bool wide = out.dtype == DType::Float64;
        if (Status made = checkedBlas(cublasLtMatmulDescCreate(&operation_,
                                                               wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                                               wide ? CUDA_R_64F : CUDA_R_32F),
                                      "cublasLtMatmulDescCreate");
            !made)
            return made;
        wide_ = wide;
        set(CUBLASLT_MATMUL_DESC_TRANSA, b.by_columns ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, a.by_columns ? CUBLAS_OP_T : CUBLAS_OP_N);
        // Read column by column, a row-major matrix is its transpose.
        a_ = layout(*type, b);
        b_ = layout(*type, a);
        d_ = layout(*type, out);
        c_ = layout(*type, out);
        sizes_ = {b.bytes(), a.bytes(), out.bytes()};
        const bool by_column = bias && bias->shape.size() == 1 && bias->shape[0].value == out.columns;
        if (bias && by_column) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
            bias_bytes_ = out.columns * dtypeBytes(out.dtype);
        } else if (bias) {
            adds_ = true;
            bias_bytes_ = out.bytes();
        }
        return Unit{};
    }

    /// `inputs`: of the right operand, the left one, the result and what is added.
    Status allocate(const std::array<TensorSpec, 4>& inputs, int64_t workspace) {
        int64_t wanted = workspace + bias_bytes_;
        for (int64_t size : sizes_)
            wanted += size;
        if (Status room = fits(wanted); !room)
            return room;
        DeviceMemory* const places[] = {&memory_[0], &memory_[1], &memory_[2], &bias_, &workspace_};
        const int64_t sizes[] = {sizes_[0], sizes_[1], sizes_[2], bias_bytes_, workspace};
        for (size_t i = 0; i < 5; ++i) {
            Result<DeviceMemory> made = DeviceMemory::allocate(sizes[i]);
            if (!made)
                return made.error();
            *places[i] = std::move(made.value());
            if (Status filled = i < 4 ? fill(*places[i], inputs[i]) : Status(Unit{}); !filled)
                return filled;
        }
        if (bias_bytes_ > 0 && !adds_)
            set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_.data());
        return choose(workspace);
    }

    Status launch(cudaStream_t stream) override {
        const float one = 1, beta = adds_ ? 1.0f : 0.0f;
        const double wide_one = 1, wide_beta = beta;
        const void* alpha_at = wide_ ? static_cast<const void*>(&wide_one) : &one;
        const void* beta_at = wide_ ? static_cast<const void*>(&wide_beta) : &beta;
        return checkedBlas(
            cublasLtMatmul(handle_, operation_, alpha_at, memory_[0].data(), a_, memory_[1].data(), b_,
                           beta_at, adds_ ? bias_.data() : memory_[2].data(), c_, memory_[2].data(), d_,
                           &algorithm_.algo, workspace_.data(), algorithm_.workspaceSize, stream),
            "cublasLtMatmul");
    }

private:
    template <typename T>
    void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
        cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof(value));
    }

    static cublasLtMatrixLayout_t layout(cudaDataType type, const Matrix& matrix) {
        const auto lines = static_cast<uint64_t>(matrix.by_columns ? matrix.rows : matrix.columns);
        const auto others = static_cast<uint64_t>(matrix.by_columns ? matrix.columns : matrix.rows);
        cublasLtMatrixLayout_t made = nullptr;
        cublasLtMatrixLayoutCreate(&made, type, lines, others, matrix.leading);
        if (matrix.batch > 1) {
            const auto count = static_cast<int32_t>(matrix.batch);
            cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
            cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &matrix.batch_stride, sizeof(matrix.batch_stride));
        }
        return made;
    }

    Status choose(int64_t workspace) {
        cublasLtMatmulPreference_t preference = nullptr;
        cublasLtMatmulPreferenceCreate(&preference);
        const auto most = static_cast<size_t>(workspace);
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
                                             sizeof(most));
        int found = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle_, operation_, a_, b_, c_, d_,
                                                                     preference, 1, &algorithm_, &found);
        cublasLtMatmulPreferenceDestroy(preference);
        if (status == CUBLAS_STATUS_SUCCESS && found == 0)
            return Error{"not-supported", "cuBLASLt has no algorithm for this product", {}, {}};
        return checkedBlas(status, "cublasLtMatmulAlgoGetHeuristic");
    }

    cublasLtHandle_t handle_;
    cublasLtMatmulDesc_t operation_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;
    cublasLtMatmulHeuristicResult_t algorithm_{};
    std::array<int64_t, 3> sizes_{};
    std::array<DeviceMemory, 3> memory_;
    DeviceMemory bias_, workspace_;
    int64_t bias_bytes_ = 0;
    bool wide_ = false;
    bool adds_ = false;
};

/// What torch gives cuBLAS and cuBLASLt: 32 MiB on Hopper and later, 8.125 MiB before
/// (aten/src/ATen/cuda/CublasHandlePool.cpp).
int64_t workspaceBytes() {
    int device = 0, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major >= 9 ? int64_t{32} << 20 : (int64_t{8} << 20) + (int64_t{128} << 10);
}

[[nodiscard]] const TensorMeta* operand(const Graph& graph, NodeId node, size_t index) {
    const Arg* arg = graph.arg(node, index);
    if (!arg || arg->node() == kNoNode)
        return nullptr;
    return graph.value(arg->node()).firstTensor();
}

std::string_view packetOf(std::string_view target) {
    return target.substr(0, target.find('.', target.find('.') + 1));
}

} // namespace

MatmulLibrary::MatmulLibrary() {
    cublasLtHandle_t handle = nullptr;
    if (cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS)
        handle_ = handle;
}
MatmulLibrary::~MatmulLibrary() {
    if (handle_)
        cublasLtDestroy(static_cast<cublasLtHandle_t>(handle_));
}

bool MatmulLibrary::isMatmul(std::string_view target) {
    const std::string_view packet = packetOf(target);
    return packet == "aten.mm" || packet == "aten.addmm" || packet == "aten.bmm" || packet == "aten.baddbmm";
}

Result<CudaOpPtr> MatmulLibrary::prepare(const Graph& graph, NodeId node, cudaStream_t stream) {
    if (!handle_)
        return Error{"device-error", "cuBLASLt could not start", {}, {}};
    const std::string_view packet = packetOf(graph.targetText(node));
    const size_t first = packet == "aten.addmm" || packet == "aten.baddbmm" ? 1 : 0;
    const Result<Matrix> a = matrixOf(operand(graph, node, first));
    const Result<Matrix> b = matrixOf(operand(graph, node, first + 1));
    const Result<Matrix> out = matrixOf(graph.value(node).firstTensor());
    for (const Result<Matrix>* matrix : {&a, &b, &out}) {
        if (!*matrix)
            return matrix->error();
    }
    auto op = std::make_unique<MatmulOp>(static_cast<cublasLtHandle_t>(handle_), stream);
    if (Status said =
            op->describe(a.value(), b.value(), out.value(), first == 1 ? operand(graph, node, 0) : nullptr);
        !said)
        return said.error();
    const Result<BenchmarkInputs> inputs = BenchmarkInputRegistry::global().make(graph, node);
    if (!inputs)
        return inputs.error();
    const auto filled = [&](size_t argument) {
        const InputValue* value = inputs->find(argument);
        const bool tensor = value && value->kind == InputValue::Kind::Tensor;
        return tensor ? inputs->tensors[value->tensor] : TensorSpec{};
    };
    const TensorSpec nothing{out.value().dtype, {}, {}, InputFill::Zeros, 0};
    if (Status ready = op->allocate(
            {filled(first + 1), filled(first), nothing, first == 1 ? filled(0) : nothing}, workspaceBytes());
        !ready)
        return ready.error();
    return CudaOpPtr(std::move(op));
}

} // namespace gs::cuda
