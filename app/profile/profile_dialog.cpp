#include "app/profile/profile_dialog.h"

#include "app/banner.h"
#include "app/elided_label.h"
#include "app/preferences.h"
#include "app/profile/profile_pages.h"
#include "app/profile/profile_setup.h"
#include "app/text.h"
#include "base/units.h"
#include "views/docks/data_table.h"
#include "views/profile/profile_diff.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>

namespace gs {

namespace {

constexpr QSize kSize(1040, 660);
constexpr QSize kLeastSize(720, 520);
/// A number that is being typed asks for no plan of every digit.
constexpr int kPlanDelayMs = 200;

QString counted(qlonglong number) {
    return toQString(formatCount(number));
}

} // namespace

ProfileDialog::ProfileDialog(SnapshotPtr snapshot, std::unique_ptr<ProfileJob> job, QWidget* parent)
    : QDialog(parent), snapshot_(std::move(snapshot)), job_(std::move(job)) {
    setObjectName(QStringLiteral("profileDialog"));
    setWindowTitle(tr("Re-profile"));
    setMinimumSize(kLeastSize);
    resize(kSize);
    build();
    const QVariantMap choices = Preferences::profileChoices();
    const QString used = toQString(snapshot_->request.settings.text(Setting::ProfileStore));
    const QString last = choices.value(QStringLiteral("store")).toString();
    setup_->setChoices(choices, used != QLatin1String("none") ? used
                                : last.isEmpty()              ? defaultProfileStore()
                                                              : last);
    plan_delay_.setSingleShot(true);
    plan_delay_.setInterval(kPlanDelayMs);
    connect(&plan_delay_, &QTimer::timeout, this, [this] { job_->plan(setup_->request()); });
    connectJob();
    setState(State::Probing);
    job_->probe();
}

void ProfileDialog::build() {
    title_ = new QLabel(tr("Re-profile"));
    title_->setProperty("role", "windowTitle");
    subtitle_ = new QLabel(tr("Measure the operators and collectives of %1 on real devices, and see what "
                              "changes before anything does.")
                               .arg(fileTitle(toQString(snapshot_->request.graph_file))));
    subtitle_->setProperty("role", "subtitle");
    subtitle_->setWordWrap(true);
    banner_ = new Banner;
    stack_ = new QStackedWidget;
    waiting_ = new LoadingPanel(LoadingPanel::Shape::Page);
    missing_ = new MissingPartsPage;
    setup_ = new ProfileSetup;
    run_ = new RunPage;
    diff_ = new ProfileDiff;
    outcome_ = new OutcomePage;
    for (QWidget* page : std::initializer_list<QWidget*>{waiting_, missing_, setup_, run_, diff_, outcome_})
        stack_->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(20, 16, 20, 16);
    layout->setSpacing(6);
    layout->addWidget(title_);
    layout->addWidget(subtitle_);
    layout->addSpacing(8);
    auto* page = new QVBoxLayout;
    page->setSpacing(12);
    page->addWidget(banner_);
    page->addWidget(stack_, 1);
    layout->addLayout(page, 1);
    layout->addSpacing(6);
    layout->addWidget(buildButtons());
    connect(waiting_, &LoadingPanel::cancelClicked, this, &ProfileDialog::reject);
    connect(setup_, &ProfileSetup::changed, this, &ProfileDialog::planSoon);
    connect(diff_, &ProfileDiff::contentionToggled, this, &ProfileDialog::preview);
    connect(banner_, &Banner::actionClicked, this, &ProfileDialog::chooseStore);
}

QWidget* ProfileDialog::buildButtons() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    foot_ = new ElidedLabel;
    foot_->setProperty("role", "subtitle");
    other_store_ = new QPushButton(tr("Change…"));
    close_ = new QPushButton;
    back_ = new QPushButton;
    primary_ = new QPushButton;
    primary_->setProperty("role", "primary");
    primary_->setDefault(true);
    for (QPushButton* button : {other_store_, close_, back_})
        button->setAutoDefault(false);
    row->addWidget(foot_);
    row->addWidget(other_store_);
    row->addStretch(1);
    for (QPushButton* button : {close_, back_, primary_})
        row->addWidget(button);
    connect(close_, &QPushButton::clicked, this, &ProfileDialog::reject);
    connect(back_, &QPushButton::clicked, this, &ProfileDialog::goBack);
    connect(primary_, &QPushButton::clicked, this, &ProfileDialog::goOn);
    connect(other_store_, &QPushButton::clicked, this, &ProfileDialog::chooseStore);
    return bar;
}

