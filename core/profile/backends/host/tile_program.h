// Pointwise work as one loop: operands are read a tile at a time, all steps run in the first-level cache,
// results are written. One operator is a program of one step; a fused region is a longer one.
#pragma once

#include "host_tensor.h"
#include "tile_kernels.h"

#include <functional>

namespace gs::host {

constexpr size_t kMostDimensions = 16;

/// Walks a box of elements in row-major order of its dimensions.
struct TileSource {
    DType dtype = DType::Unknown;
    std::byte* base = nullptr;
    std::vector<int64_t> stride; ///< in elements, per dimension of the box
};

/// Elements [begin, begin + n) of the box `shape`.
template <typename T>
void loadTile(const TileSource& from, const std::vector<int64_t>& shape, int64_t begin, int64_t n, T* out);
template <typename T>
void storeTile(const TileSource& to, const std::vector<int64_t>& shape, int64_t begin, int64_t n,
               const T* values);

struct TileStep {
    TileOp op = TileOp::Copy;
    int32_t a = 0, b = 0, c = 0; ///< registers
    int32_t out = 0;
    double p = 0;
};

class TileProgram {
public:
    /// Results are of this shape; operands are broadcast to it.
    explicit TileProgram(std::vector<int64_t> shape) : shape_(std::move(shape)) {}

    /// Each returns a register. An operand that does not broadcast gives -1.
    int32_t load(const Tensor& tensor);
    int32_t constant(double value);
    int32_t step(TileOp op, int32_t a, int32_t b = 0, int32_t c = 0, double p = 0);
    /// Rounds to what the type can hold, where that changes the number.
    int32_t cast(int32_t value, DType dtype);
    /// False if the tensor has not the program's shape, or has more dimensions or another type than the
    /// loops know.
    [[nodiscard]] bool store(int32_t value, const Tensor& tensor);

    /// The finished loop; keeps the memory of its tensors alive.
    std::function<void()> finish();

private:
    struct Operand {
        Tensor tensor;
        TileSource source;
        int32_t reg = 0;
    };
    struct Constant {
        double value = 0;
        int32_t reg = 0;
    };
    struct Code {
        std::vector<int64_t> shape;
        std::vector<Operand> loads, stores;
        std::vector<Constant> constants;
        std::vector<TileStep> steps;
        int32_t registers = 0;
    };

    void note(DType dtype);
    static void mergeDimensions(Code& code);
    template <typename T>
    static void run(const Code& code);

    std::vector<int64_t> shape_;
    Code code_;
    bool wide_ = false; ///< doubles instead of floats
};

/// Needs doubles to be exact.
bool isWide(DType dtype);

} // namespace gs::host
