// Names as torch.fx gives them, so that a rewritten graph has the names that PyTorch's would have.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace gs {

/// The name space of one fx graph. Source: _Namespace of torch/fx/graph.py, PyTorch 2.15.
class FxNames {
public:
    /// A free name made from `wanted`: itself, or its base with the next number after the one that was given
    /// out last for this base.
    std::string create(std::string_view wanted);

private:
    std::unordered_set<std::string> used_;
    std::unordered_map<std::string, int64_t> last_number_; ///< by base
};

} // namespace gs
