#include "views/models/gathers_model.h"

#include "base/units.h"
#include "explain/in_flight.h"
#include "explain/names.h"
#include "explain/why.h"

#include <QCoreApplication>
#include <cmath>

namespace gs {

namespace {

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

QString dash() {
    return QStringLiteral("–");
}

QString groupText(const Graph& graph, const Collective& collective) {
    if (collective.group == kNoGroup)
        return dash();
    const ProcessGroup& group = graph.groups()[collective.group];
    const std::string_view description = graph.text(group.description);
    QString label = text(description.empty() ? graph.text(group.name) : description);
    const int32_t size = collective.group_size > 0 ? collective.group_size : group.size;
    return size > 0 ? QStringLiteral("%1 · %2").arg(label).arg(size) : label;
}

GathersModel::Row makeRow(const Analysis& analysis, const Decision& decision) {
    const Graph& graph = *analysis.after.graph;
    const Collective& collective = (*analysis.after.collectives)[static_cast<size_t>(decision.collective)];
    const CostEntry* cost = analysis.after.costs->entry(decision.launch);
    GathersModel::Row row;
    row.name = text(graph.name(decision.launch));
    row.parameter = text(gatherLabel(graph, collective));
    row.full_parameter =
        collective.parameters.empty() ? row.name : text(gatheredParameters(graph, collective));
    row.group = groupText(graph, collective);
    if (decision.floor_node != kNoNode)
        row.floor_name = text(graph.name(decision.floor_node));
    row.layer = gatherLayer(graph, collective);
    row.bytes = collective.output_bytes;
    row.cur = decision.cur;
    row.target = decision.target;
    row.floor = decision.floor;
    row.comm_missing = !cost || cost->provenance == Provenance::Missing;
    row.comm_ns = row.comm_missing ? 0 : static_cast<double>(cost->ns);
    row.need_ns = decision.need_ns;
    row.window_ns = decision.window_ns;
    row.carry_ns = decision.carry_in_ns;
    row.exposed_before_ns = exposedBefore(analysis, decision.launch);
    row.exposed_ns = exposedAfter(analysis, decision.collective);
    row.verdict = decision.verdict;
    row.reason = decision.reason;
    row.moved = decision.moved();
    return row;
}

GathersModel::Row makeRow(const Analysis& analysis, const InFlightFacts& facts) {
    const Graph& graph = *analysis.after.graph;
    const Collective& collective = (*analysis.after.collectives)[static_cast<size_t>(facts.index)];
    GathersModel::Row row;
    row.name = text(graph.name(facts.input));
    row.parameter = row.full_parameter = QString::fromStdString(parameterName(graph, facts.input));
    row.group = dash();
    row.bytes = collective.output_bytes;
    row.target = facts.wait_after;
    row.cur = facts.wait_before.value_or(facts.wait_after);
    row.comm_missing = !facts.cost || facts.cost->provenance == Provenance::Missing;
    row.comm_ns = static_cast<double>(facts.time.duration_ns);
    row.need_ns = static_cast<double>(facts.time.remaining());
    row.exposed_before_ns = facts.exposed_before_ns;
    row.exposed_ns = facts.exposed_after_ns;
    row.in_flight = true;
    return row;
}

QString rowVerdict(const GathersModel::Row& row) {
    return row.in_flight ? GathersModel::tr("in flight at entry") : verdictText(row.verdict);
}

QString rowReason(const GathersModel::Row& row) {
    return row.in_flight ? GathersModel::tr("launched before the graph") : reasonText(row.reason);
}

QString exposedCell(int64_t ns) {
    return ns <= 0 ? dash() : microsCell(static_cast<double>(ns));
}

QString placeCell(const GathersModel::Row& row) {
    return row.cur != row.target ? QStringLiteral("%1 → %2").arg(row.cur).arg(row.target)
                                 : QString::number(row.cur);
}

QVariant display(const GathersModel::Row& row, int column) {
    switch (column) {
    case GathersModel::Parameter:
        return row.parameter;
    case GathersModel::Layer:
        return row.layer < 0 ? dash() : QString::number(row.layer);
    case GathersModel::Group:
        return row.group;
    case GathersModel::Bytes:
        return text(formatBytes(row.bytes));
    case GathersModel::Place:
        return placeCell(row);
    case GathersModel::Floor:
        if (!row.candidate())
            return dash();
        return row.floor_name.isEmpty() ? QString::number(row.floor)
                                        : QStringLiteral("%1 · %2").arg(row.floor).arg(row.floor_name);
    case GathersModel::Comm:
        return row.comm_missing ? GathersModel::tr("missing") : microsCell(row.comm_ns);
    case GathersModel::Need:
        return row.need_ns > 0 ? microsCell(row.need_ns) : dash();
    case GathersModel::Window:
        return row.need_ns > 0 && !row.in_flight ? microsCell(row.window_ns) : dash();
    case GathersModel::Carry:
        return row.carry_ns > 0 ? microsCell(row.carry_ns) : dash();
    case GathersModel::VerdictText:
        return rowVerdict(row);
    case GathersModel::ExposedBefore:
        return exposedCell(row.exposed_before_ns);
    case GathersModel::Exposed:
        return exposedCell(row.exposed_ns);
    case GathersModel::Reason:
        return rowReason(row);
    case GathersModel::Name:
        return row.name;
    default:
        return {};
    }
}

QVariant sortValue(const GathersModel::Row& row, int column) {
    switch (column) {
    case GathersModel::State:
    case GathersModel::VerdictText:
        return row.in_flight ? -1 : static_cast<int>(row.verdict);
    case GathersModel::Layer:
        return row.layer;
    case GathersModel::Bytes:
        return static_cast<qint64>(row.bytes);
    case GathersModel::Place:
        return row.cur;
    case GathersModel::Floor:
        return row.floor;
    case GathersModel::Comm:
        return row.comm_missing ? -1.0 : row.comm_ns;
    case GathersModel::Need:
        return row.need_ns;
    case GathersModel::Window:
        return row.window_ns;
    case GathersModel::Carry:
        return row.carry_ns;
    case GathersModel::ExposedBefore:
        return static_cast<qint64>(row.exposed_before_ns);
    case GathersModel::Exposed:
        return static_cast<qint64>(row.exposed_ns);
    default:
        return display(row, column);
    }
}

bool rightAligned(int column) {
    switch (column) {
    case GathersModel::Layer:
    case GathersModel::Bytes:
    case GathersModel::Place:
    case GathersModel::Comm:
    case GathersModel::Need:
    case GathersModel::Window:
    case GathersModel::Carry:
    case GathersModel::ExposedBefore:
    case GathersModel::Exposed:
        return true;
    default:
        return false;
    }
}

QString tip(const GathersModel::Row& row, int column) {
    const auto tr = [](const char* source) { return GathersModel::tr(source); };
    switch (column) {
    case GathersModel::State:
    case GathersModel::VerdictText:
        return row.reason == BindingReason::None
                   ? rowVerdict(row)
                   : QStringLiteral("%1: %2").arg(verdictText(row.verdict), reasonText(row.reason));
    case GathersModel::Parameter:
        return row.full_parameter;
    case GathersModel::Need:
        if (row.in_flight)
            return tr("what is left of it when the graph starts");
        return tr("need = comm × contention + slack");
    case GathersModel::Window:
        return tr("compute found in front of the launch, carry included");
    case GathersModel::Place:
        if (row.in_flight)
            return tr("place of its wait in program order: before → after scheduling");
        return row.moved ? tr("place in program order: where the launch was → where it goes")
                         : tr("place in program order: the launch stays");
    case GathersModel::Exposed:
        return row.exposed_ns < 0 ? tr("not simulated")
                                  : tr("simulated stall at its wait: %1 before, %2 now")
                                        .arg(exposedCell(row.exposed_before_ns), exposedCell(row.exposed_ns));
    case GathersModel::Name:
        return row.name;
    default:
        return {};
    }
}

bool sameGathers(const std::vector<GathersModel::Row>& a, const std::vector<GathersModel::Row>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [](const auto& x, const auto& y) { return x.name == y.name; });
}

} // namespace

