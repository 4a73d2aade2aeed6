// Reads ir_pre_fusion.txt and ir_post_fusion.txt, the debug text of Inductor's scheduler nodes
// (torch/_inductor/scheduler.py, BaseSchedulerNode.debug_str).
#include "import/call_text.h"
#include "import/fx_scan.h"
#include "import/inductor_units.h"
#include "import/readers.h"
#include "import/text_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace gs {

namespace {

constexpr size_t kMaxJoinedLines = 2000; ///< a list over more lines is a damaged text

/// "op3: ExternKernelSchedulerNode(_CollectiveKernel)" in its parts; false for other lines.
bool splitUnitHead(std::string_view line, std::string_view& name, std::string_view& kind,
                   std::string_view& node) {
    const std::string_view text = trimmed(line);
    name = takeName(text);
    if (name.empty() || text.substr(name.size(), 2) != ": " || text.back() != ')')
        return false;
    std::string_view rest = text.substr(name.size() + 2);
    kind = takeName(rest);
    constexpr std::string_view kEnd = "SchedulerNode";
    if (kind.size() < kEnd.size() || kind.substr(kind.size() - kEnd.size()) != kEnd ||
        rest.size() <= kind.size() || rest[kind.size()] != '(')
        return false;
    node = rest.substr(kind.size() + 1, rest.size() - kind.size() - 2);
    return true;
}

/// A unit that stands for several others.
bool isGroup(std::string_view kind) {
    return kind.find("Fused") != std::string_view::npos || kind.find("Foreach") != std::string_view::npos ||
           kind.find("Grouped") != std::string_view::npos || kind.find("Combo") != std::string_view::npos;
}

/// "op1_op2_op4" names its parts.
bool isPartOf(std::string_view part, std::string_view unit) {
    for (size_t at = unit.find(part); at != std::string_view::npos; at = unit.find(part, at + 1)) {
        const size_t end = at + part.size();
        if ((at == 0 || unit[at - 1] == '_') && (end == unit.size() || unit[end] == '_'))
            return true;
    }
    return false;
}

int bracketDepth(std::string_view text) {
    int depth = 0;
    for (const char c : text)
        depth += c == '[' || c == '(' || c == '{' ? 1 : c == ']' || c == ')' || c == '}' ? -1 : 0;
    return depth;
}

/// Calls visit(class, name) for each "StarDep(name='buf3', …)" and "MemoryDep('buf3', …)".
template <typename Visit>
void forEachDep(std::string_view text, const Visit& visit) {
    for (size_t at = text.find("Dep("); at != std::string_view::npos; at = text.find("Dep(", at + 4)) {
        size_t begin = at;
        while (begin > 0 && isNameChar(text[begin - 1]))
            --begin;
        const size_t open = text.find('\'', at);
        const size_t close = open == std::string_view::npos ? open : text.find('\'', open + 1);
        if (close != std::string_view::npos)
            visit(text.substr(begin, at + 3 - begin), text.substr(open + 1, close - open - 1));
    }
}

std::vector<std::string> quotedNames(std::string_view text) {
    std::vector<std::string> names;
    for (size_t open = text.find('\''); open != std::string_view::npos;) {
        const size_t close = text.find('\'', open + 1);
        if (close == std::string_view::npos)
            break;
        names.emplace_back(text.substr(open + 1, close - open - 1));
        open = text.find('\'', close + 1);
    }
    return names;
}

/// Text between "key=[" and its "]".
std::string_view listAfter(std::string_view text, std::string_view key) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos)
        return {};
    const size_t begin = at + key.size();
    return text.substr(begin, std::min(text.find(']', begin), text.size()) - begin);
}

/// "FixedLayout('cuda:0', torch.bfloat16, size=[128], stride=[1])" → "bfloat16[128][1]cuda:0". Empty for
/// layouts without a tensor (NoneLayout, MultiOutputLayout).
std::string tensorOfLayout(std::string_view text) {
    const size_t type = text.find("torch.");
    const std::string_view kind = takeName(text);
    if (type == std::string_view::npos || kind == "NoneLayout" || kind == "MultiOutputLayout")
        return {};
    const std::vector<std::string> quoted = quotedNames(text.substr(0, type));
    return fmt::format("{}[{}][{}]{}", takeName(text.substr(type + 6)), listAfter(text, "size=["),
                       listAfter(text, "stride=["), quoted.empty() ? "" : quoted.front());
}

class UnitParser {
public:
    UnitParser(const InputText& input, const GraphEntry& entry)
        : reader_(input.text, entry.offset, entry.offset + entry.length, entry.line,
                  !input.text.empty() && input.text[std::min(entry.offset, input.text.size() - 1)] == '\t' &&
                      isTorchTrace(input.text)) {}

