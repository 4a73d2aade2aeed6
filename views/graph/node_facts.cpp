#include "views/graph/node_facts.h"

#include "base/units.h"
#include "layout/focus.h"
#include "layout/labels.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

namespace gs {

namespace {

struct Facts {
    Q_DECLARE_TR_FUNCTIONS(NodeFacts)
};

QString fromStd(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString count(size_t value) {
    return fromStd(formatCount(static_cast<int64_t>(value)));
}

/// Two columns; empty values are left out.
class Table {
public:
    explicit Table(const QString& title)
        : text_(QStringLiteral("<b>%1</b><table>").arg(title.toHtmlEscaped())) {}
    void add(const QString& key, const QString& value) {
        if (!value.isEmpty())
            text_ += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                         .arg(key.toHtmlEscaped(), value.toHtmlEscaped());
    }
    QString html() const { return text_ + QStringLiteral("</table>"); }

private:
    QString text_;
};

QString tensorText(const Graph& graph, const TensorMeta& tensor) {
    QStringList dims;
    for (const Dim& dim : tensor.shape) {
        if (!dim.symbolic())
            dims << QString::number(dim.value);
        else
            dims << (dim.value == kUnknownSize
                         ? fromStd(graph.text(dim.symbol))
                         : QStringLiteral("%1 (%2)").arg(fromStd(graph.text(dim.symbol))).arg(dim.value));
    }
    return QStringLiteral("%1[%2]").arg(fromStd(dtypeAbbreviation(tensor.dtype)),
                                        dims.join(QStringLiteral(", ")));
}

QString valueText(const Graph& graph, NodeId node) {
    const Value& value = graph.value(node);
    const TensorMeta* tensor = value.firstTensor();
    if (!tensor)
        return {};
    QString text = tensorText(graph, *tensor);
    if (value.kind == Value::Kind::List && value.items.size() > 1)
        text += Facts::tr(" and %1 more").arg(count(value.items.size() - 1));
    const int64_t bytes = value.bytes();
    if (bytes >= 0)
        text += QStringLiteral(" · ") + fromStd(formatBytes(bytes));
    return text;
}

QString costText(const Program& program, NodeId node) {
    if (!program.costs)
        return {};
    const CostEntry* entry = program.costs->entry(node);
    if (!entry)
        return {};
    if (entry->provenance == Provenance::Missing)
        return Facts::tr("missing");
    return QStringLiteral("%1 · %2 %3")
        .arg(fromStd(formatTime(entry->ns)), fromStd(provenanceName(entry->provenance)),
             fromStd(entry->source))
        .trimmed();
}

QString positionText(const Analysis& analysis, std::string_view name) {
    const LocatedNode at = locateNode(analysis, name);
    const auto position = [](const Program& program, NodeId node) {
        if (node == kNoNode)
            return QStringLiteral("–");
        if (!program.schedule || program.schedule->order.size() != program.graph->size())
            return count(node);
        const Order& order = program.schedule->order;
        return count(static_cast<size_t>(std::find(order.begin(), order.end(), node) - order.begin()));
    };
    return QStringLiteral("%1 → %2").arg(position(analysis.before, at.before),
                                         position(analysis.after, at.after));
}

void addGather(Table& table, const Analysis& analysis, bool after, NodeId node) {
    const Program& program = after ? analysis.after : analysis.before;
    const NodeId launch = launchOf(*program.collectives, node);
    if (launch == kNoNode)
        return;
    const Collective& item = (*program.collectives)[static_cast<size_t>(program.collectives->indexOf(node))];
    table.add(Facts::tr("gathers"), fromStd(gatheredParameters(*program.graph, item)));
    if (item.group != kNoGroup)
        table.add(Facts::tr("group"),
                  Facts::tr("%1 · %2 ranks")
                      .arg(fromStd(program.graph->text(program.graph->groups()[item.group].name)))
                      .arg(item.group_size));
    if (item.output_bytes >= 0)
        table.add(Facts::tr("output"), fromStd(formatBytes(item.output_bytes)));
    if (!after || !analysis.after.schedule)
        return;
    for (const Decision& d : analysis.after.schedule->decisions) {
        if (d.launch != launch)
            continue;
        table.add(Facts::tr("cur → target"), QStringLiteral("%1 → %2").arg(count(d.cur), count(d.target)));
        table.add(Facts::tr("need"), fromStd(formatTime(static_cast<int64_t>(d.need_ns))));
        table.add(Facts::tr("window"), fromStd(formatTime(static_cast<int64_t>(d.window_ns))));
        table.add(Facts::tr("verdict"), fromStd(verdictName(d.verdict)));
    }
}

} // namespace

QString nodeFacts(const Analysis& analysis, bool after, NodeId node) {
    const Program& program = after ? analysis.after : analysis.before;
    const Graph& graph = *program.graph;
    Table table(fromStd(graph.name(node)));
    table.add(Facts::tr("target"), fromStd(graph.targetText(node)));
    if (graph.node(node).op == NodeOp::Placeholder)
        table.add(Facts::tr("parameter"), fromStd(parameterName(graph, node)));
    table.add(Facts::tr("value"), valueText(graph, node));
    table.add(Facts::tr("module"), fromStd(moduleOf(graph, node)));
    if (graph.node(node).phase != Phase::Unknown)
        table.add(Facts::tr("phase"),
                  graph.node(node).phase == Phase::Backward ? Facts::tr("backward") : Facts::tr("forward"));
    table.add(Facts::tr("position"), positionText(analysis, graph.name(node)));
    table.add(Facts::tr("cost"), costText(program, node));
    addGather(table, analysis, after, node);
    table.add(Facts::tr("inputs, users"), QStringLiteral("%1, %2").arg(count(graph.inputs(node).size()),
                                                                       count(graph.users(node).size())));
    QString source = fromStd(graph.text(graph.node(node).source));
    if (source.size() > 120)
        source = source.left(119) + QChar(0x2026);
    table.add(Facts::tr("source"), source);
    return table.html();
}

QString boxFacts(const Analysis& analysis, bool after, const LayoutBox& box) {
    const Program& program = after ? analysis.after : analysis.before;
    if (box.nodes.size() == 1 && box.role != BoxRole::Portal)
        return nodeFacts(analysis, after, box.nodes.front());
    Table table(fromStd(box.title));
    if (box.role == BoxRole::Portal) {
        table.add(Facts::tr("leads to"), fromStd(program.graph->name(box.nodes.front())));
        if (box.nodes.size() > 1)
            table.add(Facts::tr("and"), Facts::tr("%1 more").arg(count(box.nodes.size() - 1)));
        table.add(Facts::tr("click"), Facts::tr("jumps there"));
        return table.html();
    }
    table.add(Facts::tr("nodes"), count(box.nodes.size()));
    std::map<std::string, size_t> ops;
    int64_t ns = 0;
    for (NodeId node : box.nodes) {
        ++ops[opLabel(*program.graph, node)];
        if (program.costs && program.graph->node(node).kind == NodeKind::Compute)
            ns += program.costs->ns(node);
    }
    std::vector<std::pair<size_t, std::string>> by_count;
    for (const auto& [op, times] : ops)
        by_count.emplace_back(times, op);
    std::stable_sort(by_count.begin(), by_count.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    QStringList parts;
    for (size_t i = 0; i < by_count.size() && i < 6; ++i)
        parts << QStringLiteral("%1 × %2").arg(count(by_count[i].first), fromStd(by_count[i].second));
    table.add(Facts::tr("operators"), parts.join(QStringLiteral(", ")));
    if (ns > 0)
        table.add(Facts::tr("compute"), fromStd(formatTime(ns)));
    table.add(Facts::tr("first, last"),
              QStringLiteral("%1, %2").arg(fromStd(program.graph->name(box.nodes.front())),
                                           fromStd(program.graph->name(box.nodes.back()))));
    for (NodeId node : box.nodes) {
        if (program.graph->node(node).kind == NodeKind::Launch && box.role != BoxRole::Folded) {
            addGather(table, analysis, after, node);
            break;
        }
    }
    return table.html();
}

} // namespace gs
