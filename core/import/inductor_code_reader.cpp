#include "import/inductor_code.h"

#include "import/call_text.h"
#include "import/fx_scan.h"
#include "import/readers.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

std::string_view deviceOf(std::string_view call) {
    const std::string_view path = takePath(call);
    return path.find("cuda") != std::string_view::npos  ? "cuda:0"
           : path.find("cpu") != std::string_view::npos ? "cpu"
                                                        : "";
}

/// "empty_strided_cuda((2, 3), (3, 1), torch.float32)" → "float32[2, 3][3, 1]cuda:0"
std::string tensorOfCall(std::string_view call) {
    const std::string_view dtype = dtypeIn(call);
    if (dtype.empty())
        return {};
    return fmt::format("{}[{}][{}]{}", dtype, tupleAt(call, 0), tupleAt(call, 1), deviceOf(call));
}

bool isAllocation(std::string_view path) {
    return startsWith(path, "empty_strided") || startsWith(path, "alloc_from_pool") ||
           path == "torch.empty" || path == "torch.empty_strided" || path == "aten.empty_strided";
}

/// Calls that manage the run and compute nothing.
bool isHousekeeping(std::string_view path) {
    for (const char* start :
         {"args.clear", "assert_", "torch.cuda.", "torch.xpu.", "torch._C.", "print", "get_raw_stream",
          "async_compile", "run_intermediate_hooks", "device_guard", "AsyncCompile"}) {
        if (startsWith(path, start))
            return true;
    }
    return false;
}

} // namespace

InductorCodeReader::InductorCodeReader(const InputText& input, const GraphEntry& entry,
                                       std::vector<std::string> undefined)
    : input_(input), entry_(entry), lines_(input.text, entry.offset, entry.offset + entry.length, entry.line,
                                           input.text[entry.offset] == '\t' && isTorchTrace(input.text)),
      annotations_(builder_, input.path), undefined_(std::move(undefined)) {}

Result<GraphPtr> InductorCodeReader::read(Diagnostics& diagnostics, const JobContext& job) {
    readInputShapes();
    TextLine line;
    bool first = true;
    uint64_t stream = 0;
    while (!returned_ && lines_.next(line)) {
        if (job.cancelled())
            return Error{"cancelled", "cancelled", {}, ""};
        if (first) {
            stream = line.stream;
            fragment_ = !startsWith(trimmed(line.text), "def ");
            for (const std::string& name : undefined_)
                readInputs(name + " = args");
        }
        if (line.stream == stream && (!first || fragment_)) {
            line_ = line.number;
            takeLine(trimmed(line.text));
        }
        first = false;
    }
    if (calls_ == 0)
        return Error{"empty-graph",
                     fmt::format("{}: the output code calls nothing", input_.path),
                     {input_.path, entry_.line, 0},
                     "copy the whole file"};
    const SourcePos place = {input_.path, std::max(line_, entry_.line), 0};
    if (fragment_)
        builder_.diagnostics().add(
            {Severity::Warning,
             "fragment",
             {input_.path, entry_.line, 0},
             {},
             fmt::format("this is a part of Inductor's output code; {} buffers that it does "
                         "not define are shown as inputs",
                         undefined_.size()),
             "open the whole file to see what comes before and after"});
    else if (!returned_)
        builder_.diagnostics().add({Severity::Warning,
                                    "cut-graph",
                                    place,
                                    {},
                                    "the code ends before its return",
                                    "the end of the graph is missing: copy the whole text"});
    describeSource(builder_, input_.path, entry_, "Inductor output code");
    builder_.info().level = GraphLevel::Scheduler;
    builder_.info().has_shapes = annotations_.sawTensor();
    return builder_.finish(&diagnostics);
}

/// The benchmark function below the code makes inputs of the right shape and dtype.
void InductorCodeReader::readInputShapes() {
    constexpr std::string_view kMake = " = rand_strided(";
    const std::string_view text = input_.text;
    for (size_t at = text.find(kMake, entry_.offset); at != std::string_view::npos;
         at = text.find(kMake, at + 1)) {
        size_t begin = at;
        while (begin > 0 && isNameChar(text[begin - 1]))
            --begin;
        const std::string_view call = text.substr(at + 3, text.find('\n', at) - at - 3);
        std::string tensor = tensorOfCall(call);
        std::string_view device = keywordOf(call, "device");
        if (!tensor.empty() && device.size() > 2)
            tensor += device.substr(1, device.size() - 2);
        input_tensors_.emplace(text.substr(begin, at - begin), std::move(tensor));
    }
}

