// Folders that torch and tlparse write: TORCH_TRACE (one log a rank), tlparse's output (a folder a
// compilation), TORCH_COMPILE_DEBUG (a folder a graph with fx_graph_readable.py, ir_post_fusion.txt,
// output_code.py, …).
#include "import/companions.h"
#include "import/graph_list.h"
#include "import/text_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace fs = std::filesystem;

namespace gs {

namespace {

constexpr size_t kMaxFiles = 20000; ///< a folder of more files is not one of these
constexpr int kMaxDepth = 6;
constexpr size_t kMaxNamed = 3; ///< files with a fault in the message that there is no graph

bool endsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

constexpr std::string_view kOutputCode = "inductor_output_code";

bool isDigits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Files that can hold no graph, or hold what other files of the folder hold too.
bool isSkipped(const std::string& name) {
    if (name.front() == '.')
        return true;
    if (name.rfind(kOutputCode, 0) == 0)
        return false; // tlparse writes it as a page
    for (const char* end : {".html", ".png", ".svg", ".so", ".o", ".cubin", ".pt", ".pkl", ".css", ".js"}) {
        if (endsWith(name, end))
            return true;
    }
    for (const char* start : {"raw.json", "chromium_", "compile_directory", "dynamo_cpp_guards", "index."}) {
        if (name.rfind(start, 0) == 0)
            return true;
    }
    return false;
}

/// "aot_forward_graph_7.txt" → "aot_forward_graph" and 7 (-1 if the name has no number).
std::pair<std::string, int> stageOfFile(const fs::path& path) {
    std::string name = path.filename().string();
    for (const char* end : {".gz", ".txt", ".py", ".log", ".json", ".fx", ".html"}) {
        if (endsWith(name, end))
            name.resize(name.size() - std::string_view(end).size());
    }
    const size_t mark = name.rfind('_');
    if (mark == std::string::npos || !isDigits(std::string_view(name).substr(mark + 1)) ||
        name.size() - mark > 7)
        return {name, -1};
    const int number = std::stoi(name.substr(mark + 1));
    if (name.rfind(kOutputCode, 0) == 0) // a hash is between
        return {std::string(kOutputCode), number};
    return {name.substr(0, mark), number};
}

/// tlparse names the folder of compilation [0/0_1] "-_0_0_1"; "[!1/0/0]" is "1_0_0_0". Empty if it is none.
std::string compileIdOfFolder(std::string_view name) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= name.size();) {
        const size_t end = std::min(name.find('_', at), name.size());
        parts.emplace_back(name.substr(at, end - at));
        at = end + 1;
    }
    if (parts.size() < 3 || parts.size() > 4 || (parts[0] != "-" && !isDigits(parts[0])) ||
        !isDigits(parts[1]) || !isDigits(parts[2]) || (parts.size() == 4 && !isDigits(parts[3])))
        return {};
    std::string id = parts[0] == "-" ? "" : "!" + parts[0] + "/";
    id += parts[1] + "/" + parts[2];
    return parts.size() == 4 && parts[3] != "0" ? id + "_" + parts[3] : id;
}

struct FolderFile {
    fs::path path;
    std::string compile_id; ///< of its folder
    int32_t rank = -1;      ///< of its name or folder
    std::string stage;
    int number = -1;
};

void collect(const fs::path& folder, int depth, std::vector<FolderFile>& files) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end && files.size() < kMaxFiles;
         it.increment(error)) {
        std::error_code ignored;
        const std::string name = it->path().filename().string();
        if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
            if (depth < kMaxDepth && name != "payloads" && name.front() != '.')
                collect(it->path(), depth + 1, files);
        } else if (it->is_regular_file(ignored) && !isSkipped(name)) {
            const auto [stage, number] = stageOfFile(it->path());
            files.push_back({it->path(), compileIdOfFolder(folder.filename().string()),
                             rankOfPath(it->path()), stage, number});
        }
    }
}

/// A graph of one file of the folder: what its text does not say, the names of the file and its folder do.
void describeEntry(GraphEntry& entry, const FolderFile& file, bool only_one) {
    entry.file = file.path.string();
    if (entry.rank < 0)
        entry.rank = file.rank;
    if (entry.compile_id.empty())
        entry.compile_id = file.compile_id;
    if (!only_one || !entry.stage.empty())
        return;
    entry.stage = file.stage;
    entry.name = file.stage;
    if (!entry.compile_id.empty())
        entry.name += fmt::format(" [{}]", entry.compile_id);
}

bool isRankLog(const FolderFile& file) {
    return file.rank >= 0 && file.path.filename().string().find(".log") != std::string::npos;
}

/// What is wrong with one file is no reason not to show the others.
void reportFile(const FolderFile& file, const char* code, std::string message, std::string hint,
                Diagnostics& diagnostics) {
    diagnostics.add(
        {Severity::Warning, code, {file.path.string(), 0, 0}, {}, std::move(message), std::move(hint)});
}

/// The message without the path in front of it: the place says it already.
std::string withoutPath(const Error& error, const FolderFile& file) {
    const std::string start = file.path.string() + ": ";
    return error.message.starts_with(start) ? error.message.substr(start.size()) : error.message;
}

