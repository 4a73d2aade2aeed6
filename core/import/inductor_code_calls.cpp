// Calls in Inductor's output code: which buffers they read and write.
#include "import/inductor_code.h"

#include "import/call_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace gs {

namespace {

constexpr size_t kMaxMissing = 10000; ///< more undefined names are a damaged text

std::string_view shortName(std::string_view target) {
    const std::string_view packet = target.substr(0, target.rfind('.'));
    return packet.substr(packet.rfind('.') + 1);
}

} // namespace

Arg InductorCodeReader::resolve(std::string_view name, size_t) {
    if (const Buffer* known = buffer(name)) {
        const NodeId writer = storageOf(*known).writer;
        return writer == kNoNode ? builder_.textArg(Arg::Kind::Repr, name) : builder_.nodeArg(writer);
    }
    const bool looks_like_buffer = name.substr(0, 3) == "buf" || name.substr(0, 3) == "arg" ||
                                   name.substr(0, 8) == "primals_" || name.substr(0, 9) == "tangents_";
    if (looks_like_buffer && name.find_first_of("0123456789") != std::string_view::npos &&
        std::find(missing_.begin(), missing_.end(), name) == missing_.end() && missing_.size() < kMaxMissing)
        missing_.emplace_back(name);
    return builder_.textArg(Arg::Kind::Repr, name);
}

NodeId InductorCodeReader::addNode(std::string_view name, std::string_view target) {
    std::string unique(name);
    for (int suffix = 1; builder_.findNode(unique) != kNoNode; ++suffix)
        unique = fmt::format("{}_{}", name, suffix);
    const NodeId id = builder_.addNode(unique, NodeOp::CallFunction, target, {input_.path, line_, 0});
    for (const std::string& origin : origins_)
        builder_.addOrigin(id, builder_.intern(origin));
    ++calls_;
    return id;
}

/// `id` writes `storage`: what was in it must have been read before.
void InductorCodeReader::writeStorage(NodeId id, Storage& storage) {
    if (storage.writer != kNoNode && storage.writer != id)
        builder_.addMutation(id, storage.writer);
    storage.writer = id;
    storage.fresh = false;
}

/// 2023's wrapper code: "buf1_work = dist.all_gather_into_tensor(buf1, buf0, async_op=True, …)" and
/// "buf1_work.wait()".
bool InductorCodeReader::readWork(std::string_view path, std::string_view text, size_t open,
                                  std::string_view result) {
    constexpr std::string_view kWait = ".wait";
    if (path.size() > kWait.size() && path.substr(path.size() - kWait.size()) == kWait) {
        const auto work = work_.find(std::string(path.substr(0, path.size() - kWait.size())));
        if (work != work_.end())
            readOperator("_c10d_functional.wait_tensor.default", "(" + work->second + ")", 0, {});
        return true;
    }
    if (path.substr(0, 5) != "dist." || result.empty())
        return false;
    for (const std::string_view name : namesIn(text.substr(open))) {
        const Buffer* out = buffer(name);
        if (!out)
            continue;
        work_[std::string(result)] = name;
        const size_t storage = out->storage;
        const std::string target = fmt::format("_c10d_functional.{}.default", path.substr(5));
        const NodeId id = addNode(path.substr(5), target);
        std::vector<NodeId> inputs;
        std::vector<Arg> args;
        for (const std::string_view other : namesIn(text.substr(open))) {
            const Arg arg = resolve(other, 0);
            if (arg.node() == kNoNode || std::find(inputs.begin(), inputs.end(), arg.node()) != inputs.end())
                continue;
            inputs.push_back(arg.node());
            args.push_back(arg);
        }
        builder_.setArgs(id, args);
        builder_.setKwargs(id, {});
        if (!out->tensor.empty())
            annotations_.apply(id, out->tensor);
        writeStorage(id, storages_[storage]);
        storages_[storage].launch = id;
        return true;
    }
    return false;
}