void InductorCodeReader::takeLine(std::string_view text) {
    if (text.empty() || startsWith(text, "with ") || startsWith(text, "def ") || startsWith(text, "```"))
        return;
    if (text.front() == '#') {
        readComment(text);
        return;
    }
    if (const size_t comment = text.find("  #"); comment != std::string_view::npos)
        text = trimmed(text.substr(0, comment));
    for (size_t at = 0; at < text.size();) { // "buf1 = buf0; del buf0"
        const size_t end = std::min(text.find("; ", at), text.size());
        readStatement(trimmed(text.substr(at, end - at)));
        at = end + 1;
    }
}

/// "# Topologically Sorted Source Nodes: [linear, add], Original ATen: [aten.mm]": the nodes that the next
/// kernels were made from.
void InductorCodeReader::readComment(std::string_view text) {
    const size_t nodes = text.find("Source Nodes: [");
    if (nodes == std::string_view::npos)
        return;
    origins_.clear();
    const size_t begin = nodes + 15;
    const std::string_view list = text.substr(begin, std::min(text.find(']', begin), text.size()) - begin);
    for (size_t at = 0; at < list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        if (const std::string_view name = trimmed(list.substr(at, end - at)); !name.empty())
            origins_.emplace_back(name);
        at = end + 1;
    }
}

void InductorCodeReader::readStatement(std::string_view text) {
    if (text.empty() || startsWith(text, "del ") || text == "pass")
        return;
    if (startsWith(text, "return")) {
        readReturn(text);
        return;
    }
    if (readInputs(text))
        return;
    const std::string_view name = takeName(text);
    if (!name.empty() && startsWith(text.substr(name.size()), " = ")) {
        const std::string_view value = text.substr(name.size() + 3);
        if (!readDefinition(name, value))
            readCallStatement(value, name);
    } else {
        readCallStatement(text, {});
    }
}

/// "primals_1, primals_2 = args"
bool InductorCodeReader::readInputs(std::string_view text) {
    const size_t equals = text.rfind(" = args");
    if (equals == std::string_view::npos || equals + 7 != text.size())
        return false;
    for (size_t at = 0; at < equals;) {
        const size_t end = std::min(text.find(',', at), equals);
        const std::string_view name = trimmed(text.substr(at, end - at));
        at = end + 1;
        if (name.empty() || takeName(name) != name || buffer(name))
            continue;
        const NodeId id = builder_.addNode(name, NodeOp::Placeholder, name, {input_.path, line_, 0});
        builder_.setArgs(id, {});
        builder_.setKwargs(id, {});
        const auto tensor = input_tensors_.find(std::string(name));
        if (tensor != input_tensors_.end() && !tensor->second.empty())
            annotations_.apply(id, tensor->second);
        const size_t storage = newStorage();
        storages_[storage].writer = id;
        storages_[storage].fresh = false;
        define(name, storage, tensor == input_tensors_.end() ? std::string() : tensor->second);
    }
    return true;
}

/// Allocations, other names of a buffer, items. False for calls.
bool InductorCodeReader::readDefinition(std::string_view name, std::string_view value) {
    const std::string_view path = takePath(value);
    const std::string_view of = takeName(value);
    if (isAllocation(path)) {
        define(name, newStorage(), tensorOfCall(value));
    } else if (startsWith(value, "reinterpret_tensor(")) {
        const std::string_view from = takeName(value.substr(19));
        static_cast<void>(resolve(from, 0));
        const Buffer* old = buffer(from);
        const std::string tensor = old ? old->tensor.substr(0, old->tensor.find('[')) : std::string();
        const size_t storage = old ? old->storage : newStorage();
        storages_[storage].fresh = true;
        define(name, storage,
               tensor.empty() ? tensor
                              : fmt::format("{}[{}][{}]", tensor, tupleAt(value, 0), tupleAt(value, 1)));
    } else if (value == of) {
        static_cast<void>(resolve(of, 0));
        if (const Buffer* old = buffer(of)) {
            const Buffer same = *old;
            storages_[same.storage].fresh = true;
            define(name, same.storage, same.tensor);
        }
    } else if (value.size() > of.size() && value[of.size()] == '[' && value.back() == ']') {
        const Arg from = resolve(of, 0);
        const NodeId id = addNode(name, "operator.getitem");
        Arg index;
        ExprParser parser(value, of.size() + 1, ExprForm::Code, builder_, *this);
        static_cast<void>(parser.value(index));
        builder_.setArgs(id, {from, index});
        builder_.setKwargs(id, {});
        const size_t storage = newStorage();
        storages_[storage].writer = id;
        storages_[storage].fresh = false;
        define(name, storage, {});
    } else {
        return value.find('(') == std::string_view::npos;
    }
    return true;
}

