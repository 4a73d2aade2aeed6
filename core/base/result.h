// Errors as values. Exceptions are for bugs only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace gs {

/// A place in an input. Lines and columns start at 1; 0 = not known.
struct SourcePos {
    std::string file;
    uint32_t line = 0;
    uint32_t column = 0;
};

/// Why something could not be done, and what the user can do about it.
struct Error {
    std::string code;    ///< Stable short name, e.g. "not-a-graph"; tests and scripts match on it.
    std::string message; ///< One sentence: what was found and what was expected.
    SourcePos where;
    std::string hint; ///< What to do; may be empty.
};

/// A value or an Error. value() on an error is a bug and throws std::bad_variant_access.
template <typename T>
class Result {
public:
    Result(T value) : data_(std::move(value)) {}
    Result(Error error) : data_(std::move(error)) {}

    bool ok() const { return data_.index() == 0; }
    explicit operator bool() const { return ok(); }
    T& value() & { return std::get<0>(data_); }
    const T& value() const& { return std::get<0>(data_); }
    T&& value() && { return std::get<0>(std::move(data_)); }
    const Error& error() const { return std::get<1>(data_); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    std::variant<T, Error> data_;
};

struct Unit {};
using Status = Result<Unit>;

} // namespace gs
