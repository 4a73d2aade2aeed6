// The lock-step engine with ranks as threads: agreement, equal tables and calls, everything that may fail.
#include "cost/analytical_model.h"
#include "cost/device_presets.h"
#include "import/importer.h"
#include "profile/lockstep.h"
#include "support/fake_backend.h"
#include "support/profile_graph.h"
#include "support/thread_plane.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <stdexcept>

using namespace gs;
using gs::test::FakeBackend;
using gs::test::FakeHooks;
using gs::test::profileGraphText;
using gs::test::ThreadControlPlane;

namespace {

struct RankRun {
    std::variant<LockstepResult, LockstepFailure> outcome;
    std::vector<MessageBody> said;
    std::map<std::string, int> ran; ///< operator → times

    const LockstepResult& result() const { return std::get<LockstepResult>(outcome); }
    const LockstepFailure& failure() const { return std::get<LockstepFailure>(outcome); }
    bool ok() const { return outcome.index() == 0; }
    size_t warnings(const std::string& code) const {
        return static_cast<size_t>(std::count_if(said.begin(), said.end(), [&](const MessageBody& body) {
            const auto* warning = std::get_if<WarningMessage>(&body);
            return warning && warning->code == code;
        }));
    }
};

/// How the ranks of one run differ.
struct World {
    int32_t ranks = 2;
    std::function<std::string(int32_t)> text = [](int32_t) { return profileGraphText(); };
    std::function<void(int32_t, FakeHooks&)> hooks;
    std::function<void(int32_t, LockstepJob&)> job;
    WorkOptions work;
};

LockstepJob makeJob(const World& world, int32_t rank) {
    LockstepJob job;
    const std::string text = world.text(rank);
    Diagnostics diagnostics;
    const Result<ImportedGraph> read = importText({"graph.json", text}, -1, -1, diagnostics, {});
    if (!read)
        qFatal("%s", read.error().message.c_str());
    job.offer = {
        "1.0",        "fake",      "contention=1\n",
        "graph.json", read->graph, [text] { return Result<InputText>(InputText{"graph.json", text}); }};
    const auto collectives = std::make_shared<CollectiveTable>(*read->graph);
    const CostModelPtr model = makeAnalyticalModel(*findDevicePreset("h100"));
    job.work = makeWorkList({{read->graph, collectives}}, world.ranks, *model, world.work);
    job.graph_name = "profiled";
    return job;
}

std::vector<RankRun> runWorld(const World& world) {
    std::vector<RankRun> runs(static_cast<size_t>(world.ranks));
    test::runRanks(world.ranks, [&](ThreadControlPlane& plane) {
        RankRun& run = runs[static_cast<size_t>(plane.rank())];
        FakeHooks hooks;
        if (world.hooks)
            world.hooks(plane.rank(), hooks);
        hooks.run = [&run, inner = hooks.run](const std::string& what) {
            ++run.ran[what];
            if (inner)
                inner(what);
        };
        FakeBackend backend(plane.rank(), hooks);
        LockstepJob job = makeJob(world, plane.rank());
        job.say = [&run](const MessageBody& body) { run.said.push_back(body); };
        if (world.job)
            world.job(plane.rank(), job);
        run.outcome = runLockstep(plane, backend, std::move(job));
    });
    return runs;
}

const ProfileEntry* entryOf(const LockstepResult& result, const std::string& part) {
    for (const ProfileEntry& entry : result.profile.entries) {
        if (entry.key.starts_with(part))
            return &entry;
    }
    return nullptr;
}

} // namespace

class TestLockstep : public QObject {
    Q_OBJECT

private slots:
    void tablesAndCallsAreEqual_data() {
        QTest::addColumn<int>("ranks");
        for (const int ranks : {1, 2, 4, 8})
            QTest::addRow("%d", ranks) << ranks;
    }

