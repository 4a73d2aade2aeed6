// Progress on stderr, one line that is rewritten.
#pragma once

#include "base/progress.h"

#include <fmt/format.h>

namespace gs {

class StderrProgress : public ProgressSink {
public:
    void report(std::string_view stage, double fraction) override {
        fmt::print(stderr, "\r\x1b[K{:3.0f} % {}", fraction * 100, stage);
        if (fraction >= 1.0)
            fmt::print(stderr, "\r\x1b[K");
    }
};

} // namespace gs
