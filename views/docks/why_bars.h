// The bars of the Why card: the window that was found over what the gather needs, on one scale.
#pragma once

#include "explain/why.h"

#include <QWidget>
#include <vector>

namespace gs {

class WhyBars : public QWidget {
    Q_OBJECT
public:
    explicit WhyBars(QWidget* parent = nullptr);
    /// `contention` is only for the caption. Hides itself if the card has no need.
    void setCard(const WhyCard& card, double contention);

    /// What is drawn, for tests: role, place in the widget, length in ns, text.
    struct Piece {
        enum class Role : uint8_t { Window, Need, Shortfall, Claimed, Marker };
        Role role = Role::Window;
        QRectF rect;
        double ns = 0;
        QString label;
        NodeId node = kNoNode;
        WhyPart::Kind kind = WhyPart::Kind::Compute;
    };
    const std::vector<Piece>& pieces() const { return pieces_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void nodeActivated(gs::NodeId node);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    void layOut();
    void addRow(Piece::Role role, const std::vector<WhyPart>& parts, double y, double scale);
    void paintPiece(QPainter& painter, const Piece& piece, int index) const;
    void paintMarker(QPainter& painter, const QRectF& rect) const;
    QString needCaption() const;
    const Piece* pieceAt(const QPointF& pos) const;
    QString note() const;

    WhyCard card_;
    double contention_ = 1;
    std::vector<Piece> pieces_;
};

} // namespace gs
