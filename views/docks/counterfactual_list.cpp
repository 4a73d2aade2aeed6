#include "views/docks/counterfactual_list.h"

#include "base/units.h"
#include "views/shown_text.h"
#include "views/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QtConcurrent>

#include <new>

namespace gs {

namespace {

/// More than these would bury the smallest ones.
constexpr size_t kMaxRows = 6;

QLabel* label(int size, QPalette::ColorRole role, QWidget* parent) {
    auto* made = new QLabel(parent);
    made->setFont(Theme::font(size));
    made->setForegroundRole(role);
    made->setTextFormat(Qt::PlainText);
    return made;
}

} // namespace

CounterfactualList::CounterfactualList(QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout(this)), note_(label(12, QPalette::PlaceholderText, this)) {
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(12);
    grid_->setVerticalSpacing(4);
    grid_->setColumnStretch(0, 1);
    note_->setWordWrap(true);
    grid_->addWidget(note_, 0, 0, 1, 3);
    connect(&watcher_, &QFutureWatcher<Found>::finished, this, &CounterfactualList::finished);
}

CounterfactualList::~CounterfactualList() {
    stop_.request_stop();
    watcher_.waitForFinished();
}

void CounterfactualList::setGather(const SnapshotPtr& snapshot, NodeId launch) {
    if (snapshot == snapshot_ && launch == launch_)
        return;
    snapshot_ = snapshot;
    launch_ = launch;
    items_.clear();
    stop_.request_stop();
    stale_ = busy_;
    const Decision* decision = snapshot && launch != kNoNode ? snapshot->decisionFor(launch) : nullptr;
    const bool exposed = decision && snapshot->after.timeline && snapshot->after.schedule &&
                         decision->collective >= 0 && exposedIn(*snapshot, *snapshot, launch) > 0;
    setVisible(exposed);
    if (!exposed) {
        snapshot_.reset();
        launch_ = kNoNode;
        return;
    }
    if (!busy_)
        start();
    showItems();
}

void CounterfactualList::start() {
    busy_ = true;
    stop_ = std::stop_source();
    const auto search = [snapshot = snapshot_, launch = launch_, token = stop_.get_token()] {
        try {
            Result<Found> found = findCounterfactuals(*snapshot, launch, {token, nullptr});
            return found ? std::move(found).value() : Found();
        } catch (const std::bad_alloc&) { // a what-if must not end the program
            return Found();
        }
    };
    watcher_.setFuture(QtConcurrent::run(search));
}

void CounterfactualList::finished() {
    busy_ = false;
    if (stale_) {
        stale_ = false;
        if (snapshot_) {
            start();
            return;
        }
    } else if (snapshot_) {
        items_ = watcher_.result();
        showItems();
    }
    emit settled();
}

void CounterfactualList::showItems() {
    note_->setVisible(items_.empty());
    note_->setText(busy_ || stale_
                       ? tr("Trying changes…")
                       : tr("No single change that was tried hides it: not one setting, bucket, move or "
                            "scheduler."));
    const size_t shown = std::min(items_.size(), kMaxRows);
    while (rows_.size() < shown)
        addRow();
    for (size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        for (QWidget* widget : std::initializer_list<QWidget*>{row.text, row.effect, row.button})
            widget->setVisible(i < shown);
        if (i >= shown)
            continue;
        row.text->setText(shownText(QString::fromStdString(items_[i].text), 400));
        row.effect->setText(effectText(items_[i]));
        row.button->setAccessibleName(tr("Try: %1").arg(row.text->text()));
    }
}

void CounterfactualList::addRow() {
    const auto index = static_cast<int>(rows_.size());
    Row row{label(12, QPalette::WindowText, this), label(11, QPalette::PlaceholderText, this),
            new QPushButton(tr("Try"), this)};
    row.text->setWordWrap(true);
    row.effect->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row.button->setFont(Theme::font(11));
    row.button->setToolTip(tr("Analyse with this change; Undo takes it back"));
    connect(row.button, &QPushButton::clicked, this, [this, index] {
        const Counterfactual& item = items_[static_cast<size_t>(index)];
        emit tryRequested(item.request, tr("Try %1").arg(QString::fromStdString(item.text)));
    });
    grid_->addWidget(row.text, index + 1, 0);
    grid_->addWidget(row.effect, index + 1, 1);
    grid_->addWidget(row.button, index + 1, 2);
    rows_.push_back(row);
}

QString CounterfactualList::effectText(const Counterfactual& item) const {
    const int64_t change = item.step_ns - snapshot_->after.timeline->step_ns;
    if (change == 0)
        return tr("step unchanged");
    const QString size = QString::fromStdString(formatTime(std::abs(change)));
    return change < 0 ? tr("step −%1").arg(size) : tr("step +%1").arg(size);
}

} // namespace gs
