#include "import/bundle_json.h"

#include "base/hash.h"
#include "import/json_nodes.h"

#include <bit>
#include <fmt/format.h>

namespace gs {

namespace {

namespace dom = simdjson::dom;

void mixElement(Hash64& hash, const dom::element& element);

/// `opener` and `closer` keep [[1],2] and [[1,2]] apart.
void mixMembers(Hash64& hash, const dom::element& element) {
    dom::object object;
    dom::array array;
    if (element.get(object) == simdjson::SUCCESS) {
        hash.text("{");
        for (const auto field : object) {
            hash.text(field.key);
            mixElement(hash, field.value);
        }
        hash.text("}");
    } else if (element.get(array) == simdjson::SUCCESS) {
        hash.text("[");
        for (const dom::element item : array)
            mixElement(hash, item);
        hash.text("]");
    }
}

void mixElement(Hash64& hash, const dom::element& element) {
    std::string_view text;
    int64_t number = 0;
    uint64_t large = 0;
    double real = 0;
    bool truth = false;
    if (element.get(text) == simdjson::SUCCESS)
        hash.text("s").text(text);
    else if (element.is_int64() && element.get(number) == simdjson::SUCCESS)
        hash.text("i").number(number);
    else if (element.is_uint64() && element.get(large) == simdjson::SUCCESS)
        hash.text("u").number(std::bit_cast<int64_t>(large));
    else if (element.is_double() && element.get(real) == simdjson::SUCCESS)
        hash.text("d").number(std::bit_cast<int64_t>(real));
    else if (element.get(truth) == simdjson::SUCCESS)
        hash.text(truth ? "true" : "false");
    else if (element.is_null())
        hash.text("null");
    else
        mixMembers(hash, element);
}

} // namespace

std::string bundlePartHash(const dom::element& part) {
    Hash64 hash;
    mixElement(hash, part);
    return hexDigits(hash.value());
}

void checkBundleParts(const dom::object& root, std::span<const std::string_view> parts,
                      const std::string& path, Diagnostics& diagnostics) {
    for (const std::string_view part : parts) {
        dom::element value;
        std::string_view stated;
        const bool there = root[part].get(value) == simdjson::SUCCESS;
        size_t times = 0; // programs differ in which of several they read
        for (const auto field : root)
            times += field.key == part ? 1 : 0;
        const bool known = root["hashes"]["parts"][part].get(stated) == simdjson::SUCCESS;
        if (times == 1 && known && stated == bundlePartHash(value))
            continue;
        diagnostics.add({Severity::Warning,
                         std::string(kBundleEdited),
                         {path, 1, 0},
                         {},
                         fmt::format("\"{}\" of the bundle {}", part,
                                     !there      ? "is not there"
                                     : times > 1 ? "stands there several times"
                                     : known     ? "is not as it was written: its hash is another one"
                                                 : "has no hash"),
                         "the file was changed by hand or by another program"});
    }
}

Status checkBundleVersion(const dom::object& root, const std::string& path) {
    const int64_t version = intOr(root, "version", 0);
    if (version == kBundleVersion)
        return Unit{};
    return Error{"bundle-version",
                 fmt::format("{}: the bundle states version {}; this program knows version {}", path, version,
                             kBundleVersion),
                 {path, 1, 0},
                 "open it with the program that wrote it, or export it again"};
}

void readDiagnostics(const dom::object& root, std::string_view key, Diagnostics& diagnostics) {
    dom::array items;
    if (root[key].get(items) != simdjson::SUCCESS)
        return;
    for (const dom::element item : items) {
        dom::object object, where;
        if (item.get(object) != simdjson::SUCCESS)
            continue;
        const std::string_view severity = stringOr(object, "severity");
        Diagnostic diagnostic{severity == "error"     ? Severity::Error
                              : severity == "warning" ? Severity::Warning
                                                      : Severity::Info,
                              std::string(stringOr(object, "code")),
                              {},
                              std::string(stringOr(object, "node")),
                              std::string(stringOr(object, "message")),
                              std::string(stringOr(object, "hint"))};
        if (object["where"].get(where) == simdjson::SUCCESS)
            diagnostic.where = {std::string(stringOr(where, "file")),
                                static_cast<uint32_t>(intOr(where, "line", 0)),
                                static_cast<uint32_t>(intOr(where, "column", 0))};
        diagnostics.add(std::move(diagnostic));
    }
}

} // namespace gs
