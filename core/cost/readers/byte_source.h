// Bytes of a file in order, decompressed if it is gzip, without ever holding the whole of it.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>

namespace gs {

class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// Fills `out` with up to `size` bytes; fewer than asked only at the end. 0 = nothing is left.
    virtual size_t read(char* out, size_t size) = 0;
    /// Share of the file that was read, in [0, 1].
    virtual double fraction() const = 0;
    /// Why the bytes end before the file does ("the gzip data ends too early"); empty if they do not.
    virtual std::string problem() const { return {}; }
};

/// Opens a file. Compressed data is recognised by content and inflated on a thread of its own, a few blocks
/// ahead of the reader. Errors: those of readInput.
Result<std::unique_ptr<ByteSource>> openBytes(const std::string& path);

/// Bytes of a text at hand; it must outlive the source.
std::unique_ptr<ByteSource> bytesOf(std::string_view text);

} // namespace gs
