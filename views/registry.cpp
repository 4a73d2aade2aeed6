#include "views/registry.h"

#include "views/docks/compare_view.h"
#include "views/docks/costs_view.h"
#include "views/docks/diagnostics_view.h"
#include "views/docks/gathers_view.h"
#include "views/docks/ranks_view.h"
#include "views/docks/settings_view.h"
#include "views/docks/why_view.h"
#include "views/graph/graph_view.h"
#include "views/step/step_view.h"
#include "views/timeline/timeline_view.h"

#include <QCoreApplication>

namespace gs {

namespace {

template <typename T>
View* make(QWidget* parent) {
    return new T(parent);
}

} // namespace

std::span<const ViewInfo> viewRegistry() {
    static constexpr ViewInfo kViews[] = {
        {"gathers", QT_TRANSLATE_NOOP("Views", "Gathers"), DockPlace::Left, make<GathersView>},
        {"costs", QT_TRANSLATE_NOOP("Views", "Costs"), DockPlace::Left, make<CostsView>},
        {"settings", QT_TRANSLATE_NOOP("Views", "Settings"), DockPlace::Left, make<SettingsView>},
        {"ranks", QT_TRANSLATE_NOOP("Views", "Ranks"), DockPlace::Left, make<RanksView>},
        {"diagnostics", QT_TRANSLATE_NOOP("Views", "Diagnostics"), DockPlace::Left, make<DiagnosticsView>},
        {"why", QT_TRANSLATE_NOOP("Views", "Why"), DockPlace::Middle, make<WhyView>},
        {"graph", QT_TRANSLATE_NOOP("Views", "Graph"), DockPlace::Right, make<GraphView>},
        {"timeline", QT_TRANSLATE_NOOP("Views", "Timeline"), DockPlace::Bottom, make<TimelineView>},
        {"compare", QT_TRANSLATE_NOOP("Views", "Compare"), DockPlace::Bottom, make<CompareView>},
        {"step", QT_TRANSLATE_NOOP("Views", "Step through"), DockPlace::Bottom, make<StepView>},
    };
    return kViews;
}

QString viewTitle(const ViewInfo& info) {
    return QCoreApplication::translate("Views", info.title);
}

} // namespace gs
