// Reads one `call` function of Inductor's output code as a graph of buffers: a node per kernel or operator
// call.
#pragma once

#include "import/fx_expr.h"
#include "import/fx_text.h"
#include "import/importer.h"
#include "import/text_lines.h"

#include <deque>
#include <unordered_map>

namespace gs {

class InductorCodeReader : private NameResolver {
public:
    /// `undefined` = names that a first reading found to be used but never defined; they become inputs.
    InductorCodeReader(const InputText& input, const GraphEntry& entry, std::vector<std::string> undefined);

    Result<GraphPtr> read(Diagnostics& diagnostics, const JobContext& job);
    const std::vector<std::string>& undefinedNames() const { return missing_; }

private:
    /// Memory that several names may stand for.
    struct Storage {
        NodeId writer = kNoNode; ///< node whose result it holds
        NodeId launch = kNoNode; ///< collective on it that nothing has waited for
        bool fresh = true;       ///< allocated, or taken over from a dead buffer, and not written since
    };
    struct Buffer {
        size_t storage = 0;
        std::string tensor; ///< annotation
    };
    enum class Access : uint8_t { Read, Write, ReadWrite };

    void readInputShapes();
    void takeLine(std::string_view text);
    void readStatement(std::string_view text);
    void readComment(std::string_view text);
    bool readInputs(std::string_view text);
    bool readDefinition(std::string_view name, std::string_view value);
    void readCallStatement(std::string_view text, std::string_view result);
    bool readWork(std::string_view path, std::string_view text, size_t open, std::string_view result);
    void readOperator(std::string_view target, std::string_view text, size_t open, std::string_view result);
    void readKernel(std::string_view kernel, std::string_view text, size_t open);
    void readAssertedShape(std::string_view text);
    void readReturn(std::string_view text);

    NodeId addNode(std::string_view name, std::string_view target);
    void writeStorage(NodeId id, Storage& storage);
    void define(std::string_view name, size_t storage, std::string tensor);
    size_t newStorage();
    Buffer* buffer(std::string_view name);
    Storage& storageOf(const Buffer& buffer) { return storages_[buffer.storage]; }
    std::vector<Access> accessesOf(std::string_view kernel) const;
    Arg resolve(std::string_view name, size_t offset) override;

    const InputText& input_;
    const GraphEntry& entry_;
    LineReader lines_;
    GraphBuilder builder_;
    AnnotationTable annotations_;
    std::vector<std::string> undefined_;
    std::vector<std::string> missing_;
    std::unordered_map<std::string, std::string> input_tensors_;
    std::unordered_map<std::string, Buffer> buffers_;
    std::deque<Storage> storages_;
    std::unordered_map<std::string, std::string> work_; ///< "buf0_work" → the buffer it is of
    std::vector<std::string> origins_;                  ///< of the comment above
    bool returned_ = false;
    bool fragment_ = false;
    uint32_t line_ = 0;
    size_t calls_ = 0;
};

} // namespace gs
