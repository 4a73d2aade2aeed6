// The work registry of document 004: lifetimes, warnings, memory and threads.
#include "profile/work_registry.h"
#include "support/live_bytes.h"

#include <QTest>
#include <thread>

using namespace gs;

namespace {

std::atomic<int> live_works = 0;
std::atomic<int> finished_works = 0;

class TestWork : public Work {
public:
    explicit TestWork(const std::string& op, bool fails = false) : Work(op), fails_(fails) { ++live_works; }
    ~TestWork() override { --live_works; }

protected:
    Status finish() override {
        ++finished_works;
        if (fails_)
            return Error{"collective-failed", opName() + " failed", {}, {}};
        return Unit{};
    }

private:
    bool fails_;
};

WorkPtr makeWork(const std::string& op = "all_reduce") {
    return std::make_shared<TestWork>(op);
}

class Fixture {
    std::mutex mutex_; // before the registry, whose destructor may still warn
    std::vector<Diagnostic> warnings_;

public:
    WorkRegistry registry{[this](const Diagnostic& item) {
        const std::scoped_lock lock(mutex_);
        warnings_.push_back(item);
    }};

    size_t warningCount() {
        const std::scoped_lock lock(mutex_);
        return warnings_.size();
    }
    Diagnostic onlyWarning() {
        const std::scoped_lock lock(mutex_);
        return warnings_.size() == 1 ? warnings_.front() : Diagnostic{};
    }
};

} // namespace

class TestWorkRegistry : public QObject {
    Q_OBJECT
private slots:
    void init() {
        live_works = 0;
        finished_works = 0;
    }

    void functionalWorksAreHeldUntilWaitedFor() {
        Fixture f;
        f.registry.launched(1, makeWork(), WorkOrigin::Functional);
        QCOMPARE(live_works.load(), 1); // nobody else holds it
        QCOMPARE(f.registry.size(), size_t{1});
        QVERIFY(f.registry.waitTensor(1, "wait_tensor").ok());
        QCOMPARE(finished_works.load(), 1);
        QCOMPARE(live_works.load(), 0);
        QCOMPARE(f.registry.size(), size_t{0});
        QCOMPARE(f.warningCount(), size_t{0});
    }

    void plainWorksLeaveNothingOutsideOfTheContext() {
        Fixture f;
        f.registry.launched(1, makeWork(), WorkOrigin::Plain);
        QCOMPARE(live_works.load(), 0);
        QCOMPARE(f.registry.size(), size_t{0});
        const WorkPtr held = makeWork();
        f.registry.launched(2, held, WorkOrigin::Plain);
        QVERIFY(held->wait().ok());
        QVERIFY(held->wait().ok()); // never registered: none of the registry's business
        QCOMPARE(f.warningCount(), size_t{0});
    }

    void plainWorksAreHeldInsideOfTheContext() {
        Fixture f;
        {
            const AllowInflightCollectiveAsGraphInput outer(f.registry);
            {
                const AllowInflightCollectiveAsGraphInput inner(f.registry);
                QVERIFY(f.registry.allowsPlain());
            }
            QVERIFY(f.registry.allowsPlain()); // nests
            f.registry.launched(1, makeWork(), WorkOrigin::Plain);
        }
        QVERIFY(!f.registry.allowsPlain());
        QCOMPARE(live_works.load(), 1); // the context ended, the entry did not
        QVERIFY(f.registry.waitTensor(1, "wait_tensor").ok());
        QCOMPARE(live_works.load(), 0);
        QCOMPARE(f.warningCount(), size_t{0});
    }

    void eitherWaitReleases() {
        Fixture f;
        Work* only_registry_holds = nullptr;
        {
            const WorkPtr work = makeWork();
            only_registry_holds = work.get();
            f.registry.launched(1, work, WorkOrigin::Functional);
        }
        QVERIFY(only_registry_holds->wait().ok()); // dies at the end of this call
        QCOMPARE(live_works.load(), 0);
        QCOMPARE(f.registry.size(), size_t{0});
    }

