#include "export/exporters.h"

namespace gs {

const std::vector<Exporter>& exporters() {
    static const std::vector<Exporter> kExporters = {
        scheduleExporter(),    magiEnvironment(),   magiLogExporter(),       chromeTraceExporter(),
        gatherTableExporter(), costTableExporter(), transferTableExporter(), analysisExporter(),
    };
    return kExporters;
}

const Exporter* findExporter(std::string_view name) {
    for (const Exporter& exporter : exporters()) {
        if (exporter.name == name)
            return &exporter;
    }
    return nullptr;
}

} // namespace gs
