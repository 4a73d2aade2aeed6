// What one should know first: the step before and after, in words, numbers and a picture.
#include "base/units.h"
#include "export/html/markup.h"
#include "export/html/report.h"
#include "export/html/timeline_picture.h"
#include "export/warnings.h"

#include <fmt/format.h>

namespace gs::html {

namespace {

double share(int64_t now, int64_t was) {
    return was == 0 ? 0 : static_cast<double>(now - was) / static_cast<double>(was);
}

/// "was 880.4 ms · −21.0 %", green if less is better and it is less.
std::string change(int64_t now, int64_t was, std::string (*format)(int64_t)) {
    const std::string percent = was == 0 || now == was
                                    ? std::string()
                                    : fmt::format(" · <b class=\"{}\">{}</b>", now < was ? "down" : "up",
                                                  formatPercent(share(now, was), true));
    return now == was ? std::string("as in program order") : fmt::format("was {}{}", format(was), percent);
}

std::string tile(std::string_view name, std::string_view value, const std::string& markup) {
    return fmt::format("<div class=\"tile\"><div class=\"name\">{}</div><div class=\"value\">{}</div>"
                       "<div class=\"was\">{}</div></div>\n",
                       escape(name), escape(value), markup);
}

std::string tiles(const Analysis& analysis) {
    const Timeline& before = *analysis.before.timeline;
    const Timeline& after = *analysis.after.timeline;
    const Summary summary = summarise(analysis);
    std::string out = "<div class=\"tiles\">\n";
    out += tile("Step", formatTime(after.step_ns), change(after.step_ns, before.step_ns, formatTime));
    out += tile("Exposed communication", formatTime(after.exposed_ns),
                change(after.exposed_ns, before.exposed_ns, formatTime));
    out += tile("Gathers hidden", fmt::format("{} of {}", summary.hidden, summary.gathers),
                fmt::format("{} moved, {} compute-limited", summary.moved, summary.compute_limited));
    out += tile("Peak of gathered bytes", formatBytes(after.peak_gathered_bytes),
                change(after.peak_gathered_bytes, before.peak_gathered_bytes, formatBytes));
    const int64_t bound = analysis.lower_bound_ns;
    out += tile("Lower bound", formatTime(bound),
                fmt::format("the step is {} above it", formatPercent(share(after.step_ns, bound))));
    return out + "</div>\n";
}

std::string sentence(const Analysis& analysis) {
    const Timeline& before = *analysis.before.timeline;
    const Timeline& after = *analysis.after.timeline;
    const std::string scheduler = escape(analysis.after.schedule->scheduler);
    std::string text;
    if (after.step_ns < before.step_ns)
        text = fmt::format("<b>{}</b> shortens the simulated step from {} to <b>{}</b> ({}).", scheduler,
                           formatTime(before.step_ns), formatTime(after.step_ns),
                           formatPercent(share(after.step_ns, before.step_ns), true));
    else if (after.step_ns == before.step_ns)
        text = fmt::format("With <b>{}</b> the simulated step takes <b>{}</b>, as in program order.",
                           scheduler, formatTime(after.step_ns));
    else
        text = fmt::format(
            "With <b>{}</b> the simulated step takes <b>{}</b>, longer than the {} of program order.",
            scheduler, formatTime(after.step_ns), formatTime(before.step_ns));
    if (after.exposed_ns > 0)
        text += fmt::format(" Compute stands still for {} of it, waiting for communication.",
                            formatTime(after.exposed_ns));
    else
        text += " Compute never waits for communication.";
    return text;
}

std::string facts(const Analysis& analysis) {
    const Graph& graph = *analysis.after.graph;
    const GraphInfo& info = graph.info();
    std::string text;
    if (!info.model.empty() && info.model != info.name)
        text += escape(info.model, 120) + " · ";
    text += fmt::format("{} · {} · {}", counted(graph.size(), "node"),
                        counted(analysis.after.collectives->size(), "collective"),
                        counted(graph.groups().size(), "process group"));
    if (info.world_size > 0)
        text += fmt::format(" · rank {} of {}", info.rank, info.world_size);
    if (info.level == GraphLevel::Scheduler)
        text += " · Inductor's scheduler nodes";
    return text;
}

} // namespace

std::string headSection(const Analysis& analysis) {
    std::string out = "<header>\n<div class=\"brand\">Gatherscope report</div>\n";
    out += fmt::format("<h1>{}</h1>\n<p class=\"sub\">{}</p>\n<p class=\"lead\">{}</p>\n",
                       escape(analysis.after.graph->info().name), facts(analysis), sentence(analysis));
    if (const auto warnings = commonWarnings(analysis); !warnings.empty()) {
        out += "<div class=\"caution\">";
        for (const std::string& warning : warnings)
            out += fmt::format("<p>Note: {}.</p>", escape(warning));
        out += "</div>\n";
    }
    return out + tiles(analysis) + "</header>\n";
}

std::string timelineSection(const Analysis& analysis) {
    std::string out =
        "<section>\n<h2>Timeline</h2>\n<p class=\"note\">One simulated step on one time axis. A stall "
        "of the compute lane is communication that nothing hides.</p>\n<div class=\"wide\">" +
        timelinePicture(analysis).element() + "</div>\n";
    out +=
        "<div class=\"legend\"><span style=\"--c:var(--compute)\">compute</span>"
        "<span style=\"--c:var(--exposed)\">stall</span><span style=\"--c:var(--gather)\">all-gather</span>"
        "<span style=\"--c:var(--other)\">other collectives</span></div>\n</section>\n";
    out += "<section>\n<h2>Gathered bytes alive</h2>\n<p class=\"note\">From the launch of a gather to the "
           "last use "
           "of what it gathered. Live bytes of this program, not what an allocator reserves.</p>\n" +
           liveBytesPicture(analysis).element() +
           "<div class=\"legend\"><span style=\"--c:var(--live)\">after scheduling</span>"
           "<span style=\"--c:var(--muted)\">program order (dashed)</span></div>\n</section>\n";
    return out;
}

} // namespace gs::html
