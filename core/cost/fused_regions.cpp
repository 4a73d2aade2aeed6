#include "cost/fused_regions.h"

#include "cost/cost_model.h"
#include "cost/fusion_rules.h"
#include "cost/key_text.h"
#include "cost/operands.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gs {

namespace {

bool isThrough(NodeKind kind) {
    return kind == NodeKind::View || kind == NodeKind::Unpack;
}

/// What may stand between members: it neither runs on the compute stream nor orders it.
bool mayStandBetween(NodeKind kind) {
    return kind == NodeKind::Placeholder || kind == NodeKind::GetAttr || kind == NodeKind::Free ||
           isThrough(kind);
}

/// Few long rows are reduced by several blocks in two kernels (Inductor's split reductions), so that nothing
/// that reads a whole row again is in the kernel that reduced it.
constexpr int64_t kFewRows = 256;
constexpr int64_t kLongRow = 8192;

struct Member {
    NodeId id = kNoNode;
    FusionStep step;
};

/// An operand of a member that another member made.
struct Link {
    NodeId maker = kNoNode;
    bool straight = true; ///< only reshapes and unpacks lie between
    DType dtype = DType::Unknown;
    int64_t numel = 0; ///< as it was made
};

class RegionFinder {
public:
    explicit RegionFinder(const Graph& graph)
        : graph_(graph), rules_(graph.targetCount()), rule_known_(graph.targetCount(), false),
          link_(graph.size()), made_(graph.size(), kNotMember) {}

    std::vector<FusedRegion> find() {
        for (NodeId id = 0; id < graph_.size(); ++id) {
            const Node& node = graph_.node(id);
            if (isThrough(node.kind)) {
                follow(id);
                continue;
            }
            if (mayStandBetween(node.kind))
                continue;
            const auto step = fusionStep(graph_, id, ruleOf(id));
            if (!step) {
                close();
            } else if (run_.size() == kMostFusedNodes || !accept(id, *step)) {
                close();
                accept(id, *step);
            }
        }
        close();
        return std::move(regions_);
    }

private:
    static constexpr uint32_t kNotMember = UINT32_MAX;

    FusionRule ruleOf(NodeId id) {
        const TargetId target = graph_.node(id).target;
        const uint16_t traits = graph_.node(id).traits;
        if (traits != graph_.target(id).traits.bits) // tags of the file
            return fusionRule(graph_.targetText(id), traits);
        if (!rule_known_[target]) {
            rules_[target] = fusionRule(graph_.targetText(id), traits);
            rule_known_[target] = true;
        }
        return rules_[target];
    }

    /// Notes what a view or unpack passes on of a member of the run.
    void follow(NodeId id) {
        const auto inputs = graph_.inputs(id);
        if (inputs.empty())
            return;
        const NodeId from = inputs.front();
        Link link = linkOf(from);
        if (link.maker == kNoNode)
            return;
        if (graph_.node(id).kind == NodeKind::View) {
            const TensorMeta* tensor = graph_.value(id).firstTensor();
            link.straight = link.straight && tensor && tensor->dtype == link.dtype && ruleOf(id).reshape;
        } else if (const TensorMeta* tensor = graph_.value(id).firstTensor()) {
            link.dtype = tensor->dtype;
            link.numel = tensor->numel();
        }
        link_[id] = link;
    }

    /// An empty link for a value from outside the run.
    Link linkOf(NodeId operand) const {
        const NodeId maker = made_[operand] != kNotMember ? operand : link_[operand].maker;
        if (maker == kNoNode || made_[maker] == kNotMember)
            return {};
        if (maker != operand)
            return link_[operand];
        const TensorMeta* tensor = graph_.value(operand).firstTensor();
        return {operand, true, tensor->dtype, tensor->numel()};
    }

    bool accept(NodeId id, const FusionStep& step) {
        int64_t numel = numel_;
        int64_t rows = rows_;
        if (!step.fill) {
            if (numel < 0)
                numel = step.numel;
            const bool reduces = step.rows >= 0;
            if (step.numel != numel && (reduces || step.numel != rows))
                return false;
            if (reduces && rows >= 0 && rows != step.rows)
                return false;
            if (reduces)
                rows = step.rows;
            for (NodeId input : graph_.inputs(id)) {
                const Link link = linkOf(input);
                if (link.maker != kNoNode && !fits(link, input, id, step, numel, rows))
                    return false;
            }
        }
        numel_ = numel;
        rows_ = rows;
        made_[id] = static_cast<uint32_t>(run_.size());
        run_.push_back({id, step});
        return true;
    }

