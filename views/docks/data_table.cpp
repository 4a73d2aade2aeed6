#include "views/docks/data_table.h"

#include "views/docks/cell_delegate.h"
#include "views/docks/table_header.h"
#include "views/models/table_roles.h"
#include "views/theme.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QSettings>
#include <algorithm>
#include <numeric>

namespace gs {

namespace {

QString field(const QString& text, QChar separator) {
    if (separator == QLatin1Char('\t')) {
        QString plain = text;
        return plain.replace(QLatin1Char('\t'), QLatin1Char(' '))
            .replace(QLatin1Char('\n'), QLatin1Char(' '));
    }
    if (!text.contains(separator) && !text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char('\n')))
        return text;
    QString quoted = text;
    quoted.replace(QLatin1String("\""), QLatin1String("\"\""));
    return QLatin1Char('"') + quoted + QLatin1Char('"');
}

} // namespace

DataTable::DataTable(const QString& settings_key, QWidget* parent)
    : QTableView(parent), settings_key_(settings_key) {
    setItemDelegate(new CellDelegate(this));
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setWordWrap(false);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollMode(ScrollPerPixel);
    setEditTriggers(NoEditTriggers);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setDefaultSectionSize(CellDelegate::kRowHeight);
    verticalHeader()->setMinimumSectionSize(CellDelegate::kRowHeight);
    auto* header = new TableHeader(this);
    setHorizontalHeader(header);
    connect(header, &QHeaderView::sectionResized, this, [this](int column, int, int) {
        if (column != static_cast<int>(std::find(widths_.begin(), widths_.end(), 0) - widths_.begin()))
            fitStretchColumn();
    });
}

void DataTable::setUp(QAbstractItemModel* model, const std::vector<int>& widths,
                      const std::vector<int>& shown) {
    widths_ = widths;
    shown_ = shown;
    setModel(model);
    setSortingEnabled(true);
    sortByColumn(-1, Qt::AscendingOrder);
    restoreColumns();
    QHeaderView* header = horizontalHeader();
    for (const auto signal : {&QHeaderView::sectionMoved, &QHeaderView::sectionResized})
        connect(header, signal, this, [this] {
            if (isVisible())
                saveColumns();
        });
    connect(model, &QAbstractItemModel::modelReset, viewport(), [this] { viewport()->update(); });
}

void DataTable::setColumnShown(int column, bool shown) {
    setColumnHidden(column, !shown);
    fitStretchColumn();
    saveColumns();
}

void DataTable::resetColumns() {
    QHeaderView* header = horizontalHeader();
    for (int column = 0; column < static_cast<int>(widths_.size()); ++column) {
        header->moveSection(header->visualIndex(column), column);
        setColumnHidden(column, std::find(shown_.begin(), shown_.end(), column) == shown_.end());
        if (widths_[static_cast<size_t>(column)] > 0)
            setColumnWidth(column, widths_[static_cast<size_t>(column)]);
    }
    fitStretchColumn();
    QSettings().remove(settings_key_);
}

void DataTable::fitStretchColumn() {
    const auto stretch = std::find(widths_.begin(), widths_.end(), 0);
    if (stretch == widths_.end())
        return;
    const int column = static_cast<int>(stretch - widths_.begin());
    int used = 0;
    for (int i = 0; i < static_cast<int>(widths_.size()); ++i) {
        if (i != column && !isColumnHidden(i))
            used += columnWidth(i);
    }
    const int width = std::max(120, viewport()->width() - used);
    if (!isColumnHidden(column) && width != columnWidth(column))
        setColumnWidth(column, width);
}

void DataTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fitStretchColumn();
}

void DataTable::saveColumns() const {
    // By logical column, so that the state survives a new column at the end.
    QStringList parts;
    const QHeaderView* header = horizontalHeader();
    for (int visual = 0; visual < header->count(); ++visual) {
        const int column = header->logicalIndex(visual);
        const int width = widths_[static_cast<size_t>(column)] == 0 ? 0 : header->sectionSize(column);
        parts << QStringLiteral("%1:%2:%3").arg(column).arg(isColumnHidden(column) ? 0 : 1).arg(width);
    }
    QSettings().setValue(settings_key_, parts);
}

void DataTable::restoreColumns() {
    const QStringList parts = QSettings().value(settings_key_).toStringList();
    QHeaderView* header = horizontalHeader();
    if (parts.isEmpty()) {
        resetColumns();
        return;
    }
    // A column that is newer than what was remembered shows as it does at first.
    for (int column = 0; column < header->count(); ++column)
        setColumnHidden(column, std::find(shown_.begin(), shown_.end(), column) == shown_.end());
    for (int visual = 0; visual < parts.size() && visual < header->count(); ++visual) {
        const QStringList values = parts[visual].split(QLatin1Char(':'));
        const int column = values.value(0).toInt();
        if (values.size() != 3 || column < 0 || column >= header->count())
            continue;
        header->moveSection(header->visualIndex(column), visual);
        setColumnHidden(column, values[1].toInt() == 0);
        const int width = values[2].toInt();
        setColumnWidth(column, width > 0 ? width : widths_[static_cast<size_t>(column)]);
    }
    fitStretchColumn();
}

