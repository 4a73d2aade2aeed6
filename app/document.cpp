#include "app/document.h"

#include "app/text.h"
#include "app/undo.h"

#include <QFileInfo>

#include <algorithm>

namespace gs {

namespace {

/// Settings changes closer together than this become one analysis.
constexpr int kDebounceMs = 60;
/// A change waits for a running analysis, so that a drag shows pictures between; but not longer than this.
constexpr qint64 kPatienceMs = 250;

std::string_view view(const QByteArray& bytes) {
    return {bytes.constData(), static_cast<size_t>(bytes.size())};
}

/// The node of `graph` that a pass made from one called `name`, with a decision of its own if possible.
NodeId descendant(const Analysis& analysis, std::string_view name) {
    const Graph& graph = *analysis.after.graph;
    const StringId id = graph.strings().find(name);
    if (id == kEmptyString)
        return kNoNode;
    NodeId found = kNoNode;
    for (NodeId node = 0; node < graph.size(); ++node) {
        const auto origins = graph.origins(node);
        if (std::find(origins.begin(), origins.end(), id) == origins.end())
            continue;
        if (analysis.decisionFor(node))
            return node;
        if (found == kNoNode)
            found = node;
    }
    return found;
}

} // namespace

Selection resolveSelection(const Selection& wanted, const Analysis* analysis) {
    if (!analysis || wanted.kind == Selection::Kind::None || !analysis->after.graph)
        return {};
    const QByteArray name = wanted.name.toUtf8();
    if (analysis->after.graph->find(view(name)))
        return wanted;
    const NodeId node = descendant(*analysis, view(name));
    if (node != kNoNode) {
        const std::string_view text = analysis->after.graph->name(node);
        const auto kind = analysis->decisionFor(node) ? Selection::Kind::Gather : Selection::Kind::Node;
        return {kind, toQString(text)};
    }
    if (analysis->before.graph && analysis->before.graph->find(view(name)))
        return {Selection::Kind::Node, wanted.name};
    return {};
}

Document::Document(AnalyseFunction analyse, QObject* parent)
    : QObject(parent), runner_(std::move(analyse)), compare_(makeAnalyseFunction) {
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &Document::startNow);
    connect(&runner_, &JobRunner::progressed, this, &Document::progressed);
    connect(&runner_, &JobRunner::finished, this, &Document::take);
    connect(&runner_, &JobRunner::failed, this, &Document::fail);
    undo_.setUndoLimit(200);
}

void Document::setInitialSettings(const Settings& settings) {
    if (!snapshot_)
        request_.settings = settings;
}

void Document::open(AnalysisRequest request) {
    opening_ = std::move(request);
    failed_opening_.reset();
    startNow();
}

void Document::reload() {
    if (failed_opening_)
        open(*failed_opening_);
    else if (snapshot_ && !opening_)
        startNow();
}

void Document::close() {
    runner_.cancel();
    timer_.stop();
    again_ = false;
    opening_.reset();
    failed_opening_.reset();
    AnalysisRequest nothing;
    nothing.settings = request_.settings;
    request_ = std::move(nothing);
    snapshot_.reset();
    undo_.clear();
    shown_index_ = 0;
    wanted_ = {};
    announce();
    emit snapshotChanged(snapshot_);
    compare_.show(snapshot_);
    updateSelection();
}

void Document::cancel() {
    runner_.cancel();
    opening_.reset();
    rollBack();
    announce();
}

void Document::setSetting(const QString& name, const QString& value) {
    AnalysisRequest after = request_;
    const std::string key = name.toStdString();
    if (const Status status = after.settings.set(key, value.toStdString()); !status.ok()) {
        emit failed(status.error());
        return;
    }
    const SettingSpec* spec = findSetting(key);
    const QString title = toQString(spec->title);
    push(tr("Set %1").arg(title), std::move(after), "setting " + key);
}

void Document::editCost(const QString& key, qint64 ns) {
    AnalysisRequest after = request_;
    if (ns < 0)
        after.cost_overrides.erase(key.toStdString());
    else
        after.cost_overrides[key.toStdString()] = ns;
    push(ns < 0 ? tr("Remove cost edit") : tr("Edit cost"), std::move(after), {});
}

void Document::addCostFile(const QString& path) {
    AnalysisRequest after = request_;
    std::erase(after.cost_files, path.toStdString());
    // The first source that knows a node wins, so the newest file goes in front.
    after.cost_files.insert(after.cost_files.begin(), path.toStdString());
    push(tr("Add %1").arg(QFileInfo(path).fileName()), std::move(after), {});
}

void Document::removeCostFile(const QString& path) {
    AnalysisRequest after = request_;
    std::erase(after.cost_files, path.toStdString());
    push(tr("Remove %1").arg(QFileInfo(path).fileName()), std::move(after), {});
}