    void secondWaitDoesNothingAndWarns() {
        Fixture f;
        const WorkPtr work = makeWork("reduce_scatter");
        f.registry.launched(1, work, WorkOrigin::Functional);
        QVERIFY(work->wait().ok());
        QVERIFY(f.registry.waitTensor(1, "wait_tensor_7").ok());
        QCOMPARE(f.onlyWarning().code, std::string("wait-without-collective"));
        QVERIFY(f.onlyWarning().message.find("wait_tensor_7") != std::string::npos);

        Fixture g;
        const WorkPtr other = makeWork("reduce_scatter");
        g.registry.launched(1, other, WorkOrigin::Functional);
        QVERIFY(g.registry.waitTensor(1, "wait_tensor").ok());
        QVERIFY(other->wait().ok());
        QCOMPARE(g.onlyWarning().code, std::string("waited-twice"));
        QCOMPARE(g.onlyWarning().node, std::string("reduce_scatter"));
        QCOMPARE(finished_works.load(), 2);
    }

    void allWorksOfAStorageAreWaitedFor() {
        Fixture f;
        const WorkPtr twice = makeWork("all_reduce");
        f.registry.launched(1, twice, WorkOrigin::Functional);
        f.registry.launched(1, twice, WorkOrigin::Functional); // once
        f.registry.launched(1, makeWork("all_gather"), WorkOrigin::Functional);
        f.registry.launched(2, makeWork("broadcast"), WorkOrigin::Functional);
        QCOMPARE(f.registry.size(), size_t{3});
        QVERIFY(f.registry.waitTensor(1, "wait_tensor").ok());
        QCOMPARE(finished_works.load(), 2);
        QCOMPARE(f.registry.size(), size_t{1});
        QVERIFY(f.registry.waitTensor(2, "wait_tensor").ok());
    }

    void oneWorkMayWriteSeveralStorages() {
        Fixture f;
        const WorkPtr coalesced = makeWork("all_gather_coalesced");
        f.registry.launched(1, coalesced, WorkOrigin::Functional);
        f.registry.launched(2, coalesced, WorkOrigin::Functional);
        QCOMPARE(f.registry.size(), size_t{1});
        QVERIFY(coalesced->wait().ok());
        QCOMPARE(f.registry.size(), size_t{0});
    }

    void unwaitedWorksAreOneWarning() {
        std::vector<Diagnostic> warnings;
        {
            WorkRegistry registry([&](const Diagnostic& item) { warnings.push_back(item); });
            registry.launched(1, makeWork("all_reduce"), WorkOrigin::Functional);
            registry.launched(2, makeWork("all_reduce"), WorkOrigin::Functional);
            registry.launched(3, makeWork("all_gather"), WorkOrigin::Functional);
            QCOMPARE(registry.reportUnwaited(), size_t{3});
            QCOMPARE(warnings.size(), size_t{1});
        }
        QCOMPARE(warnings.size(), size_t{2}); // the destructor's
        QCOMPARE(warnings.back().code, std::string("unwaited-collectives"));
        QCOMPARE(warnings.back().message, std::string("3 collectives were launched and never waited for: "
                                                      "all_gather, all_reduce (2 times)"));
        QCOMPARE(live_works.load(), 0);
    }

    void worksOutliveTheRegistry() {
        WorkPtr work;
        {
            Fixture f;
            work = makeWork();
            f.registry.launched(1, work, WorkOrigin::Functional);
        }
        QVERIFY(work->wait().ok());
    }

    void errorsReachEveryWaiter() {
        Fixture f;
        const auto failing = std::make_shared<TestWork>("all_to_all", true);
        f.registry.launched(1, failing, WorkOrigin::Functional);
        f.registry.launched(1, makeWork(), WorkOrigin::Functional);
        QCOMPARE(f.registry.waitTensor(1, "wait_tensor").error().code, std::string("collective-failed"));
        QCOMPARE(failing->wait().error().code, std::string("collective-failed"));
        QCOMPARE(finished_works.load(), 2);
        QCOMPARE(f.registry.size(), size_t{0});
    }

