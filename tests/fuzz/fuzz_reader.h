// One run of a fuzzer: a reader lists and reads whatever it finds in the text. Nothing may crash, and what is
// read must be a graph that its own order does not break.
#pragma once

#include "graph/collectives.h"
#include "import/importer.h"

#include <cstdlib>
#include <string_view>

namespace gs::fuzz {

/// Reads up to three graphs of each reader named; an empty name stands for all of them, with the choice of
/// one.
inline int run(const uint8_t* data, size_t size, std::initializer_list<std::string_view> readers) {
    const InputText input{"fuzz", std::string(reinterpret_cast<const char*>(data), size)};
    if (input.text.empty())
        return 0;
    for (const GraphReader& reader : graphReaders()) {
        for (const std::string_view name : readers) {
            if (reader.name != name)
                continue;
            size_t count = 0;
            for (const GraphEntry& entry : reader.list(input)) {
                if (entry.offset + entry.length > input.text.size())
                    std::abort();
                if (++count > 3)
                    break;
                Diagnostics diagnostics;
                const Result<GraphPtr> graph = reader.read(input, entry, diagnostics, {});
                if (!graph)
                    continue;
                const CollectiveTable collectives(*graph.value());
                if (findBrokenEdge(*graph.value(), identityOrder(*graph.value())))
                    std::abort();
            }
        }
    }
    return 0;
}

} // namespace gs::fuzz
