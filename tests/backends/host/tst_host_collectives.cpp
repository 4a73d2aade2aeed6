// Collectives of the host backend on 1, 2 and 4 ranks: what arrives, sub-groups, the registry, memory.
#include "backends/mpi_plane.h"
#include "host_backend.h"
#include "host_collectives.h"
#include "host_tensor.h"
#include "support/live_bytes.h"
#include "timing.h"

#include <QTest>
#include <cmath>
#include <fstream>
#include <numeric>
#include <unistd.h>

using namespace gs;
using namespace gs::test;
using host::CollectiveOp;
using host::HostBackend;

namespace {

/// Memory of MPI's own kinds, too; where a sanitizer keeps freed pages, only what was not freed.
int64_t heldBytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return static_cast<int64_t>(liveBytes());
#else
    std::ifstream in("/proc/self/statm");
    int64_t all = 0, resident = 0;
    in >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
#endif
}

std::vector<int32_t> firstRanks(int32_t count) {
    std::vector<int32_t> ranks(static_cast<size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

void fillWith(CollectiveOp& op, double value) {
    const DType dtype = op.spec().dtype;
    for (size_t at = 0; at + static_cast<size_t>(dtypeBytes(dtype)) <= op.input.size();
         at += static_cast<size_t>(dtypeBytes(dtype)))
        host::writeElement(dtype, op.input.data() + at, value);
}

double outputAt(const CollectiveOp& op, int64_t element) {
    return host::readElement(op.spec().dtype, op.output.data() + element * dtypeBytes(op.spec().dtype));
}

/// A stand-in for compute of a known length.
class Busy : public PreparedOp {
public:
    explicit Busy(int64_t ns) : ns_(ns) {}
    Status run() override {
        const int64_t end = host::nowNs() + ns_;
        while (host::nowNs() < end) {
        }
        return Unit{};
    }

private:
    int64_t ns_;
};

} // namespace

class TestHostCollectives : public QObject {
    Q_OBJECT

    MpiPlane plane_;
    std::vector<Diagnostic> warnings_;
    WorkRegistry registry_{[this](const Diagnostic& item) { warnings_.push_back(item); }};
    std::unique_ptr<HostBackend> backend_;

    std::unique_ptr<CollectiveOp> make(CollectiveSpec spec) {
        auto made = backend_->prepareCollective(spec);
        if (!made) {
            qWarning("%s", made.error().message.c_str());
            return nullptr;
        }
        return std::unique_ptr<CollectiveOp>(dynamic_cast<CollectiveOp*>(std::move(made).value().release()));
    }

private slots:
    void initTestCase() { backend_ = std::make_unique<HostBackend>(plane_, registry_); }
    void cleanupTestCase() {
        QCOMPARE(registry_.size(), size_t{0});
        backend_.reset();
    }
    void init() { warnings_.clear(); }

    void gatherBringsEveryRanksShard() {
        const int32_t n = plane_.size();
        const auto op = make({CollectiveKind::AllGather, DType::BFloat16, 200, 200 * n, firstRanks(n), {}});
        QVERIFY(op);
        fillWith(*op, plane_.rank() + 1);
        QVERIFY(op->run().ok());
        for (int32_t r = 0; r < n; ++r) {
            QCOMPARE(outputAt(*op, r * 100), double(r + 1));
            QCOMPARE(outputAt(*op, r * 100 + 99), double(r + 1));
        }
        QCOMPARE(warnings_.size(), size_t{0});
    }

    void coalescedGathersEachMember() {
        const int32_t n = plane_.size();
        const auto op =
            make({CollectiveKind::AllGatherCoalesced, DType::Float32, 120, 120 * n, firstRanks(n), {80, 40}});
        QVERIFY(op);
        for (int i = 0; i < 30; ++i)
            host::writeElement(DType::Float32, op->input.data() + i * 4,
                               plane_.rank() * 10 + (i < 20 ? 1 : 2));
        QVERIFY(op->run().ok());
        for (int32_t r = 0; r < n; ++r) {
            QCOMPARE(outputAt(*op, r * 20), double(r * 10 + 1));
            QCOMPARE(outputAt(*op, n * 20 + r * 10), double(r * 10 + 2));
        }
    }

    void reductionsAddEveryType() {
        const int32_t n = plane_.size();
        const double sum = n * (n + 1) / 2.0;
        for (const DType dtype :
             {DType::Float32, DType::BFloat16, DType::Float16, DType::Int64, DType::Float64}) {
            const int64_t bytes = 64 * dtypeBytes(dtype);
            const auto all = make({CollectiveKind::AllReduce, dtype, bytes, bytes, firstRanks(n), {}});
            QVERIFY(all);
            fillWith(*all, plane_.rank() + 1);
            QVERIFY(all->run().ok());
            QCOMPARE(outputAt(*all, 0), sum);
            QCOMPARE(outputAt(*all, 63), sum);
            const auto part =
                make({CollectiveKind::ReduceScatter, dtype, bytes * n, bytes, firstRanks(n), {}});
            QVERIFY(part);
            fillWith(*part, plane_.rank() + 1);
            QVERIFY(part->run().ok());
            QCOMPARE(outputAt(*part, 0), sum);
            QCOMPARE(outputAt(*part, 63), sum);
        }
    }

    void exchangeAndBroadcast() {
        const int32_t n = plane_.size();
        const auto swap = make({CollectiveKind::AllToAll, DType::Int32, 16 * n, 16 * n, firstRanks(n), {}});
        QVERIFY(swap);
        for (int i = 0; i < 4 * n; ++i)
            host::writeElement(DType::Int32, swap->input.data() + i * 4, plane_.rank() * 100 + i / 4);
        QVERIFY(swap->run().ok());
        for (int32_t r = 0; r < n; ++r)
            QCOMPARE(outputAt(*swap, r * 4), double(r * 100 + plane_.rank()));
        const auto cast = make({CollectiveKind::Broadcast, DType::Float32, 64, 64, firstRanks(n), {}});
        QVERIFY(cast);
        for (int i = 0; i < 16; ++i)
            host::writeElement(DType::Float32, cast->output.data() + i * 4, plane_.rank() + 7);
        QVERIFY(cast->run().ok());
        QCOMPARE(outputAt(*cast, 15), 7.0);
    }

    void subGroupsWorkAtTheSameTime() {
        const int32_t n = plane_.size();
        if (n < 2) {
            qInfo("NOT RUN: sub-groups need 2 ranks or more");
            return;
        }
        // Even and odd ranks each, twice: the second time the communicator is known.
        std::vector<int32_t> mine;
        for (int32_t r = plane_.rank() % 2; r < n; r += 2)
            mine.push_back(r);
        for (int round = 0; round < 2; ++round) {
            const int32_t size = static_cast<int32_t>(mine.size());
            const auto op = make({CollectiveKind::AllGather, DType::Int32, 4, 4 * size, mine, {}});
            QVERIFY(op);
            fillWith(*op, plane_.rank());
            QVERIFY(op->run().ok());
            for (int32_t i = 0; i < size; ++i)
                QCOMPARE(outputAt(*op, i), double(mine[static_cast<size_t>(i)]));
        }
        // Ranks outside get nothing and wait for nobody.
        const auto op =
            backend_->prepareCollective({CollectiveKind::AllReduce, DType::Float32, 4, 4, {0}, {}});
        QVERIFY(op.ok());
        QCOMPARE(op.value() != nullptr, plane_.rank() == 0);
    }

    void whatCannotBeIsRefused() {
        const std::vector<int32_t> all = firstRanks(plane_.size());
        const auto code = [&](const CollectiveSpec& spec) {
            const auto op = backend_->prepareCollective(spec);
            return op ? std::string() : op.error().code;
        };
        QCOMPARE(code({CollectiveKind::Other, DType::Float32, 4, 4, all, {}}), std::string("not-supported"));
        QCOMPARE(code({CollectiveKind::AllReduce, DType::Float8E4M3FN, 4, 4, all, {}}),
                 std::string("not-supported"));
        QCOMPARE(code({CollectiveKind::AllGather, DType::Float32, -1, 4, all, {}}),
                 std::string("unknown-shape"));
        // One rank alone has no room: all are told.
        if (plane_.rank() == plane_.size() - 1)
            backend_->setMemoryLimit(1000);
        QCOMPARE(code({CollectiveKind::AllGather, DType::Float32, 4096, 4096 * plane_.size(), all, {}}),
                 std::string("would-not-fit"));
        backend_->setMemoryLimit(-1);
    }

    void timesAreThereOnEveryRank() {
        const int32_t n = plane_.size();
        const auto op =
            make({CollectiveKind::AllGather, DType::BFloat16, 1 << 20, (1 << 20) * n, firstRanks(n), {}});
        QVERIFY(op);
        const auto samples = backend_->time(*op, {3, 10, false});
        QVERIFY(samples.ok());
        QCOMPARE(samples->size(), size_t{10});
        for (const int64_t ns : samples.value())
            QVERIFY(ns > 0);
        QCOMPARE(registry_.size(), size_t{0});
    }

    void togetherWithCompute() {
        const int32_t n = plane_.size();
        const auto op =
            make({CollectiveKind::AllGather, DType::BFloat16, 8 << 20, (8 << 20) * n, firstRanks(n), {}});
        QVERIFY(op);
        Busy compute(200'000);
        {
            host::ComputeThread beside(compute, 1);
            const auto once = host::runTogether(*op, beside);
            QVERIFY2(once.ok(), once.ok() ? "" : once.error().message.c_str());
            QVERIFY(once->collective_ns > 0);
            QVERIFY(once->compute_ns >= 200'000);
        }
        const auto together = backend_->timeTogether(*op, compute, {1, 3, false});
        QVERIFY(together.ok());
        QVERIFY(together->collective_ns > 0);
        QCOMPARE(registry_.size(), size_t{0});
        QCOMPARE(warnings_.size(), size_t{0});
    }

    void computeThatFailsEndsTheTransferToo() {
        class Fails : public PreparedOp {
            Status run() override { throw std::runtime_error("no more"); }
        };
        const int32_t n = plane_.size();
        const auto op = make({CollectiveKind::AllReduce, DType::Float32, 256, 256, firstRanks(n), {}});
        QVERIFY(op);
        Fails compute;
        const auto together = backend_->timeTogether(*op, compute, {1, 3, false});
        QVERIFY(!together.ok());
        QVERIFY(together.error().message.find("no more") != std::string::npos);
        QCOMPARE(registry_.size(), size_t{0});
    }

    void tenThousandLeaveNothingBehind() {
        const int32_t n = plane_.size();
        const auto op = make({CollectiveKind::AllReduce, DType::Float32, 256, 256, firstRanks(n), {}});
        QVERIFY(op);
        const auto round = [&] {
            for (int i = 0; i < 10'000; ++i) {
                op->launch();
                QVERIFY(op->wait().ok());
            }
        };
        round(); // whatever MPI allocates once, is now
        QVERIFY(op->meet().ok());
        const int64_t before = heldBytes();
        round();
        QVERIFY(op->meet().ok());
        const int64_t grown = heldBytes() - before;
        QVERIFY2(grown < (1 << 20), std::to_string(grown).c_str());
        QCOMPARE(registry_.size(), size_t{0});
        QCOMPARE(warnings_.size(), size_t{0});
    }

    void forgottenAndRepeatedWaitsAreNamed() {
        const int32_t n = plane_.size();
        const auto op = make({CollectiveKind::AllGather, DType::Float32, 64, 64 * n, firstRanks(n), {}});
        QVERIFY(op);
        const auto work = op->launch();
        QCOMPARE(registry_.reportUnwaited(), size_t{1});
        QVERIFY(warnings_.back().message.find("all_gather") != std::string::npos);
        QVERIFY(work->wait().ok());
        QVERIFY(work->wait().ok());
        QCOMPARE(warnings_.back().code, std::string("waited-twice"));
        QCOMPARE(warnings_.back().node, std::string("all_gather"));
        QVERIFY(op->wait().ok());
        QCOMPARE(warnings_.back().code, std::string("wait-without-collective"));
        QCOMPARE(warnings_.size(), size_t{3});
    }
};

int main(int argc, char** argv) {
    return runOnRanks<TestHostCollectives>(argc, argv);
}
#include "tst_host_collectives.moc"
