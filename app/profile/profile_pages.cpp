#include "app/profile/profile_pages.h"

#include "app/mark_sign.h"
#include "app/paragraph.h"
#include "app/text.h"
#include "base/units.h"
#include "views/docks/data_table.h"
#include "views/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>

#include <cmath>

namespace gs {

namespace {

/// Warnings beyond these are counted only.
constexpr qsizetype kMostWarnings = 200;

QPlainTextEdit* quietText() {
    auto* box = new QPlainTextEdit;
    box->setReadOnly(true);
    box->setMaximumBlockCount(kMostWarnings);
    box->setMaximumHeight(86);
    box->document()->setDocumentMargin(0); // in line with the paragraphs
    return box;
}

} // namespace

MissingPartsPage::MissingPartsPage(QWidget* parent) : QWidget(parent), parts_(new QGridLayout) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(14);
    paragraph("pageTitle", layout)->setText(tr("Nothing here can be measured yet"));
    parts_->setColumnStretch(2, 1);
    parts_->setHorizontalSpacing(12);
    parts_->setVerticalSpacing(12);
    layout->addLayout(parts_);
    advice_ = paragraph("code", layout);
    paragraph("pageHint", layout)
        ->setText(tr("Costs can also come from a trace, a log or a table of measurements (Add costs…), or "
                     "from the analytical model of a device."));
    layout->addStretch(1);
}

void MissingPartsPage::addPart(bool there, const QString& name, const QString& text, const QString& advice) {
    const int row = parts_->rowCount();
    parts_->addWidget(new MarkSign(there ? Mark::Hidden : Mark::Limited), row, 0, Qt::AlignTop);
    auto* title = new QLabel(name);
    title->setFont(Theme::font(12, QFont::DemiBold));
    title->setAccessibleDescription(there ? tr("there") : tr("missing"));
    parts_->addWidget(title, row, 1, Qt::AlignTop);
    auto* column = new QVBoxLayout;
    column->setSpacing(1);
    paragraph("", column)->setText(text);
    if (!advice.isEmpty())
        paragraph("subtitle", column)->setText(advice);
    parts_->addLayout(column, row, 2);
}

void MissingPartsPage::setReport(const ProbeReport& report) {
    while (QLayoutItem* item = parts_->takeAt(0)) {
        if (QLayout* inner = item->layout())
            while (QLayoutItem* part = inner->takeAt(0)) {
                delete part->widget();
                delete part;
            }
        delete item->widget();
        delete item;
    }
    const bool program = !report.program;
    addPart(program, tr("gatherscope-rank"),
            program ? tr("The program that measures answers.") : toSentence(report.program->message),
            program ? QString() : toSentence(report.program->hint));
    const bool launcher = !report.mpirun.isEmpty() || !report.srun.isEmpty();
    addPart(launcher, tr("MPI"),
            launcher ? tr("%1 starts the ranks.").arg(report.mpirun.isEmpty() ? report.srun : report.mpirun)
                     : tr("Neither mpirun nor srun was found: one of them starts the ranks."),
            launcher ? QString() : tr("Install OpenMPI. Debian: apt install openmpi-bin"));
    bool host = false;
    for (const ProbedBackend& backend : report.backends) {
        const bool there = !backend.devices.empty();
        host = host || (there && backend.name == "host");
        addPart(there, tr("Backend %1").arg(toQString(backend.name)),
                there ? toQString(backend.devices.front().name) : toSentence(backend.why_not),
                toSentence(backend.meaning));
    }
    QString advice;
    if (!program)
        advice = tr(
            "Without gatherscope-rank no device can be looked for: whether there is a GPU, NCCL or libtorch "
            "is not known either.");
    else if (!launcher && host)
        advice = tr("Without any GPU the backend host works as soon as mpirun is there: it measures on the "
                    "processors of this machine.");
    else
        advice = tr("The backend host needs no GPU, only oneDNN and MPI at the time of the build.");
    advice_->setText(advice);
}

QString MissingPartsPage::text() const {
    QStringList lines;
    for (const QLabel* label : findChildren<QLabel*>())
        lines << label->text();
    return lines.join(QLatin1Char('\n'));
}

