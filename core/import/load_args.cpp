#include "import/load_args.h"

#include "import/call_text.h"
#include "import/fx_scan.h"
#include "import/text_lines.h"

#include <charconv>
#include <fmt/format.h>

namespace gs {

namespace {

bool toNumber(std::string_view text, int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// Strides of a contiguous tensor with these sizes ("2, 3, 4" → "12, 4, 1"); empty if a size is symbolic.
std::string contiguousStrides(std::string_view sizes) {
    std::vector<int64_t> dims;
    for (size_t at = 0; at < sizes.size();) {
        const size_t end = std::min(sizes.find(',', at), sizes.size());
        int64_t dim = 0;
        if (!toNumber(trimmed(sizes.substr(at, end - at)), dim) || dim < 0 || dim > int64_t{1} << 40)
            return {};
        dims.push_back(dim);
        at = end + 1;
    }
    std::string strides;
    double stride = 1; // far beyond any tensor only in a damaged text
    for (size_t i = dims.size(); i-- > 0;) {
        strides = fmt::format("{:.0f}{}{}", stride, strides.empty() ? "" : ", ", strides);
        stride *= static_cast<double>(std::max<int64_t>(dims[i], 1));
        if (stride > 9e17)
            return {};
    }
    return strides;
}

/// "device(type='cuda', index=0)" → "cuda:0"
std::string deviceName(std::string_view call) {
    std::string_view type = keywordOf(call, "type");
    if (type.size() < 3)
        return {};
    type = type.substr(1, type.size() - 2);
    const std::string_view index = keywordOf(call, "index");
    return index.empty() ? std::string(type) : fmt::format("{}:{}", type, index);
}

class LoadArgsReader {
public:
    LoadArgs run(LineReader lines, bool payload) {
        TextLine line;
        while (lines.next(line)) {
            const std::string_view text = trimmed(line.text);
            if ((payload && line.logged) || moduleClassName(line.text))
                break;
            const size_t reader = text.find("reader.");
            if (reader != std::string_view::npos)
                take(text, text.substr(reader + 7));
            else if (text.find("'size':") != std::string_view::npos)
                readGroups(text);
        }
        return std::move(out_);
    }

private:
    void take(std::string_view line, std::string_view call) {
        const size_t mark = call.find("  # ");
        const std::string name(mark == std::string_view::npos ? std::string_view()
                                                              : takeName(call.substr(mark + 4)));
        if (startsWith(call, "storage(")) {
            devices_[std::string(takeName(line))] = deviceName(keywordOf(call, "device"));
        } else if (name.empty()) {
            return;
        } else if (startsWith(call, "tensor(")) {
            const std::string_view dtype = keywordOf(call, "dtype");
            const std::string_view sizes = tupleAt(call, 0);
            const std::string_view strides = tupleAt(call, 1);
            const std::string stride = strides.empty() ? contiguousStrides(sizes) : std::string(strides);
            out_.inputs[name] =
                fmt::format("{}[{}]{}{}",
                            dtype.empty() ? std::string_view("float32") : dtype.substr(dtype.rfind('.') + 1),
                            sizes, stride.empty() && !sizes.empty() ? std::string() : "[" + stride + "]",
                            devices_[std::string(takeName(call.substr(7)))]);
        } else if (startsWith(call, "symint(")) {
            out_.inputs[name] = fmt::format("Sym({})", takeName(call.substr(7)));
        }
    }

    /// "{'0': {'size': 8, 'rank': 0}, '1': {'size': 16, 'rank': 3}}"
    void readGroups(std::string_view text) {
        for (size_t at = text.find("'size':"); at != std::string_view::npos;
             at = text.find("'size':", at + 1)) {
            const size_t close = text.rfind("':", at - 1);
            const size_t open =
                close == std::string_view::npos || close == 0 ? close : text.rfind('\'', close - 1);
            int64_t size = 0;
            const std::string_view number =
                trimmed(text.substr(at + 7, text.find_first_of(",}", at) - at - 7));
            if (open == std::string_view::npos || !toNumber(number, size) || size < 1 || size > 1 << 24)
                continue;
            out_.group_sizes.emplace_back(text.substr(open + 1, close - open - 1),
                                          static_cast<int32_t>(size));
            const size_t rank = text.find("'rank':", at);
            int64_t value = 0;
            if (out_.rank < 0 && rank != std::string_view::npos &&
                toNumber(takeName(trimmed(text.substr(rank + 7))), value) && value >= 0 && value < 1 << 24)
                out_.rank = static_cast<int32_t>(value);
        }
    }

    LoadArgs out_;
    std::unordered_map<std::string, std::string> devices_;
};

} // namespace

LoadArgs readLoadArgs(const InputText& input, const GraphEntry& entry, bool payload) {
    const size_t end = entry.offset + entry.length;
    if (findText(input.text, "reader.", end) == std::string_view::npos)
        return {};
    return LoadArgsReader().run(LineReader(input.text, end, input.text.size(), entry.line, payload), payload);
}

} // namespace gs
