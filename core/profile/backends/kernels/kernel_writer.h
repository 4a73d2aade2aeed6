// Writes one kernel: a loop over rows x of the region and, where it reduces, loops over the elements r of a
// row. Values are pulled from their users: what lies between loads and stores stays in registers.
#pragma once

#include "profile/backends/kernels/fused_kernel.h"
#include "profile/backends/kernels/region_plan.h"

namespace gs::kernels {

/// Which tensor a primitive is kept in, where it is one.
using Storage = std::map<PrimId, uint32_t>;

/// Iteration space of a kernel: rows × elements of a row (1 without reductions).
struct Domain {
    int64_t rows = 1;
    int64_t row_size = 1;
    Shape shape;            ///< of what is reduced
    std::vector<bool> mask; ///< its reduced dimensions
    bool columns = false; ///< the last dimension is not reduced: neighbouring threads take neighbouring rows
};

struct KernelRequest {
    std::string name;
    std::vector<PrimId> stores; ///< results and temporaries to write, each in `storage`
    std::vector<PrimId> own;    ///< reductions that are computed here
    Domain domain;
};

class KernelWriter {
public:
    KernelWriter(const RegionPlan& plan, const std::vector<KernelTensor>& tensors, const Storage& storage,
                 const KernelRequest& request);
    /// Nothing if a reduction is read at another row than the one at hand: it must be finished before.
    std::optional<Kernel> write();
    /// Primitives of earlier kernels that this one loads.
    const std::set<PrimId>& loads() const { return loaded_; }

private:
    /// Where statements go: the loop over the elements, a guarded part of it, or what follows the loops.
    struct Scope {
        std::string before; ///< vector loads, in front of the unrolled loop
        std::string body;
        std::string after;                        ///< vector stores
        std::map<std::string, std::string> known; ///< primitive and index → variable
        bool guarded = false;
        bool in_row = false; ///< the loop over r, or over x without reductions
    };

    std::string value(PrimId id, const Index& index);
    std::string computed(const Prim& prim, const Index& index);
    std::string mapped(const Prim& prim, const Index& index);
    std::string padded(const Prim& prim, const Index& index);
    std::string concatenated(const Prim& prim, const Index& index);
    std::string guardedValue(PrimId id, const Index& index, const std::string& target,
                             const std::string& condition);
    std::string load(uint32_t tensor, const Index& index);
    void store(PrimId id, const Index& index);
    void store(PrimId id, uint32_t tensor, const Index& index, const std::string& what);
    std::string reduced(PrimId id, const Index& index);
    void reducePass(int pass);
    std::string rowLoop(Scope scope) const;
    void rowStores();
    void chooseVector();
    Kernel finish();
    std::string head() const;

    std::string pointer(uint32_t tensor);
    std::string offset(uint32_t tensor, const Index& index, const std::string& inner) const;
    bool isContiguous(uint32_t tensor, const Index& index) const;
    bool ownsReduction(PrimId id) const { return own_.contains(id); }
    bool isFullSize(PrimId id) const;
    int level(PrimId id);
    Index rootIndex(const Shape& shape, const std::vector<bool>& mask) const;
    Index storeIndex(PrimId id) const;
    std::string variable(const char* prefix) { return prefix + std::to_string(next_++); }

    const RegionPlan& plan_;
    const std::vector<KernelTensor>& tensors_;
    const Storage& storage_;
    const KernelRequest& request_;
    std::set<PrimId> own_;
    std::set<PrimId> loaded_;
    std::map<PrimId, int> levels_;
    std::vector<uint32_t> parameters_;
    Scope scope_;
    std::string body_;
    std::string inner_;
    int64_t vector_ = 1;
    int32_t row_threads_ = 1; ///< of a block, along r
    int32_t lanes_ = 1;       ///< of a block, along x
    uint32_t next_ = 0;
    bool apart_ = false;
};

/// C type of an element in memory and in a register.
std::string_view memoryType(DType dtype);
std::string_view registerType(DType dtype);

} // namespace gs::kernels
