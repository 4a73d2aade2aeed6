#include "app/profile/profile_setup.h"

#include "app/mark_sign.h"
#include "app/text.h"
#include "base/units.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardPaths>

namespace gs {

namespace {

constexpr int kTitleWidth = 92;

QLabel* caption(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "caption");
    label->setWordWrap(true);
    return label;
}

void addTitle(QGridLayout* form, const QString& text, int row, QWidget* buddy = nullptr) {
    auto* label = new QLabel(text);
    label->setProperty("role", "subtitle");
    label->setFixedWidth(kTitleWidth);
    label->setBuddy(buddy);
    form->addWidget(label, row, 0, Qt::AlignTop);
    // On the line of the first field beside it.
    label->setContentsMargins(0, buddy ? 5 : 2, 0, 0);
}

QSpinBox* spin(int least, int most, int value) {
    auto* box = new QSpinBox;
    box->setRange(least, most);
    box->setValue(value);
    box->setFixedWidth(64);
    box->setAlignment(Qt::AlignRight);
    return box;
}

/// "NVIDIA H200, 139.8 GiB" or "8 × NVIDIA H200, …".
QString deviceText(const std::vector<DeviceFacts>& devices) {
    const DeviceFacts& first = devices.front();
    QStringList parts{devices.size() > 1
                          ? QStringLiteral("%1 × %2").arg(devices.size()).arg(toQString(first.name))
                          : toQString(first.name)};
    if (first.memory_bytes > 0)
        parts << toQString(formatBytes(first.memory_bytes));
    if (!first.driver.empty())
        parts << ProfileSetup::tr("driver %1").arg(toQString(first.driver));
    return parts.join(QStringLiteral(", "));
}

QHBoxLayout* line(std::initializer_list<QWidget*> widgets, int spacing = 8) {
    auto* row = new QHBoxLayout;
    row->setSpacing(spacing);
    for (QWidget* widget : widgets)
        row->addWidget(widget);
    row->addStretch(1);
    return row;
}

} // namespace

QString defaultProfileStore() {
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/profiles.db");
}

ProfileSetup::ProfileSetup(QWidget* parent)
    : QWidget(parent), backends_(new QGridLayout), group_(new QButtonGroup(this)), plan_(new QLabel(this)),
      plan_sign_(new MarkSign(Mark::Error, this)) {
    auto* form = new QGridLayout;
    form->setColumnStretch(1, 1);
    form->setHorizontalSpacing(14);
    form->setVerticalSpacing(14);
    buildMachine(form);
    buildWhat(form);
    buildStore(form);
    plan_->setWordWrap(true);
    plan_->setProperty("role", "code");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(14);
    layout->addLayout(form);
    auto* plan = new QHBoxLayout;
    plan->setSpacing(8);
    plan->addWidget(plan_sign_);
    plan->addWidget(plan_, 1);
    layout->addLayout(plan);
    layout->addStretch(1);
    connect(group_, &QButtonGroup::buttonClicked, this, [this] {
        suggestRanks();
        emit changed();
    });
    for (QSpinBox* box : {ranks_, iterations_, warmups_})
        connect(box, &QSpinBox::valueChanged, this, &ProfileSetup::changed);
    for (QCheckBox* box : {compute_, collectives_, contention_, cold_, again_})
        connect(box, &QCheckBox::toggled, this, &ProfileSetup::changed);
    for (QLineEdit* field : {hostfile_, store_})
        connect(field, &QLineEdit::textChanged, this, &ProfileSetup::changed);
    connect(launcher_, &QComboBox::currentIndexChanged, this, [this] {
        hostfile_->setEnabled(launcher_->currentText() != QLatin1String("srun"));
        emit changed();
    });
}