void InductorCodeReader::readOperator(std::string_view target, std::string_view text, size_t open,
                                      std::string_view result) {
    const std::string plain = withoutViews(text.substr(open));
    std::vector<Arg> args, kwargs;
    ExprParser parser(plain, 1, ExprForm::Code, builder_, *this);
    const bool whole = parser.callArguments(args, kwargs);
    // where the result goes: a name of its own, "out=", or the first argument of an operator in place
    std::string_view out;
    if (const size_t at = plain.find("out="); at != std::string::npos && result.empty()) {
        const auto names = namesIn(std::string_view(plain).substr(at + 4));
        out = names.empty() ? std::string_view() : names.front();
    }
    const OpTraits& traits = opTraits(target);
    const auto names = namesIn(plain);
    const bool wait = (traits.bits & kTraitWait) != 0;
    const bool in_place = result.empty() && out.empty() && (wait || !traits.mutated_args.empty());
    const std::string_view written = !out.empty() ? out : in_place && !names.empty() ? names.front() : "";
    const Buffer* target_buffer = written.empty() ? nullptr : buffer(written);
    const bool names_buffer = !out.empty() && target_buffer && storageOf(*target_buffer).writer == kNoNode;
    const NodeId id = addNode(!result.empty() ? result : names_buffer ? out : shortName(target), target);
    builder_.setArgs(id, args);
    builder_.setKwargs(id, kwargs);
    if (!whole)
        builder_.diagnostics().add({Severity::Error,
                                    "bad-line",
                                    {input_.path, line_, 0},
                                    {},
                                    fmt::format("expected {}", parser.error()),
                                    "the node keeps the arguments before"});
    size_t storage = target_buffer ? target_buffer->storage : storages_.size();
    if (!target_buffer && !result.empty()) {
        storage = newStorage();
        define(result, storage, {});
    }
    if (storage == storages_.size())
        return;
    if (wait) { // the launch may be behind other names of the same memory, never on other memory
        if (const NodeId launch = storages_[storage].launch;
            launch != kNoNode && storages_[storage].writer != launch)
            builder_.setKwargs(id, std::vector<Arg>{builder_.textArg(Arg::Kind::String, "launch"),
                                                    builder_.nodeArg(launch)});
        storages_[storage].launch = kNoNode;
    }
    if (target_buffer && !target_buffer->tensor.empty())
        annotations_.apply(id, target_buffer->tensor);
    writeStorage(id, storages_[storage]);
    if (traits.bits & kTraitCollective)
        storages_[storage].launch = id;
}

/// How a kernel uses each of its parameters, by the names that Inductor gives them: in_ptr0, out_ptr0,
/// in_out_ptr0. Empty if the text does not hold the kernel.
std::vector<InductorCodeReader::Access> InductorCodeReader::accessesOf(std::string_view kernel) const {
    const std::string_view text = input_.text;
    const std::string made = fmt::format("{} = async_compile.", kernel);
    const size_t source = text.find(made);
    if (source == std::string_view::npos)
        return {};
    const size_t end = std::min(text.find("\n'''", source + made.size()), text.size());
    const std::string_view body = text.substr(source, end - source);
    size_t head = body.find("def triton_");
    head = head == std::string_view::npos ? body.find(" kernel(") : head;
    const size_t open = head == std::string_view::npos ? head : body.find('(', head);
    if (open == std::string_view::npos)
        return {};
    const size_t close = std::min(body.find(')', open), body.size());
    std::vector<Access> accesses;
    for (size_t at = open + 1; at < close;) {
        const size_t comma = std::min(body.find(',', at), close);
        const std::string_view parameter = body.substr(at, comma - at);
        at = comma + 1;
        accesses.push_back(parameter.find("in_out") != std::string_view::npos    ? Access::ReadWrite
                           : parameter.find("out_ptr") != std::string_view::npos ? Access::Write
                                                                                 : Access::Read);
    }
    return accesses;
}

void InductorCodeReader::readKernel(std::string_view kernel, std::string_view text, size_t open) {
    const std::string plain = withoutViews(text.substr(open));
    const auto names = namesIn(plain);
    const std::vector<Access> accesses = accessesOf(kernel);
    std::vector<Arg> args;
    std::vector<size_t> written;
    std::string tensor;
    for (size_t i = 0; i < names.size(); ++i) {
        const Arg arg = resolve(names[i], 0); // also notes names that are not defined
        const Buffer* of = buffer(names[i]);
        if (!of)
            continue;
        // without the kernel's text: what is fresh is written, what holds a result is read
        const Access access = i < accesses.size()    ? accesses[i]
                              : storageOf(*of).fresh ? Access::Write
                                                     : Access::Read;
        if (access != Access::Write && arg.node() != kNoNode)
            args.push_back(arg);
        if (access != Access::Read) {
            written.push_back(of->storage);
            tensor = of->tensor;
        }
    }
    if (args.empty() && written.empty())
        return; // a call that has to do with no buffer
    const NodeId id = addNode(kernel, kernel);
    builder_.setArgs(id, args);
    builder_.setKwargs(id, {});
    if (!tensor.empty())
        annotations_.apply(id, tensor);
    for (const size_t storage : written)
        writeStorage(id, storages_[storage]);
}

} // namespace gs
