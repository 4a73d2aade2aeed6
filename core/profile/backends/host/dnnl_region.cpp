#include "dnnl_support.h"
#include "eltwise.h"
#include "host_region.h"
#include "shapes.h"

#include <algorithm>

namespace gs::host {

namespace {

/// What a member does to the running value: a function of it, or an operation with one more tensor.
struct Link {
    std::optional<Eltwise> function;
    std::optional<dnnl::algorithm> binary;
    NodeId operand = kNoNode; ///< of `binary`
    bool cast = false;        ///< values between members are f32 already
};

bool isCast(const std::string& name) {
    return name == "_to_copy" || name == "convert_element_type";
}

/// The link of a member whose running value is the tensor `running`; nothing if it does not fit a post-op.
std::optional<Link> linkOf(const RegionMember& member, NodeId running) {
    const std::vector<NodeId>& nodes = member.inputs.nodes;
    if (isCast(member.name) && nodes.size() == 1)
        return Link{std::nullopt, std::nullopt, kNoNode, true};
    if (nodes.size() == 1) {
        const auto function = eltwiseOf(member.name, member.inputs);
        return function ? std::optional(Link{function, std::nullopt, kNoNode, false}) : std::nullopt;
    }
    const auto binary = binaryOf(member.name);
    const bool scaled = member.inputs.find(2, "alpha") || member.inputs.find(2, "rounding_mode");
    if (nodes.size() != 2 || !binary || scaled)
        return std::nullopt;
    const bool first = nodes[0] == running;
    const bool commutes = member.name == "add" || member.name == "mul";
    if ((!first && !commutes) || member.inputs.args.size() < 2)
        return std::nullopt;
    return Link{std::nullopt, binary, first ? nodes[1] : nodes[0], false};
}

/// Each member uses the one before and nobody else does.
std::optional<std::vector<Link>> linksOf(const RegionPlan& plan) {
    std::vector<Link> links;
    if (plan.outputs != std::vector<NodeId>{plan.members.back().node} ||
        plan.members.front().inputs.nodes.empty())
        return std::nullopt;
    NodeId running = plan.members.front().inputs.nodes.front();
    for (const RegionMember& member : plan.members) {
        const std::vector<NodeId>& nodes = member.inputs.nodes;
        const auto link = linkOf(member, running);
        if (!link || !dtypeIsFloat(plan.result(member).dtype) ||
            std::count(nodes.begin(), nodes.end(), running) != 1)
            return std::nullopt;
        if (link->operand != kNoNode && !plan.inputs.contains(link->operand))
            return std::nullopt; // made by another member
        links.push_back(*link);
        running = member.node;
    }
    return links;
}

Tensor ofRank(Tensor tensor, size_t rank) {
    while (tensor.rank() < rank) {
        tensor.spec.shape.insert(tensor.spec.shape.begin(), 1);
        tensor.spec.stride.insert(tensor.spec.stride.begin(), 1);
    }
    return tensor;
}

} // namespace

std::optional<Body> dnnlRegion(const RegionPlan& plan, const std::map<NodeId, Tensor>& inputs,
                               const Tensor& out) {
    const auto links = linksOf(plan);
    if (!links)
        return std::nullopt;
    const Tensor& in = inputs.at(plan.members.front().inputs.nodes.front());
    const Link* head = &links->front();
    // An elementwise function cannot change the type, so that a head that casts has no primitive.
    if (head->cast || !sameShape(in, out) || out.spec.numel() == 0)
        return std::nullopt;
    for (const Link& link : *links) {
        if (link.operand != kNoNode && !broadcastsTo(inputs.at(link.operand), out.spec.shape))
            return std::nullopt;
    }
    return unlessRefused([&]() -> std::optional<Body> {
        const auto from = dnnlDesc(in), to = dnnlDesc(out);
        if (!from || !to)
            return std::nullopt;
        std::vector<DnnlArgument> args;
        dnnl::post_ops after;
        for (size_t i = 1; i < links->size(); ++i) {
            const Link& link = (*links)[i];
            if (link.function)
                after.append_eltwise(1, link.function->kind, link.function->alpha, link.function->beta);
            if (!link.binary)
                continue;
            const Tensor operand = ofRank(inputs.at(link.operand), out.rank());
            const auto desc = dnnlDesc(operand);
            if (!desc)
                return std::nullopt;
            after.append_binary(*link.binary, *desc);
            args.push_back(
                {DNNL_ARG_ATTR_MULTIPLE_POST_OP(after.len() - 1) | DNNL_ARG_SRC_1, *desc, operand});
        }
        dnnl::primitive_attr attr;
        attr.set_post_ops(after);
        args.push_back({DNNL_ARG_DST, *to, out});
        if (head->function) {
            if (in.spec.dtype != out.spec.dtype || !in.dense() || !out.dense())
                return std::nullopt;
            const dnnl::eltwise_forward::primitive_desc pd({dnnl::prop_kind::forward_inference,
                                                            head->function->kind, *from,
                                                            head->function->alpha, head->function->beta},
                                                           attr, dnnlEngine());
            args.push_back({DNNL_ARG_SRC, *from, in});
            return dnnlBody(pd, dnnl::eltwise_forward(pd), args);
        }
        const Tensor second = ofRank(inputs.at(head->operand), out.rank());
        const auto desc = dnnlDesc(second);
        if (!desc)
            return std::nullopt;
        const dnnl::binary::primitive_desc pd({*head->binary, *from, *desc, *to}, attr, dnnlEngine());
        args.push_back({DNNL_ARG_SRC_0, *from, in});
        args.push_back({DNNL_ARG_SRC_1, *desc, second});
        return dnnlBody(pd, dnnl::binary(pd), args);
    });
}

} // namespace gs::host