void ProfileSetup::buildMachine(QGridLayout* form) {
    backends_->setColumnStretch(1, 1);
    backends_->setHorizontalSpacing(14);
    backends_->setVerticalSpacing(6);
    addTitle(form, tr("Measure on"), 0);
    form->addLayout(backends_, 0, 1);
    ranks_ = spin(1, 65'536, 2);
    ranks_->setAccessibleName(tr("Ranks"));
    ranks_hint_ = caption({});
    launcher_ = new QComboBox;
    launcher_->setAccessibleName(tr("Program that starts the ranks"));
    hostfile_ = new QLineEdit;
    hostfile_->setPlaceholderText(tr("this machine"));
    hostfile_->setAccessibleName(tr("Host file"));
    auto* choose = new QPushButton(tr("Choose…"));
    connect(choose, &QPushButton::clicked, this, [this] { chooseFile(hostfile_, false); });
    addTitle(form, tr("&Ranks"), 1, ranks_);
    auto* column = new QVBoxLayout;
    column->setSpacing(6);
    column->addLayout(line({ranks_, new QLabel(tr("started by")), launcher_}));
    column->addWidget(ranks_hint_);
    form->addLayout(column, 1, 1);
    addTitle(form, tr("&Host file"), 2, hostfile_);
    auto* hosts = new QHBoxLayout;
    hosts->setSpacing(8);
    hosts->addWidget(hostfile_, 1);
    hosts->addWidget(choose);
    form->addLayout(hosts, 2, 1);
}

void ProfileSetup::buildWhat(QGridLayout* form) {
    compute_ = new QCheckBox(tr("Operators"));
    collectives_ = new QCheckBox(tr("Collectives"));
    contention_ = new QCheckBox(tr("Contention"));
    contention_->setToolTip(tr("How much slower gathers and compute are while both run"));
    for (QCheckBox* box : {compute_, collectives_, contention_})
        box->setChecked(true);
    addTitle(form, tr("What"), 3);
    form->addLayout(line({compute_, collectives_, contention_}, 20), 3, 1);
    iterations_ = spin(1, 100'000, 10);
    iterations_->setAccessibleName(tr("Timed runs of each key"));
    warmups_ = spin(0, 100'000, 3);
    warmups_->setAccessibleName(tr("Runs before them"));
    cold_ = new QCheckBox(tr("with cold caches"));
    addTitle(form, tr("R&uns"), 4, iterations_);
    QHBoxLayout* runs =
        line({iterations_, new QLabel(tr("timed, after")), warmups_, new QLabel(tr("to warm up")), cold_});
    runs->insertSpacing(runs->indexOf(cold_), 12);
    form->addLayout(runs, 4, 1);
}

void ProfileSetup::buildStore(QGridLayout* form) {
    store_ = new QLineEdit;
    store_->setAccessibleName(tr("Profile store"));
    auto* choose = new QPushButton(tr("Choose…"));
    connect(choose, &QPushButton::clicked, this, [this] { chooseFile(store_, true); });
    again_ = new QCheckBox(tr("Measure what it knows, too"));
    addTitle(form, tr("&Store"), 5, store_);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(store_, 1);
    row->addWidget(choose);
    auto* column = new QVBoxLayout;
    column->setSpacing(8);
    column->addLayout(row);
    column->addWidget(again_);
    form->addLayout(column, 5, 1);
}

void ProfileSetup::addBackend(const ProbedBackend& backend, int row) {
    const bool usable = !backend.devices.empty();
    auto* button = new QRadioButton(toQString(backend.name));
    button->setObjectName(QStringLiteral("backend-") + toQString(backend.name));
    button->setEnabled(usable);
    button->setMinimumWidth(64);
    group_->addButton(button, row);
    backends_->addWidget(button, row, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout;
    column->setContentsMargins(0, 2, 0, 0);
    column->setSpacing(1);
    auto* title =
        new QLabel(usable ? deviceText(backend.devices) : tr("Not here: %1").arg(toQString(backend.why_not)));
    title->setWordWrap(true);
    title->setProperty("role", usable ? "" : "subtitle");
    title->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(title);
    column->addWidget(caption(toSentence(backend.meaning)));
    backends_->addLayout(column, row, 1);
}

void ProfileSetup::setReport(const ProbeReport& report) {
    report_ = report;
    const QSignalBlocker quiet(this);
    for (QAbstractButton* button : group_->buttons())
        delete button;
    while (QLayoutItem* item = backends_->takeAt(0)) {
        if (QLayout* inner = item->layout())
            while (QLayoutItem* part = inner->takeAt(0)) {
                delete part->widget();
                delete part;
            }
        delete item;
    }
    QAbstractButton* first = nullptr;
    for (size_t i = 0; i < report.backends.size(); ++i) {
        const auto row = static_cast<int>(i);
        addBackend(report.backends[i], row);
        QAbstractButton* button = group_->button(row);
        const bool wanted = toQString(report.backends[i].name) == wanted_;
        if (button->isEnabled() && (!first || wanted))
            first = button;
    }
    if (first)
        first->setChecked(true);
    const QSignalBlocker still(launcher_);
    launcher_->clear();
    if (!report.mpirun.isEmpty())
        launcher_->addItem(QStringLiteral("mpirun"));
    if (!report.srun.isEmpty())
        launcher_->addItem(QStringLiteral("srun"));
    suggestRanks();
}

/// One rank per device where there are several; what a person chose stays for processors.
void ProfileSetup::suggestRanks() {
    const ProbedBackend* backend = chosen();
    if (!backend)
        return;
    const auto devices = static_cast<int>(backend->devices.size());
    const QSignalBlocker quiet(ranks_);
    if (backend->name != "host")
        ranks_->setValue(std::max(devices, 1));
    ranks_hint_->setText(
        backend->name == "host"
            ? tr("Collectives need at least 2. Ranks share the processors of this machine, so "
                 "few ranks measure more truly than many.")
            : tr("One rank per device; collectives need at least 2."));
}

const ProbedBackend* ProfileSetup::chosen() const {
    const int id = group_->checkedId();
    return id >= 0 && static_cast<size_t>(id) < report_.backends.size()
               ? &report_.backends[static_cast<size_t>(id)]
               : nullptr;
}

std::string ProfileSetup::device() const {
    const ProbedBackend* backend = chosen();
    return backend && !backend->devices.empty() ? backend->devices.front().name : std::string();
}

QString ProfileSetup::problem() const {
    if (device().empty())
        return tr("Choose what measures.");
    if (!compute_->isChecked() && !collectives_->isChecked() && !contention_->isChecked())
        return tr("Choose something to measure.");
    if (store_->text().trimmed().isEmpty())
        return tr("Choose a file for the profile.");
    if (contention_->isChecked() && !collectives_->isChecked() && !compute_->isChecked())
        return tr("Contention is measured with operators and collectives.");
    if (!hostfile_->text().isEmpty() && !QFileInfo(hostfile_->text()).isFile())
        return tr("The host file is not there.");
    return {};
}

QString ProfileSetup::store() const {
    return QFileInfo(store_->text().trimmed()).absoluteFilePath();
}

MeasureRequest ProfileSetup::request() const {
    MeasureRequest request;
    WorkerRequest& worker = request.worker;
    if (const ProbedBackend* backend = chosen())
        worker.backend = backend->name;
    worker.ranks = ranks_->value();
    worker.plan.iterations = iterations_->value();
    worker.plan.warmups = warmups_->value();
    worker.plan.cache_cold = cold_->isChecked();
    worker.compute = compute_->isChecked();
    worker.collectives = collectives_->isChecked();
    worker.contention = contention_->isChecked();
    worker.slurm = launcher_->currentText() == QLatin1String("srun");
    worker.hostfile = worker.slurm ? QString() : hostfile_->text();
    request.store = store().toStdString();
    request.again = again_->isChecked();
    return request;
}

void ProfileSetup::setChoices(const QVariantMap& choices, const QString& store) {
    const QSignalBlocker quiet(this);
    wanted_ = choices.value(QStringLiteral("backend")).toString();
    ranks_->setValue(choices.value(QStringLiteral("ranks"), 2).toInt());
    iterations_->setValue(choices.value(QStringLiteral("iterations"), 10).toInt());
    warmups_->setValue(choices.value(QStringLiteral("warmups"), 3).toInt());
    hostfile_->setText(choices.value(QStringLiteral("hostfile")).toString());
    store_->setText(QDir::toNativeSeparators(store));
}

QVariantMap ProfileSetup::choices() const {
    const MeasureRequest now = request();
    return {{QStringLiteral("backend"), toQString(now.worker.backend)},
            {QStringLiteral("ranks"), now.worker.ranks},
            {QStringLiteral("iterations"), now.worker.plan.iterations},
            {QStringLiteral("warmups"), now.worker.plan.warmups},
            {QStringLiteral("hostfile"), hostfile_->text()},
            {QStringLiteral("store"), store()}};
}

void ProfileSetup::setPlanText(const QString& text, PlanLook look) {
    plan_->setText(text);
    plan_->setVisible(!text.isEmpty());
    plan_sign_->setVisible(!text.isEmpty() && look != PlanLook::Fine);
    plan_sign_->setMark(look == PlanLook::Problem ? Mark::Error : Mark::Warning);
}

QString ProfileSetup::planText() const {
    return plan_->text();
}

QWidget* ProfileSetup::backendButton(const QString& name) const {
    return findChild<QRadioButton*>(QStringLiteral("backend-") + name);
}

void ProfileSetup::chooseFile(QLineEdit* field, bool save) {
    auto* dialog = new QFileDialog(this, save ? tr("Store profiles in") : tr("Choose a host file"),
                                   QFileInfo(field->text()).absolutePath());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (save) {
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->setOption(QFileDialog::DontConfirmOverwrite); // profiles are added to it
        dialog->setDefaultSuffix(QStringLiteral("db"));
        dialog->selectFile(QFileInfo(field->text()).fileName());
    }
    connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
    dialog->open();
}

} // namespace gs
