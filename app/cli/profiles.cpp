#include "app/cli/profiles.h"

#include "app/cli/commands.h"
#include "app/cli/exit_codes.h"
#include "app/cli/options.h"
#include "base/units.h"
#include "cost/profile_compare.h"
#include "cost/profile_store.h"

#include <QDateTime>
#include <fmt/format.h>

namespace gs {

namespace {

std::string timeText(int64_t unix_time_s) {
    return QDateTime::fromSecsSinceEpoch(unix_time_s, Qt::UTC).toString("yyyy-MM-dd HH:mm").toStdString();
}

int failed(const Error& error) {
    printError(error);
    return exitCodeFor(error);
}

std::string nsText(int64_t ns) {
    return ns < 0 ? "-" : formatMicros(ns, 1);
}

void printContention(const char* name, const Profile& profile) {
    if (profile.contention.empty())
        return;
    const MeasuredContention measured = overallContention(profile);
    printLines(fmt::format("{}: beside compute transfers take ×{:.3g}, compute ×{:.3g} ({} points)\n", name,
                           measured.factor, measured.compute_slowdown, profile.contention.size()));
}

void printComparison(const Profile& a, const Profile& b) {
    for (const auto& [name, profile] : {std::pair("A", &a), std::pair("B", &b)})
        printLines(fmt::format("{}  profile {}: {}, {}, {} rank(s), {}\n", name, profile->id, profile->device,
                               profile->backend, profile->ranks, timeText(profile->unix_time_s)));
    printLines(fmt::format("{:>12} {:>12} {:>7} {:>6}  {}\n", "A µs", "B µs", "B÷A", "calls", "op"));
    size_t both = 0, only_a = 0, only_b = 0;
    int64_t step_a = 0, step_b = 0;
    for (const ProfileDifference& row : compareProfiles(a, b)) {
        printLines(fmt::format("{:>12} {:>12} {:>7} {:>6}  {} {}\n", nsText(row.a_ns), nsText(row.b_ns),
                               row.inBoth() ? fmt::format("{:.3f}", row.ratio()) : "-", row.calls, row.kind,
                               row.label.empty() ? row.key : row.label));
        both += row.inBoth();
        only_a += row.b_ns < 0;
        only_b += row.a_ns < 0;
        if (row.inBoth()) {
            step_a += row.a_ns * row.calls;
            step_b += row.b_ns * row.calls;
        }
    }
    printLines(fmt::format("{} in both, {} only in A, {} only in B\n", both, only_a, only_b));
    if (step_a > 0)
        printLines(fmt::format("what both know, all calls: {} → {} ({})\n", formatTime(step_a),
                               formatTime(step_b),
                               formatPercent(double(step_b - step_a) / double(step_a), true)));
    printContention("A", a);
    printContention("B", b);
}

} // namespace

int listProfiles(const QString& path) {
    if (path.isEmpty())
        return failed({"usage", "list profiles needs --store FILE", {}, ""});
    const auto store = ProfileStore::openReadOnly(path.toStdString());
    if (!store)
        return failed(store.error());
    const auto list = store->list();
    if (!list)
        return failed(list.error());
    printLines(fmt::format("{:>7}  {:16}  {:28} {:8} {:>5} {:>7} {:>10}  {}\n", "profile", "measured (UTC)",
                           "device", "backend", "ranks", "entries", "contention", "graph"));
    for (const ProfileSummary& item : list.value()) {
        std::string contention = "-";
        if (item.contention_points > 0) {
            const auto profile = store->read(item.id);
            if (!profile)
                return failed(profile.error());
            contention = fmt::format("×{:.3g}", overallContention(profile.value()).factor);
        }
        printLines(fmt::format("{:>7}  {:16}  {:28} {:8} {:>5} {:>7} {:>10}  {}\n", item.id,
                               timeText(item.unix_time_s), item.device, item.backend, item.ranks,
                               item.entries, contention, item.graph_name));
    }
    return kExitDone;
}

int compareStoredProfiles(const QStringList& arguments) {
    QStringList joined = arguments;
    const auto at = joined.indexOf("--profiles");
    if (at + 2 >= joined.size())
        return failed({"usage", "--profiles takes two profiles, as --profiles 3 latest", {}, ""});
    const std::string names[] = {joined[at + 1].toStdString(), joined[at + 2].toStdString()};
    joined.remove(at, 3);
    QCommandLineParser parser;
    parser.setApplicationDescription("Shows two profiles of a store side by side.");
    parser.addOption({"store", "Profile store.", "FILE"});
    if (const int code = parseArguments(parser, joined, 0); code >= 0)
        return code;
    if (!parser.isSet("store") || !parser.positionalArguments().isEmpty())
        return failed({"usage", "compare --profiles A B needs --store FILE and no graph", {}, ""});
    const auto store = ProfileStore::openReadOnly(parser.value("store").toStdString());
    if (!store)
        return failed(store.error());
    const auto a = store->find(names[0]);
    if (!a)
        return failed(a.error());
    const auto b = store->find(names[1]);
    if (!b)
        return failed(b.error());
    printComparison(a.value(), b.value());
    return kExitDone;
}

} // namespace gs
