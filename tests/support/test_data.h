// Where tests find their inputs: the full corpus in ../shared/corpus where it is, else the share of it in
// tests/data.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gs::test {

/// Path of a corpus file ("graphs/mlp4_fsdp8_joint.json"), plain or with .gz added; nothing if neither place
/// has it. A missing file is printed once as "NOT RUN: …", so that a plain clone says what it could not
/// check.
std::optional<std::string> corpusPath(const std::string& relative);
/// Names (without .json[.gz]) of all graphs at hand, sorted.
std::vector<std::string> corpusGraphs();
/// Path of ../shared/cases/RELATIVE, if that folder is there.
std::optional<std::string> casePath(const std::string& relative);
/// A file of tests/data, which is always there.
std::string testDataPath(const std::string& relative);
/// Whole file, decompressed if it is gzip.
std::string readAll(const std::string& path);
/// Lines of a (compressed) text file.
std::vector<std::string> readLines(const std::string& path);

} // namespace gs::test
