#include "export/exporters.h"
#include "export/warnings.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

const std::vector<Exporter>& exporters() {
    static const std::vector<Exporter> kExporters = {
        scheduleExporter(),
        reportExporter(),
        timelinePictureExporter(),
        liveBytesPictureExporter(),
        magiEnvironment(),
        magiPython(),
        magiYaml(),
        inductorExporter(),
        torchtitanExporter(),
        magiLogExporter(),
        pgeTraceExporter(),
        chromeTraceExporter(),
        gatherTableExporter(),
        costTableExporter(),
        transferTableExporter(),
        analysisExporter(),
        bundleExporter(),
        graphExporter(),
        graphDotExporter(),
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

Result<std::string> Exporter::write(const Analysis& analysis, const ExportOptions& options) const {
    if (!options.target.empty()) {
        const std::vector<std::string> known = targets ? targets() : std::vector<std::string>();
        if (std::find(known.begin(), known.end(), options.target) == known.end()) {
            std::string names;
            for (const std::string& target : known)
                names += (names.empty() ? "" : ", ") + target;
            return Error{"unknown-target",
                         fmt::format("{} cannot be written for \"{}\"", name, options.target),
                         {},
                         known.empty() ? "this format has no versions" : "known are: " + names};
        }
    }
    return make(analysis, options);
}

std::vector<std::string> Exporter::warnings(const Analysis& analysis, const ExportOptions& options) const {
    std::vector<std::string> out = warn ? warn(analysis, options) : std::vector<std::string>();
    const std::vector<std::string> common = commonWarnings(analysis);
    out.insert(out.end(), common.begin(), common.end());
    return out;
}

} // namespace gs