    /// True if a kernel has the operand's element at hand where it computes the reader's.
    bool fits(const Link& link, NodeId operand, NodeId reader, const FusionStep& step, int64_t numel,
              int64_t rows) const {
        if (run_[made_[link.maker]].step.fill)
            return true;
        const TensorMeta& tensor = readValue(graph_, operand).tensor;
        if (!link.straight)
            return false;
        const bool of_rows = link.numel != numel;
        if (step.numel != numel) // the reader has a row's value only
            return of_rows && tensor.numel() == rows;
        if (!of_rows)
            return tensor.numel() == numel;
        if (rows < kFewRows && numel / rows > kLongRow)
            return false;
        return step.rows < 0 && repeatsRows(tensor, *graph_.value(reader).firstTensor(), rows);
    }

    /// True if `tensor` broadcasts to `result` along exactly the trailing dimensions that make one row.
    static bool repeatsRows(const TensorMeta& tensor, const TensorMeta& result, int64_t rows) {
        const size_t rank = result.shape.size();
        int64_t row = rows > 0 ? result.numel() / rows : 0;
        for (size_t back = 0; back < rank; ++back) {
            const int64_t size = result.shape[rank - 1 - back].value;
            const bool has = back < tensor.shape.size();
            const size_t at = has ? tensor.shape.size() - 1 - back : 0;
            const int64_t own = has ? tensor.shape[at].value : 1;
            const bool still =
                has && tensor.has_stride && at < tensor.stride.size() && tensor.stride[at].value == 0;
            const bool repeated = own == 1 || still;
            if (row > 1) {
                if (!repeated || row % size != 0)
                    return false;
                row /= size;
            } else if (own != size || (still && size != 1)) {
                return false;
            }
        }
        return row == 1;
    }

    /// Makes regions of the run: one for each piece that holds together.
    void close() {
        if (run_.size() > 1)
            split(run_);
        for (const Member& member : run_)
            made_[member.id] = kNotMember;
        run_.clear();
        numel_ = -1;
        rows_ = -1;
    }

    /// Operands by which members hold together: what a member made, else the value itself.
    std::vector<NodeId> ties(const Member& member) const {
        std::vector<NodeId> found{member.id};
        if (member.step.fill)
            return found;
        for (NodeId input : graph_.inputs(member.id)) {
            const Link link = linkOf(input);
            found.push_back(link.maker != kNoNode ? link.maker : input);
        }
        return found;
    }

    void split(const std::vector<Member>& members) {
        std::vector<size_t> parent(members.size());
        std::iota(parent.begin(), parent.end(), size_t{0});
        const auto root = [&](size_t at) {
            while (parent[at] != at)
                at = parent[at] = parent[parent[at]];
            return at;
        };
        std::unordered_map<NodeId, size_t> first;
        for (size_t i = 0; i < members.size(); ++i) {
            for (NodeId tie : ties(members[i]))
                parent[root(i)] = root(first.try_emplace(tie, i).first->second);
        }
        std::vector<Member> piece;
        for (size_t i = 0; i < members.size(); ++i) {
            piece.push_back(members[i]);
            if (i + 1 < members.size() && root(i + 1) == root(i))
                continue;
            if (piece.size() == members.size())
                keep(piece);
            else if (piece.size() > 1)
                split(piece);
            piece.clear();
        }
    }

    void keep(const std::vector<Member>& members) {
        FusedRegion region;
        size_t working = 0;
        int64_t rows = -1;
        for (const Member& member : members) {
            region.nodes.push_back(member.id);
            if (member.step.fill)
                continue;
            ++working;
            region.numel = std::max(region.numel, member.step.numel);
            rows = std::max(rows, member.step.rows);
        }
        region.rows = rows >= 0 ? rows : region.numel;
        // What nobody reads is no kernel: a compiler drops it.
        if (working > 1 && !regionOperands(graph_, region).outputs.empty())
            regions_.push_back(std::move(region));
    }

