// Files dropped on a window, as the desktop does it.
#pragma once

#include <QStringList>

class QWidget;

namespace gs::test {

/// False if the window does not take them.
bool dropFiles(QWidget& window, const QStringList& paths);

} // namespace gs::test
