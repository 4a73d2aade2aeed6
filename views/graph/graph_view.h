// The Graph view: before beside after, as neighbourhood of the selection, folded by module, or in lanes.
#pragma once

#include "views/graph/graph_job.h"
#include "views/graph/graph_picture.h"
#include "views/view.h"

#include <QFutureWatcher>
#include <QTimer>

#include <set>

class QLabel;

namespace gs {

class BoxPicture;
class GraphCanvas;
class GraphLegend;
class GraphPane;
class GraphToolbar;

class GraphView : public View {
    Q_OBJECT
public:
    explicit GraphView(QWidget* parent = nullptr);
    ~GraphView() override;

    /// What the user chose; without a selection Focus shows Modules.
    GraphMode mode() const { return mode_; }
    void setMode(GraphMode mode);
    void setPortalsShown(bool shown);
    /// Graphviz to run, for settings and tests.
    void setDotProgram(const QString& program);
    void setDotTimeouts(int notice_ms, int kill_ms);

    GraphCanvas* canvas(bool after) const;
    QString caption() const { return plain_caption_; }
    /// Why the picture is not Graphviz's; empty while it is.
    QString banner() const;
    /// A layout is on its way; settled() tells when the pictures are there.
    bool busy() const override { return busy_; }

    /// Paints what is shown, with titles, caption and legend, into `target`.
    void render(QPainter* painter, const QRectF& target) const;
    /// What is shown as DOT. Lanes have no DOT: their program is exported folded by module.
    std::string exportDot(bool after) const;

signals:
    void settled();

protected:
    void snapshotChanged() override;
    void selectionChanged() override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    GraphPane* pane(bool after) const { return after ? after_ : before_; }
    GraphMode shownMode() const;
    GraphJobInput jobInput() const;
    void refresh();
    void jobDone();
    void placeBoxes();
    void paneSettled();
    void showBoxes();
    void showLanes();
    void showPictures(GraphPicturePtr before, GraphPicturePtr after);
    void markSelection();
    void updateTexts();
    QString focusCaption() const;
    QString moduleCaption() const;
    QString laneCaption() const;
    void setBanner(const QString& text);
    void updateLegend();
    void applyTheme();
    void connectPane(bool after);
    void boxClicked(bool after, int box);
    void boxActivated(bool after, int box);
    void requestNode(bool after, NodeId node);
    void foldBack();
    void search(const QString& text);
    void searchStep(int direction);
    void markFound();

    GraphToolbar* toolbar_;
    QLabel* banner_;
    GraphPane* before_;
    GraphPane* after_;
    QLabel* caption_;
    GraphLegend* legend_;
    QFutureWatcher<GraphJobResult> watcher_;
    GraphMode mode_ = GraphMode::Focus;
    FocusOptions focus_options_;
    std::vector<std::string> unfolded_; ///< modules, in the order in which the user unfolded them
    GraphJobResult result_;             ///< of the pictures that are shown or being placed
    SnapshotPtr shown_snapshot_;        ///< that result_ was made from
    SnapshotPtr job_snapshot_;
    QString plain_caption_;
    QString shown_name_; ///< Focus: node that the pictures are about
    QString job_name_;
    bool busy_ = false;
    bool stale_ = false; ///< what runs was overtaken: run again when it is done
    bool linking_ = false;
    bool keep_view_ = false;
    std::vector<NodeId> found_; ///< in after.graph
    int found_at_ = -1;
    QTimer search_timer_;
};

} // namespace gs
