// The gathers: a table, the cards of the worst, and the communication that is none of them.
#include "base/units.h"
#include "explain/counterfactuals.h"
#include "explain/names.h"
#include "explain/why.h"
#include "export/html/markup.h"
#include "export/html/report.h"
#include "export/html/svg.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gs::html {

namespace {

constexpr size_t kTopGathers = 15;
constexpr size_t kCards = 6;
constexpr size_t kTopStalls = 8;
constexpr size_t kListedGathers = 3000;
/// What would hide a gather is looked for where a run of all stages takes milliseconds: 20 to 100 of them per
/// card.
constexpr NodeId kTriedNodes = 3000;
constexpr size_t kTriedCards = 3;
constexpr size_t kListedChanges = 4;

const Collective& gatherOf(const Analysis& analysis, const Decision& decision) {
    return (*analysis.after.collectives)[static_cast<size_t>(decision.collective)];
}

std::string verdictPill(Verdict verdict) {
    return verdict == Verdict::Hidden           ? pill("good", "hidden")
           : verdict == Verdict::ComputeLimited ? pill("bad", "compute-limited")
                                                : pill("plain", "left alone");
}

/// What it needs as a mark on the window that was found.
std::string windowBar(const Decision& decision, double longest) {
    if (decision.need_ns <= 0 || longest <= 0)
        return {};
    constexpr double kWidth = 150, kHeight = 9;
    Svg svg(kWidth, kHeight, "need and window");
    const auto x = [&](double ns) { return std::min(ns / longest, 1.0) * (kWidth - 2); };
    svg.rect("lane", 0, 2, kWidth, 5, {}, 2);
    if (decision.window_ns > 0)
        svg.rect(decision.window_ns >= decision.need_ns ? "s-good" : "s-stall", 0, 2,
                 std::max(x(decision.window_ns), 1.0), 5,
                 fmt::format("window {}, need {}", formatTime(static_cast<int64_t>(decision.window_ns)),
                             formatTime(static_cast<int64_t>(decision.need_ns))),
                 2);
    svg.line("need-mark", x(decision.need_ns) + 1, 0, x(decision.need_ns) + 1, kHeight);
    return svg.element();
}

std::string gatherTable(const Analysis& analysis, const std::vector<const Decision*>& decisions) {
    constexpr Column kColumns[] = {{"Gather"},
                                   {"Group"},
                                   {"Bytes", true},
                                   {"Transfer", true},
                                   {"Need | window", false, "the window found, and a mark at what is needed"},
                                   {"Place", true, "position in the order before → after"},
                                   {"Exposed before", true},
                                   {"after", true},
                                   {"Verdict"},
                                   {"Bound by"}};
    double longest = 0;
    for (const Decision* decision : decisions)
        longest = std::max(longest, decision->need_ns);
    const Graph& graph = *analysis.after.graph;
    Table table(kColumns);
    for (const Decision* decision : decisions) {
        const Collective& gather = gatherOf(analysis, *decision);
        table.html(fmt::format("<span title=\"{}\">{}</span>", escape(gatheredParameters(graph, gather)),
                               escape(gatherLabel(graph, gather), 100)));
        table.text(gather.group == kNoGroup ? std::string_view("?")
                                            : graph.text(graph.groups()[gather.group].name));
        table.text(formatBytes(gather.output_bytes));
        table.text(formatTime(static_cast<int64_t>(decision->comm_ns)));
        table.html(windowBar(*decision, longest));
        table.text(decision->moved()
                       ? fmt::format("{} → {}", formatCount(decision->cur), formatCount(decision->target))
                       : formatCount(decision->cur));
        const int64_t before = exposedBefore(analysis, decision->launch);
        table.text(before < 0 ? std::string("?") : formatTime(before));
        table.text(formatTime(exposedAfter(analysis, decision->collective)));
        table.html(verdictPill(decision->verdict)).text(bindingReasonName(decision->reason));
        table.endRow();
    }
    return "<div class=\"wide\">" + table.str() + "</div>";
}

std::string_view partClass(WhyPart::Kind kind) {
    switch (kind) {
    case WhyPart::Kind::Comm:
        return "s-gather";
    case WhyPart::Kind::Contention:
        return "s-contention";
    case WhyPart::Kind::Slack:
        return "s-slack";
    case WhyPart::Kind::CarryIn:
        return "s-carry";
    case WhyPart::Kind::Compute:
        return "s-compute";
    case WhyPart::Kind::Rest:
        return "s-rest";
    }
    return "s-rest";
}

/// The need above the window on one scale.
std::string cardBars(const WhyCard& card) {
    if (card.need.empty())
        return {};
    constexpr double kWidth = 520, kLeft = 62, kBar = 14;
    const double longest = std::max({card.need_ns, card.window_ns, 1.0});
    Svg svg(kWidth, 44, "what it needs and the window that was found");
    const auto draw = [&](const std::vector<WhyPart>& parts, double y, std::string_view name, double total) {
        svg.text("lane-label", kLeft - 8, y + 11, name, "end");
        svg.block("lane", kLeft, y, kWidth - kLeft - 70, kBar);
        double x = kLeft;
        for (const WhyPart& part : parts) {
            const double width = part.ns / longest * (kWidth - kLeft - 70);
            svg.rect(
                partClass(part.kind), x, y, std::max(width - 0.6, 0.3), kBar,
                fmt::format("{} · {}", cleanText(part.label, 80), formatTime(static_cast<int64_t>(part.ns))));
            x += width;
        }
        svg.text("tick", kWidth, y + 11, formatTime(static_cast<int64_t>(total)), "end");
    };
    draw(card.need, 4, "need", card.need_ns);
    draw(card.window, 25, "window", card.window_ns);
    return svg.element();
}

std::string changes(const Analysis& analysis, NodeId launch) {
    const Result<std::vector<Counterfactual>> found = findCounterfactuals(analysis, launch, {});
    if (!found)
        return {};
    if (found->empty())
        return "<p class=\"why\">No single change that was tried hides it.</p>";
    std::string out = "<p class=\"why\">It would be hidden by one of:</p><ul class=\"flip\">";
    for (size_t i = 0; i < std::min(found->size(), kListedChanges); ++i) {
        const Counterfactual& item = found.value()[i];
        out += fmt::format("<li>{} <span class=\"why\">(step {}{})</span></li>", escape(item.text),
                           formatTime(item.step_ns), item.lengthens_step ? ", longer" : "");
    }
    return out + "</ul>";
}

std::string card(const Analysis& analysis, const Decision& decision, bool try_changes) {
    const WhyCard why = explainGather(analysis, decision.launch);
    std::string out = "<div class=\"card\">\n<div class=\"head\"><h3>" + escape(why.title, 120) + "</h3>" +
                      verdictPill(why.verdict) + "</div>\n";
    out += fmt::format("<p>{}</p>\n", escape(why.headline, 600));
    if (!why.detail.empty())
        out += fmt::format("<p class=\"why\">{}</p>\n", escape(why.detail, 600));
    out += cardBars(why);
    if (!why.reason.text.empty())
        out +=
            fmt::format("<p>{}{}</p>\n", escape(why.reason.text, 600),
                        why.reason_source.empty() ? std::string()
                                                  : " <code>" + escape(why.reason_source, 160) + "</code>");
    if (!why.disagreement.text.empty())
        out += fmt::format("<p class=\"why\">{}</p>\n", escape(why.disagreement.text, 600));
    out += "<dl>";
    for (const WhyRow& row : why.rows)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(row.label), escape(row.value));
    for (const WhyFact& fact : why.facts)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>", escape(fact.text), escape(fact.value));
    out += "</dl>\n";
    if (try_changes)
        out += changes(analysis, decision.launch);
    return out + "</div>\n";
}

