#include "app/rank/rank_program.h"

#include "app/rank/mpi_plane.h"
#include "app/rank/rank_options.h"
#include "app/rank/rank_voice.h"
#include "base/version.h"
#include "cost/analytical_model.h"
#include "cost/device_presets.h"
#include "profile/benchmark_inputs.h"
#include "profile/lockstep.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gs {

namespace {

constexpr int kUsage = 2, kAborted = 5;

/// How a rank ends early. `together`: all ranks end alike, so MPI can be closed in order.
struct Failure {
    Error error;
    std::string key;
    bool together = true;
};

std::string hostName() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

const BackendInfo* findBackend(const RankBuild& build, const std::string& name) {
    for (const BackendInfo& info : *build.backends) {
        if (info.name == name)
            return &info;
    }
    return nullptr;
}

/// Text of the graph that was chosen in its file.
Result<InputText> chosenText(const ImportedGraph& source, const std::string& path) {
    const GraphEntry& entry = source.entries[source.chosen];
    Diagnostics ignored;
    Result<InputText> input = readInput(entry.file.empty() ? path : entry.file, ignored);
    if (input && entry.length > 0 && entry.offset + entry.length <= input->text.size())
        input->text = input->text.substr(entry.offset, entry.length);
    return input;
}

class RankRun {
public:
    RankRun(const RankBuild& build, RankOptions options, MpiPlane& plane, RankVoice& voice)
        : build_(build), options_(std::move(options)), plane_(plane), voice_(voice) {}

    /// Says the result; returns what went wrong, if anything did.
    std::optional<Failure> operator()() {
        if (auto failure = shareErrors("reading benchmark inputs", readInputs()))
            return failure;
        if (auto failure = shareErrors("reading the graph", readGraph()))
            return failure;
        if (auto failure = shareErrors("opening the backend", openBackend()))
            return failure;
        sayHello();
        if (auto failure = shareErrors("the start", readStart()))
            return failure;
        auto outcome = runLockstep(plane_, *backend_, makeJob());
        if (const auto* failed = std::get_if<LockstepFailure>(&outcome)) {
            const std::string& code = failed->error.code;
            return Failure{failed->error, failed->key, code != "rank-lost" && code != "rank-failed"};
        }
        const LockstepResult& result = std::get<LockstepResult>(outcome);
        ResultMessage m{{},          {}, result.hash, static_cast<int64_t>(result.profile.entries.size()),
                        result.runs, {}};
        if (plane_.rank() == 0)
            m.profile = result.profile;
        voice_.say(m);
        return std::nullopt;
    }

private:
    /// Collective: an error on one rank is an error on all of them.
    std::optional<Failure> shareErrors(const char* when, const Status& own) {
        const auto all = plane_.allGather(own ? std::string() : own.error().message);
        if (!all)
            return Failure{all.error(), {}, false};
        for (size_t r = 0; r < all.value().size(); ++r) {
            if (const std::string& message = all.value()[r]; !message.empty())
                return Failure{Error{own ? "rank-failed" : own.error().code,
                                     fmt::format("rank {} failed at {}: {}", r, when, message),
                                     {},
                                     own ? std::string() : own.error().hint},
                               {},
                               true};
        }
        return std::nullopt;
    }

    Status readStart() {
        std::string line;
        Status own = Unit{};
        if (options_.launched && plane_.rank() == 0) {
            Result<std::string> read = voice_.readStart();
            if (read)
                line = std::move(read).value();
            else
                own = read.error();
            voice_.watchInput();
        }
        if (!options_.launched)
            return own;
        const Result<std::string> shared = plane_.broadcast(line, 0);
        if (!own || !shared)
            return own ? Status(shared.error()) : own;
        if (shared.value().empty()) // rank 0 says why
            return own;
        const auto keys = decodeStart(shared.value());
        if (!keys)
            return keys.error();
        reuse_.insert(keys.value().begin(), keys.value().end());
        return own;
    }

    Status readInputs() {
        for (const std::string& file : options_.benchmark_inputs) {
            if (const Status added = BenchmarkInputRegistry::global().addFile(file); !added)
                return added;
        }
        return Unit{};
    }

    Status readGraph() {
        const size_t count = options_.files.size();
        const auto rank = static_cast<size_t>(plane_.rank());
        if (count != 1 && count != static_cast<size_t>(plane_.size()))
            return Error{"usage",
                         fmt::format("{} graph files for {} ranks", count, plane_.size()),
                         {},
                         "give one for all ranks, or one a rank"};
        AnalysisRequest request = options_.request;
        request.graph_file = options_.files[count == 1 ? 0 : rank];
        // The passes count here, the order does not; ranks have no cost files and no profile store.
        for (const auto& [setting, value] : {std::pair(Setting::Scheduler, "program-order"),
                                             std::pair(Setting::CostSources, "analytical")}) {
            if (const Status status = request.settings.set(setting, value); !status)
                return status;
        }
        Result<AnalysisPtr> analysis = Analyser().analyse(request, {});
        if (!analysis)
            return analysis.error();
        analysis_ = analysis.value();
        return Unit{};
    }

