// gatherscope-rank with a backend that takes no time and fails as GATHERSCOPE_FAULT says: "WHAT@RANK" (or
// "WHAT@all") with kill-start, kill-compute, kill-collective, exit, stop (answers no more), throw, unfit,
// version, slow (every run takes 50 ms) and alone (nothing runs beside anything).
#include "app/rank/rank_program.h"
#include "support/fake_backend.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gs;
using gs::test::FakeBackend;
using gs::test::FakeHooks;

namespace {

/// The fault that this rank has; empty = none.
std::string faultOf(int32_t rank) {
    const char* text = std::getenv("GATHERSCOPE_FAULT");
    const std::string fault = text ? text : "";
    const size_t at = fault.find('@');
    const std::string whose = at == std::string::npos ? "" : fault.substr(at + 1);
    if (whose != "all" && whose != std::to_string(rank))
        return {};
    return fault.substr(0, at);
}

bool isCollective(const std::string& what) {
    return what == "all_gather" || what == "reduce_scatter";
}

void onRun(const std::string& fault, const std::string& what) {
    if (fault == "slow")
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (fault == (isCollective(what) ? "kill-collective" : "kill-compute"))
        raise(SIGKILL);
    if (fault == "exit")
        std::_Exit(0);
    if (fault == "stop")
        raise(SIGSTOP);
    if (fault == "throw" && (what == "aten.mm.default" || what == "my.route.default"))
        throw std::runtime_error("no kernel image");
}

Status onPrepare(const std::string& fault, const std::string& what) {
    if (fault == "unfit" && (what == "aten.mm.default" || what == "my.route.default"))
        return Error{"would-not-fit", "it wants 80.0 GiB, 2.0 GiB are free", {}, ""};
    return Unit{};
}

/// Waits for all ranks; throws on all of them where this is not the same call of each.
void communicate(MPI_Comm comm, int64_t calls) {
    const int64_t own[2] = {calls, -calls};
    int64_t greatest[2] = {};
    MPI_Allreduce(own, greatest, 2, MPI_INT64_T, MPI_MAX, comm);
    if (greatest[0] != -greatest[1])
        throw std::runtime_error("the ranks issue different numbers of calls");
}

Result<std::unique_ptr<Backend>> makeFake(ControlPlane& plane) {
    const std::string fault = faultOf(plane.rank());
    if (fault == "kill-start")
        raise(SIGKILL);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    FakeHooks hooks;
    hooks.prepare = [fault](const std::string& what) { return onPrepare(fault, what); };
    hooks.run = [fault](const std::string& what) { onRun(fault, what); };
    hooks.communicate = [comm, calls = int64_t{0}]() mutable { communicate(comm, ++calls); };
    hooks.together = [fault]() -> Status {
        if (fault == "alone")
            return Error{"not-supported", "it has one queue", {}, ""};
        return Unit{};
    };
    return std::unique_ptr<Backend>(std::make_unique<FakeBackend>(plane.rank(), hooks));
}

Result<std::vector<DeviceFacts>> probeFake() {
    return std::vector<DeviceFacts>{FakeBackend(0, {}).facts()};
}

Result<std::vector<DeviceFacts>> probeNothing() {
    return Error{"no-device", "no device answers", {}, ""};
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<BackendInfo> backends = {
        {"fake", "takes no time", true, probeFake, makeFake, ""},
        {"dead", "finds no device", true, probeNothing, makeFake, ""},
        {"absent", "not in this build", false, nullptr, nullptr, "its library was not found"}};
    // Ranks of other versions meet where files are shared badly; MPI alone says who is who, so the rank is
    // asked for before the program starts.
    std::string version = "0.1.0-test";
    const char* fault = std::getenv("GATHERSCOPE_FAULT");
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (fault && rank && faultOf(std::atoi(rank)) == "version")
        version = "0.0.9";
    return rankMain(argc, argv, {version, &backends});
}