RunPage::RunPage(QWidget* parent)
    : QWidget(parent), model_(new RankProgressModel(this)), table_(makeRankTable(model_, this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* head = new QHBoxLayout;
    title_ = new QLabel;
    title_->setProperty("role", "panelTitle");
    left_ = new QLabel;
    left_->setProperty("role", "subtitle");
    head->addWidget(title_, 1);
    head->addWidget(left_);
    layout->addLayout(head);
    bar_ = new QProgressBar;
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedHeight(4);
    bar_->setAccessibleName(tr("Progress of the slowest rank"));
    layout->addWidget(bar_);
    layout->addWidget(table_, 1);
    warnings_title_ = new QLabel;
    warnings_title_->setProperty("role", "caption");
    warnings_box_ = quietText();
    warnings_box_->setAccessibleName(tr("Warnings"));
    layout->addWidget(warnings_title_);
    layout->addWidget(warnings_box_);
    connect(model_, &RankProgressModel::refreshed, this, &RunPage::refresh);
}

void RunPage::begin(int ranks) {
    ranks_ = ranks;
    entries_ = 0;
    cancelling_ = false;
    warnings_.clear();
    warnings_box_->clear();
    warnings_title_->hide();
    warnings_box_->hide();
    model_->begin(ranks);
}

void RunPage::addEntry() {
    ++entries_; // shown with the next refresh of the ranks
}

void RunPage::addWarning(int rank, const WarningMessage& message) {
    const QString line = tr("rank %1: %2").arg(rank).arg(toSentence(message.message));
    warnings_ << (message.hint.empty() ? line : line + QLatin1Char(' ') + toSentence(message.hint));
    warnings_title_->setText(warnings_.size() == 1 ? tr("1 warning")
                                                   : tr("%1 warnings").arg(warnings_.size()));
    warnings_box_->appendPlainText(warnings_.back());
    warnings_title_->show();
    warnings_box_->show();
}

void RunPage::setCancelling() {
    cancelling_ = true;
    refresh();
}

void RunPage::refresh() {
    bar_->setValue(static_cast<int>(std::lround(model_->fraction() * 1000)));
    if (cancelling_)
        title_->setText(tr("The ranks are told to stop…"));
    else if (model_->heard() < ranks_)
        title_->setText(tr("%1 of %2 ranks started").arg(model_->heard()).arg(ranks_));
    else
        title_->setText(ranks_ == 1 ? tr("Measuring on one rank")
                                    : tr("Measuring on %1 ranks in lockstep").arg(ranks_));
    QStringList facts;
    if (entries_ > 0)
        facts << tr("%1 keys done").arg(toQString(formatCount(entries_)));
    if (model_->leftNs() >= 0)
        facts << tr("about %1 left").arg(roughTime(model_->leftNs()));
    left_->setText(facts.join(QStringLiteral(" · ")));
}

QString RunPage::title() const {
    return title_->text();
}

OutcomePage::OutcomePage(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(10);
    title_ = paragraph("pageTitle", layout);
    message_ = paragraph("page", layout);
    key_ = paragraph("code", layout);
    hint_ = paragraph("pageHint", layout);
    kept_ = paragraph("page", layout);
    warnings_ = quietText();
    layout->addWidget(warnings_);
    layout->addStretch(1);
}

void OutcomePage::showCancelled() {
    title_->setText(tr("Cancelled"));
    message_->setText(tr("All ranks have ended. What they had measured is dropped."));
    key_->hide();
    hint_->hide();
    warnings_->hide();
    kept_->setText(tr("Costs and schedule are as they were."));
}

void OutcomePage::showFailure(const WorkerFailure& failure, const QStringList& warnings) {
    title_->setText(failure.rank >= 0 ? tr("Rank %1 failed").arg(failure.rank)
                                      : tr("The measurement failed"));
    QString message = toQString(failure.error.message);
    const QString at = QStringLiteral(", at ") + toQString(failure.key);
    if (!failure.key.empty() && message.endsWith(at)) // it stands below
        message.chop(at.size());
    message_->setText(toSentence(message.toStdString()));
    key_->setText(tr("at %1").arg(toQString(failure.key)));
    key_->setVisible(!failure.key.empty());
    // Some failures say it as their hint; it is said below anyway.
    const QString kept = tr("Costs and schedule are as they were.");
    const QString hint = toSentence(failure.error.hint);
    hint_->setText(hint);
    hint_->setVisible(!hint.isEmpty() && hint != kept);
    kept_->setText(kept);
    warnings_->setPlainText(tr("Before that:\n") + warnings.join(QLatin1Char('\n')));
    warnings_->setVisible(!warnings.isEmpty());
}

QString OutcomePage::text() const {
    QStringList lines;
    for (const QLabel* label : {title_, message_, key_, hint_, kept_})
        if (!label->isHidden())
            lines << label->text();
    return lines.join(QLatin1Char('\n'));
}

} // namespace gs
