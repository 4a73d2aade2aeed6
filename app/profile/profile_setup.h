// The page of the Re-profile dialog on which one says what to measure and with what.
#pragma once

#include "app/profile/profile_job.h"

#include <QWidget>

class QButtonGroup;
class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QVBoxLayout;

namespace gs {

class MarkSign;

class ProfileSetup : public QWidget {
    Q_OBJECT
public:
    explicit ProfileSetup(QWidget* parent = nullptr);

    /// Lists the backends; what cannot be used says why.
    void setReport(const ProbeReport& report);
    /// What was chosen in earlier runs, and the store in use.
    void setChoices(const QVariantMap& choices, const QString& store);
    QVariantMap choices() const;

    /// Everything but the graph.
    MeasureRequest request() const;
    /// Of the chosen backend, as it names it; empty if none is chosen.
    std::string device() const;
    /// Why it cannot begin; empty if it can.
    QString problem() const;
    QString store() const;
    enum class PlanLook : uint8_t { Fine, Warning, Problem };
    void setPlanText(const QString& text, PlanLook look);
    QString planText() const;

    QSpinBox* ranks() const { return ranks_; }
    QCheckBox* againBox() const { return again_; }
    QLineEdit* storeField() const { return store_; }
    QWidget* backendButton(const QString& name) const;

signals:
    /// Any choice.
    void changed();

private:
    void buildMachine(QGridLayout* form);
    void buildWhat(QGridLayout* form);
    void buildStore(QGridLayout* form);
    void addBackend(const ProbedBackend& backend, int row);
    void suggestRanks();
    void chooseFile(QLineEdit* field, bool save);
    const ProbedBackend* chosen() const;

    ProbeReport report_;
    QString wanted_; ///< backend of an earlier run
    QGridLayout* backends_;
    QButtonGroup* group_;
    QSpinBox* ranks_;
    QLabel* ranks_hint_;
    QComboBox* launcher_;
    QLineEdit* hostfile_;
    QCheckBox* compute_;
    QCheckBox* collectives_;
    QCheckBox* contention_;
    QSpinBox* iterations_;
    QSpinBox* warmups_;
    QCheckBox* cold_;
    QLineEdit* store_;
    QCheckBox* again_;
    QLabel* plan_;
    MarkSign* plan_sign_;
};

/// Where profiles go unless another file is chosen.
QString defaultProfileStore();

} // namespace gs
