// Every setting of the settings table with the right editor, grouped by the stage that it changes.
#pragma once

#include "views/view.h"

#include <vector>

namespace gs {

class SettingEditor;

class SettingsView : public View {
    Q_OBJECT
public:
    explicit SettingsView(QWidget* parent = nullptr);

    SettingEditor* editor(Setting key) const { return editors_[static_cast<size_t>(key)]; }

protected:
    void snapshotChanged() override;
    void selectionChanged() override {}

private:
    void addGroup(const QString& title, Stage stage, QWidget* content);

    std::vector<SettingEditor*> editors_; ///< by Setting
};

} // namespace gs
