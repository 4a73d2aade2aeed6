#include "import/shape_inference.h"

#include "import/shape_rules.h"

namespace gs {

namespace {

/// Packet of a target: "aten.mm.default" → "aten.mm".
std::string_view packetOf(std::string_view target) {
    const size_t first = target.find('.');
    const size_t last = target.rfind('.');
    return first == last ? target : target.substr(0, last);
}

} // namespace

size_t inferShapes(GraphBuilder& builder) {
    size_t without = 0;
    const Graph& graph = builder.graph();
    std::vector<ShapeRule> rules(graph.targetCount(), nullptr);
    std::vector<bool> known(graph.targetCount(), false);
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (!graph.isCall(id) || graph.node(id).value != 0)
            continue;
        const TargetId target = graph.node(id).target;
        if (!known[target]) {
            known[target] = true;
            rules[target] = findShapeRule(packetOf(graph.targetText(id)), graph.target(id).traits);
        }
        const ShapeCall call(builder, id);
        const Value value = rules[target] ? rules[target](call) : Value{};
        if (value.kind == Value::Kind::None)
            ++without;
        else
            builder.setValue(id, value);
    }
    return without;
}

} // namespace gs