    InductorUnits run() {
        TextLine line;
        bool first = true;
        while (nextLine(line)) {
            if (first)
                stream_ = line.stream;
            first = false;
            if (line.stream == stream_)
                take(line);
        }
        out_.cut = open_list_ || (!out_.units.empty() && out_.units.back().buffers.empty()) || misses();
        return std::move(out_);
    }

private:
    /// A unit that some buffer's users name is not in the text.
    bool misses() const {
        std::unordered_set<std::string_view> known;
        for (const InductorUnit& unit : out_.units) {
            const std::string_view name = unit.name;
            known.insert(name);
            for (size_t at = 0; at < name.size();) { // the parts of a fused unit
                const size_t end = std::min(name.find('_', at), name.size());
                known.insert(name.substr(at, end - at));
                at = end + 1;
            }
        }
        return std::any_of(users_.begin(), users_.end(),
                           [&](const std::string& user) { return known.count(user) == 0; });
    }

    bool nextLine(TextLine& line) {
        if (!reader_.next(line))
            return false;
        if (!trimmed(line.text).empty())
            out_.last_line = line.number;
        return true;
    }

    void take(const TextLine& line) {
        const std::string_view text = trimmed(line.text);
        std::string_view name, kind, node;
        if (text.empty())
            return;
        if (splitUnitHead(text, name, kind, node)) {
            openUnit(name, kind, node, line.number);
            return;
        }
        name = takeName(text);
        std::string_view rest = text.substr(name.size());
        if (out_.units.empty() || name.empty() || rest.empty())
            return;
        if (rest.front() == '.' && rest.find(" = ") != std::string_view::npos) {
            const size_t equals = rest.find(" =");
            readField(name, rest.substr(1, equals - 1), wholeValue(rest.substr(equals + 2)));
        } else if (rest == ".writes =" || rest == ".unmet_dependencies =" || rest == ".met_dependencies =" ||
                   rest == ".outputs =") { // the list begins in the next line
            readField(name, rest.substr(1, rest.size() - 3), wholeValue({}));
        } else if (rest.substr(0, 2) == ": " && takeName(rest.substr(2)) == rest.substr(2)) {
            openBuffer(name, rest.substr(2));
        } else if (name.size() > 7 && name.substr(name.size() - 7) == "_layout" &&
                   rest.substr(0, 3) == " = ") {
            out_.tensors.emplace_back(name.substr(0, name.size() - 7), tensorOfLayout(rest.substr(3)));
        }
    }

    void openUnit(std::string_view name, std::string_view kind, std::string_view node, uint32_t line) {
        if (!out_.units.empty() && isGroup(out_.units.back().kind) &&
            isPartOf(name, out_.units.back().name)) {
            out_.units.back().members.emplace_back(name);
            inner_ = true;
            return;
        }
        InductorUnit unit;
        unit.name = name;
        unit.kind = kind;
        unit.node = node;
        unit.line = line;
        out_.units.push_back(std::move(unit));
        inner_ = false;
    }

    void openBuffer(std::string_view name, std::string_view kind) {
        std::vector<InductorBuffer>& buffers = out_.units.back().buffers;
        if (!buffer(name)) {
            buffers.emplace_back();
            buffers.back().name = name;
            buffers.back().kind = kind;
        }
    }

    InductorBuffer* buffer(std::string_view name) {
        for (InductorBuffer& item : out_.units.back().buffers) {
            if (item.name == name)
                return &item;
        }
        return nullptr;
    }

    /// The value with the lines it goes on in; those stay in lines_.
    std::string wholeValue(std::string_view first) {
        std::string value(trimmed(first));
        TextLine more;
        open_list_ = false;
        int depth = bracketDepth(value);
        for (size_t count = 0; depth > 0 || value.empty(); ++count) {
            if (count >= kMaxJoinedLines || !nextLine(more)) {
                open_list_ = true;
                break;
            }
            if (more.stream != stream_)
                continue;
            value += ' ';
            value += trimmed(more.text);
            depth += bracketDepth(more.text);
            lines_.push_back(more);
        }
        return value;
    }

