#include "import/fx_code_reader.h"
#include "import/fx_scan.h"
#include "import/readers.h"

namespace gs {

namespace {

std::vector<GraphEntry> listCode(const InputText& input) {
    return findCodeGraphs(input.text);
}

Result<GraphPtr> readCode(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                          const JobContext& job) {
    job.report("reading nodes", 0.1);
    Diagnostics found;
    FxCodeReader reader(input, entry, {}, false);
    Result<GraphPtr> graph = reader.read(found, job);
    const bool undefined = reader.isFragment() && !reader.undefinedNames().empty();
    if (!graph || (!undefined && !reader.hasForwardUses())) {
        diagnostics.append(found);
        return graph;
    }
    FxCodeReader again(input, entry, undefined ? reader.undefinedNames() : std::vector<std::string>(),
                       reader.hasForwardUses());
    return again.read(diagnostics, job);
}

} // namespace

GraphReader fxCodeReader() {
    return {"fx-code", "code form (print_readable)", listCode, readCode};
}

} // namespace gs
