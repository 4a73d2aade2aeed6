// Export: what it is for on the left; on the right what the file will hold, what to know about it, and where
// it goes.
#pragma once

#include "app/export/export_maker.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QListWidget;
class QPushButton;

namespace gs {

class Banner;
class ExportPreview;

class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// `items` must stay as long as the dialog; empty = everything there is.
    explicit ExportDialog(ExportSource source, std::vector<ExportItem> items = {}, QWidget* parent = nullptr);

    /// Shows this one; false if there is none of this id.
    bool choose(const QString& id);
    /// Of what is chosen; null before anything is.
    const ExportItem* current() const;
    /// Makes are done, nothing is being written.
    bool busy() const { return maker_.busy() || writing_; }

    QListWidget* list() const { return list_; }
    ExportPreview* preview() const { return preview_; }
    QComboBox* targetBox() const { return target_; }
    QComboBox* formatBox() const { return format_; }
    QComboBox* sizeBox() const { return size_; }
    QPushButton* copyButton() const { return copy_; }
    QPushButton* saveButton() const { return save_; }
    QString warnings() const;
    QString message() const;
    /// As if the file had been chosen in the file dialog.
    void saveTo(const QString& file);
    QString suggestedName() const;

private:
    QWidget* buildRight();
    QWidget* buildOptions();
    QWidget* buildButtons();
    void fillList();
    void itemChanged();
    void remake();
    void take(const ExportProduct& product);
    void showWarnings(const QStringList& warnings);
    void written(const QString& file, const Status& status);
    void chooseFile();
    void copy();
    QString extension() const;
    ExportChoice choice() const;
    void restore();
    void remember() const;

    std::vector<ExportItem> items_;
    ExportMaker maker_;
    ExportProduct product_;
    QMap<QString, QVariant> targets_; ///< last choice, by item
    bool writing_ = false;
    bool filling_ = false; ///< options change without anybody having chosen

    QListWidget* list_;
    QLabel* title_;
    QLabel* meaning_;
    QWidget* options_;
    QLabel* target_label_;
    QComboBox* target_;
    QLabel* format_label_;
    QComboBox* format_;
    QComboBox* size_;
    QLabel* scale_label_;
    QComboBox* scale_;
    QLabel* warnings_;
    ExportPreview* preview_;
    Banner* banner_;
    QPushButton* copy_;
    QPushButton* save_;
};

} // namespace gs
