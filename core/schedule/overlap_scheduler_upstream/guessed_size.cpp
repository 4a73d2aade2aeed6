#include "schedule/overlap_scheduler_upstream/guessed_size.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gs {

namespace {

constexpr int64_t kGuess = 4096 * 4096;
constexpr int64_t kMost = kHugeSize / 4;

/// Sums, products, whole quotients and brackets of numbers and symbols. Anything else makes it a guess.
class SizeExpression {
public:
    explicit SizeExpression(std::string_view text) : text_(text) {}

    int64_t run() {
        const int64_t value = sum();
        skipSpaces();
        return failed_ || at_ != text_.size() || value < 0 ? kGuess : value;
    }

private:
    static constexpr int kDeepest = 100;

    void skipSpaces() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }
    bool take(std::string_view token) {
        skipSpaces();
        if (!text_.substr(at_).starts_with(token))
            return false;
        at_ += token.size();
        return true;
    }
    int64_t checked(bool overflow, int64_t value) {
        failed_ |= overflow;
        return overflow ? 0 : value;
    }

    int64_t sum() {
        int64_t value = product();
        for (;;) {
            const bool plus = take("+");
            if (!plus && !take("-"))
                return value;
            int64_t next = 0;
            const int64_t term = product();
            const bool overflow = plus ? __builtin_add_overflow(value, term, &next)
                                       : __builtin_sub_overflow(value, term, &next);
            value = checked(overflow, next);
        }
    }

    int64_t product() {
        int64_t value = atom();
        for (;;) {
            if (take("//")) {
                const int64_t by = atom();
                failed_ |= by <= 0;
                value = by > 0 ? value / by : 0;
            } else if (take("*")) {
                int64_t next = 0;
                const bool overflow = __builtin_mul_overflow(value, atom(), &next);
                value = checked(overflow, next);
            } else {
                return value;
            }
        }
    }

    int64_t atom() {
        if (take("(")) {
            failed_ |= ++depth_ > kDeepest;
            const int64_t value = failed_ ? 0 : sum();
            failed_ |= !take(")");
            --depth_;
            return value;
        }
        skipSpaces();
        const size_t begin = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
            ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        int64_t number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (!word.empty() && error == std::errc() && end == word.data() + word.size())
            return number;
        failed_ |= word.empty() || std::isdigit(static_cast<unsigned char>(word.front()));
        return kGuess;
    }

    std::string_view text_;
    size_t at_ = 0;
    int depth_ = 0;
    bool failed_ = false;
};

} // namespace

int64_t guessedElements(const Graph& graph, const TensorMeta& tensor) {
    int64_t elements = 1;
    for (const Dim& dim : tensor.shape) {
        const int64_t size = dim.value >= 0 ? dim.value : SizeExpression(graph.text(dim.symbol)).run();
        if (__builtin_mul_overflow(elements, size, &elements) || elements > kMost)
            elements = kMost;
    }
    return elements;
}

} // namespace gs
