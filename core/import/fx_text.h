// What the text forms of FX graphs share: names of targets, type annotations, comments.
#pragma once

#include "graph/graph_builder.h"
#include "import/importer.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace gs {

/// The target as gatherscope.graph names it: "torch.ops.aten.mm.default" → "aten.mm.default",
/// "_operator.add" → "operator.add", "<built-in function getitem>" → "operator.getitem". Names that FX's code
/// generator made of functions outside torch ("torch__dynamo_variables_tensor_prim_redistribute_1": dots
/// became underscores, a counter was added) get their dots back. `scratch` holds texts that had to be made.
std::string_view normalTarget(std::string_view path, std::string& scratch);

/// Target of a binary operator's sign ("+" → "operator.add"); empty if it is none. `in_place` = "+=" without
/// its "=". Source: torch/fx/graph.py, reflectable_magic_methods, magic_methods and inplace_methods.
std::string_view operatorTarget(std::string_view sign, bool in_place);

/// DType, Layout or MemoryFormat by its name without "torch."; None if it is something else.
Arg::Kind torchObjectKind(std::string_view name);

/// "cpu", "cuda:0", …: a device as torch prints it.
bool isDeviceName(std::string_view text);
/// "s77", "u0", "zuf3": how torch names symbolic sizes.
bool isSymbolName(std::string_view text);
/// Arithmetic with at least one symbol in it, as in "4096*(((u0 + u1)//8))".
bool isSymbolExpression(std::string_view text);

/// Turns annotations ("bf16[16, 64][64, 1]cuda:0", "Sym(s77)", "DTensor(f32[4], S(0))") into values and keeps
/// each distinct one once. Symbols have no hint: the text form does not print them.
class AnnotationTable {
public:
    AnnotationTable(GraphBuilder& builder, std::string file) : builder_(builder), file_(std::move(file)) {}

    /// Sets the value of `id`. `text` is without quotes. A text that is no annotation (a class name) is left
    /// out.
    void apply(NodeId id, std::string_view text);
    /// The value that an annotation states.
    Value valueOf(std::string_view text) { return parse(text); }
    bool sawTensor() const { return saw_tensor_; }

private:
    Value parse(std::string_view text);
    bool parseTensor(std::string_view text, TensorMeta& tensor);
    std::vector<Dim> parseDims(std::string_view text);

    GraphBuilder& builder_;
    std::string file_; ///< for messages
    std::unordered_map<std::string_view, ValueId> known_;
    bool saw_tensor_ = false;
};

/// What the comment above a node says; it holds for all nodes until the next comment.
struct CommentFacts {
    StringId module = kEmptyString;
    StringId source = kEmptyString; ///< "file:line code"
    Phase phase = Phase::Unknown;
    bool recompute = false;

    /// Reads the text after '#'. Order of its parts: torch/fx/graph.py, _make_node_line_comment:
    /// "[key: val ]# [Annotation: {…}] [recompute: X] [Backward of forward node:] File: f:1 in fn, code: …".
    void read(std::string_view comment, GraphBuilder& builder);
    void applyTo(NodeId id, GraphBuilder& builder) const;
};

/// Fills in GraphInfo: the name is the file's, with the entry's name where that tells more.
void describeSource(GraphBuilder& builder, const std::string& path, const GraphEntry& entry,
                    std::string_view producer);

/// Fills in what the text leaves out but other lines tell: values of multi-output nodes from their getitem
/// nodes, ranks of legacy groups that are written as lists, has_shapes. Adds the "no-shapes" diagnostic.
void completeFxGraph(GraphBuilder& builder, const SourcePos& where, bool saw_tensor);

} // namespace gs
