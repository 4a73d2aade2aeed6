// What a file will hold: the head of a text, a picture, what a report consists of, or why there is no file.
#pragma once

#include "app/export/export_maker.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QStackedWidget;

namespace gs {

class ExportPreview : public QWidget {
    Q_OBJECT
public:
    /// Of longer texts only the head is shown.
    static constexpr qsizetype kMostCharacters = 64 * 1024;
    static constexpr qsizetype kMostLineLength = 2000;

    explicit ExportPreview(QWidget* parent = nullptr);

    void showWorking();
    void showProduct(const ExportItem& item, const ExportProduct& product);

    /// Text that is shown, of any kind.
    QString text() const;
    QString caption() const;
    bool showsPicture() const;

private:
    void showText(const std::string& bytes);
    void showOutline(const std::string& html);
    void showPicture(const QImage& picture);
    void showError(const Error& error);

    QStackedWidget* stack_;
    QPlainTextEdit* text_;
    QLabel* outline_;
    QWidget* picture_;
    QLabel* message_;
    QLabel* caption_;
};

/// The beginning of a text with whole characters, at most `characters` of them, and lines cut to
/// `line_length`.
QString headOf(const std::string& text, qsizetype characters, qsizetype line_length);

} // namespace gs
