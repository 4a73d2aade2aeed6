#include "base/units.h"
#include "dnnl_ops.h"
#include "host_backend.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>

namespace gs::host {

namespace {

std::string firstLine(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string processorName() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        const size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "host";
}

/// "performance, 2100 MHz of 3500 MHz"; what the machine does not tell is left out.
std::string clockText() {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cpufreq/";
    std::string text = firstLine(folder + "scaling_governor");
    const auto megahertz = [&](const char* file) {
        const std::string line = firstLine(folder + file);
        return line.empty() ? 0 : std::atoll(line.c_str()) / 1000;
    };
    int64_t now = megahertz("scaling_cur_freq");
    const int64_t most = megahertz("cpuinfo_max_freq");
    if (now == 0) {
        std::ifstream in("/proc/cpuinfo");
        for (std::string line; now == 0 && std::getline(in, line);) {
            const size_t colon = line.find(": ");
            if (line.starts_with("cpu MHz") && colon != std::string::npos)
                now = std::atoll(line.c_str() + colon + 2);
        }
    }
    if (now > 0)
        text += fmt::format("{}{} MHz", text.empty() ? "" : ", ", now);
    if (most > 0)
        text += fmt::format(" of {} MHz", most);
    return text.empty() ? "the machine does not tell" : text;
}

int64_t totalMemory() {
    std::ifstream in("/proc/meminfo");
    std::string name;
    int64_t kilobytes = 0;
    return in >> name >> kilobytes ? kilobytes * 1024 : 0;
}

} // namespace

int usableProcessors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return std::max(1, CPU_COUNT(&set));
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

DeviceFacts hostFacts(int threads) {
    DeviceFacts facts;
    facts.name = processorName() + ", " + counted(static_cast<size_t>(threads), "core");
    facts.versions["oneDNN"] = dnnlVersion();
    facts.versions["MPI"] = mpiVersion();
    facts.clocks = clockText();
    facts.memory_bytes = totalMemory();
    facts.free_bytes = availableBytes();
    return facts;
}

} // namespace gs::host
