#include "views/docks/compare_bar.h"

#include "base/units.h"
#include "views/docks/filter_field.h"
#include "views/docks/paint_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <cmath>

namespace gs {

namespace {

const QString kMemoryKey = QStringLiteral("compare/memory_limit_mib");
const QString kTimeKey = QStringLiteral("compare/time_limit_s");
constexpr int kDefaultSeconds = 60;

QHBoxLayout* rowLayout(QWidget* row) {
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(10, 2, 10, 4);
    layout->setSpacing(8);
    return layout;
}

QString resultText(const SearchOutcome& outcome, const QString& best) {
    const QString tried = CompareBar::tr("%1 variants tried").arg(outcome.tried);
    const QString end = outcome.end == SearchEnd::OutOfTime   ? CompareBar::tr(", then the time was over")
                        : outcome.end == SearchEnd::Cancelled ? CompareBar::tr(", then cancelled")
                                                              : QString();
    if (best.isEmpty())
        return tried + end;
    QString head = CompareBar::tr("Best: %1").arg(best);
    if (outcome.limits.peak_bytes >= 0) {
        const QString limit = QString::fromStdString(formatBytes(outcome.limits.peak_bytes));
        head = outcome.within_limit
                   ? CompareBar::tr("Best within %1: %2").arg(limit, best)
                   : CompareBar::tr("Nothing keeps to %1. Least memory: %2").arg(limit, best);
    }
    return head + QStringLiteral("  ·  ") + tried + end;
}

} // namespace

CompareBar::CompareBar(QWidget* view) : QWidget(view) {
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeButtons(view));
    layout->addWidget(limits_ = makeLimits());
    layout->addWidget(progress_ = makeProgress());
    layout->addWidget(result_ = makeResult());
    for (QWidget* row : {limits_, progress_, result_})
        row->hide();
}

QWidget* CompareBar::makeButtons(QWidget* view) {
    auto* row = new QWidget(this);
    run_all_ = new QPushButton(tr("Run all schedulers"), row);
    run_all_->setToolTip(tr("Every scheduler with these settings, and the usual variations"));
    search_ = new QPushButton(tr("Search…"), row);
    search_->setToolTip(tr("Search schedulers and settings for the shortest step"));
    search_->setCheckable(true);
    field_ = new FilterField(view);
    auto* layout = rowLayout(row);
    layout->addWidget(run_all_);
    layout->addWidget(search_);
    layout->addWidget(field_, 1);
    connect(run_all_, &QPushButton::clicked, this, &CompareBar::runAllClicked);
    connect(search_, &QPushButton::clicked, this, &CompareBar::toggleSearch);
    return row;
}

