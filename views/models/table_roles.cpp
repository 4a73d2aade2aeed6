#include "views/models/table_roles.h"

#include <QCoreApplication>

namespace gs {

ProvenanceText provenanceText(Provenance provenance) {
    const auto tr = [](const char* text) { return QCoreApplication::translate("Provenance", text); };
    switch (provenance) {
    case Provenance::Structural:
        return {QString(), tr("structural"), tr("Zero by definition: the node does no work.")};
    case Provenance::User:
        return {QStringLiteral("U"), tr("user"), tr("Edited by hand.")};
    case Provenance::Measured:
        return {QStringLiteral("M"), tr("measured"), tr("Measured on a device.")};
    case Provenance::Reused:
        return {QStringLiteral("R"), tr("reused"), tr("Measured in an earlier run and reused.")};
    case Provenance::Imported:
        return {QStringLiteral("F"), tr("imported"), tr("Read from a file.")};
    case Provenance::Interpolated:
        return {QStringLiteral("I"), tr("interpolated"), tr("Between two measured sizes of the same op.")};
    case Provenance::Extrapolated:
        return {QStringLiteral("E"), tr("extrapolated"), tr("Beyond the largest measured size: uncertain.")};
    case Provenance::Analytical:
        return {QStringLiteral("A"), tr("analytical"), tr("Computed by a model, not measured.")};
    case Provenance::Missing:
        return {QStringLiteral("?"), tr("missing"), tr("No source knows this cost; it counts as 0.")};
    }
    return {};
}

} // namespace gs