    void memoryReturnsToItsStart_data() {
        QTest::addColumn<int>("way");
        QTest::newRow("functional, each waited for at once") << 0;
        QTest::newRow("functional, all in flight together") << 1;
        QTest::newRow("plain, nobody waits") << 2;
        QTest::newRow("plain in the context, waited for by their works") << 3;
    }
    void memoryReturnsToItsStart() {
        QFETCH(int, way);
        constexpr StorageKey kLaunches = 10'000;
        Fixture f;
        size_t most = 0;
        const auto round = [&] {
            std::unique_ptr<AllowInflightCollectiveAsGraphInput> context;
            if (way == 3)
                context = std::make_unique<AllowInflightCollectiveAsGraphInput>(f.registry);
            for (StorageKey i = 0; i < kLaunches; ++i) {
                WorkPtr work = makeWork();
                f.registry.launched(i, work, way < 2 ? WorkOrigin::Functional : WorkOrigin::Plain);
                if (way == 3)
                    QVERIFY(work->wait().ok());
                work.reset();
                most = std::max(most, f.registry.size());
                if (way == 0)
                    QVERIFY(f.registry.waitTensor(i, "wait_tensor").ok());
            }
            for (StorageKey i = 0; way == 1 && i < kLaunches; ++i)
                QVERIFY(f.registry.waitTensor(i, "wait_tensor").ok());
        };
        round(); // whatever is allocated once, is now
        const size_t before = test::liveBytes();
        round();
        QCOMPARE(test::liveBytes(), before);
        QCOMPARE(live_works.load(), 0);
        QCOMPARE(f.registry.size(), size_t{0});
        QCOMPARE(most, way == 1 ? size_t{kLaunches} : way == 0 ? size_t{1} : size_t{0});
        QCOMPARE(f.warningCount(), size_t{0});
    }

    void threadsLaunchAndWait() {
        Fixture f;
        constexpr int kThreads = 8;
        constexpr int kRounds = 2'000;
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                const AllowInflightCollectiveAsGraphInput context(f.registry);
                for (int i = 0; i < kRounds; ++i) {
                    const StorageKey own = static_cast<StorageKey>(t) * kRounds + static_cast<StorageKey>(i);
                    const WorkPtr work = makeWork();
                    f.registry.launched(own, work, i % 2 == 0 ? WorkOrigin::Functional : WorkOrigin::Plain);
                    const Status status = i % 3 == 0 ? work->wait() : f.registry.waitTensor(own, "wait");
                    if (!status.ok())
                        return;
                }
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(finished_works.load(), kThreads * kRounds);
        QCOMPARE(live_works.load(), 0);
        QCOMPARE(f.registry.size(), size_t{0});
        QCOMPARE(f.warningCount(), size_t{0});
        QVERIFY(!f.registry.allowsPlain());
    }

    void threadsWaitForOneStorage() {
        // Whoever waits for a tensor returns only when the work is done, also if another thread came first.
        class SlowWork : public Work {
        public:
            using Work::Work;
            std::atomic<bool> done = false;

        protected:
            Status finish() override {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                done = true;
                return Unit{};
            }
        };
        Fixture f;
        const auto work = std::make_shared<SlowWork>("all_gather");
        f.registry.launched(1, work, WorkOrigin::Functional);
        std::atomic<int> early = 0;
        std::atomic<int> started = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                ++started;
                while (started < 4)
                    std::this_thread::yield();
                if (!f.registry.waitTensor(1, "wait").ok() || !work->done)
                    ++early;
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(early.load(), 0);
        QCOMPARE(f.registry.size(), size_t{0});
    }
};

QTEST_GUILESS_MAIN(TestWorkRegistry)
#include "tst_work_registry.moc"
