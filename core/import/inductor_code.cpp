// Finds Inductor's output code in a text: the `call` function, or a part of it pasted into a report.
#include "import/inductor_code.h"

#include "import/fx_scan.h"
#include "import/readers.h"

#include <algorithm>

namespace gs {

namespace {

/// A statement that only output code has: operators called without an assignment, external kernels, buffers.
bool looksLikeWrapperCall(std::string_view text) {
    if (text.substr(0, 10) == "torch.ops." || text.substr(0, 15) == "extern_kernels.")
        return text.find('(') != std::string_view::npos && text.find(" = ") == std::string_view::npos;
    return text.substr(0, 3) == "buf" && (text.find(" = reinterpret_tensor(") != std::string_view::npos ||
                                          text.find(" = empty_strided") != std::string_view::npos);
}

std::string_view callTarget(std::string_view text) {
    const size_t begin = text.find("torch.ops.");
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find('(', begin) - begin);
}

class WrapperScan {
public:
    explicit WrapperScan(std::string_view text)
        : text_(text), reader_(text, 0, text.size(), 1, isTorchTrace(text)) {}

    std::vector<GraphEntry> run() {
        TextLine line;
        while (reader_.next(line)) {
            const std::string_view text = trimmed(line.text);
            if (line.logged)
                heading_.read(line);
            if (text.empty())
                continue;
            if (in_call_ && line.stream == stream_ && indentOf(line.text) > indent_) {
                takeBody(line, text);
            } else if (text == "def call(args):" || text == "def call(self, args):") {
                begin(line, "call", kSureOfGraph);
                indent_ = indentOf(line.text);
                in_call_ = true;
            } else if (looksLikeWrapperCall(text) && !in_call_) {
                if (!in_fragment_)
                    begin(line, "fragment", kSureOfFragment);
                in_fragment_ = true;
                takeBody(line, text);
            } else if (in_fragment_ && (text.front() == '#' || text.find('(') != std::string_view::npos)) {
                takeBody(line, text);
            } else {
                in_call_ = in_fragment_ = false;
            }
        }
        const auto last = std::remove_if(found_.begin(), found_.end(),
                                         [](const GraphEntry& entry) { return entry.nodes == 0; });
        found_.erase(last, found_.end());
        return std::move(found_);
    }

private:
    void begin(const TextLine& line, std::string_view name, int sureness) {
        found_.push_back(heading_.entry(name, line));
        found_.back().level = GraphLevel::Scheduler;
        found_.back().sureness = sureness;
        stream_ = line.stream;
        in_fragment_ = false;
        extend(line);
    }

    void takeBody(const TextLine& line, std::string_view text) {
        extend(line);
        if (text.front() == '#' || text.substr(0, 4) == "del " || text.substr(0, 6) == "assert" ||
            text.find('(') == std::string_view::npos)
            return;
        if (text.find("empty_strided") == std::string_view::npos &&
            text.find(" = reinterpret_tensor(") == std::string_view::npos)
            ++found_.back().nodes;
        if (const std::string_view target = callTarget(text); !target.empty())
            targets_.count(target, found_.back());
    }

    void extend(const TextLine& line) {
        found_.back().length =
            std::min(text_.find('\n', line.offset), text_.size() - 1) + 1 - found_.back().offset;
    }

    std::string_view text_;
    LineReader reader_;
    GraphHeading heading_;
    TargetCounter targets_;
    std::vector<GraphEntry> found_;
    uint64_t stream_ = 0;
    size_t indent_ = 0;
    bool in_call_ = false;
    bool in_fragment_ = false;
};

std::vector<GraphEntry> listWrappers(const InputText& input) {
    const std::string_view text = input.text;
    if (!containsText(text, "def call(") && !containsText(text, "(buf"))
        return {};
    return WrapperScan(text).run();
}

Result<GraphPtr> readWrapper(const InputText& input, const GraphEntry& entry, Diagnostics& diagnostics,
                             const JobContext& job) {
    job.report("reading output code", 0.1);
    Diagnostics found;
    InductorCodeReader reader(input, entry, {});
    Result<GraphPtr> graph = reader.read(found, job);
    if (reader.undefinedNames().empty()) {
        diagnostics.append(found);
        return graph;
    }
    return InductorCodeReader(input, entry, reader.undefinedNames()).read(diagnostics, job);
}

} // namespace

GraphReader inductorCodeReader() {
    return {"inductor-code", "Inductor's output code", listWrappers, readWrapper};
}

} // namespace gs
