// Reads one graph of the code form (print_readable, graph_code, TORCH_LOGS).
#pragma once

#include "import/fx_expr.h"
#include "import/fx_order.h"
#include "import/fx_subgraph.h"
#include "import/fx_text.h"
#include "import/importer.h"
#include "import/load_args.h"
#include "import/text_lines.h"

#include <deque>

namespace gs {

class FxCodeReader : private NameResolver {
public:
    /// `undefined` are names that a first reading found to be used but never defined; they become inputs.
    /// `sorted` puts statements behind those that define their names.
    FxCodeReader(const InputText& input, const GraphEntry& entry, std::vector<std::string> undefined,
                 bool sorted);

    Result<GraphPtr> read(Diagnostics& diagnostics, const JobContext& job);
    /// Text without a header: its inputs are the names it does not define.
    bool isFragment() const { return fragment_; }
    /// Names that the fragment used and never defined, in order of first use.
    const std::vector<std::string>& undefinedNames() const { return missing_; }
    /// Statements use names that later ones define: passes print such graphs before they sort them.
    bool hasForwardUses() const { return forward_uses_; }

private:
    /// A placeholder before it becomes a node: aliases and pytree lines may still change it.
    struct Input {
        std::string_view name;
        std::string_view target;
        std::string_view annotation;
        uint32_t line = 0;
    };

    bool nextLine(TextLine& line);
    void readHead(TextLine& line);
    void readHeader(std::string_view text, const TextLine& line);
    void collectStatements(const JobContext& job);
    std::string_view wholeStatement(TextLine& line);
    bool takeLine(std::string_view text);
    void readStatements();
    void addClosingDiagnostics();
    void reportHiddenCollectives();
    void applyLoadArgs();
    void inferFromLoadArgs();

    void readStatement(std::string_view text);
    void readAssignment(std::string_view name, std::string_view annotation, std::string_view text, size_t at);
    bool readInPlace(std::string_view name, std::string_view text, size_t at);
    void readFlattenedInputs(std::string_view text);
    void readReturn(std::string_view text);
    void readCall(NodeId id, std::string_view text, size_t open, const Arg* first);
    bool readOrderedCall(std::string_view name, std::string_view text, size_t open);
    bool readOperator(std::string_view name, std::string_view value, size_t at);
    bool renameInput(std::string_view name, std::string_view annotation, std::string_view target);
    void flushInputs();

    NodeId addNode(std::string_view name, NodeOp op, std::string_view target);
    Arg operandOf(std::string_view text, size_t at);
    Arg resolve(std::string_view name, size_t offset) override;
    bool isKnown(std::string_view name) const;
    SourcePos place(size_t at) const;
    void badLine(size_t at, std::string message, std::string hint = {});

    const InputText& input_;
    const GraphEntry& entry_;
    LineReader lines_;
    GraphBuilder builder_;
    AnnotationTable annotations_;
    CommentFacts comment_;
    LoadArgs load_args_; ///< of a runnable script
    std::vector<FxStatement> statements_;
    std::vector<Arg> args_, kwargs_; ///< of the call that is read; kept for their memory
    std::vector<Input> inputs_;
    std::unordered_map<std::string_view, std::string_view> bare_annotations_;
    std::unordered_map<std::string, NodeId> aliases_;
    std::unordered_map<std::string, Subgraph> subgraphs_;
    std::vector<std::string> undefined_; ///< become inputs
    std::vector<std::string> missing_;   ///< found by this reading
    bool sorted_;
    bool forward_uses_ = false;
    std::deque<std::string> scratch_; ///< joined lines
    std::string_view last_name_;      ///< name before the "=" of the current statement
    TextLine pending_;                ///< a line read ahead
    bool has_pending_ = false;
    bool fragment_ = false;
    bool commented_ = false;
    bool flushed_ = false;
    bool returned_ = false;
    uint64_t stream_ = 0;
    uint32_t line_ = 0;
    uint32_t column_ = 1;
    uint32_t end_line_ = 0; ///< last line of the graph's own text
    size_t bad_lines_ = 0;
    size_t calls_ = 0;
    size_t inlined_ = 0; ///< calls of nested graphs
    NodeId user_ = kNoNode;
};

} // namespace gs