/// Some logs state rank 0 on every rank; the names of their files tell them apart.
void separateRanks(FolderContent& content, const std::vector<FolderFile>& files, Diagnostics& diagnostics) {
    std::set<std::pair<std::string, int32_t>> stated; // file, rank
    std::set<int32_t> ranks;
    std::set<std::string> names;
    for (const Candidate& candidate : content.candidates) {
        if (candidate.entry.rank < 0)
            continue;
        stated.emplace(candidate.entry.file, candidate.entry.rank);
        ranks.insert(candidate.entry.rank);
        names.insert(candidate.entry.file);
    }
    const auto isLog = [](const FolderFile& file) {
        return file.path.string().find(".log") != std::string::npos;
    };
    bool changed = false;
    if (ranks.size() == 1 && names.size() > 1) {
        for (Candidate& candidate : content.candidates) {
            const auto file = std::find_if(files.begin(), files.end(), [&](const FolderFile& item) {
                return item.path.string() == candidate.entry.file;
            });
            if (file == files.end() || file->rank < 0 || file->rank == candidate.entry.rank || !isLog(*file))
                continue;
            candidate.entry.rank = file->rank;
            changed = true;
        }
    }
    for (Companion& item : content.companions) {
        const int32_t named = rankOfPath(std::filesystem::path(item.file).filename());
        item.rank = changed && named >= 0 ? named : item.rank;
    }
    if (changed)
        diagnostics.add({Severity::Warning,
                         "ranks-by-name",
                         {},
                         {},
                         fmt::format("all logs state rank {}: their ranks are taken from their file names",
                                     *ranks.begin()),
                         "check that each log is of the rank its name says"});
}

std::string noGraphText(const std::string& path, size_t files, const Diagnostics& diagnostics) {
    if (files == 0)
        return fmt::format("{}: this folder holds no file that can be a graph", path);
    std::string text = fmt::format("{}: none of the {} files of this folder holds a graph", path, files);
    size_t named = 0;
    for (const Diagnostic& item : diagnostics.all()) {
        if (item.where.file.empty() || named == kMaxNamed)
            continue;
        ++named;
        text += fmt::format("; {}: {}", fs::path(item.where.file).filename().string(), item.message);
    }
    return text;
}

} // namespace

int32_t rankOfPath(const fs::path& path) {
    int32_t found = -1;
    for (const fs::path& part : path) {
        const std::string name = part.string();
        for (size_t at = name.find("rank"); at != std::string::npos; at = name.find("rank", at + 1)) {
            size_t from = at + 4;
            if (from < name.size() && (name[from] == '_' || name[from] == '-'))
                ++from;
            size_t end = from;
            while (end < name.size() && end - from < 6 && name[end] >= '0' && name[end] <= '9')
                ++end;
            if (end > from)
                found = std::stoi(name.substr(from, end - from));
        }
    }
    return found;
}

Result<FolderContent> readFolder(const std::string& path, Diagnostics& diagnostics, const JobContext& job) {
    std::vector<FolderFile> files;
    collect(path, 0, files);
    std::sort(files.begin(), files.end(), [](const FolderFile& a, const FolderFile& b) {
        return std::tie(a.rank, a.compile_id, a.number, a.path) <
               std::tie(b.rank, b.compile_id, b.number, b.path);
    });
    FolderContent content;
    for (const FolderFile& file : files) {
        if (job.cancelled())
            return Error{"cancelled", "cancelled", {}, ""};
        job.report("looking into files",
                   static_cast<double>(content.files++) / static_cast<double>(files.size()));
        if (auto companion = companionByName(file.path.string())) {
            companion->rank = file.rank;
            if (companion->compile_id.empty())
                companion->compile_id = file.compile_id;
            content.companions.push_back(std::move(*companion));
            continue;
        }
        Diagnostics reading;
        const Result<InputText> input = readInput(file.path.string(), reading);
        if (!input) {
            // an empty file is a fault only where a rank should have written something
            if (input.error().code != "empty-file" || isRankLog(file))
                reportFile(file, "unreadable-file", withoutPath(input.error(), file), input.error().hint,
                           diagnostics);
            continue;
        }
        for (const Diagnostic& item : reading.all())
            reportFile(file, "cut-file", item.message, item.hint, diagnostics);
        std::vector<Candidate> found = findCandidates(input.value());
        if (found.empty() && isRankLog(file))
            reportFile(file, "no-graph-in-log", "this log holds no graph", "did this rank compile anything?",
                       diagnostics);
        for (Candidate& candidate : found) {
            describeEntry(candidate.entry, file, found.size() == 1);
            content.candidates.push_back(std::move(candidate));
        }
        std::vector<Companion> inside = companionsInLog(input.value());
        content.companions.insert(content.companions.end(), inside.begin(), inside.end());
    }
    if (content.candidates.empty())
        return Error{"not-a-graph",
                     noGraphText(path, files.size(), diagnostics),
                     {path, 0, 0},
                     "open a folder of TORCH_TRACE logs, the output folder of tlparse, or one graph file"};
    separateRanks(content, files, diagnostics);
    std::stable_sort(content.candidates.begin(), content.candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.entry.rank < b.entry.rank; });
    return content;
}

} // namespace gs