void Document::addRankFiles(const QStringList& paths) {
    AnalysisRequest after = request_;
    for (const QString& path : paths) {
        std::erase(after.rank_files, path.toStdString());
        after.rank_files.push_back(path.toStdString());
    }
    if (paths.isEmpty())
        after.rank_files.clear();
    push(paths.isEmpty() ? tr("Remove ranks")
                         : tr("Compare with %n rank file(s)", nullptr, static_cast<int>(paths.size())),
         std::move(after), {});
}

void Document::layTracesOver(const QStringList& paths) {
    AnalysisRequest after = request_;
    after.trace_files.clear();
    for (const QString& path : paths)
        after.trace_files.push_back(path.toStdString());
    push(paths.isEmpty() ? tr("Remove the trace")
                         : tr("Lay %1 over").arg(QFileInfo(paths.front()).fileName()),
         std::move(after), {});
}

void Document::addEdit(const Edit& edit) {
    AnalysisRequest after = request_;
    after.edits = withEdit(std::move(after.edits), edit);
    const QString node = toQString(edit.node);
    switch (edit.kind) {
    case Edit::Kind::Move:
        return push(tr("Move %1").arg(node), std::move(after), "move " + edit.node);
    case Edit::Kind::Pin:
        return push(tr("Pin %1").arg(node), std::move(after), {});
    case Edit::Kind::Forbid:
        return push(tr("Hold %1 in place").arg(node), std::move(after), {});
    case Edit::Kind::Bucket:
        return push(edit.members.size() == 1 ? tr("Take out of its bucket") : tr("Bucket by hand"),
                    std::move(after), {});
    }
}

void Document::removeEdits(const QString& node) {
    AnalysisRequest after = request_;
    after.edits = node.isEmpty() ? Edits() : withoutEdits(std::move(after.edits), node.toStdString());
    push(node.isEmpty() ? tr("Take back all manual changes") : tr("Take back manual change"),
         std::move(after), {});
}

void Document::setRequest(const AnalysisRequest& request, const QString& text) {
    push(text, request, {});
}

void Document::push(const QString& text, AnalysisRequest after, const std::string& merge_key) {
    if (opening_ || sameRequest(after, request_))
        return;
    if (!snapshot_) {
        request_ = std::move(after);
        return;
    }
    undo_.push(new ChangeRequest(*this, text, std::move(after), merge_key));
}

void Document::applyRequest(const AnalysisRequest& request) {
    request_ = request;
    schedule();
}

void Document::schedule() {
    if (runner_.busy() && since_start_.elapsed() <= kPatienceMs) {
        again_ = true;
        return;
    }
    if (runner_.busy() || !since_start_.isValid() || since_start_.elapsed() >= kDebounceMs)
        startNow();
    else if (!timer_.isActive())
        timer_.start(static_cast<int>(kDebounceMs - since_start_.elapsed()));
}

void Document::startNow() {
    timer_.stop();
    again_ = false;
    since_start_.restart();
    started_index_ = undo_.index();
    runner_.start(opening_ ? *opening_ : request_);
    announce();
}

void Document::take(const AnalysisPtr& analysis) {
    if (opening_) {
        request_ = std::move(*opening_);
        opening_.reset();
        undo_.clear();
        started_index_ = 0;
        wanted_ = {};
    }
    snapshot_ = analysis;
    shown_index_ = started_index_;
    if (again_)
        schedule();
    announce();
    emit snapshotChanged(snapshot_);
    compare_.show(snapshot_);
    updateSelection();
}

void Document::fail(const Error& error) {
    if (opening_) {
        failed_opening_ = std::move(opening_);
        opening_.reset();
    }
    rollBack();
    announce();
    emit failed(error);
}

/// What is requested becomes what is shown again, without an analysis.
void Document::rollBack() {
    timer_.stop();
    if (snapshot_) {
        const QSignalBlocker quiet(this);
        undo_.setIndex(std::min(shown_index_, undo_.count()));
        request_ = snapshot_->request;
        timer_.stop();
        runner_.cancel();
    }
    again_ = false;
}

void Document::announce() {
    const bool busy = runner_.busy() || timer_.isActive();
    if (busy == announced_)
        return;
    announced_ = busy;
    emit busyChanged(busy);
}

void Document::select(const Selection& selection) {
    wanted_ = selection;
    updateSelection();
}

void Document::updateSelection() {
    const Selection resolved = resolveSelection(wanted_, snapshot_.get());
    if (resolved == selection_)
        return;
    selection_ = resolved;
    emit selectionChanged(selection_);
}

} // namespace gs
