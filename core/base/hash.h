// A 64-bit hash with a fixed definition (FNV-1a, offset 0xcbf29ce484222325, prime 0x100000001b3), because
// hashes are written to files and compared by other programs. Not for adversarial input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gs {

/// 16 hexadecimal digits.
inline std::string hexDigits(uint64_t value) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out(16, '0');
    for (int i = 0; i < 16; ++i)
        out[static_cast<size_t>(i)] = kDigits[(value >> (60 - 4 * i)) & 0xF];
    return out;
}

class Hash64 {
public:
    Hash64& bytes(std::string_view text) {
        for (unsigned char c : text) {
            state_ ^= c;
            state_ *= 0x100000001b3ULL;
        }
        return *this;
    }
    /// Text with its end marked, so that ("ab","c") and ("a","bc") differ.
    Hash64& text(std::string_view value) { return bytes(value).bytes(std::string_view("\x1f", 1)); }
    Hash64& number(int64_t value) { return text(std::to_string(value)); }
    uint64_t value() const { return state_; }

private:
    uint64_t state_ = 0xcbf29ce484222325ULL;
};

} // namespace gs