QWidget* CompareBar::makeLimits() {
    auto* row = new QWidget(this);
    memory_ = new QSpinBox(row);
    memory_->setRange(0, 100'000'000);
    memory_->setSpecialValueText(tr("no limit"));
    memory_->setSuffix(tr(" MiB"));
    memory_->setGroupSeparatorShown(true);
    memory_->setValue(QSettings().value(kMemoryKey, 0).toInt());
    memory_->setToolTip(tr(
        "Bytes that communication may hold at once: gathered weights, gradients to scatter; 0 = no limit"));
    time_ = new QSpinBox(row);
    time_->setRange(1, 86'400);
    time_->setSuffix(tr(" s"));
    time_->setValue(QSettings().value(kTimeKey, kDefaultSeconds).toInt());
    time_->setToolTip(tr("Then the search ends with the best so far"));
    start_ = new QPushButton(tr("Start search"), row);
    start_->setProperty("role", "primary");
    auto* layout = rowLayout(row);
    for (const auto& [name, box] : {std::pair{tr("Memory"), memory_}, std::pair{tr("Time"), time_}}) {
        auto* label = new QLabel(name, row);
        label->setProperty("role", "subtitle");
        label->setBuddy(box);
        box->setAccessibleName(tr("%1 limit of the search").arg(name));
        box->setFixedWidth(118);
        layout->addWidget(label);
        layout->addWidget(box);
    }
    layout->addWidget(start_);
    layout->addStretch(1);
    connect(start_, &QPushButton::clicked, this, &CompareBar::startSearch);
    return row;
}

QWidget* CompareBar::makeProgress() {
    auto* row = new QWidget(this);
    stage_ = new QLabel(row);
    stage_->setProperty("role", "subtitle");
    bar_ = new QProgressBar(row);
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedHeight(4);
    cancel_ = new QPushButton(tr("Cancel"), row);
    auto* layout = rowLayout(row);
    layout->addWidget(stage_);
    layout->addWidget(bar_, 1);
    layout->addWidget(cancel_);
    connect(cancel_, &QPushButton::clicked, this, &CompareBar::cancelClicked);
    return row;
}

QWidget* CompareBar::makeResult() {
    auto* row = new QWidget(this);
    mark_ = new QLabel(row);
    text_ = new QLabel(row);
    text_->setWordWrap(true);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    use_ = new QPushButton(tr("Look at it"), row);
    use_->setToolTip(tr("Make the best what the window shows"));
    auto* layout = rowLayout(row);
    layout->addWidget(mark_);
    layout->addWidget(text_, 1);
    layout->addWidget(use_);
    connect(use_, &QPushButton::clicked, this, &CompareBar::useClicked);
    return row;
}

void CompareBar::toggleSearch(bool open) {
    search_->setChecked(open);
    limits_->setVisible(open);
    if (open) {
        memory_->setFocus(Qt::OtherFocusReason);
        memory_->selectAll();
    }
}

void CompareBar::startSearch() {
    QSettings().setValue(kMemoryKey, memory_->value());
    QSettings().setValue(kTimeKey, time_->value());
    SearchLimits limits;
    if (memory_->value() > 0)
        limits.peak_bytes = int64_t{memory_->value()} * 1024 * 1024;
    limits.seconds = time_->value();
    toggleSearch(false);
    emit searchClicked(limits);
}

void CompareBar::setOpen(bool open) {
    run_all_->setEnabled(open);
    search_->setEnabled(open);
    if (!open)
        toggleSearch(false);
}

void CompareBar::setState(const CompareState& state, const QString& best) {
    const bool running = state.job != CompareState::Job::None;
    if (running) {
        toggleSearch(false);
        // Where the keyboard was on a button that is off now, it goes to the table.
        if (isAncestorOf(focusWidget()) && focusWidget() != field_ && focusWidget() != cancel_)
            parentWidget()->setFocus(Qt::OtherFocusReason);
    }
    run_all_->setEnabled(!running);
    search_->setEnabled(!running);
    progress_->setVisible(running);
    if (running) {
        QString stage =
            state.job == CompareState::Job::Search ? tr("Searching") : tr("Running all schedulers");
        if (state.stopping)
            stage = tr("Stopping");
        else if (!state.stage.isEmpty())
            stage += QStringLiteral(" · ") + state.stage;
        stage_->setText(stage);
        bar_->setValue(static_cast<int>(std::lround(state.fraction * 1000)));
        cancel_->setEnabled(!state.stopping);
    }
    const bool failed = state.error.has_value();
    result_->setVisible(!running && (failed || state.search));
    use_->setVisible(!failed && state.search && state.search->best != 0 &&
                     state.search->best != state.current);
    if (failed)
        setMessage(QString::fromStdString(state.error->message + (state.error->hint.empty() ? "" : " ") +
                                          state.error->hint),
                   true);
    else if (state.search)
        setMessage(resultText(*state.search, best), false);
}

void CompareBar::setMessage(const QString& text, bool failed) {
    text_->setText(text);
    QPixmap mark(QSize(16, 16) * devicePixelRatioF());
    mark.setDevicePixelRatio(devicePixelRatioF());
    mark.fill(Qt::transparent);
    QPainter painter(&mark);
    drawMark(painter, QRectF(0, 0, 16, 16), failed ? Mark::Error : Mark::Info);
    mark_->setPixmap(mark);
}

QString CompareBar::message() const {
    return !progress_->isHidden() ? stage_->text() : !result_->isHidden() ? text_->text() : QString();
}

} // namespace gs