/// Stalls of any collective: what is no gather counts, too.
std::string stallTable(const Program& program) {
    std::vector<const Transfer*> stalls;
    for (const Transfer& transfer : program.timeline->transfers) {
        if (transfer.exposed_ns > 0)
            stalls.push_back(&transfer);
    }
    if (stalls.empty())
        return {};
    std::stable_sort(stalls.begin(), stalls.end(),
                     [](const Transfer* a, const Transfer* b) { return a->exposed_ns > b->exposed_ns; });
    stalls.resize(std::min(stalls.size(), kTopStalls));
    constexpr Column kColumns[] = {
        {"Longest stalls after scheduling"}, {"Kind"},         {"Bytes", true}, {"Transfer", true},
        {"Waits for its stream", true},      {"Exposed", true}};
    Table table(kColumns);
    for (const Transfer* transfer : stalls) {
        const Collective& item = (*program.collectives)[static_cast<size_t>(transfer->collective)];
        table.text(item.inFlightAtEntry() ? "in flight at entry: " + parameterName(*program.graph, item.input)
                                          : gatherLabel(*program.graph, item));
        table.text(collectiveKindName(item.kind)).text(formatBytes(item.output_bytes));
        table.text(formatTime(transfer->end_ns - transfer->start_ns));
        table.text(formatTime(transfer->start_ns - transfer->launched_ns));
        table.text(formatTime(transfer->exposed_ns)).endRow();
    }
    return "<div class=\"wide\" style=\"margin-top:14px\">" + table.str() + "</div>\n";
}

} // namespace

std::vector<const Decision*> worstFirst(const Analysis& analysis) {
    std::vector<const Decision*> list;
    for (const Decision& decision : analysis.after.schedule->decisions) {
        if (decision.verdict != Verdict::NotCandidate)
            list.push_back(&decision);
    }
    std::stable_sort(list.begin(), list.end(), [&](const Decision* a, const Decision* b) {
        const int64_t first = exposedAfter(analysis, a->collective),
                      second = exposedAfter(analysis, b->collective);
        return first != second ? first > second : a->comm_ns > b->comm_ns;
    });
    return list;
}

