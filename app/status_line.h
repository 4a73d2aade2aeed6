// The one-glance result, always there. Each part is a link to where it is explained.
#pragma once

#include "views/view.h"

class QLabel;
class QPushButton;

namespace gs {

class ElidedLabel;

class StatusLine : public QWidget {
    Q_OBJECT
public:
    enum class Part : uint8_t { Hidden, Exposed, Step, LowerBound, Peak, Missing, Edits };
    static constexpr int kParts = 7;

    explicit StatusLine(QWidget* parent = nullptr);
    void setSnapshot(const SnapshotPtr& snapshot);
    /// The whole line as plain text.
    QString text() const;
    QPushButton* button(Part part) const { return parts_[static_cast<size_t>(part)]; }

signals:
    void partClicked(gs::StatusLine::Part part);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QPushButton* parts_[kParts];
    QLabel* dots_[kParts];
    QLabel* idle_;
    ElidedLabel* run_;
};

/// Text of each part for a snapshot, in order; a part with nothing to say is empty.
QStringList statusParts(const Analysis& analysis);

} // namespace gs