    void readField(std::string_view owner, std::string_view field, const std::string& value) {
        InductorUnit& unit = out_.units.back();
        std::vector<TextLine> lines = std::move(lines_);
        lines_.clear();
        if (field == "outputs") {
            for (size_t i = 0; i < lines.size(); ++i)
                takeOutputLine(lines, i);
        } else if (InductorBuffer* of = buffer(owner)) {
            readBufferField(*of, field, value);
        } else if (inner_ || owner != unit.name) {
            return; // what a fused unit's parts say, the unit says too
        } else if (field == "unmet_dependencies" || field == "met_dependencies") {
            forEachDep(value, [&](std::string_view kind, std::string_view name) {
                (kind == "WeakDep" ? unit.weak : unit.reads).emplace_back(name);
            });
        } else if (field == "node.kernel" && value != "None") {
            unit.kernel = value;
        } else if (field == "users") { // before PyTorch 2.5 a unit was its only buffer
            openBuffer(owner, unit.node);
            readBufferField(*buffer(owner), field, value);
        }
    }

    /// A line inside "op3.outputs = [ … ]"; `index` moves to the last line of its value.
    void takeOutputLine(const std::vector<TextLine>& lines, size_t& index) {
        const std::string_view text = trimmed(lines[index].text);
        const std::string_view name = takeName(text);
        const std::string_view rest = text.substr(name.size());
        if (rest.substr(0, 2) == ": ") {
            openBuffer(name, takeName(rest.substr(2)));
            return;
        }
        const size_t equals = rest.find(" =");
        InductorBuffer* of = buffer(name);
        if (rest.empty() || rest.front() != '.' || equals == std::string_view::npos || !of)
            return;
        std::string value(rest.substr(equals + 2));
        int depth = bracketDepth(value);
        while (depth > 0 && index + 1 < lines.size()) {
            value += lines[++index].text;
            depth += bracketDepth(lines[index].text);
        }
        readBufferField(*of, rest.substr(1, equals - 1), value);
    }

    void readBufferField(InductorBuffer& of, std::string_view field, std::string_view value) {
        if (field == "layout")
            of.tensor = tensorOfLayout(trimmed(value));
        else if (field == "mutations")
            of.mutates = quotedNames(value);
        else if (field == "users") {
            of.returned = value.find("node=OUTPUT") != std::string_view::npos;
            for (std::string& user : quotedNames(value))
                users_.insert(std::move(user));
        }
    }

    LineReader reader_;
    InductorUnits out_;
    std::unordered_set<std::string> users_; ///< units that the buffers' users name
    std::vector<TextLine> lines_;           ///< those that wholeValue() joined
    uint64_t stream_ = 0;
    bool inner_ = false;     ///< inside the text of a part of a fused unit
    bool open_list_ = false; ///< the text ends inside a list
};

/// The texts of unit lists: one begins where a unit's name comes again, or another message begins.
std::vector<GraphEntry> listUnits(const InputText& input) {
    const std::string_view text = input.text;
    std::vector<GraphEntry> found;
    if (!containsText(text, "SchedulerNode("))
        return found;
    LineReader reader(text, 0, text.size(), 1, isTorchTrace(text));
    TextLine line;
    GraphHeading heading;
    std::unordered_set<std::string_view> seen;
    uint64_t stream = 0;
    while (reader.next(line)) {
        std::string_view name, kind, node;
        if (!splitUnitHead(line.text, name, kind, node)) {
            if (!found.empty() && line.stream == stream && !line.text.empty() && !line.logged)
                found.back().length =
                    std::min(text.find('\n', line.offset), text.size() - 1) + 1 - found.back().offset;
            if (found.empty() || line.stream != stream)
                heading.read(line);
            continue;
        }
        if (found.empty() || line.stream != stream || !seen.insert(name).second) {
            found.push_back(heading.entry("scheduler nodes", line));
            found.back().level = GraphLevel::Scheduler;
            found.back().sureness = kSureOfGraph;
            stream = line.stream;
            heading = {};
            seen = {name};
        }
        found.back().length =
            std::min(text.find('\n', line.offset), text.size() - 1) + 1 - found.back().offset;
    }
    for (GraphEntry& entry : found) {
        const InductorUnits units = readInductorUnits(input, entry);
        entry.nodes = units.units.size();
        for (const InductorUnit& unit : units.units) {
            const std::string target = targetOfUnit(unit);
            TargetCounter().count(target, entry);
        }
    }
    return found;
}

Result<GraphPtr> readUnits(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                           const JobContext& job) {
    job.report("reading scheduler nodes", 0.1);
    return buildUnitGraph(readInductorUnits(input, entry), input, entry, diagnostics);
}

} // namespace

InductorUnits readInductorUnits(const InputText& input, const GraphEntry& entry) {
    return UnitParser(input, entry).run();
}

GraphReader inductorIrReader() {
    return {"inductor-ir", "Inductor's scheduler nodes (ir_post_fusion)", listUnits, readUnits};
}

} // namespace gs