std::string gatherSection(const Analysis& analysis) {
    std::vector<const Decision*> all = worstFirst(analysis);
    std::string out = "<section>\n<h2>Gathers</h2>\n";
    if (all.empty())
        return out + "<p class=\"note\">The scheduler decided about no gather.</p>\n</section>\n";
    const size_t top = std::min(all.size(), kTopGathers);
    out += fmt::format(
        "<p class=\"note\">{} decisions, the longest stall first{}. A gather is hidden if the compute "
        "window in front of its wait covers what it needs: transfer × contention + slack.</p>\n",
        formatCount(static_cast<int64_t>(all.size())),
        all.size() > top ? fmt::format("; these are the first {}", top) : std::string());
    out += gatherTable(analysis, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(top)});
    if (all.size() > top) {
        std::sort(all.begin(), all.end(),
                  [](const Decision* a, const Decision* b) { return a->launch < b->launch; });
        const bool cut = all.size() > kListedGathers;
        all.resize(std::min(all.size(), kListedGathers));
        out += folded(fmt::format("{} {} gathers in program order", cut ? "The first" : "All", all.size()),
                      gatherTable(analysis, all));
    }
    return out + "</section>\n";
}

std::string cardSection(const Analysis& analysis) {
    std::vector<const Decision*> worst = worstFirst(analysis);
    std::erase_if(worst, [&](const Decision* decision) {
        return exposedAfter(analysis, decision->collective) <= 0 && decision->verdict == Verdict::Hidden;
    });
    if (worst.empty())
        return {};
    worst.resize(std::min(worst.size(), kCards));
    const bool try_changes =
        analysis.after.graph->size() <= kTriedNodes && !analysis.request.graph_file.empty();
    const bool exposed = exposedAfter(analysis, worst.front()->collective) > 0;
    std::string out =
        fmt::format("<section>\n<h2>{}</h2>\n<p class=\"note\">The gathers that cost most, each with "
                    "the one thing that binds it.</p>\n<div class=\"cards\">\n",
                    exposed ? "Why these are exposed" : "What compute could not hide for sure");
    for (size_t i = 0; i < worst.size(); ++i)
        out += card(analysis, *worst[i], try_changes && i < kTriedCards);
    return out +
           "</div>\n<div class=\"legend\"><span style=\"--c:var(--gather)\">transfer alone</span>"
           "<span style=\"--c:color-mix(in srgb,var(--gather) 45%,transparent)\">what contention adds</span>"
           "<span style=\"--c:var(--muted)\">slack</span>"
           "<span style=\"--c:var(--compute)\">compute in front of it</span>"
           "<span style=\"--c:var(--live)\">carried over by a later gather</span></div>\n</section>\n";
}

std::string transferSection(const Analysis& analysis) {
    struct Sum {
        size_t count = 0;
        int64_t bytes = 0, transfer_ns = 0, before_ns = 0, after_ns = 0;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (const Program* program : {&analysis.before, &analysis.after}) {
        for (const Transfer& transfer : program->timeline->transfers) {
            const Collective& item = (*program->collectives)[static_cast<size_t>(transfer.collective)];
            const std::string group =
                item.group == kNoGroup
                    ? std::string("?")
                    : std::string(program->graph->text(program->graph->groups()[item.group].name));
            Sum& sum = sums[{std::string(collectiveKindName(item.kind)), group}];
            (program == &analysis.before ? sum.before_ns : sum.after_ns) += transfer.exposed_ns;
            if (program == &analysis.before)
                continue;
            ++sum.count;
            if (item.output_bytes > 0 && __builtin_add_overflow(sum.bytes, item.output_bytes, &sum.bytes))
                sum.bytes = kHugeSize;
            sum.transfer_ns += transfer.alone_ns;
        }
    }
    if (sums.empty())
        return {};
    constexpr Column kColumns[] = {{"Kind"},           {"Group"},
                                   {"Launches", true}, {"Bytes they yield", true},
                                   {"Transfer", true}, {"Exposed before", true},
                                   {"after", true}};
    Table table(kColumns);
    for (const auto& [key, sum] : sums) {
        table.text(key.first).text(key.second).text(formatCount(static_cast<int64_t>(sum.count)));
        table.text(formatBytes(sum.bytes)).text(formatTime(sum.transfer_ns));
        table.text(formatTime(sum.before_ns)).text(formatTime(sum.after_ns)).endRow();
    }
    return "<section>\n<h2>Communication by kind and group</h2>\n<p class=\"note\">Transfer: durations "
           "alone, added "
           "up. Exposed: stalls at their waits, added up per collective.</p>\n<div class=\"wide\">" +
           table.str() + "</div>\n" + stallTable(analysis.after) + "</section>\n";
}

} // namespace gs::html
