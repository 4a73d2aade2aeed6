#include "app/grab_dialogs.h"

#include "app/export/export_dialog.h"
#include "app/profile/profile_dialog.h"
#include "app/profile/profile_setup.h"
#include "app/profile/worker_profile_job.h"
#include "app/text.h"
#include "base/hash.h"
#include "views/profile/profile_comparison.h"

#include <QPushButton>

namespace gs {

namespace {

constexpr QSize kComparisonSize(960, 620);

DeviceFacts gpu() {
    DeviceFacts facts;
    facts.name = "NVIDIA H200";
    facts.driver = "570.86";
    facts.memory_bytes = 150'120'000'000;
    return facts;
}

DeviceFacts processors() {
    DeviceFacts facts;
    facts.name = "AMD EPYC 9B14, 16 cores";
    facts.memory_bytes = 128LL << 30;
    return facts;
}

/// A machine with processors only.
ProbeReport plainMachine() {
    ProbeReport report;
    report.mpirun = QStringLiteral("/usr/bin/mpirun");
    report.backends = {
        {"cuda", "NVIDIA devices: cuBLASLt, generated kernels, NCCL", {}, "no CUDA driver was found"},
        {"host", "the processors of this machine, by oneDNN and MPI", {processors()}, ""},
        {"aten", "any operator of PyTorch, by libtorch", {}, "this build has no libtorch"}};
    return report;
}

ProbeReport gpuMachine() {
    ProbeReport report = plainMachine();
    report.srun = QStringLiteral("/usr/bin/srun");
    report.backends[0] = {
        report.backends[0].name, report.backends[0].meaning, {gpu(), gpu(), gpu(), gpu()}, ""};
    return report;
}

ProbeReport bareMachine() {
    ProbeReport report = plainMachine();
    report.mpirun.clear();
    return report;
}

/// Costs of the snapshot as a device with its own mind would measure them.
Profile madeUpProfile(const Analysis& analysis, const char* seed = "") {
    Profile profile;
    profile.device = "NVIDIA H200";
    profile.driver = "570.86";
    profile.backend = "cuda";
    profile.ranks = 4;
    profile.mode = "identical";
    for (const CostEntry& entry : analysis.after.costs->entries()) {
        ProfileEntry measured;
        measured.key = entry.key;
        measured.kind = entry.kind;
        measured.label = entry.label;
        const auto dice = static_cast<int64_t>(Hash64().text(seed + entry.key).value() % 90);
        measured.ns = std::max<int64_t>(entry.ns, 4000) * (75 + dice) / 100;
        measured.samples = 10;
        measured.spread_ns = measured.ns / 60;
        measured.rank_skew_ns = measured.ns / 45;
        measured.calls = static_cast<int64_t>(entry.nodes.size());
        if (profile.entries.empty() || profile.entries.back().key != measured.key)
            profile.entries.push_back(measured);
    }
    std::sort(profile.entries.begin(), profile.entries.end(),
              [](const ProfileEntry& a, const ProfileEntry& b) { return a.key < b.key; });
    const auto last =
        std::unique(profile.entries.begin(), profile.entries.end(),
                    [](const ProfileEntry& a, const ProfileEntry& b) { return a.key == b.key; });
    profile.entries.erase(last, profile.entries.end());
    for (const int64_t scale : {1, 4, 16})
        profile.contention.push_back({"gather", "mm", scale << 24, 400'000 * scale,
                                      504'000 * scale + 9000 * scale, 350'000 * scale, 371'000 * scale});
    return profile;
}

/// Says what it is told to; only trying costs is real, once it may.
class MadeUpJob : public WorkerProfileJob {
public:
    using WorkerProfileJob::WorkerProfileJob;
    void tryCosts() { WorkerProfileJob::preview(profile_, contention_); }
    void preview(const Profile& profile, bool contention) override {
        profile_ = profile;
        contention_ = contention;
    }
    void probe() override {}
    void plan(const MeasureRequest&) override { emit planned(226); }
    void start(const MeasureRequest&) override {}
    void askAbout(const Error& store, bool busy) {
        if (!busy)
            return emit planFailed(store);
        emit storeBusy(store);
        emit planned(226);
    }
    void cancel() override { emit failed({{"cancelled", "the measurement was cancelled", {}, ""}, -1, {}}); }
    void store(const Profile&, const std::string&) override {
        emit storeFailed({"store-locked",
                          "another process (pid 4711, gatherscope-cli) writes into profiles.db",
                          {},
                          "try again when it has ended"});
    }

private:
    Profile profile_;
    bool contention_ = false;
};

void sayStores(MadeUpJob& job, const std::function<void(const char*)>& save) {
    job.askAbout(
        {"store-locked",
         "the profile store /data/you/gatherscope/profiles.db is locked by process 4711 (gatherscope-cli)",
         {},
         "try again when that one has ended"},
        true);
    save("ready-busy");
    job.askAbout({"not-a-profile-store",
                  "/data/you/gatherscope is a folder, no profile store",
                  {},
                  "name a file; the store is made on first use"},
                 false);
    save("ready-folder");
}

void sayProgress(MadeUpJob& job) {
    static const char* const kLabels[] = {
        "mm bf16[8192, 4096] × [4096, 6144]", "mm bf16[8192, 4096] × [4096, 6144]",
        "mm bf16[8192, 4096] × [4096, 6144]", "mm bf16[4096, 8192] × [8192, 6144]"};
    for (int rank = 0; rank < 4; ++rank) {
        HelloMessage hello;
        hello.ranks = 4;
        hello.host = "node7";
        hello.device = "NVIDIA H200";
        emit job.hello(rank, hello);
        ProgressMessage progress;
        progress.index = rank == 3 ? 22 : 23;
        progress.count = 36;
        progress.phase = "compute";
        progress.label = kLabels[rank];
        progress.eta_ns = 41'000'000'000 + rank * 700'000'000LL;
        emit job.progress(rank, progress);
    }
    for (int i = 0; i < 23; ++i)
        emit job.entry({});
    emit job.warning(2, {"not-supported", "aten._scaled_dot_product_flash_attention has no kernel here",
                         "its cost stays analytical"});
}

/// Exporters that no graph makes.
std::vector<ExportItem> oddItems() {
    static const Exporter kFails = {
        "fails", "A file that cannot be made", "json", [](const Analysis&, const ExportOptions&) {
            return Result<std::string>(Error{"unknown-target",
                                             "inductor cannot be written for torch-1.0",
                                             {},
                                             "known are: torch-2.9, torch-2.10, torch-2.15"});
        }};
    static const Exporter kEmpty = {
        "empty", "An empty file", "csv",
        [](const Analysis&, const ExportOptions&) { return Result<std::string>(""); }};
    static const Exporter kHuge = {
        "huge", "A file of many lines", "log", [](const Analysis&, const ExportOptions&) {
            std::string text;
            for (int i = 0; i < 200'000; ++i)
                text += "all_gather " + std::to_string(i) + " of 291: cur 1744 target 1711 hidden\n";
            return Result<std::string>(text);
        }};
    const QString group = QStringLiteral("Odd ones");
    std::vector<ExportItem> items;
    for (const Exporter* exporter : {&kFails, &kEmpty, &kHuge})
        items.push_back(
            {toQString(exporter->name), toQString(exporter->title), group, {}, exporter, nullptr});
    return items;
}

} // namespace

void grabExportDialog(const SnapshotPtr& snapshot, QWidget* window, const QString& name,
                      const GrabTools& tools) {
    ExportSource source;
    source.snapshot = snapshot;
    source.window = window;
    const auto grab = [&](ExportDialog& dialog, const QString& id) {
        dialog.choose(id);
        tools.wait([&] { return !dialog.busy(); });
        tools.settle();
        tools.save(dialog, name + QStringLiteral("-export-") + id);
    };
    ExportDialog dialog(source);
    dialog.show();
    for (const char* id :
         {"schedule", "inductor", "report", "timeline-svg", "bytes-svg", "gathers-csv", "picture-timeline"})
        grab(dialog, QString::fromLatin1(id));
    ExportDialog odd(source, oddItems());
    odd.show();
    for (const char* id : {"fails", "empty", "huge"})
        grab(odd, QString::fromLatin1(id));
}

void grabProfileComparison(const SnapshotPtr& snapshot, const QString& name, const GrabTools& tools) {
    ProfileComparison comparison;
    Profile a = madeUpProfile(*snapshot), b = madeUpProfile(*snapshot, "B");
    a.id = 3;
    b.id = 5;
    a.unix_time_s = 1'764'410'400;
    b.unix_time_s = 1'764'496'800;
    if (a.entries.size() > 9) {
        a.entries.erase(a.entries.begin() + 2);
        b.entries.erase(b.entries.begin() + 7);
    }
    comparison.setProfiles(a, b);
    comparison.resize(kComparisonSize);
    comparison.show();
    tools.settle();
    tools.save(comparison, name + QStringLiteral("-costs-profiles"));
}

void grabProfileDialog(const SnapshotPtr& snapshot, const QString& name, const GrabTools& tools) {
    auto owned = std::make_unique<MadeUpJob>(snapshot);
    MadeUpJob& job = *owned;
    ProfileDialog dialog(snapshot, std::move(owned));
    dialog.setup().setChoices({}, QStringLiteral("/data/you/gatherscope/profiles.db"));
    dialog.show();
    const auto save = [&](const char* state) {
        tools.settle();
        tools.save(dialog, name + QStringLiteral("-profile-") + QLatin1String(state));
    };
    save("probing");
    ProbeReport report = bareMachine();
    emit job.probed(report);
    save("missing");
    report.backends.clear();
    report.program =
        Error{"no-rank-program",
              "gatherscope-rank, the program that measures, is not there",
              {},
              "it is built where OpenMPI is found (Debian: apt install libopenmpi-dev openmpi-bin)"};
    emit job.probed(report);
    save("missing-program");
    emit job.probed(plainMachine());
    save("ready-host");
    emit job.probed(gpuMachine());
    save("ready");
    sayStores(job, save);
    emit job.planned(226);
    dialog.primaryButton()->click();
    save("starting");
    sayProgress(job);
    save("running");
    dialog.closeButton()->click();
    save("cancelled");
    emit job.failed({{"rank-died",
                      "rank 1 was ended by signal 9, at aten.mm.default bf16[8192, 4096] bf16[4096, 6144]",
                      {},
                      "costs and schedule are as they were"},
                     1,
                     "aten.mm.default bf16[8192, 4096] bf16[4096, 6144]"});
    save("failed");
    emit job.measured(madeUpProfile(*snapshot));
    save("analysing");
    job.tryCosts();
    tools.wait([&] { return dialog.state() == ProfileDialog::State::Diff; });
    save("diff");
    dialog.primaryButton()->click();
    save("store-locked");
}

} // namespace gs
