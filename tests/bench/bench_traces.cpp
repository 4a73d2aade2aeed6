// Reads a large generated Kineto trace, plain and compressed: seconds, GB/s, peak memory, and how soon a
// cancel is heard. Usage: bench_traces [SIZE_IN_MB] (default 1024; 0 = do nothing). Needs twice the size in
// the temporary folder.
#include "cost/cost_file.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <zlib.h>

using namespace gs;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Peak resident memory since the last call of resetPeak, in MiB; 0 where the system does not tell.
long peakMib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmHWM:", 0) == 0)
            return std::atol(line.c_str() + 6) / 1024;
    }
    return 0;
}

void resetPeak() {
    std::ofstream("/proc/self/clear_refs") << "5";
}

/// One layer of a step: nested operators, Python frames, launches, kernels, flows, a gather; ids and times go
/// up. Mixed as in traces of training runs with shapes and stacks.
class Generator {
public:
    std::string layer() {
        std::string out;
        for (int i = 0; i < 6; ++i)
            addMatmul(out, i);
        addGather(out);
        return out;
    }

private:
    template <typename... Args>
    void event(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
        out += ",\n";
    }

    void addMatmul(std::string& out, int i) {
        ++id_;
        time_ += 90.125;
        event(
            out,
            R"(  {{"ph": "X", "cat": "python_function", "name": "torch/nn/modules/linear.py({}): forward", "pid": 4242, "tid": 4242, "ts": {:.3f}, "dur": 80.001, "args": {{"Python parent id": {}, "Python id": {}, "Ev Idx": {}}}}})",
            100 + i, time_, id_ - 1, id_, id_);
        event(
            out,
            R"(  {{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 4242, "tid": 4242, "ts": {:.3f}, "dur": 70.5, "args": {{"External id": {}, "Record function id": 0, "Concrete Inputs": ["", "", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", ""], "Input Strides": [[4096, 1], [4096, 1], []], "Input Dims": [[8192, {}], [6144, {}], []], "Ev Idx": {}}}}})",
            time_ + 1, 3 * id_, 1024 * (1 + i), 1024 * (1 + i), id_);
        event(
            out,
            R"(  {{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4242, "tid": 4242, "ts": {:.3f}, "dur": 50.25, "args": {{"External id": {}, "Record function id": 0, "Concrete Inputs": ["", ""], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Strides": [[4096, 1], [1, 4096]], "Input Dims": [[8192, {}], [{}, 6144]], "Ev Idx": {}}}}})",
            time_ + 5, 3 * id_ + 1, 1024 * (1 + i), 1024 * (1 + i), id_ + 1);
        device(out,
               "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2x1x1_execute_"
               "segment_k_off_kernel__5x_cublas",
               7, 40 + i, "");
    }

    void addGather(std::string& out) {
        ++id_;
        time_ += 30;
        const std::string facts =
            R"(, "Collective name": "_allgather_base", "In msg nelems": 1048576, "Out msg nelems": 8388608, "Group size": 8, "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]")";
        event(
            out,
            R"(  {{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 4242, "tid": 4242, "ts": {:.3f}, "dur": 20.75, "args": {{"External id": {}{}}}}})",
            time_, 3 * id_, facts);
        device(out, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20, 900, facts);
    }

    /// Launch, flow and kernel.
    void device(std::string& out, std::string_view name, int stream, double duration,
                const std::string& facts) {
        event(
            out,
            R"(  {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 4242, "tid": 4242, "ts": {:.3f}, "dur": 4.5, "args": {{"External id": {}, "cbid": 430, "correlation": {}}}}})",
            time_ + 10, 3 * id_ + 1, id_);
        event(
            out,
            R"(  {{"ph": "s", "id": {}, "pid": 4242, "tid": 4242, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g"}})",
            id_, time_ + 10);
        event(
            out,
            R"(  {{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, "stream": {}, "correlation": {}, "registers per thread": 168, "shared memory": 213824, "blocks per SM": 1.0, "warps per SM": 12.0, "grid": [2, 66, 1], "block": [384, 1, 1], "est. achieved occupancy %": 18{}}}}})",
            name, stream, time_ + 25, duration + static_cast<double>(id_ % 7), 3 * id_ + 1, stream, id_,
            facts);
        event(
            out,
            R"(  {{"ph": "f", "id": {}, "pid": 0, "tid": {}, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g", "bp": "e"}})",
            id_, stream, time_ + 25);
    }

    int64_t id_ = 100000;
    double time_ = 5387316049276.842;
};