    const Graph& graph_;
    std::vector<FusionRule> rules_; ///< by target
    std::vector<bool> rule_known_;
    std::vector<Link> link_;     ///< by view and unpack
    std::vector<uint32_t> made_; ///< by node: its place in the run
    std::vector<Member> run_;
    int64_t numel_ = -1; ///< of the run; -1 = only fills so far
    int64_t rows_ = -1;  ///< -1 = nothing is reduced so far
    std::vector<FusedRegion> regions_;
};

bool isMember(const FusedRegion& region, NodeId id) {
    return std::binary_search(region.nodes.begin(), region.nodes.end(), id);
}

bool isFill(const Graph& graph, NodeId id) {
    return fusionRule(graph.targetText(id), graph.node(id).traits).kind == FusionRule::Kind::Fill;
}

/// True if a node that is no member reads `id`, itself or through views and unpacks.
bool isReadOutside(const Graph& graph, const FusedRegion& region, NodeId id) {
    std::vector<NodeId> open{id}; // a list, since chains of views may be longer than a stack is deep
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
        const auto users = graph.users(open.back());
        open.pop_back();
        for (const NodeId user : users) {
            const NodeKind kind = graph.node(user).kind;
            if (kind == NodeKind::Free || isMember(region, user))
                continue;
            if (!isThrough(kind))
                return true;
            if (seen.insert(user).second)
                open.push_back(user);
        }
    }
    return false;
}

/// How a key calls an operand that an earlier member made.
std::string memberText(const Graph& graph, const FusedRegion& region, NodeId maker, NodeId operand) {
    const auto at = std::lower_bound(region.nodes.begin(), region.nodes.end(), maker);
    std::string text = fmt::format("%{}", at - region.nodes.begin());
    bool viewed = false;
    for (NodeId id = operand; id != maker; id = graph.inputs(id).front()) {
        viewed = viewed || graph.node(id).kind == NodeKind::View;
        if (const Arg* index = graph.arg(id, 1);
            graph.node(id).kind == NodeKind::Unpack && index && index->kind == Arg::Kind::Int)
            text += fmt::format(".{}", index->integer);
    }
    if (!viewed)
        return text;
    text += '[';
    bool first = true;
    for (const Dim& dim : graph.value(operand).tensor.shape) {
        text += fmt::format("{}{}", first ? "" : ",", dim.value);
        first = false;
    }
    return text + ']';
}

} // namespace

std::vector<FusedRegion> findFusedRegions(const Graph& graph) {
    if (graph.info().level != GraphLevel::Fx || !graph.info().has_shapes)
        return {};
    return RegionFinder(graph).find();
}

NodeId regionMemberOf(const Graph& graph, const FusedRegion& region, NodeId id) {
    while (!isMember(region, id)) {
        if (!isThrough(graph.node(id).kind) || graph.inputs(id).empty() || id < region.nodes.front())
            return kNoNode;
        id = graph.inputs(id).front();
    }
    return id;
}

RegionOperands regionOperands(const Graph& graph, const FusedRegion& region) {
    RegionOperands operands;
    for (NodeId id : region.nodes) {
        if (!isFill(graph, id)) {
            for (NodeId input : graph.inputs(id)) {
                if (regionMemberOf(graph, region, input) == kNoNode &&
                    std::find(operands.inputs.begin(), operands.inputs.end(), input) == operands.inputs.end())
                    operands.inputs.push_back(input);
            }
        }
        if (graph.value(id).kind != Value::Kind::List) {
            if (isReadOutside(graph, region, id))
                operands.outputs.push_back(id);
            continue;
        }
        for (NodeId user : graph.users(id)) {
            if (graph.node(user).kind == NodeKind::Unpack && isReadOutside(graph, region, user))
                operands.outputs.push_back(user);
        }
    }
    return operands;
}

std::string fusedRegionKey(const Graph& graph, const FusedRegion& region) {
    const RegionOperands operands = regionOperands(graph, region);
    std::vector<bool> named(operands.inputs.size(), false);
    const auto name = [&](NodeId operand, std::string& out) {
        if (const NodeId maker = regionMemberOf(graph, region, operand); maker != kNoNode) {
            out += memberText(graph, region, maker, operand);
            return true;
        }
        const auto found = std::find(operands.inputs.begin(), operands.inputs.end(), operand);
        if (found == operands.inputs.end()) // a fill's model
            return false;
        const auto at = static_cast<size_t>(found - operands.inputs.begin());
        if (!named[at]) {
            named[at] = true;
            return false;
        }
        out += fmt::format("${}", at);
        return true;
    };
    std::string key = "fused{";
    for (size_t i = 0; i < region.nodes.size(); ++i) {
        key += i > 0 ? "; " : "";
        key += computeKey(graph, region.nodes[i], name);
    }
    key += "} -> (";
    for (size_t i = 0; i < operands.outputs.size(); ++i) {
        key += i > 0 ? ", " : "";
        const NodeId maker = regionMemberOf(graph, region, operands.outputs[i]);
        key += memberText(graph, region, maker, operands.outputs[i]);
    }
    return key + ')';
}

} // namespace gs
