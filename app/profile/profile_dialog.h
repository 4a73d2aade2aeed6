// Re-profile: choose what to measure, watch the ranks, look at what would change, then take it over or not.
#pragma once

#include "app/profile/profile_job.h"

#include <QDialog>
#include <QTimer>

class QLabel;
class QPushButton;
class QStackedWidget;

namespace gs {

class Banner;
class ElidedLabel;
class LoadingPanel;
class MissingPartsPage;
class OutcomePage;
class ProfileDiff;
class ProfileSetup;
class RunPage;

class ProfileDialog : public QDialog {
    Q_OBJECT
public:
    enum class State : uint8_t {
        Probing,
        Missing,
        Ready,
        Running,
        Analysing,
        Diff,
        Storing,
        Cancelled,
        Failed
    };

    /// Begins to look for devices at once. `snapshot` is what is open; not null.
    ProfileDialog(SnapshotPtr snapshot, std::unique_ptr<ProfileJob> job, QWidget* parent = nullptr);

    State state() const { return state_; }
    ProfileJob& job() { return *job_; }
    ProfileSetup& setup() { return *setup_; }
    MissingPartsPage& missing() { return *missing_; }
    RunPage& run() { return *run_; }
    ProfileDiff& diff() { return *diff_; }
    OutcomePage& outcome() { return *outcome_; }
    Banner& banner() { return *banner_; }
    /// The button that goes on: Measure, Take over, Try again.
    QPushButton* primaryButton() const { return primary_; }
    QPushButton* backButton() const { return back_; }
    /// Close, Cancel or Discard.
    QPushButton* closeButton() const { return close_; }

    /// Escape and the window's cross, too: ends what runs before it closes.
    void reject() override;

signals:
    /// The profile is in the store under this id; the request is to use it (see withProfile()).
    void takenOver(const QString& store, qlonglong id, bool contention);

private:
    void build();
    QWidget* buildButtons();
    void connectJob();
    void setState(State state);
    void nameButtons();
    void goOn();
    void goBack();
    void probed(const ProbeReport& report);
    void planSoon();
    void start();
    void preview();
    void previewed(const AnalysisPtr& analysis);
    void previewFailed(const Error& error);
    void store();
    void storedAs(int64_t id);
    void storeFailed(const Error& error);
    void chooseStore();
    void rememberChoices() const;

    SnapshotPtr snapshot_;
    std::unique_ptr<ProfileJob> job_;
    State state_ = State::Probing;
    std::optional<Profile> profile_; ///< measured, not taken over
    AnalysisPtr after_;
    QString store_;
    QString busy_store_; ///< why it cannot be written now
    QTimer plan_delay_;

    QLabel* title_;
    QLabel* subtitle_;
    Banner* banner_;
    QStackedWidget* stack_;
    LoadingPanel* waiting_;
    MissingPartsPage* missing_;
    ProfileSetup* setup_;
    RunPage* run_;
    ProfileDiff* diff_;
    OutcomePage* outcome_;
    ElidedLabel* foot_;
    QPushButton* other_store_;
    QPushButton* close_;
    QPushButton* back_;
    QPushButton* primary_;
};

} // namespace gs
