// Facts under a headline, as rich text for a tooltip.
#pragma once

#include <QString>

#include <string_view>

namespace gs {

inline QString fromView(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// A two-column table; facts without a value are left out.
class Facts {
public:
    explicit Facts(const QString& headline)
        : html_(QStringLiteral("<b>%1</b><table cellspacing='0'>").arg(headline.toHtmlEscaped())) {}

    void add(const QString& name, const QString& value) {
        if (!value.isEmpty())
            html_ += QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td>%2</td></tr>")
                         .arg(name.toHtmlEscaped(), value.toHtmlEscaped());
    }
    QString html() const { return html_ + QStringLiteral("</table>"); }

private:
    QString html_;
};

} // namespace gs