    void tablesAndCallsAreEqual() {
        QFETCH(int, ranks);
        World world;
        world.ranks = ranks;
        const std::vector<RankRun> runs = runWorld(world);
        for (const RankRun& run : runs) {
            QVERIFY2(run.ok(), run.ok() ? "" : run.failure().error.message.c_str());
            QCOMPARE(run.result().hash, runs[0].result().hash);
            QCOMPARE(run.result().profile.entries, runs[0].result().profile.entries);
            QCOMPARE(run.result().runs, runs[0].result().runs);
            QCOMPARE(run.ran, runs[0].ran);
            QCOMPARE(QString::fromStdString(run.result().profile.mode), QString("identical"));
        }
        const LockstepResult& result = runs[0].result();
        const ProfileEntry* mm = entryOf(result, "aten.mm");
        QVERIFY(mm);
        QCOMPARE(mm->calls, 2);
        QCOMPARE(mm->samples, 10);
        QCOMPARE(mm->rank_skew_ns, ranks == 1 ? -1 : 100 * (ranks - 1));
        QVERIFY(entryOf(result, "fused{"));
        QCOMPARE(entryOf(result, "fused{")->kind, "fused");
        QVERIFY(!entryOf(result, "aten.relu")); // inside the region
        const ProfileEntry* gather = entryOf(result, "all_gather");
        QVERIFY(gather);
        const Provenance expected = ranks == 1   ? Provenance::Analytical
                                    : ranks == 8 ? Provenance::Measured
                                                 : Provenance::Extrapolated;
        QCOMPARE(provenanceName(gather->provenance), provenanceName(expected));
        QCOMPARE(result.profile.contention.size(), size_t(ranks == 1 ? 0 : 1));
        if (ranks > 1)
            QVERIFY(result.profile.contention[0].factor() > 1.4);
        QVERIFY(!entryOf(result, "latency"));
    }

    void entriesAreSaidByRankZeroOnly() {
        const std::vector<RankRun> runs = runWorld({});
        const auto count = [](const RankRun& run) {
            return std::count_if(run.said.begin(), run.said.end(), [](const MessageBody& body) {
                return std::holds_alternative<EntryMessage>(body);
            });
        };
        QCOMPARE(size_t(count(runs[0])), runs[0].result().profile.entries.size());
        QCOMPARE(count(runs[1]), 0);
    }

    void scalingFollowsTheRing() {
        // 1 µs a step, 8 MB at 1 byte a ns: exact on both ends of the model.
        const auto ring = [](int64_t n) { return (n - 1) * 1000 + (n - 1) * 8'000'000 / n; };
        QCOMPARE(scaleCollective(CollectiveKind::AllGather, ring(2), 1000, 2, 8), ring(8));
        QCOMPARE(scaleCollective(CollectiveKind::ReduceScatter, ring(4), 1000, 4, 64), ring(64));
        QCOMPARE(scaleCollective(CollectiveKind::AllReduce, 2 * ring(2), 1000, 2, 8), 2 * ring(8));
        QCOMPARE(scaleCollective(CollectiveKind::Broadcast, 1000 + 500, 1000, 2, 8), int64_t(7000 + 500));
        QCOMPARE(stepTime(CollectiveKind::AllReduce, 6000, 4), 1000);
        // A probe that was held up for 36 ms does not make 5 µs into 252 ms.
        QCOMPARE(scaleCollective(CollectiveKind::AllGather, 5000, 36'000'000, 2, 8), int64_t(35'000));
    }

    void refusedOnOneRankIsAnalyticalOnAll() {
        World world;
        world.hooks = [](int32_t rank, FakeHooks& hooks) {
            hooks.prepare = [rank](const std::string& what) -> Status {
                if (rank == 1 && what == "aten.mm.default")
                    return Error{"would-not-fit", "it wants 80 GiB, 2 GiB are free", {}, ""};
                return Unit{};
            };
        };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(run.ok());
            const ProfileEntry* mm = entryOf(run.result(), "aten.mm");
            QCOMPARE(mm->provenance, Provenance::Analytical);
            QVERIFY(mm->ns > 0);
            QVERIFY2(mm->note.find("rank 1: it wants 80 GiB") != std::string::npos, mm->note.c_str());
            QVERIFY(run.ran.count("aten.mm.default") == 0); // on the other rank neither
        }
    }

    void throwingOperatorIsAnalytical() {
        World world;
        world.hooks = [](int32_t rank, FakeHooks& hooks) {
            hooks.run = [rank](const std::string& what) {
                if (rank == 0 && what == "aten.mm.default")
                    throw std::runtime_error("no kernel");
            };
        };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(run.ok());
            const ProfileEntry* mm = entryOf(run.result(), "aten.mm");
            QCOMPARE(mm->provenance, Provenance::Analytical);
            QVERIFY(mm->note.find("rank 0: it threw: no kernel") != std::string::npos);
            QVERIFY(entryOf(run.result(), "all_gather")->ns > 0); // the others went on
        }
    }