    Status openBackend() {
        const BackendInfo* info = findBackend(build_, options_.backend);
        if (!info || !info->built || !info->make)
            return Error{"no-backend",
                         info ? fmt::format("this build has no backend {}: {}", info->name, info->why_not)
                              : fmt::format("there is no backend \"{}\"", options_.backend),
                         {},
                         "`gatherscope-rank --probe` names them all"};
        auto made = caught([&] { return info->make(plane_); });
        if (!made)
            return made.error();
        backend_ = std::move(made).value();
        return Unit{};
    }

    void sayHello() {
        voice_.say(HelloMessage{plane_.size(), plane_.localRank(), getpid(), hostName(), backend_->name(),
                                backend_->facts().name, build_.version});
    }

    template <typename Make>
    static Result<std::unique_ptr<Backend>> caught(Make make) {
        try {
            return make();
        } catch (const std::exception& error) {
            return Error{"no-backend", fmt::format("it threw: {}", error.what()), {}, ""};
        }
    }

    LockstepJob makeJob() {
        LockstepJob job;
        const std::string path = analysis_->request.graph_file;
        job.offer = {
            build_.version,          options_.backend,
            options_.settingsText(), path,
            analysis_->source.graph, [source = analysis_->source, path] { return chosenText(source, path); }};
        const DevicePreset* device = findDevicePreset(options_.request.settings.text(Setting::Device));
        const CostModelPtr model = makeAnalyticalModel(*device);
        WorkOptions work;
        work.compute = options_.compute;
        work.collectives = options_.collectives;
        work.reuse = reuse_;
        job.work = makeWorkList({{analysis_->after.graph, analysis_->after.collectives},
                                 {analysis_->before.graph, analysis_->before.collectives}},
                                plane_.size(), *model, work);
        job.plan = options_.plan;
        job.contention = options_.contention;
        job.graph_name = analysis_->source.graph->info().name;
        job.stop = [this] { return voice_.stopReason(); };
        job.say = [this](const MessageBody& body) { voice_.say(body); };
        return job;
    }

    const RankBuild& build_;
    const RankOptions options_;
    MpiPlane& plane_;
    RankVoice& voice_;
    std::set<std::string> reuse_;
    AnalysisPtr analysis_;
    std::unique_ptr<Backend> backend_;
};

int measure(const RankBuild& build, const RankOptions& options) {
    prepareProcess();
    int provided = 0; // several threads: a backend may drive a transfer while another thread computes
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
        return kAborted;
    std::optional<Failure> failure;
    {
        // Those that wait give the one that hangs the time to say so.
        MpiPlane plane(std::chrono::seconds(options.time_limit_s + 5));
        RankVoice voice(plane.rank(), std::chrono::seconds(options.time_limit_s));
        failure = RankRun(build, options, plane, voice)();
        if (failure) {
            ResultMessage m;
            m.error = failure->error;
            m.key = failure->key;
            voice.say(m);
        }
        const char* reason = !failure ? "done" : failure->error.code == "stopped" ? "stopped" : "failed";
        voice.say(ByeMessage{reason});
    }
    alarm(5); // a rank that is gone must not keep the others in here
    if (failure && !failure->together)
        MPI_Abort(MPI_COMM_WORLD, kAborted);
    MPI_Finalize();
    return failure ? kAborted : 0;
}

nlohmann::json factsJson(const DeviceFacts& facts) {
    return {{"name", facts.name},
            {"driver", facts.driver},
            {"clocks", facts.clocks},
            {"versions", facts.versions},
            {"memory_bytes", facts.memory_bytes},
            {"free_bytes", facts.free_bytes}};
}

} // namespace

std::string probeJson(const RankBuild& build) {
    nlohmann::json list = nlohmann::json::array();
    for (const BackendInfo& info : *build.backends) {
        nlohmann::json item = {{"name", info.name},   {"meaning", info.meaning},
                               {"built", info.built}, {"why_not", info.why_not},
                               {"error", ""},         {"devices", nlohmann::json::array()}};
        if (info.built && info.probe) {
            const auto devices = info.probe();
            if (!devices)
                item["error"] = devices.error().message;
            else
                for (const DeviceFacts& facts : devices.value())
                    item["devices"].push_back(factsJson(facts));
        }
        list.push_back(std::move(item));
    }
    const nlohmann::json all = {{"v", kProtocolVersion}, {"version", build.version}, {"backends", list}};
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int rankMain(int argc, char** argv, const RankBuild& build) {
    const Result<RankOptions> options = parseRankOptions({argv + 1, argv + argc});
    if (!options) {
        fmt::print(stderr, "gatherscope-rank: {}\n  {}\n", options.error().message, options.error().hint);
        return kUsage;
    }
    if (options->help || options->version || options->probe) {
        fmt::print("{}", options->help      ? rankUsage()
                         : options->version ? fmt::format("gatherscope-rank {}\n", build.version)
                                            : probeJson(build));
        return 0;
    }
    return measure(build, options.value());
}

} // namespace gs
