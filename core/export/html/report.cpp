#include "export/html/report.h"

#include "base/version.h"
#include "export/exporters.h"
#include "export/html/markup.h"
#include "export/html/style.h"
#include "export/html/timeline_picture.h"

#include <fmt/format.h>

namespace gs {

namespace html {

std::string writeReport(const Analysis& analysis) {
    const std::string name = escape(analysis.after.graph->info().name);
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                      // Whatever a graph says, nothing runs and nothing is fetched.
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'\"/>\n";
    out +=
        fmt::format("<meta name=\"generator\" content=\"{} {}\"/>\n<title>{} · Gatherscope report</title>\n",
                    kProgramName, programVersion(), name);
    out += fmt::format("<style>{}{}</style>\n</head>\n<body>\n<main>\n", pictureStyle(), pageStyle());
    for (const auto section : {headSection, timelineSection, gatherSection, cardSection, transferSection,
                               costSection, settingSection, passSection, diagnosticSection, originSection})
        out += section(analysis);
    return out +
           fmt::format("<footer>Made by {} {}. Times after scheduling are simulated from the costs above: "
                       "a prediction, no measurement.</footer>\n</main>\n</body>\n</html>\n",
                       kProgramName, programVersion());
}

} // namespace html

Exporter reportExporter() {
    return {"report", "Report (one HTML file)", "html", [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(html::writeReport(analysis));
            }};
}

Exporter timelinePictureExporter() {
    return {"timeline-svg", "Picture of the timelines (SVG)", "svg",
            [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(html::timelinePicture(analysis).document(html::pictureStyle()));
            }};
}

Exporter liveBytesPictureExporter() {
    return {"bytes-svg", "Picture of the gathered bytes (SVG)", "svg",
            [](const Analysis& analysis, const ExportOptions&) {
                return Result<std::string>(html::liveBytesPicture(analysis).document(html::pictureStyle()));
            }};
}

} // namespace gs