QString DataTable::asText(QChar separator, bool all) const {
    if (!model())
        return {};
    const QHeaderView* header = horizontalHeader();
    std::vector<int> columns;
    for (int visual = 0; visual < header->count(); ++visual) {
        const int column = header->logicalIndex(visual);
        if (!isColumnHidden(column) && !model()->headerData(column, Qt::Horizontal).toString().isEmpty())
            columns.push_back(column);
    }
    std::vector<int> rows(static_cast<size_t>(model()->rowCount()));
    std::iota(rows.begin(), rows.end(), 0);
    if (!all) {
        std::erase_if(rows, [&](int row) { return !selectionModel()->isRowSelected(row); });
    }
    QStringList lines;
    QStringList cells;
    for (int column : columns)
        cells << field(model()->headerData(column, Qt::Horizontal).toString(), separator);
    lines << cells.join(separator);
    for (int row : rows) {
        cells.clear();
        for (int column : columns)
            cells << field(model()->index(row, column).data(Qt::DisplayRole).toString(), separator);
        lines << cells.join(separator);
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void DataTable::copySelection() {
    QGuiApplication::clipboard()->setText(asText(QLatin1Char('\t'), false));
}

void DataTable::setEmptyText(const QString& text) {
    empty_text_ = text;
    viewport()->update();
}

void DataTable::showRow(int row) {
    quiet_ = true;
    if (row < 0) {
        clearSelection();
        setCurrentIndex(QModelIndex());
    } else if (row != currentIndex().row() || !selectionModel()->isRowSelected(row)) {
        // A column that is shown: scrolling to a hidden one would not work.
        const int column = std::max(0, horizontalHeader()->logicalIndexAt(0));
        selectRow(row);
        scrollTo(model()->index(row, column), EnsureVisible);
    }
    quiet_ = false;
}

void DataTable::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QTableView::currentChanged(current, previous);
    if (!quiet_ && current.isValid() && current.row() != previous.row())
        emit rowChosen(current);
}

void DataTable::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        copySelection();
        return;
    }
    const bool plain = !(event->modifiers() & ~Qt::ShiftModifier);
    if (plain && (event->key() == Qt::Key_J || event->key() == Qt::Key_K)) {
        const int rows = model() ? model()->rowCount() : 0;
        if (rows == 0)
            return;
        const int step = event->key() == Qt::Key_J ? 1 : -1;
        const int row = currentIndex().isValid() ? std::clamp(currentIndex().row() + step, 0, rows - 1) : 0;
        selectRow(row);
        return;
    }
    QTableView::keyPressEvent(event);
}

void DataTable::addColumnMenu(QMenu* menu) {
    QMenu* columns = menu->addMenu(tr("Columns"));
    for (int column = 0; column < model()->columnCount(); ++column) {
        const QString name = model()->headerData(column, Qt::Horizontal).toString();
        if (name.isEmpty())
            continue;
        QAction* action = columns->addAction(name);
        action->setCheckable(true);
        action->setChecked(!isColumnHidden(column));
        connect(action, &QAction::toggled, this,
                [this, column](bool checked) { setColumnShown(column, checked); });
    }
    columns->addSeparator();
    connect(columns->addAction(tr("Reset columns")), &QAction::triggered, this, &DataTable::resetColumns);
}

QMenu* DataTable::makeMenu() {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    emit menuOpening(menu, currentIndex());
    if (!menu->isEmpty())
        menu->addSeparator();
    QAction* copy = menu->addAction(tr("Copy"));
    copy->setShortcut(QKeySequence::Copy);
    copy->setEnabled(selectionModel() && selectionModel()->hasSelection());
    connect(copy, &QAction::triggered, this, &DataTable::copySelection);
    connect(menu->addAction(tr("Copy all as TSV")), &QAction::triggered, this,
            [this] { QGuiApplication::clipboard()->setText(asText(QLatin1Char('\t'), true)); });
    connect(menu->addAction(tr("Copy all as CSV")), &QAction::triggered, this,
            [this] { QGuiApplication::clipboard()->setText(asText(QLatin1Char(','), true)); });
    menu->addSeparator();
    addColumnMenu(menu);
    return menu;
}

void DataTable::contextMenuEvent(QContextMenuEvent* event) {
    makeMenu()->popup(event->globalPos());
}

void DataTable::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (empty_text_.isEmpty() || (model() && model()->rowCount() > 0))
        return;
    QPainter painter(viewport());
    painter.setFont(Theme::font(12));
    painter.setPen(Theme::current().muted);
    painter.drawText(viewport()->rect().adjusted(24, 12, -24, -12), Qt::AlignCenter | Qt::TextWordWrap,
                     empty_text_);
}

} // namespace gs