QString microsCell(double ns) {
    if (ns > 0 && ns < 500)
        return QStringLiteral("<1 µs");
    return text(formatMicros(std::llround(ns)) + " µs");
}

Mark verdictMark(Verdict verdict) {
    switch (verdict) {
    case Verdict::Hidden:
        return Mark::Hidden;
    case Verdict::ComputeLimited:
        return Mark::Limited;
    case Verdict::NotCandidate:
        return Mark::NotCandidate;
    }
    return Mark::None;
}

QString verdictText(Verdict verdict) {
    switch (verdict) {
    case Verdict::Hidden:
        return GathersModel::tr("hidden");
    case Verdict::ComputeLimited:
        return GathersModel::tr("compute-limited");
    case Verdict::NotCandidate:
        return GathersModel::tr("not a candidate");
    }
    return {};
}

QString reasonText(BindingReason reason) {
    switch (reason) {
    case BindingReason::None:
        return GathersModel::tr("nothing binds");
    case BindingReason::GraphStart:
        return GathersModel::tr("graph start");
    case BindingReason::DataDependency:
        return GathersModel::tr("data dependency");
    case BindingReason::Effect:
        return GathersModel::tr("effect");
    case BindingReason::Claimed:
        return GathersModel::tr("claimed by a later gather");
    case BindingReason::Order:
        return GathersModel::tr("order of launches");
    case BindingReason::NoConsumer:
        return GathersModel::tr("no consumer");
    case BindingReason::NoWait:
        return GathersModel::tr("no wait");
    case BindingReason::NotWeightGather:
        return GathersModel::tr("not a weight gather");
    case BindingReason::Budget:
        return GathersModel::tr("memory budget");
    case BindingReason::Depth:
        return GathersModel::tr("prefetch depth");
    case BindingReason::ProgramOrder:
        return GathersModel::tr("program order");
    case BindingReason::ByHand:
        return GathersModel::tr("placed by hand");
    case BindingReason::Ranks:
        return GathersModel::tr("held back by other ranks");
    case BindingReason::Invalid:
        return GathersModel::tr("order was dropped");
    }
    return {};
}

