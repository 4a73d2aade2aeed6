// Looks into a file or folder for its graphs, off the GUI thread.
#pragma once

#include "app/compare_worker.h"
#include "views/models/graph_list_model.h"

namespace gs {

class GraphLister : public QObject {
    Q_OBJECT
public:
    explicit GraphLister(QObject* parent = nullptr);

    /// Drops what runs.
    void start(const QString& path);
    /// Neither a list nor an error arrives any more.
    void cancel() { worker_.drop(); }
    bool busy() const { return worker_.busy(); }
    const QString& path() const { return path_; }

signals:
    void progressed(const QString& stage, double fraction);
    void listed(const gs::GraphListingPtr& listing);
    void failed(const gs::Error& error);

private:
    CompareWorker worker_;
    QString path_;
};

} // namespace gs
