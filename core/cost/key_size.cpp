#include "cost/key_size.h"

#include "graph/tensor_meta.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

namespace gs {

namespace {

struct KeyTensor {
    DType dtype = DType::Unknown;
    std::vector<int64_t> shape;
    std::vector<int64_t> stride;
    int result_of = -1; ///< member of a fused region that makes it
    double numel() const {
        double product = 1;
        for (const int64_t size : shape)
            product *= static_cast<double>(size);
        return product;
    }
};

bool isWordPart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// "8192,4096" → numbers; false for "?" and anything else.
bool readNumbers(std::string_view text, std::vector<int64_t>& out) {
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        int64_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size() || number < 0)
            return false;
        out.push_back(number);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return true;
}

/// Dimensions by falling stride where that is not their order, 0-strided ones as "e".
std::string strideOrder(const KeyTensor& tensor) {
    std::vector<size_t> dims;
    std::string repeated;
    for (size_t i = 0; i < tensor.stride.size() && i < tensor.shape.size(); ++i) {
        if (tensor.shape[i] < 2)
            continue;
        if (tensor.stride[i] == 0)
            repeated += "e" + std::to_string(i);
        else
            dims.push_back(i);
    }
    const auto further = [&](size_t a, size_t b) { return tensor.stride[a] > tensor.stride[b]; };
    if (std::is_sorted(dims.begin(), dims.end(), further))
        return repeated;
    std::stable_sort(dims.begin(), dims.end(), further);
    for (const size_t dim : dims)
        repeated += std::to_string(dim);
    return repeated;
}

/// Dimensions from the right along which a tensor repeats itself to fit the region's largest one.
std::string broadcastDims(const std::vector<int64_t>& shape, const std::vector<int64_t>& largest) {
    std::string out;
    for (size_t i = 1; i <= std::min(shape.size(), largest.size()); ++i) {
        if (shape[shape.size() - i] == 1 && largest[largest.size() - i] > 1)
            out += "b" + std::to_string(i);
    }
    return out;
}

constexpr std::string_view kRegionEnd = "} -> (";

class KeyReader {
public:
    /// `largest`: of a fused region.
    explicit KeyReader(std::string_view key, std::vector<int64_t> largest = {})
        : key_(key), largest_(std::move(largest)) {}

    std::optional<KeySize> read() {
        if (key_.starts_with("in_flight"))
            return std::nullopt;
        if (key_.starts_with("fused{") && largest_.empty())
            return region();
        if (const size_t at = key_.find(" in="); at != std::string_view::npos && key_.find('(') > at)
            return collective(at);
        if (!tensors())
            return std::nullopt;
        const double size = work();
        if (tensors_.empty() || !(size >= 1) || size > 9e18)
            return std::nullopt;
        return KeySize{std::move(kind_), std::llround(size)};
    }

private:
    bool tensors() {
        const bool fused = key_.starts_with("fused{");
        int member = 0;
        for (size_t at = 0; at < key_.size();) {
            const std::string_view rest = key_.substr(at);
            if (fused && rest.starts_with("; ")) {
                ++member;
                result_of_ = -1;
            } else if (fused && rest.starts_with(") -> ")) {
                result_of_ = member;
            }
            if (key_[at] != '[' || at == 0 || !isWordPart(key_[at - 1]))
                kind_ += key_[at++];
            else if (isMember(at) ? !memberView(at) : !tensor(at))
                return false;
        }
        return true;
    }

    /// Twice: what is broadcast shows beside the largest tensor.
    std::optional<KeySize> region() {
        if (!tensors() || tensors_.empty())
            return std::nullopt;
        const auto largest =
            std::max_element(tensors_.begin(), tensors_.end(),
                             [](const KeyTensor& a, const KeyTensor& b) { return a.numel() < b.numel(); });
        KeyReader second(key_, largest->shape.empty() ? std::vector<int64_t>{1} : largest->shape);
        return second.read();
    }

    /// Whether "%3" or "%3.1" stands before `at`: an earlier member's result, seen through views.
    bool isMember(size_t at) const {
        while (at > 0 && (std::isdigit(static_cast<unsigned char>(key_[at - 1])) || key_[at - 1] == '.'))
            --at;
        return at > 0 && key_[at - 1] == '%';
    }

    bool memberView(size_t& at) {
        const size_t end = key_.find(']', at);
        std::vector<int64_t> shape;
        if (end == std::string_view::npos || !readNumbers(key_.substr(at + 1, end - at - 1), shape))
            return false;
        kind_ += "[" + std::to_string(shape.size()) + "d" + broadcastDims(shape, largest_) + "]";
        at = end + 1;
        return true;
    }

