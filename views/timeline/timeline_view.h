// The timeline: before above after on one time axis, with the selection and what hides it.
#pragma once

#include "views/view.h"

namespace gs {

class TimelineCanvas;

class TimelineView : public View {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);

    TimelineCanvas* canvas() const { return canvas_; }

    /// Whether the first gather selected after a graph was opened is shown with its neighbourhood (default),
    /// or the whole step stays in view.
    bool showSelectionNeighbourhood() const { return neighbourhood_; }
    void setShowSelectionNeighbourhood(bool on) { neighbourhood_ = on; }

    QSize sizeHint() const override { return {1200, 380}; }
    QSize minimumSizeHint() const override { return {320, 140}; }

protected:
    void snapshotChanged() override;
    void selectionChanged() override;

private:
    TimelineCanvas* canvas_ = nullptr;
    bool neighbourhood_ = true;
    bool untouched_ = true;    ///< the user has not looked around since the graph was opened
    bool own_request_ = false; ///< the selection that is coming was asked for here
    std::string shown_file_;
    int shown_index_ = -1;
};

} // namespace gs
