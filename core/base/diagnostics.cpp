#include "base/diagnostics.h"

#include <algorithm>

namespace gs {

void Diagnostics::add(Diagnostic diagnostic) {
    const auto same = std::count_if(items_.begin(), items_.end(),
                                    [&](const Diagnostic& item) { return item.code == diagnostic.code; });
    if (static_cast<size_t>(same) >= kMaxPerCode) {
        ++dropped_;
        return;
    }
    items_.push_back(std::move(diagnostic));
}

void Diagnostics::append(const Diagnostics& other) {
    for (const Diagnostic& item : other.items_)
        add(item);
    dropped_ += other.dropped_;
}

bool Diagnostics::hasErrors() const {
    return std::any_of(items_.begin(), items_.end(),
                       [](const Diagnostic& item) { return item.severity == Severity::Error; });
}

} // namespace gs