    /// Bytes that a region reads from outside, which stand in its key once, and of the results that are named
    /// behind its arrow.
    double bytesMoved() const {
        double bytes = 0;
        std::vector<std::vector<double>> results; // by member
        for (const KeyTensor& tensor : tensors_) {
            const double own = tensor.numel() * static_cast<double>(dtypeBytes(tensor.dtype));
            if (tensor.result_of < 0) {
                bytes += own;
                continue;
            }
            results.resize(std::max(results.size(), static_cast<size_t>(tensor.result_of) + 1));
            results[static_cast<size_t>(tensor.result_of)].push_back(own);
        }
        const size_t arrow = key_.find(kRegionEnd);
        for (size_t at = key_.find('%', std::min(arrow, key_.size())); at != std::string_view::npos;
             at = key_.find('%', at + 1)) {
            size_t member = 0, item = 0;
            const char* const last = key_.data() + key_.size();
            const auto [end, fault] = std::from_chars(key_.data() + at + 1, last, member);
            if (end != last && *end == '.')
                std::from_chars(end + 1, last, item);
            if (fault == std::errc() && member < results.size() && item < results[member].size())
                bytes += results[member][item];
        }
        return bytes;
    }

    /// " in=1835008 out=117440512 ranks=…"
    std::optional<KeySize> collective(size_t at) const {
        KeySize found;
        std::string_view rest = key_.substr(at + 1);
        found.kind = key_.substr(0, at);
        while (!rest.empty()) {
            const std::string_view word = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(rest.size(), word.size() + 1));
            if (!word.starts_with("in=") && !word.starts_with("out=")) {
                found.kind += " " + std::string(word);
                continue;
            }
            std::vector<int64_t> bytes;
            if (!readNumbers(word.substr(word.find('=') + 1), bytes) || bytes.size() != 1)
                return std::nullopt;
            found.size = std::max(found.size, bytes.front());
        }
        return found.size > 0 ? std::optional(std::move(found)) : std::nullopt;
    }

    /// A tensor whose dtype is the word before `at`; moves behind it.
    bool tensor(size_t& at) {
        size_t begin = at;
        while (begin > 0 && isWordPart(key_[begin - 1]))
            --begin;
        KeyTensor found;
        found.dtype = dtypeFromName(key_.substr(begin, at - begin));
        found.result_of = result_of_;
        const size_t end = key_.find(']', at);
        if (end == std::string_view::npos || found.dtype == DType::Unknown)
            return false;
        const std::string_view inside = key_.substr(at + 1, end - at - 1);
        const size_t semicolon = inside.find(';');
        if (!readNumbers(inside.substr(0, semicolon), found.shape))
            return false;
        if (semicolon != std::string_view::npos && !readNumbers(inside.substr(semicolon + 1), found.stride))
            return false;
        kind_ += "[" + std::to_string(found.shape.size()) + "d";
        if (const std::string order = strideOrder(found); !order.empty())
            kind_ += ":" + order;
        kind_ += broadcastDims(found.shape, largest_);
        kind_ += "]";
        tensors_.push_back(std::move(found));
        at = end + 1;
        return true;
    }

    bool isOp(std::string_view packet) const {
        return key_.starts_with(packet) && (key_[packet.size()] == '.' || key_[packet.size()] == '(');
    }

    double work() const {
        for (const auto& [packet, first] : {std::pair("aten.mm", 0),
                                            {"aten.bmm", 0},
                                            {"aten.addmm", 1},
                                            {"aten.baddbmm", 1},
                                            {"aten._scaled_mm", 0}}) {
            const auto at = static_cast<size_t>(first);
            if (!isOp(packet) || tensors_.size() < at + 2)
                continue;
            const KeyTensor& left = tensors_[at];
            const KeyTensor& right = tensors_[at + 1];
            if (!left.shape.empty() && !right.shape.empty())
                return left.numel() * static_cast<double>(right.shape.back());
        }
        if (key_.substr(0, key_.find('(')).find("attention") != std::string_view::npos) {
            // The first three of one size class are query, key and value, behind a gradient in the backward.
            const size_t query = key_.find("_backward") < key_.find('(') ? 1 : 0;
            if (tensors_.size() > query + 1 && tensors_[query].shape.size() == 4 &&
                tensors_[query + 1].shape.size() == 4)
                return tensors_[query].numel() * static_cast<double>(tensors_[query + 1].shape[2]);
        }
        if (!largest_.empty())
            return bytesMoved();
        double bytes = 0;
        for (const KeyTensor& tensor : tensors_)
            bytes += tensor.numel() * static_cast<double>(dtypeBytes(tensor.dtype));
        return bytes;
    }

    std::string_view key_;
    std::vector<int64_t> largest_;
    int result_of_ = -1;
    std::string kind_;
    std::vector<KeyTensor> tensors_;
};

} // namespace

std::optional<KeySize> keySize(std::string_view key) {
    return KeyReader(key).read();
}

} // namespace gs