struct Files {
    std::string plain;
    std::string packed;
    uint64_t bytes = 0;

    explicit Files(uint64_t size) {
        const auto folder = std::filesystem::temp_directory_path();
        plain = (folder / fmt::format("gatherscope_bench_{}.json", ::getpid())).string();
        packed = plain + ".gz";
        std::FILE* file = std::fopen(plain.c_str(), "wb");
        const gzFile zip = gzopen(packed.c_str(), "wb1");
        const auto put = [&](const std::string& text) {
            bytes += std::fwrite(text.data(), 1, text.size(), file);
            gzwrite(zip, text.data(), static_cast<unsigned>(text.size()));
        };
        put("{\n\"schemaVersion\": 1,\n\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "
            "\"world_size\": 8},\n"
            "\"traceEvents\": [\n");
        Generator generator;
        while (bytes < size)
            put(generator.layer());
        put("  {\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", "
            "\"ts\": 1}\n]}\n");
        std::fclose(file);
        gzclose(zip);
    }
    ~Files() {
        std::filesystem::remove(plain);
        std::filesystem::remove(packed);
    }
};

void readOne(const std::string& path, const char* title, uint64_t bytes) {
    struct Longest : ProgressSink {
        Clock::time_point last = Clock::now();
        double longest = 0;
        size_t reports = 0;
        void report(std::string_view, double) override {
            longest = std::max(longest, secondsSince(last));
            last = Clock::now();
            ++reports;
        }
    } progress;
    resetPeak();
    Diagnostics diagnostics;
    JobContext job;
    job.progress = &progress;
    const auto start = Clock::now();
    const std::clock_t cpu = std::clock();
    const auto model = loadCostFile(path, diagnostics, job);
    const double seconds = secondsSince(start);
    const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    if (!model.ok()) {
        std::printf("%s: %s\n", title, model.error().message.c_str());
        std::exit(1);
    }
    std::printf("%-6s %.2f s (%.2f s of CPU), %.2f GB/s, peak %ld MiB, %zu progress reports, longest pause "
                "while reading %.0f ms\n",
                title, seconds, cpu_seconds, static_cast<double>(bytes) / 1e9 / seconds, peakMib(),
                progress.reports, progress.longest * 1e3);
}

/// Asks for a stop at several shares of the whole time; the longest wait counts.
void cancelOne(const std::string& path, const char* title) {
    double longest = 0;
    for (int tenth = 1; tenth <= 40; tenth += 3) {
        std::stop_source stop;
        JobContext job;
        job.stop = stop.get_token();
        Clock::time_point asked;
        bool heard = false;
        std::thread reader([&] {
            Diagnostics diagnostics;
            const auto model = loadCostFile(path, diagnostics, job);
            heard = !model.ok() && model.error().code == "cancelled";
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(100 * tenth));
        asked = Clock::now();
        stop.request_stop();
        reader.join();
        if (heard)
            longest = std::max(longest, secondsSince(asked));
    }
    std::printf("%-6s longest time from cancel to return %.0f ms\n", title, longest * 1e3);
}

} // namespace

int main(int argc, char** argv) {
    const long megabytes = argc > 1 ? std::atol(argv[1]) : 1024;
    if (megabytes <= 0)
        return 0;
    const auto start = Clock::now();
    const Files files(static_cast<uint64_t>(megabytes) * 1000 * 1000);
    std::printf("generated %.2f GB in %.1f s (gzip: %.0f MB)\n", static_cast<double>(files.bytes) / 1e9,
                secondsSince(start), static_cast<double>(std::filesystem::file_size(files.packed)) / 1e6);
    for (int round = 0; round < 2; ++round) {
        readOne(files.plain, "plain", files.bytes);
        readOne(files.packed, "gzip", files.bytes);
    }
    cancelOne(files.plain, "plain");
    cancelOne(files.packed, "gzip");
    return 0;
}