void ProfileDialog::connectJob() {
    ProfileJob* job = job_.get();
    connect(job, &ProfileJob::probed, this, &ProfileDialog::probed);
    connect(job, &ProfileJob::planned, this, [this](qlonglong keys) {
        if (state_ != State::Ready)
            return;
        primary_->setEnabled(setup_->problem().isEmpty());
        const MeasureRequest request = setup_->request();
        const bool known = !request.again && QFileInfo::exists(toQString(request.store));
        QString text =
            known
                ? tr("%1 keys. What the store knows of this device is not measured again.").arg(counted(keys))
                : tr("%1 keys will be measured.").arg(counted(keys));
        if (!busy_store_.isEmpty())
            text += QLatin1Char('\n') + tr("%1 It must be free when the measurement ends.").arg(busy_store_);
        setup_->setPlanText(text, busy_store_.isEmpty() ? ProfileSetup::PlanLook::Fine
                                                        : ProfileSetup::PlanLook::Warning);
    });
    connect(job, &ProfileJob::storeBusy, this,
            [this](const Error& error) { busy_store_ = toSentence(error.message); });
    connect(job, &ProfileJob::planFailed, this, [this](const Error& error) {
        if (state_ != State::Ready)
            return;
        setup_->setPlanText(errorText(error), ProfileSetup::PlanLook::Problem);
        primary_->setEnabled(false); // until a choice changes
    });
    connect(job, &ProfileJob::hello, run_, &RunPage::setHello);
    connect(job, &ProfileJob::progress, run_, &RunPage::setProgress);
    connect(job, &ProfileJob::entry, run_, &RunPage::addEntry);
    connect(job, &ProfileJob::warning, run_, &RunPage::addWarning);
    connect(job, &ProfileJob::measured, this, [this](const Profile& profile) {
        profile_ = profile;
        after_.reset();
        preview();
    });
    connect(job, &ProfileJob::failed, this, [this](const WorkerFailure& failure) {
        if (failure.error.code == "cancelled")
            outcome_->showCancelled();
        else
            outcome_->showFailure(failure, run_->warnings());
        setState(failure.error.code == "cancelled" ? State::Cancelled : State::Failed);
    });
    connect(job, &ProfileJob::previewed, this, &ProfileDialog::previewed);
    connect(job, &ProfileJob::previewFailed, this, &ProfileDialog::previewFailed);
    connect(job, &ProfileJob::stored, this, &ProfileDialog::storedAs);
    connect(job, &ProfileJob::storeFailed, this, &ProfileDialog::storeFailed);
}

void ProfileDialog::setState(State state) {
    state_ = state;
    QWidget* const pages[] = {waiting_, missing_, setup_, run_, waiting_, diff_, diff_, outcome_, outcome_};
    stack_->setCurrentWidget(pages[static_cast<size_t>(state)]);
    if (state == State::Probing)
        waiting_->begin(tr("Looking for devices"));
    if (state == State::Analysing)
        waiting_->begin(tr("Scheduling with the measured costs"));
    banner_->hide();
    diff_->setEnabled(state != State::Storing);
    nameButtons();
    if (state == State::Ready)
        planSoon();
    if (state == State::Diff) {
        diff_->changes()->table()->showRow(0);
        diff_->changes()->table()->setFocus(Qt::OtherFocusReason);
    } else if (state == State::Running) {
        close_->setFocus(Qt::OtherFocusReason);
    } else if (primary_->isVisibleTo(this)) {
        primary_->setFocus(Qt::OtherFocusReason);
    }
}

void ProfileDialog::nameButtons() {
    const bool diff = state_ == State::Diff || state_ == State::Storing;
    close_->setText(diff || state_ == State::Analysing ? tr("Discard")
                    : state_ == State::Running         ? tr("Cancel")
                                                       : tr("Close"));
    close_->setEnabled(state_ != State::Storing);
    close_->setVisible(state_ != State::Probing && state_ != State::Analysing); // the page has one of its own
    back_->setText(tr("Back to settings"));
    back_->setVisible(state_ == State::Failed);
    primary_->setText(diff                                                  ? tr("Take over")
                      : state_ == State::Failed || state_ == State::Missing ? tr("Try again")
                      : state_ == State::Cancelled                          ? tr("Back to settings")
                                                                            : tr("Measure"));
    primary_->setVisible(state_ != State::Probing && state_ != State::Running && state_ != State::Analysing);
    primary_->setEnabled(state_ != State::Storing && (state_ != State::Ready || setup_->problem().isEmpty()));
    other_store_->setVisible(diff);
    other_store_->setEnabled(state_ == State::Diff);
    foot_->setVisible(diff);
    foot_->setFullText(state_ == State::Storing ? tr("Storing…")
                                                : tr("Goes into %1").arg(QDir::toNativeSeparators(store_)));
}

