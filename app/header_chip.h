// A flat button of the header: muted caption, strong value. Opens something below itself.
#pragma once

#include <QAbstractButton>

namespace gs {

class HeaderChip : public QAbstractButton {
    Q_OBJECT
public:
    enum class Look : uint8_t { Field, Primary };
    explicit HeaderChip(const QString& caption, Look look = Look::Field, QWidget* parent = nullptr);

    void setCaption(const QString& caption);
    void setValue(const QString& value);
    /// Longer values are elided; 170 pixels by default.
    void setMaxValueWidth(int width) { max_value_width_ = width; }
    const QString& value() const { return value_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QString caption_;
    QString value_;
    int max_value_width_ = 170;
    Look look_;
};

} // namespace gs
