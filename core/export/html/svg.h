// A small writer of SVG: shapes by CSS class, so that one picture follows light and dark.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gs::html {

/// Coordinates are pixels with two decimals. Shapes of one class that have no tooltip share one path.
class Svg {
public:
    Svg(double width, double height, std::string_view title)
        : width_(width), height_(height), title_(title) {}

    /// A rectangle that is part of its class' path: thousands of them stay small.
    void block(std::string_view css_class, double x, double y, double width, double height);
    /// A rectangle of its own, with a tooltip (data).
    void rect(std::string_view css_class, double x, double y, double width, double height,
              std::string_view tooltip = {}, double radius = 0);
    void line(std::string_view css_class, double x1, double y1, double x2, double y2);
    /// `d` is a path of this program's making.
    void path(std::string_view css_class, std::string_view d);
    /// `anchor`: "start", "middle", "end". The text is data.
    void text(std::string_view css_class, double x, double y, std::string_view data,
              std::string_view anchor = "start");

    /// As part of an HTML page, which has the styles.
    std::string element() const;
    /// As a file of its own.
    std::string document(std::string_view css) const;

private:
    std::string body() const;

    double width_, height_;
    std::string title_;
    std::map<std::string, std::string, std::less<>> blocks_; ///< path by class
    std::string shapes_;
};

/// A coordinate as SVG wants it: at most two decimals.
std::string coordinate(double value);

} // namespace gs::html
