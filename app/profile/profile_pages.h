// The pages of the Re-profile dialog that only say something: what is missing, how far it is, how it ended.
#pragma once

#include "app/profile/profile_job.h"
#include "views/profile/rank_progress.h"

#include <QElapsedTimer>

class QGridLayout;
class QLabel;
class QPlainTextEdit;
class QProgressBar;

namespace gs {

class DataTable;

/// Every part that measuring needs, there or not, and what to do about those that are not.
class MissingPartsPage : public QWidget {
    Q_OBJECT
public:
    explicit MissingPartsPage(QWidget* parent = nullptr);
    void setReport(const ProbeReport& report);
    /// All texts, a line each; for tests.
    QString text() const;

private:
    void addPart(bool there, const QString& name, const QString& text, const QString& advice);
    QGridLayout* parts_;
    QLabel* advice_;
};

/// Ranks at work.
class RunPage : public QWidget {
    Q_OBJECT
public:
    explicit RunPage(QWidget* parent = nullptr);
    void begin(int ranks);
    void setHello(int rank, const HelloMessage& message) { model_->setHello(rank, message); }
    void setProgress(int rank, const ProgressMessage& message) { model_->setProgress(rank, message); }
    void addEntry();
    void addWarning(int rank, const WarningMessage& message);
    void setCancelling();

    RankProgressModel* model() const { return model_; }
    DataTable* table() const { return table_; }
    QString title() const;
    QStringList warnings() const { return warnings_; }

private:
    void refresh();

    RankProgressModel* model_;
    DataTable* table_;
    QLabel* title_;
    QLabel* left_;
    QProgressBar* bar_;
    QLabel* warnings_title_;
    QPlainTextEdit* warnings_box_;
    QStringList warnings_;
    int ranks_ = 0;
    int64_t entries_ = 0;
    bool cancelling_ = false;
};

/// Cancelled or failed.
class OutcomePage : public QWidget {
    Q_OBJECT
public:
    explicit OutcomePage(QWidget* parent = nullptr);
    void showCancelled();
    void showFailure(const WorkerFailure& failure, const QStringList& warnings);
    QString text() const;

private:
    QLabel* title_;
    QLabel* message_;
    QLabel* key_;
    QLabel* hint_;
    QLabel* kept_;
    QPlainTextEdit* warnings_;
};

} // namespace gs
