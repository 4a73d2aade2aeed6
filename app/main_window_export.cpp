// The Export dialog, and the commands that lead to it.
#include "app/export/export_dialog.h"
#include "app/main_window.h"

#include <QMenu>

namespace gs {

void MainWindow::buildExportMenu(QMenu* menu) {
    addCommand(menu, QStringLiteral("export"), tr("&Export…"), QKeySequence(QStringLiteral("Ctrl+E")),
               [this] { showExport({}); });
    menu->addAction(action(QStringLiteral("copySummary")));
    // One command each, for the palette: the dialog opens with it chosen.
    QMenu palette_only;
    for (const ExportItem& item : exportItems(viewRegistry()))
        addCommand(&palette_only, QStringLiteral("export-") + item.id, tr("Export: %1…").arg(item.title), {},
                   [this, id = item.id] { showExport(id); });
}

/// As a dialog of the window: what is open cannot change under it.
ExportDialog* MainWindow::showExport(const QString& item) {
    if (!document_.snapshot())
        return nullptr;
    ExportSource source;
    source.snapshot = document_.snapshot();
    source.selection = document_.selection();
    source.compare = document_.compare().state();
    source.live = [this](const QString& id) -> QWidget* { return workspace_->view(id); };
    source.window = this;
    auto* dialog = new ExportDialog(std::move(source), {}, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (!item.isEmpty())
        dialog->choose(item);
    dialog->open();
    return dialog;
}

} // namespace gs