void ProfileDialog::probed(const ProbeReport& report) {
    missing_->setReport(report);
    setup_->setReport(report);
    setState(report.canMeasure() ? State::Ready : State::Missing);
}

void ProfileDialog::planSoon() {
    if (state_ != State::Ready)
        return;
    const QString problem = setup_->problem();
    primary_->setEnabled(problem.isEmpty());
    setup_->setPlanText(problem, ProfileSetup::PlanLook::Problem);
    busy_store_.clear();
    if (problem.isEmpty())
        plan_delay_.start();
    else
        plan_delay_.stop();
}

void ProfileDialog::goOn() {
    switch (state_) {
    case State::Missing:
        setState(State::Probing);
        job_->probe();
        return;
    case State::Failed:
        if (profile_)
            return preview();
        return start();
    case State::Ready:
        return start();
    case State::Cancelled:
        return setState(State::Ready);
    case State::Diff:
        return store();
    default:
        return;
    }
}

void ProfileDialog::goBack() {
    setState(State::Ready);
}

void ProfileDialog::start() {
    plan_delay_.stop();
    rememberChoices();
    MeasureRequest request = setup_->request();
    request.worker.analysis = snapshot_->request;
    request.worker.files = {snapshot_->request.graph_file};
    store_ = setup_->store();
    profile_.reset();
    run_->begin(request.worker.ranks);
    setState(State::Running);
    job_->start(request);
}

void ProfileDialog::preview() {
    if (!profile_)
        return;
    // Only the first look has a page of its own: after that the numbers are replaced in place.
    if (state_ == State::Diff)
        diff_->setWorking(true);
    else
        setState(State::Analysing);
    primary_->setEnabled(false);
    const bool contention = state_ == State::Diff ? diff_->usesContention() : !profile_->contention.empty();
    job_->preview(*profile_, contention);
}

void ProfileDialog::previewed(const AnalysisPtr& analysis) {
    if (!profile_)
        return;
    after_ = analysis;
    const bool contention = analysis->request.settings.flag(Setting::MeasuredContention);
    diff_->setDiff(*profile_, snapshot_, analysis);
    {
        const QSignalBlocker quiet(diff_->contentionBox());
        diff_->contentionBox()->setChecked(contention);
    }
    diff_->setWorking(false);
    if (state_ == State::Analysing)
        setState(State::Diff);
    primary_->setEnabled(true);
}

void ProfileDialog::previewFailed(const Error& error) {
    if (!after_) {
        outcome_->showFailure({error, -1, {}}, run_->warnings());
        return setState(State::Failed);
    }
    // The look before stays.
    previewed(after_);
    banner_->showMessage(Banner::Look::Warning, errorText(error));
}

/// A profile that the store has already is not stored again.
void ProfileDialog::store() {
    if (profile_->id > 0 && store_ == setup_->store())
        return storedAs(profile_->id);
    setState(State::Storing);
    job_->store(*profile_, store_.toStdString());
}

void ProfileDialog::storedAs(int64_t id) {
    QVariantMap choices = setup_->choices();
    choices[QStringLiteral("store")] = store_;
    Preferences::setProfileChoices(choices);
    emit takenOver(store_, id, diff_->usesContention());
    QDialog::accept();
}

/// What was measured stays here until it is stored or discarded.
void ProfileDialog::storeFailed(const Error& error) {
    setState(State::Diff);
    banner_->showMessage(Banner::Look::Warning,
                         tr("Not stored, and nothing is lost: %1").arg(errorText(error)),
                         tr("Choose another file…"));
    primary_->setText(tr("Try again"));
}

void ProfileDialog::chooseStore() {
    if (state_ != State::Diff)
        return;
    auto* dialog = new QFileDialog(this, tr("Store the profile in"), QFileInfo(store_).absolutePath());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setOption(QFileDialog::DontConfirmOverwrite); // profiles are added to it
    dialog->setDefaultSuffix(QStringLiteral("db"));
    dialog->selectFile(QFileInfo(store_).fileName());
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        store_ = QFileInfo(file).absoluteFilePath();
        banner_->hide();
        nameButtons();
    });
    dialog->open();
}

void ProfileDialog::rememberChoices() const {
    Preferences::setProfileChoices(setup_->choices());
}

void ProfileDialog::reject() {
    switch (state_) {
    case State::Running:
        run_->setCancelling();
        close_->setEnabled(false);
        job_->cancel();
        return;
    case State::Storing: // a transaction is not left alone
        return;
    case State::Analysing:
        job_->cancel();
        break;
    default:
        break;
    }
    QDialog::reject();
}

} // namespace gs
