#include "app/graph_lister.h"

namespace gs {

GraphLister::GraphLister(QObject* parent) : QObject(parent) {
    connect(&worker_, &CompareWorker::progressed, this, &GraphLister::progressed);
    connect(&worker_, &CompareWorker::failed, this, &GraphLister::failed);
}

void GraphLister::start(const QString& path) {
    path_ = path;
    struct Found {
        std::shared_ptr<GraphListing> listing = std::make_shared<GraphListing>();
        Error error;
    };
    auto found = std::make_shared<Found>();
    found->listing->path = path.toStdString();
    const auto work = [found](const JobContext& job, const CompareWorker::Post&) {
        GraphListing& listing = *found->listing;
        Result<GraphList> list = listGraphs(listing.path, listing.diagnostics, job);
        if (list)
            listing.list = std::move(list).value();
        else
            found->error = list.error();
    };
    worker_.start(work, [this, found] {
        if (!found->error.code.empty())
            emit failed(found->error);
        else if (!found->listing->list.graphs.empty())
            emit listed(found->listing);
    });
}

} // namespace gs
