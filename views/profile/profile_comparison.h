// Two profiles of a store against each other, key by key: A is in use, B another one.
#pragma once

#include "cost/profile.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace gs {

class CostChangesTable;
struct ProfileSummary;

class ProfileComparison : public QWidget {
    Q_OBJECT
public:
    explicit ProfileComparison(QWidget* parent = nullptr);

    void setProfiles(const Profile& a, const Profile& b);
    /// In place of the table.
    void setError(const QString& text);

    CostChangesTable* changes() const { return changes_; }
    QPushButton* closeButton() const { return close_; }
    /// What stands above the table; for tests.
    QString words() const;

signals:
    void closed();

private:
    QLabel* a_;
    QLabel* b_;
    QLabel* totals_;
    QLabel* error_;
    QPushButton* close_;
    CostChangesTable* changes_;
};

/// "2 · NVIDIA H200 · 4 ranks · 92 keys · 2026-11-29 22:10", in the time of this place.
QString profileText(const ProfileSummary& profile);

} // namespace gs
