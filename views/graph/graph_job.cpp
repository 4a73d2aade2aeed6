#include "views/graph/graph_job.h"

namespace gs {

namespace {

std::shared_ptr<const LaneLayout> lanesOf(const Program& program) {
    std::vector<uint8_t> gathers(program.graph->size(), 0);
    for (const Collective& item : program.collectives->all()) {
        if (item.weight_gather && item.launch != kNoNode)
            gathers[item.launch] = 1;
    }
    auto lanes = std::make_shared<LaneLayout>(makeLanes(program.graph, programOrder(program), gathers));
    std::vector<NodeId> moved;
    if (program.schedule) {
        for (const Decision& d : program.schedule->decisions) {
            if (d.moved() && d.launch < program.graph->size())
                moved.push_back(d.launch);
        }
    }
    addMoves(*lanes, moved, identityOrder(*program.graph));
    return lanes;
}

} // namespace

GraphJobResult runGraphJob(const GraphJobInput& input) {
    GraphJobResult out;
    out.mode = input.mode;
    const Analysis& analysis = *input.analysis;
    switch (input.mode) {
    case GraphMode::Focus:
        out.pair = focusOn(analysis, input.name, input.focus);
        break;
    case GraphMode::Modules: {
        FoldedGraph before = foldByModule(*analysis.before.graph, programOrder(analysis.before), input.fold);
        FoldedGraph after = foldByModule(*analysis.after.graph, programOrder(analysis.after), input.fold);
        out.pair.before = std::move(before.picture);
        out.pair.after = std::move(after.picture);
        out.refused = after.refused.size();
        break;
    }
    case GraphMode::Lanes:
        out.before_lanes = lanesOf(analysis.before);
        out.after_lanes = lanesOf(analysis.after);
        break;
    }
    return out;
}

} // namespace gs
