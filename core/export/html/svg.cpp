#include "export/html/svg.h"

#include "export/html/markup.h"

#include <cmath>
#include <fmt/format.h>

namespace gs::html {

std::string coordinate(double value) {
    if (!std::isfinite(value))
        value = 0;
    std::string text = fmt::format("{:.2f}", value);
    while (text.back() == '0')
        text.pop_back();
    if (text.back() == '.')
        text.pop_back();
    return text == "-0" ? "0" : text;
}

void Svg::block(std::string_view css_class, double x, double y, double width, double height) {
    auto found = blocks_.find(css_class);
    if (found == blocks_.end())
        found = blocks_.emplace(std::string(css_class), std::string()).first;
    const std::string w = coordinate(width);
    found->second += fmt::format("M{} {}h{}v{}h-{}z", coordinate(x), coordinate(y), w, coordinate(height), w);
}

void Svg::rect(std::string_view css_class, double x, double y, double width, double height,
               std::string_view tooltip, double radius) {
    shapes_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", css_class,
                           coordinate(x), coordinate(y), coordinate(width), coordinate(height));
    if (radius > 0)
        shapes_ += fmt::format(" rx=\"{}\"", coordinate(radius));
    shapes_ +=
        tooltip.empty() ? std::string("/>\n") : fmt::format("><title>{}</title></rect>\n", escape(tooltip));
}

void Svg::line(std::string_view css_class, double x1, double y1, double x2, double y2) {
    shapes_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", css_class,
                           coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
}

void Svg::path(std::string_view css_class, std::string_view d) {
    shapes_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, d);
}

void Svg::text(std::string_view css_class, double x, double y, std::string_view data,
               std::string_view anchor) {
    shapes_ += fmt::format(
        "<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>\n", css_class, coordinate(x), coordinate(y),
        anchor == "start" ? std::string() : fmt::format(" text-anchor=\"{}\"", anchor), escape(data));
}

std::string Svg::body() const {
    std::string out;
    for (const auto& [css_class, d] : blocks_)
        out += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, d);
    return out + shapes_;
}

std::string Svg::element() const {
    return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                       coordinate(width_), coordinate(height_), escape(title_), body());
}

std::string Svg::document(std::string_view css) const {
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n"
        "<style>{3}</style>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n{4}</svg>\n",
        coordinate(width_), coordinate(height_), escape(title_), css, body());
}

} // namespace gs::html
