// The ranks of MPI_COMM_WORLD as a control plane without time limits, and the main() of tests that run on
// ranks.
#pragma once

#include "profile/control_plane.h"

#include <QTest>
#include <mpi.h>

namespace gs::test {

class MpiPlane : public ControlPlane {
public:
    int32_t rank() const override { return of(MPI_Comm_rank); }
    int32_t size() const override { return of(MPI_Comm_size); }
    int32_t localRank() const override { return rank(); }
    int32_t localSize() const override { return size(); }

    Status barrier() override {
        MPI_Barrier(MPI_COMM_WORLD);
        return Unit{};
    }
    Result<std::string> broadcast(std::string bytes, int32_t) override { return bytes; }
    Result<std::vector<std::string>> allGather(const std::string& bytes) override {
        return std::vector<std::string>(static_cast<size_t>(size()), bytes);
    }
    Result<std::vector<int64_t>> allMax(const std::vector<int64_t>& values) override { return values; }

private:
    static int32_t of(int (*ask)(MPI_Comm, int*)) {
        int value = 0;
        ask(MPI_COMM_WORLD, &value);
        return value;
    }
};

/// A rank that fails ends all: the others may wait for it in a collective.
template <typename Test>
int runOnRanks(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    Test test;
    const int failures = QTest::qExec(&test, argc, argv);
    if (failures != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}

} // namespace gs::test
