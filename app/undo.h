// Undo of what-ifs: each command holds the request before and after; the core's cache makes going back cheap.
#pragma once

#include "analysis/analysis.h"

#include <QElapsedTimer>
#include <QUndoCommand>

namespace gs {

class Document;

/// A change of the request. Changes with the same non-empty merge key that follow each other closely (a
/// slider drag) become one step; a change that ends where it began disappears.
class ChangeRequest : public QUndoCommand {
public:
    /// Two changes of one setting further apart than this are two steps.
    static constexpr qint64 kMergeGapMs = 700;

    ChangeRequest(Document& document, const QString& text, AnalysisRequest after, std::string merge_key);

    int id() const override { return merge_key_.empty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand* other) override;
    void undo() override;
    void redo() override;

private:
    Document& document_;
    AnalysisRequest before_;
    AnalysisRequest after_;
    std::string merge_key_;
    QElapsedTimer age_;
};

/// The same graph, costs, edits and settings.
bool sameRequest(const AnalysisRequest& a, const AnalysisRequest& b);

} // namespace gs
