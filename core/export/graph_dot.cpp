// The scheduled program as a DOT picture for other tools: folded by module, so that it stays readable.
#include "export/exporters.h"
#include "layout/dot_writer.h"
#include "layout/focus.h"
#include "layout/fold.h"

namespace gs {

Exporter graphDotExporter() {
    return {"dot", "Picture of the graph, folded by module (DOT)", "dot",
            [](const Analysis& analysis, const ExportOptions&) {
                const Program& program = analysis.after;
                const LayoutGraph picture = foldByModule(*program.graph, programOrder(program), {}).picture;
                return Result<std::string>(writeDot(picture, program.graph->info().name));
            }};
}

} // namespace gs
