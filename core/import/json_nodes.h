// Turns parsed JSON nodes of `gatherscope.graph` into graph nodes.
#pragma once

#include "graph/graph_builder.h"

#include <memory>
#include <simdjson.h>
#include <string>

namespace gs {

/// Text or integer under `key`, or the fallback where it is absent or of another type.
inline std::string_view stringOr(const simdjson::dom::object& object, std::string_view key,
                                 std::string_view fallback = {}) {
    std::string_view text;
    return object[key].get(text) == simdjson::SUCCESS ? text : fallback;
}

inline int64_t intOr(const simdjson::dom::object& object, std::string_view key, int64_t fallback) {
    int64_t number = 0;
    return object[key].get(number) == simdjson::SUCCESS ? number : fallback;
}

/// Wrong types inside a node become diagnostics of the builder, never lost silently.
class JsonNodeReader {
public:
    JsonNodeReader(GraphBuilder& builder, std::string file);
    ~JsonNodeReader();
    JsonNodeReader(const JsonNodeReader&) = delete;
    JsonNodeReader& operator=(const JsonNodeReader&) = delete;

    /// Adds one node. `line`: its line in the file, 0 if not known.
    void read(const simdjson::dom::element& element, uint32_t line);

private:
    class Converter;
    std::unique_ptr<Converter> converter_;
};

} // namespace gs