    void regionThatCannotBeFusedIsMeasuredByNodes() {
        World world;
        world.hooks = [](int32_t rank, FakeHooks& hooks) {
            hooks.prepare = [rank](const std::string& what) -> Status {
                if (rank == 1 && what == "fused")
                    return Error{"not-supported", "no compiler", {}, ""};
                return Unit{};
            };
        };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(run.ok());
            QVERIFY(!entryOf(run.result(), "fused{"));
            QVERIFY(entryOf(run.result(), "aten.relu"));
            QCOMPARE(entryOf(run.result(), "aten.neg")->calls, 2);
        }
    }

    void failureInACollectiveEndsAll() {
        World world;
        std::atomic<bool> left = false;
        world.hooks = [&left](int32_t rank, FakeHooks& hooks) {
            hooks.communicate = [&left, rank] {
                if (rank == 1)
                    throw std::runtime_error("link down");
                while (!left) // as a collective does whose peer is gone
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                throw std::runtime_error("killed");
            };
        };
        QElapsedTimer timer;
        timer.start();
        std::vector<RankRun> runs(2);
        test::runRanks(2, [&](ThreadControlPlane& plane) {
            FakeHooks hooks;
            world.hooks(plane.rank(), hooks);
            FakeBackend backend(plane.rank(), hooks);
            LockstepJob job = makeJob(world, plane.rank());
            job.say = [](const MessageBody&) {};
            runs[static_cast<size_t>(plane.rank())].outcome = runLockstep(plane, backend, std::move(job));
            if (plane.rank() == 1)
                left = true;
        });
        QVERIFY(timer.elapsed() < 7000);
        QVERIFY(!runs[1].ok());
        QCOMPARE(QString::fromStdString(runs[1].failure().error.code), QString("rank-failed"));
        QVERIFY(runs[1].failure().error.message.find("link down") != std::string::npos);
        QVERIFY(runs[1].failure().key.find("all_gather") != std::string::npos ||
                runs[1].failure().key.find("latency") != std::string::npos);
    }

    void collectiveThatAllRanksRefuseIsAnalytical() {
        World world;
        world.hooks = [](int32_t, FakeHooks& hooks) {
            hooks.communicate = [] { throw std::runtime_error("no such datatype"); };
        };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(run.ok());
            QCOMPARE(entryOf(run.result(), "all_gather")->provenance, Provenance::Analytical);
        }
    }

    void aStopOnOneRankStopsAll() {
        World world;
        world.ranks = 4;
        world.job = [](int32_t rank, LockstepJob& job) {
            if (rank == 2)
                job.stop = [asked = std::make_shared<int>(0)] {
                    return ++*asked > 3 ? std::string("signal 15") : std::string();
                };
        };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(!run.ok());
            QCOMPARE(QString::fromStdString(run.failure().error.code), QString("stopped"));
            QCOMPARE(QString::fromStdString(run.failure().error.message), QString("rank 2 stops: signal 15"));
            QVERIFY(!run.failure().key.empty());
        }
    }

    void aRankThatLeavesIsSeen() {
        World world;
        std::vector<RankRun> runs(3);
        test::runRanks(3, [&](ThreadControlPlane& plane) {
            if (plane.rank() == 1)
                return;
            FakeBackend backend(plane.rank(), {});
            LockstepJob job = makeJob(world, plane.rank());
            job.say = [](const MessageBody&) {};
            runs[static_cast<size_t>(plane.rank())].outcome = runLockstep(plane, backend, std::move(job));
        });
        for (const size_t r : {0, 2}) {
            QVERIFY(!runs[r].ok());
            QCOMPARE(QString::fromStdString(runs[r].failure().error.code), QString("rank-lost"));
        }
    }

    void otherVersionAndSettings() {
        World world;
        world.job = [](int32_t rank, LockstepJob& job) { job.offer.version = rank == 1 ? "2.0" : "1.0"; };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(!run.ok());
            QCOMPARE(QString::fromStdString(run.failure().error.code), QString("other-version"));
            QVERIFY(run.failure().error.message.find("rank 1 has version 2.0") != std::string::npos);
        }
        world.job = [](int32_t rank, LockstepJob& job) {
            job.offer.settings = rank == 1 ? "a=1\nb=3\n" : "a=1\nb=2\n";
        };
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(!run.ok());
            QVERIFY(run.failure().error.message.find("\"b=2\" and \"b=3\"") != std::string::npos);
        }
    }

    void modes_data() {
        QTest::addColumn<QString>("mode");
        QTest::newRow("slot") << "slot";
        QTest::newRow("pinned") << "pinned";
        QTest::newRow("abort") << "abort";
    }

    void modes() {
        QFETCH(QString, mode);
        World world;
        world.text = [&](int32_t rank) {
            return profileGraphText(rank == 1 ? test::otherRank(mode.toStdString()) : test::ProfileGraph());
        };
        const std::vector<RankRun> runs = runWorld(world);
        for (const RankRun& run : runs) {
            if (mode == "abort") {
                QVERIFY(!run.ok());
                QCOMPARE(QString::fromStdString(run.failure().error.code), QString("rank-abort"));
                QVERIFY(run.failure().error.message.find("rank 0: ") != std::string::npos);
                QVERIFY(run.failure().error.message.find("rank 1: ") != std::string::npos);
                continue;
            }
            QVERIFY2(run.ok(), run.ok() ? "" : run.failure().error.message.c_str());
            QCOMPARE(QString::fromStdString(run.result().profile.mode), mode);
            QCOMPARE(run.result().hash, runs[0].result().hash);
            QVERIFY(entryOf(run.result(), "aten.mm"));
            QCOMPARE(entryOf(run.result(), "aten.matmul") != nullptr, mode == "slot");
        }
        QCOMPARE(runs[0].warnings("ranks-differ"), size_t(mode == "abort" ? 0 : 1));
    }

    void contentionThatFailsIsSaidWithItsReason_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("reason");
        QTest::addColumn<bool>("beside");
        QTest::newRow("queue") << "queue"
                               << "rank 0: it has one queue" << true;
        QTest::newRow("no compute") << "none"
                                    << "no compute operator was measured" << false;
        QTest::newRow("elsewhere") << "elsewhere"
                                   << "is in every rank's graph" << true;
    }

    void contentionThatFailsIsSaidWithItsReason() {
        QFETCH(QString, what);
        QFETCH(QString, reason);
        QFETCH(bool, beside);
        World world;
        world.work.compute = what != "none";
        if (what == "queue")
            world.hooks = [](int32_t, FakeHooks& hooks) {
                hooks.together = []() -> Status {
                    return Error{"not-supported", "it has one queue", {}, ""};
                };
            };
        if (what == "elsewhere") // no compute key is on both ranks
            world.text = [](int32_t rank) {
                test::ProfileGraph graph;
                graph.scatter = false;
                graph.rows = rank == 0 ? 64 : 128;
                return profileGraphText(graph);
            };
        const std::vector<RankRun> runs = runWorld(world);
        for (const RankRun& run : runs) {
            QVERIFY2(run.ok(), run.ok() ? "" : run.failure().error.message.c_str());
            const Profile& profile = run.result().profile;
            QVERIFY(profile.contention.empty());
            QCOMPARE(profile.no_contention.size(), size_t(1));
            const ContentionPoint& gap = profile.no_contention[0];
            QVERIFY2(gap.reason.find(reason.toStdString()) != std::string::npos, gap.reason.c_str());
            QCOMPARE(!gap.beside.empty(), beside);
            QCOMPARE(gap.bytes, int64_t(16384));
            QVERIFY(gap.key.starts_with("all_gather"));
            QCOMPARE(profile.no_contention, runs[0].result().profile.no_contention);
        }
        QCOMPARE(runs[0].warnings(what == "queue" ? "contention-failed" : "no-contention"), size_t(1));
    }

    void knownKeysAreNotMeasured() {
        World world;
        const std::vector<RankRun> first = runWorld(world);
        for (const ProfileEntry& entry : first[0].result().profile.entries)
            world.work.reuse.insert(entry.key);
        for (const RankRun& run : runWorld(world)) {
            QVERIFY(run.ok());
            QVERIFY(run.result().profile.entries.empty());
            QCOMPARE(run.result().runs, 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestLockstep)
#include "tst_lockstep.moc"
