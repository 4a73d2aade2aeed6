#include "app/undo.h"

#include "app/document.h"

namespace gs {

bool sameRequest(const AnalysisRequest& a, const AnalysisRequest& b) {
    return a.graph_file == b.graph_file && a.graph_index == b.graph_index && a.rank == b.rank &&
           a.stage == b.stage && a.shapes_file == b.shapes_file && a.cost_files == b.cost_files &&
           a.rank_files == b.rank_files && a.cost_overrides == b.cost_overrides &&
           a.cost_pins == b.cost_pins && a.settings == b.settings && a.edits == b.edits;
}

ChangeRequest::ChangeRequest(Document& document, const QString& text, AnalysisRequest after,
                             std::string merge_key)
    : QUndoCommand(text), document_(document), before_(document.request()), after_(std::move(after)),
      merge_key_(std::move(merge_key)) {
    age_.start();
}

bool ChangeRequest::mergeWith(const QUndoCommand* other) {
    const auto* next = dynamic_cast<const ChangeRequest*>(other);
    if (!next || next->merge_key_ != merge_key_ || age_.elapsed() > kMergeGapMs)
        return false;
    after_ = next->after_;
    age_.restart();
    setObsolete(sameRequest(before_, after_));
    return true;
}

void ChangeRequest::undo() {
    document_.applyRequest(before_);
}

void ChangeRequest::redo() {
    document_.applyRequest(after_);
}

} // namespace gs
