#include "views/step/step_view.h"

#include "views/docks/paint_text.h"
#include "views/models/gathers_model.h"
#include "views/step/step_canvas.h"
#include "views/step/step_controls.h"
#include "views/step/step_text.h"
#include "views/theme.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace gs {

namespace {

constexpr int kMargin = 14;
constexpr int kFrameMs = 33;
constexpr double kStepMs = 2600;   ///< a step's time at speed 1
constexpr double kWalkShare = 0.6; ///< of it; the rest is for reading
constexpr double kMostScale = 1.8;
/// Size of the view at which texts have their usual size; on a larger one they grow with it.
constexpr double kUsualWidth = 1150, kUsualHeight = 440;
constexpr const char* kSweep = "latest-safe-launch";

} // namespace

StepView::StepView(QWidget* parent) : View(parent), data_(StepData::build(nullptr)) {
    build();
    timer_.setInterval(kFrameMs);
    connect(&timer_, &QTimer::timeout, this, &StepView::play);
    connect(controls_, &StepControls::stepRequested, this, [this](int step) {
        setPlaying(false);
        goTo(step);
    });
    connect(controls_, &StepControls::playRequested, this, &StepView::setPlaying);
    connect(canvas_, &StepCanvas::stepChosen, this, [this](int step) {
        setPlaying(false);
        goTo(step);
    });
    connect(note_, &QLabel::linkActivated, this,
            [this] { emit settingRequested(QStringLiteral("scheduler"), QString::fromLatin1(kSweep)); });
    showStep();
}

void StepView::build() {
    setAccessibleName(tr("Step through"));
    title_ = new QLabel(this);
    verdict_ = new QLabel(this);
    sentence_ = new QLabel(this);
    note_ = new QLabel(this);
    canvas_ = new StepCanvas(this);
    controls_ = new StepControls(this);
    sentence_->setWordWrap(true);
    sentence_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    note_->setObjectName(QStringLiteral("stepNote"));
    note_->setWordWrap(true);
    note_->setForegroundRole(QPalette::PlaceholderText);
    for (QLabel* label : {title_, sentence_}) // long names must not make the window wide
        label->setMinimumWidth(1);
    for (QLabel* label : {title_, verdict_})
        label->setTextFormat(Qt::PlainText);

    auto* head = new QHBoxLayout;
    head->setSpacing(10);
    head->addWidget(title_);
    head->addWidget(verdict_);
    head->addStretch(1);
    auto* texts = new QVBoxLayout;
    texts->setContentsMargins(kMargin, 8, kMargin, 6);
    texts->setSpacing(3);
    texts->addLayout(head);
    texts->addWidget(sentence_);
    texts->addWidget(note_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(texts);
    layout->addWidget(canvas_, 1);
    layout->addWidget(controls_);
    setFocusProxy(canvas_); // it leaves the keys to the view
    setTabOrder(canvas_, controls_);
    applyScale();
}

void StepView::snapshotChanged() {
    setPlaying(false);
    // Preparing takes a few milliseconds on a large graph: not while sliders are dragged behind other docks.
    stale_ = true;
    if (isVisible() || !snapshot())
        prepare();
}

void StepView::showEvent(QShowEvent* event) {
    View::showEvent(event);
    prepare();
}

void StepView::prepare() {
    if (!std::exchange(stale_, false))
        return;
    const Selection here = data_->size() > 0 ? data_->selectionFor(static_cast<size_t>(step_)) : Selection{};
    data_ = StepData::build(snapshot());
    canvas_->setData(data_);
    sentence_->setMinimumHeight(0);
    const int chosen = std::max(data_->stepOf(selection()), -1);
    const int same = chosen >= 0 ? chosen : data_->stepOf(here);
    show(std::max(0, same), 1);
}

void StepView::selectionChanged() {
    if (stale_)
        return;
    const int step = data_->stepOf(selection());
    if (step < 0 || step == step_)
        return;
    setPlaying(false);
    show(step, 1);
}

void StepView::show(int step, double fill) {
    step_ = step;
    fill_ = fill;
    showStep();
}

void StepView::showStep() {
    const bool any = data_->size() > 0;
    const auto at = static_cast<size_t>(step_);
    for (QLabel* label : {title_, verdict_, sentence_})
        label->setVisible(any);
    controls_->setVisible(any);
    if (any) {
        title_->setText(stepGather(*data_, at));
        const bool done = fill_ >= 1;
        const bool hidden = data_->decision(at).verdict == Verdict::Hidden;
        verdict_->setText(!done ? QString()
                                : (hidden ? QStringLiteral("● ") : QStringLiteral("▲ ")) +
                                      verdictText(data_->decision(at).verdict));
        QPalette palette = verdict_->palette();
        palette.setColor(QPalette::WindowText,
                         hidden ? Theme::current().hidden_ok : Theme::current().limited);
        verdict_->setPalette(palette);
        sentence_->setText(stepSentence(*data_, at, fill_));
        keepTextHeight();
    }
    QString text = stepNote(*data_).toHtmlEscaped();
    if (!text.isEmpty() && snapshot()->after.schedule->scheduler != kSweep)
        text += QStringLiteral(" <a href='use' style='color:%1'>%2</a>")
                    .arg(Theme::current().accent.name(), tr("Use it there, too"));
    note_->setText(text);
    note_->setVisible(!text.isEmpty());
    canvas_->setStep(at, fill_);
    controls_->show(step_, static_cast<int>(data_->size()), playing());
}

/// The picture must not jump while sentences of different lengths come and go.
void StepView::keepTextHeight() {
    const int needed = sentence_->heightForWidth(std::max(1, width() - 2 * kMargin));
    const int least = 2 * QFontMetrics(sentence_->font()).lineSpacing();
    sentence_->setMinimumHeight(std::max({sentence_->minimumHeight(), needed, least}));
}

void StepView::goTo(int step) {
    if (data_->size() == 0)
        return;
    show(std::clamp(step, 0, static_cast<int>(data_->size()) - 1), 1);
    requestSelection();
}

void StepView::requestSelection() {
    emit selectionRequested(data_->selectionFor(static_cast<size_t>(step_)));
}

void StepView::walk(int by) {
    if (data_->size() == 0)
        return;
    setPlaying(false);
    const auto walks = [&](int step) { // else there is nothing to fill
        const SweepStep& item = data_->step(static_cast<size_t>(step));
        return data_->at(item.start) > data_->at(item.end);
    };
    if (by > 0 && fill_ >= 1) {
        if (step_ + 1 >= static_cast<int>(data_->size()))
            return;
        show(step_ + 1, walks(step_ + 1) ? 0 : 1);
        requestSelection();
    } else if (by < 0 && (fill_ <= 0 || !walks(step_))) {
        if (step_ == 0)
            return;
        show(step_ - 1, 1);
        requestSelection();
    } else {
        show(step_, data_->nextFill(static_cast<size_t>(step_), fill_, by));
    }
}

void StepView::setPlaying(bool on) {
    if (on == playing() || (on && data_->size() == 0))
        return;
    if (!on) {
        timer_.stop();
        show(step_, 1);
        return;
    }
    if (step_ + 1 >= static_cast<int>(data_->size())) { // from the end it begins anew
        step_ = 0;
        requestSelection();
    }
    since_.start();
    timer_.start();
    show(step_, 0);
}

void StepView::play() {
    const double ms = static_cast<double>(since_.elapsed()) * controls_->speed();
    if (ms < kStepMs) {
        const double fill = std::min(1.0, ms / (kStepMs * kWalkShare));
        if (fill != fill_)
            show(step_, fill);
        return;
    }
    if (step_ + 1 >= static_cast<int>(data_->size())) {
        setPlaying(false);
        return;
    }
    since_.start();
    show(step_ + 1, 0);
    requestSelection();
}

void StepView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    sentence_->setMinimumHeight(0);
    applyScale();
    if (data_->size() > 0)
        keepTextHeight();
}

