// The 16-bit floating types in software: the compiler of the project has neither on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace gs::host {

inline float fromBFloat16(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// To nearest even; a NaN stays one.
inline uint16_t toBFloat16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40u;
    return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/// Without branches, so that loops become vector code: the number is scaled by a power of two into place,
/// which makes subnormals right too.
inline float fromFloat16(uint16_t bits) {
    const uint32_t sign = (static_cast<uint32_t>(bits) & 0x8000u) << 16;
    const uint32_t magnitude = (static_cast<uint32_t>(bits) & 0x7fffu) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const uint32_t infinite = magnitude >= (0x7c00u << 13) ? 0x7f800000u : 0;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled) | infinite);
}

/// To nearest even; too large becomes infinite, a NaN stays one.
inline uint16_t toFloat16(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u)
        return static_cast<uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { // subnormal: adding one half of 2^-13 lets the hardware round
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

} // namespace gs::host