void GathersModel::setSnapshot(const AnalysisPtr& snapshot) {
    std::vector<Row> rows;
    if (snapshot && snapshot->after.schedule) {
        rows.reserve(snapshot->after.schedule->decisions.size());
        for (const Decision& decision : snapshot->after.schedule->decisions) {
            if (decision.collective >= 0 && decision.launch != kNoNode)
                rows.push_back(makeRow(*snapshot, decision));
        }
        for (const InFlightFacts& facts : inFlightFacts(*snapshot))
            rows.push_back(makeRow(*snapshot, facts));
    }
    if (!rows.empty() && sameGathers(rows, rows_)) {
        rows_ = std::move(rows);
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    rows_ = std::move(rows);
    row_of_.clear();
    for (size_t i = 0; i < rows_.size(); ++i)
        row_of_.insert(rows_[i].name, static_cast<int>(i));
    endResetModel();
}

int GathersModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int GathersModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant GathersModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    const Row& row = rows_[static_cast<size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return display(row, column);
    case Qt::ToolTipRole:
        return tip(row, column);
    case Qt::TextAlignmentRole:
        return int((rightAligned(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
        return column == State ? QVariant(rowVerdict(row)) : display(row, column);
    case SortRole:
        return sortValue(row, column);
    case NumericRole:
        return rightAligned(column) || column == Floor;
    case MarkRole:
        return column == State
                   ? QVariant(static_cast<int>(row.in_flight ? Mark::InFlight : verdictMark(row.verdict)))
                   : QVariant();
    case MutedRole:
        return display(row, column) == dash() || !(row.candidate() || row.in_flight);
    default:
        return {};
    }
}

QVariant GathersModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((rightAligned(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const char* const kNames[ColumnCount] = {
        "",
        QT_TR_NOOP("parameter"),
        QT_TR_NOOP("layer"),
        QT_TR_NOOP("group"),
        QT_TR_NOOP("bytes"),
        QT_TR_NOOP("cur → target"),
        QT_TR_NOOP("floor"),
        QT_TR_NOOP("comm"),
        QT_TR_NOOP("need"),
        QT_TR_NOOP("window"),
        QT_TR_NOOP("carry"),
        QT_TR_NOOP("verdict"),
        QT_TR_NOOP("exposed before"),
        QT_TR_NOOP("exposed"),
        QT_TR_NOOP("reason"),
        QT_TR_NOOP("name"),
    };
    return section == State ? QString() : tr(kNames[section]);
}

} // namespace gs
