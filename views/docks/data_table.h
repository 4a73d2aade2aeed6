// The table widget of all docks: rows of fixed height, column chooser that is remembered, copy as TSV and
// CSV, J/K to walk, sorting by click (a third click returns to the original order). Cost is that of the rows
// on screen: nothing is measured or laid out for the others.
#pragma once

#include <QTableView>

class QMenu;

namespace gs {

class DataTable : public QTableView {
    Q_OBJECT
public:
    /// `settings_key` names the column state in QSettings.
    DataTable(const QString& settings_key, QWidget* parent = nullptr);

    /// Sets the model with the width of each column in pixels (0 = takes the space that is left) and the
    /// columns shown at first. Restores what the user chose before.
    void setUp(QAbstractItemModel* model, const std::vector<int>& widths, const std::vector<int>& shown);
    void setColumnShown(int column, bool shown);
    /// Shows the first choice of columns again and forgets the remembered one.
    void resetColumns();

    /// Visible columns in visual order; header line first. `separator` '\t' or ','; CSV quotes where needed.
    /// `all`: every row of the model, else the selected ones.
    QString asText(QChar separator, bool all) const;
    void copySelection();

    /// Text shown in the middle while the model has no rows.
    void setEmptyText(const QString& text);

    /// Makes the row current and scrolls to it without emitting rowChosen().
    void showRow(int row);

    /// Menu for columns and copying; views add their own actions before it opens.
    QMenu* makeMenu();

signals:
    /// The user went to a row by mouse or keyboard.
    void rowChosen(const QModelIndex& index);
    /// Before the context menu opens; actions can be added.
    void menuOpening(QMenu* menu, const QModelIndex& index);

public:
    void keyboardSearch(const QString&) override {} // letters are shortcuts here

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitStretchColumn();
    void saveColumns() const;
    void restoreColumns();
    void addColumnMenu(QMenu* menu);

    QString settings_key_;
    QString empty_text_;
    std::vector<int> widths_;
    std::vector<int> shown_;
    bool quiet_ = false;
};

} // namespace gs
