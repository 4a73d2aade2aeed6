// What a reader or a pass found that a person should know; never lost, shown in the Diagnostics panel and
// in the analysis JSON.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace gs {

enum class Severity : uint8_t { Info, Warning, Error };

struct Diagnostic {
    Severity severity = Severity::Info;
    std::string code; ///< Stable short name, e.g. "unknown-input".
    SourcePos where;
    std::string node; ///< Name of the node it is about; may be empty.
    std::string message;
    std::string hint; ///< What to do; may be empty.
};

inline const char* severityName(Severity severity) {
    switch (severity) {
    case Severity::Info:
        return "info";
    case Severity::Warning:
        return "warning";
    case Severity::Error:
        return "error";
    }
    return "info";
}

class Diagnostics {
public:
    /// Many faults of one kind are kept up to this many; the rest is counted (see dropped()).
    static constexpr size_t kMaxPerCode = 100;

    void add(Diagnostic diagnostic);
    void append(const Diagnostics& other);
    const std::vector<Diagnostic>& all() const { return items_; }
    size_t dropped() const { return dropped_; }
    bool hasErrors() const;

private:
    std::vector<Diagnostic> items_;
    size_t dropped_ = 0;
};

} // namespace gs