/// A call of an operator or a kernel; `result` is the name it is assigned to, or empty.
void InductorCodeReader::readCallStatement(std::string_view text, std::string_view result) {
    std::string_view path = takePath(text);
    const size_t open = path.size();
    if (path == "assert_size_stride")
        readAssertedShape(text);
    if (path.empty() || open >= text.size() || isHousekeeping(path))
        return;
    if (text[open] == '[') { // "triton_kernel[grid(1)](buf0, …)"
        const size_t call = behindBracket(text, open);
        if (call < text.size() && text[call] == '(')
            readKernel(path, text, call);
        return;
    }
    if (text[open] != '(' || readWork(path, text, open, result))
        return;
    constexpr std::string_view kOps = "torch.ops.", kExtern = "extern_kernels.", kRun = ".run";
    if (startsWith(path, kOps))
        readOperator(path.substr(kOps.size()), text, open, result);
    else if (startsWith(path, kExtern))
        readOperator("aten." + std::string(path.substr(kExtern.size())) + ".out", text, open, result);
    else if (startsWith(path, "aten.") || startsWith(path, "inductor_ops."))
        readOperator(path[0] == 'a' ? std::string(path) : "inductor." + std::string(path.substr(13)), text,
                     open, result);
    else if (path.size() > kRun.size() && path.substr(path.size() - kRun.size()) == kRun)
        readKernel(path.substr(0, path.size() - kRun.size()), text, open);
    else if (result.empty())
        readKernel(path, text, open);
    else if (text.find("buf") != std::string_view::npos)
        readOperator(path, text, open, result);
}

/// "assert_size_stride(buf0, (8, ), (1, ))" states the shape of what an operator returned; a collective keeps
/// the dtype of what it sends.
void InductorCodeReader::readAssertedShape(std::string_view text) {
    const std::string_view name = takeName(text.substr(text.find('(') + 1));
    Buffer* of = buffer(name);
    const NodeId writer = of ? storageOf(*of).writer : kNoNode;
    const Graph& graph = builder_.graph();
    if (writer == kNoNode || builder_.node(writer).op == NodeOp::Placeholder ||
        builder_.node(writer).value != 0)
        return;
    const Arg* sent = graph.arg(writer, 0);
    const TensorMeta* tensor =
        sent && sent->node() != kNoNode ? graph.value(sent->node()).firstTensor() : nullptr;
    if (!tensor || !(graph.target(writer).traits.bits & kTraitCollective))
        return;
    of->tensor = fmt::format("{}[{}][{}]{}", dtypeName(tensor->dtype), tupleAt(text, 0), tupleAt(text, 1),
                             graph.text(tensor->device));
    annotations_.apply(writer, of->tensor);
}

void InductorCodeReader::readReturn(std::string_view text) {
    returned_ = true;
    const std::string plain = withoutViews(text.substr(std::min<size_t>(6, text.size())));
    Arg result;
    ExprParser parser(plain, 0, ExprForm::Code, builder_, *this);
    if (!parser.value(result)) {
        builder_.diagnostics().add({Severity::Error,
                                    "bad-line",
                                    {input_.path, line_, 0},
                                    {},
                                    fmt::format("the return is not complete: expected {}", parser.error()),
                                    "the graph is shown without its outputs"});
        return;
    }
    const NodeId id = builder_.addNode("output", NodeOp::Output, "output", {input_.path, line_, 0});
    builder_.setArgs(id, {result});
    builder_.setKwargs(id, {});
}

void InductorCodeReader::define(std::string_view name, size_t storage, std::string tensor) {
    buffers_[std::string(name)] = {storage, std::move(tensor)};
}

size_t InductorCodeReader::newStorage() {
    storages_.emplace_back();
    return storages_.size() - 1;
}

InductorCodeReader::Buffer* InductorCodeReader::buffer(std::string_view name) {
    const auto found = buffers_.find(std::string(name));
    return found == buffers_.end() ? nullptr : &found->second;
}

} // namespace gs
