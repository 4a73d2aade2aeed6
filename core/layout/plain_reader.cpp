#include "layout/plain_reader.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace gs {

namespace {

constexpr double kPointsPerInch = 72.0;
constexpr size_t kMaxPoints = 10000; ///< of one link; dot's own splines have a few dozen

/// Words of one line.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line) {}

    std::string_view next() {
        const size_t begin = rest_.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) {
            rest_ = {};
            return {};
        }
        const size_t end = std::min(rest_.find_first_of(" \t\r", begin), rest_.size());
        const std::string_view word = rest_.substr(begin, end - begin);
        rest_.remove_prefix(end);
        return word;
    }
    bool number(double& value) {
        const std::string_view word = next();
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        return error == std::errc() && end == word.data() + word.size() && std::isfinite(value) &&
               std::abs(value) < 1e7;
    }
    /// "n12" → 12, below `limit`.
    bool box(uint32_t& index, size_t limit) {
        const std::string_view word = next();
        if (word.size() < 2 || word[0] != 'n')
            return false;
        const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), index);
        return error == std::errc() && end == word.data() + word.size() && index < limit;
    }

private:
    std::string_view rest_;
};

class PlainReader {
public:
    explicit PlainReader(const LayoutGraph& picture) : picture_(picture) {
        out_.boxes.resize(picture.boxes.size());
        out_.links.resize(picture.links.size());
        seen_.resize(picture.boxes.size(), false);
        for (uint32_t i = 0; i < picture.links.size(); ++i)
            open_[{picture.links[i].from, picture.links[i].to}].push_back(i);
    }

    Result<Placement> read(std::string_view text) {
        uint32_t line = 0;
        bool stopped = false;
        while (!text.empty() && !stopped) {
            const size_t end = std::min(text.find('\n'), text.size());
            Words words(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
            ++line;
            const std::string_view kind = words.next();
            if (kind == "stop")
                stopped = true;
            else if (!(kind == "graph"  ? readGraph(words)
                       : kind == "node" ? has_graph_ && readBox(words)
                       : kind == "edge" ? has_graph_ && readLink(words)
                                        : kind.empty()))
                return error(fmt::format("line {} is not understood", line));
        }
        if (!stopped)
            return error("it ends in the middle");
        if (boxes_ != picture_.boxes.size() || links_ != picture_.links.size())
            return error(fmt::format("it has {} of {} boxes and {} of {} links", boxes_,
                                     picture_.boxes.size(), links_, picture_.links.size()));
        return std::move(out_);
    }

private:
    static Error error(const std::string& what) {
        return {"bad-layout", "Graphviz answered something that is no layout: " + what, {}, {}};
    }

    bool readGraph(Words& words) {
        double scale = 0;
        if (has_graph_ || !words.number(scale) || !words.number(out_.width) || !words.number(out_.height) ||
            out_.width < 0 || out_.height < 0)
            return false;
        out_.width *= kPointsPerInch;
        out_.height *= kPointsPerInch;
        has_graph_ = true;
        return true;
    }

    bool readPoint(Words& words, LayoutPoint& point) {
        if (!words.number(point.x) || !words.number(point.y))
            return false;
        point.x *= kPointsPerInch;
        point.y = out_.height - point.y * kPointsPerInch; // dot's y grows upwards
        return true;
    }

    bool readBox(Words& words) {
        uint32_t index = 0;
        LayoutPoint centre;
        double width = 0, height = 0;
        if (!words.box(index, seen_.size()) || seen_[index] || !readPoint(words, centre) ||
            !words.number(width) || !words.number(height) || width < 0 || height < 0)
            return false;
        width *= kPointsPerInch;
        height *= kPointsPerInch;
        seen_[index] = true;
        ++boxes_;
        out_.boxes[index] = {centre.x - width / 2, centre.y - height / 2, width, height};
        return true;
    }

    bool readLink(Words& words) {
        uint32_t from = 0, to = 0;
        double count = 0;
        if (!words.box(from, seen_.size()) || !words.box(to, seen_.size()) || !words.number(count) ||
            count < 4 || count > static_cast<double>(kMaxPoints) || static_cast<size_t>(count) % 3 != 1)
            return false;
        const auto links = open_.find({from, to});
        if (links == open_.end() || links->second.empty())
            return false;
        std::vector<LayoutPoint>& points = out_.links[links->second.front()];
        links->second.erase(links->second.begin());
        points.resize(static_cast<size_t>(count));
        for (LayoutPoint& point : points) {
            if (!readPoint(words, point))
                return false;
        }
        ++links_;
        return true;
    }

    const LayoutGraph& picture_;
    Placement out_;
    std::vector<bool> seen_;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> open_; ///< ends → links not read yet
    bool has_graph_ = false;
    size_t boxes_ = 0, links_ = 0;
};

} // namespace

Result<Placement> readPlain(std::string_view text, const LayoutGraph& picture) {
    return PlainReader(picture).read(text);
}

} // namespace gs