void StepView::applyScale() {
    const double fit = std::min(width() / kUsualWidth, height() / kUsualHeight);
    const double scale = std::clamp(std::round(fit * 10) / 10, 1.0, kMostScale);
    const auto px = [&](double size) { return static_cast<int>(std::lround(size * scale)); };
    title_->setFont(Theme::font(px(14), QFont::DemiBold));
    verdict_->setFont(Theme::font(px(12), QFont::DemiBold));
    sentence_->setFont(Theme::font(px(14)));
    note_->setFont(Theme::font(px(11)));
    canvas_->setScale(scale);
}

void StepView::changeEvent(QEvent* event) {
    View::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && canvas_)
        showStep();
}

void StepView::keyPressEvent(QKeyEvent* event) {
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
        event->ignore();
        return;
    }
    switch (event->key()) {
    case Qt::Key_Space:
        setPlaying(!playing());
        return;
    case Qt::Key_Right:
    case Qt::Key_Left: {
        const int by = event->key() == Qt::Key_Right ? 1 : -1;
        if (shift) {
            walk(by);
            return;
        }
        setPlaying(false);
        goTo(step_ + by);
        return;
    }
    case Qt::Key_Home:
    case Qt::Key_End:
        setPlaying(false);
        goTo(event->key() == Qt::Key_Home ? 0 : static_cast<int>(data_->size()) - 1);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Minus:
        canvas_->zoomAt(stepPlot(canvas_->request()).width() / 2, event->key() == Qt::Key_Plus ? 0.7 : 1.4);
        return;
    case Qt::Key_F:
        canvas_->fit();
        return;
    default:
        event->ignore();
    }
}

QString StepView::sentence() const {
    return sentence_->text();
}

QString StepView::note() const {
    return note_->text();
}

} // namespace gs
