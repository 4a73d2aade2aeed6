// Opening inputs that hold several graphs: the look into them, and the list to pick from.
#include "analysis/bundle_request.h"
#include "app/banner.h"
#include "app/file_kind.h"
#include "app/header_bar.h"
#include "app/main_window.h"
#include "app/text.h"
#include "app/undo.h"
#include "views/docks/data_table.h"
#include "views/shell/graph_picker.h"

#include <QFileInfo>

#include <algorithm>

namespace gs {

namespace {

bool isPicked(const AnalysisRequest& request) {
    return request.graph_index >= 0 || request.rank >= 0 || !request.stage.empty();
}

/// By rank and stage where that names one graph: it still does when files come to the folder. Else by number.
void setChoice(AnalysisRequest& request, const std::vector<GraphEntry>& graphs, size_t index) {
    const GraphEntry& wanted = graphs[index];
    request.rank = wanted.rank;
    request.stage = stageName(wanted);
    const auto same = std::count_if(graphs.begin(), graphs.end(), [&](const GraphEntry& entry) {
        return (wanted.rank < 0 || entry.rank == wanted.rank) && stageName(entry) == request.stage;
    });
    request.graph_index = same == 1 ? -1 : static_cast<int>(index);
}

} // namespace

void MainWindow::connectPicker() {
    connect(&lister_, &GraphLister::listed, this, &MainWindow::listed);
    connect(&lister_, &GraphLister::failed, this, &MainWindow::listingFailed);
    for (LoadingPanel* panel : {loading_strip_, loading_page_})
        connect(&lister_, &GraphLister::progressed, panel, &LoadingPanel::setProgress);
    connect(picker_, &GraphPicker::picked, this, &MainWindow::pick);
    connect(picker_, &GraphPicker::closed, this, &MainWindow::closePicker);
    connect(picker_, &GraphPicker::compareToggled, this, &MainWindow::compareRanks);
    connect(header_, &HeaderBar::graphClicked, this, &MainWindow::showPicker);
}

bool MainWindow::busy() const {
    return document_.busy() || lister_.busy();
}

void MainWindow::open(AnalysisRequest request) {
    want_samples_ = false;
    lister_.cancel();
    forgetListing();
    // A bundle brings its own settings. One that cannot be read fails where every other file does.
    if (isBundle(request.graph_file)) {
        if (Result<AnalysisRequest> stated = bundleRequest(request.graph_file)) {
            if (!request.cost_files.empty())
                stated->cost_files = request.cost_files;
            request = std::move(stated).value();
        }
    }
    const QString path = toQString(request.graph_file);
    if (isPicked(request) || !mayHoldSeveralGraphs(path)) {
        to_open_.reset();
        document_.open(std::move(request));
    } else {
        if (document_.opening())
            document_.cancel();
        to_open_ = std::move(request);
        lister_.start(path);
    }
    showBusy();
}

void MainWindow::listed(const GraphListingPtr& listing) {
    const std::vector<GraphEntry>& graphs = listing->list.graphs;
    const bool opens = to_open_.has_value();
    if (opens) {
        AnalysisRequest request = *std::exchange(to_open_, std::nullopt);
        listed_for_ = request;
        if (graphs.size() > 1)
            setChoice(request, graphs, listing->list.preferred);
        document_.open(std::move(request));
    }
    if (graphs.size() > 1) {
        picker_->setListing(listing,
                            opens ? static_cast<int>(listing->list.preferred) : shownGraph(*listing));
        revealPicker();
    }
    showBusy();
}

/// Opening the file says why, and where that is shown depends on what else is open.
void MainWindow::listingFailed(const Error& error) {
    if (to_open_)
        document_.open(*std::exchange(to_open_, std::nullopt));
    else
        banner_->showMessage(Banner::Look::Warning, errorText(error));
    showBusy();
}

void MainWindow::showPicker() {
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot || snapshot->source.entries.size() < 2)
        return;
    if (picker_->isVisible())
        return closePicker();
    const GraphListingPtr& known = picker_->listing();
    if (known && known->path == snapshot->request.graph_file &&
        known->list.graphs.size() == snapshot->source.entries.size()) {
        picker_->setListing(known, shownGraph(*known));
        return revealPicker();
    }
    lister_.start(toQString(snapshot->request.graph_file));
    showBusy();
}

void MainWindow::revealPicker() {
    want_samples_ = false;
    const AnalysisRequest* request = document_.opening();
    picker_->setShown(shownGraph(*picker_->listing()));
    picker_->setComparing(!(request ? *request : document_.request()).rank_files.empty());
    picker_->show();
    picker_->graphTable()->setFocus(Qt::OtherFocusReason);
    updatePage();
}

void MainWindow::closePicker() {
    if (!picker_->isVisible())
        return;
    picker_->hide();
    workspace_->setFocus(Qt::OtherFocusReason);
}

void MainWindow::forgetListing() {
    picker_->hide();
    picker_->setListing(nullptr);
}

/// Index of the open graph in the list; -1 if it is not of it.
int MainWindow::shownGraph(const GraphListing& listing) const {
    const SnapshotPtr snapshot = document_.snapshot();
    if (!snapshot || snapshot->request.graph_file != listing.path ||
        snapshot->source.entries.size() != listing.list.graphs.size())
        return -1;
    return static_cast<int>(snapshot->source.chosen);
}

bool MainWindow::isListed(const AnalysisRequest* request) const {
    return request && picker_->listing() && request->graph_file == picker_->listing()->path;
}

/// Another graph of what is open is a change that can be undone: costs and settings stay, changes by hand are
/// of the old graph. Of what is not open yet, was cancelled or could not be opened, it is an opening.
void MainWindow::pick(int graph) {
    const std::vector<GraphEntry>& graphs = picker_->listing()->list.graphs;
    const auto index = static_cast<size_t>(graph);
    const AnalysisRequest* opening = document_.opening();
    if (!opening && document_.snapshot() && isListed(&document_.request())) {
        AnalysisRequest request = document_.request();
        setChoice(request, graphs, index);
        if (sameRequest(request, document_.request()))
            return;
        request.edits.clear();
        document_.setRequest(request, tr("Open %1").arg(graphTitle(graphs[index])));
        return;
    }
    AnalysisRequest request = isListed(opening) ? *opening : listed_for_;
    setChoice(request, graphs, index);
    if (opening && sameRequest(request, *opening))
        return;
    document_.open(std::move(request));
    showBusy();
}

/// The folder itself stands for its other ranks.
void MainWindow::compareRanks(bool on) {
    const std::string& path = picker_->listing()->path;
    listed_for_.rank_files = on ? std::vector{path} : std::vector<std::string>();
    if (const AnalysisRequest* opening = document_.opening(); isListed(opening)) {
        AnalysisRequest request = *opening;
        request.rank_files = listed_for_.rank_files;
        document_.open(std::move(request));
    } else if (document_.snapshot() && isListed(&document_.request())) {
        document_.addRankFiles(on ? QStringList(toQString(path)) : QStringList());
    }
    if (on)
        workspace_->show(QStringLiteral("ranks"));
}

} // namespace gs
