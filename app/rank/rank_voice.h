// How a rank speaks to its launcher, and how it hears that it has to stop.
#pragma once

#include "base/result.h"
#include "profile/protocol.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace gs {

/// One per process. Takes over stdout: what libraries print goes to stderr, lines of the protocol are written
/// whole with one write(2). A thread says a heartbeat every second and watches signals (SIGTERM, SIGINT,
/// SIGHUP) and, if asked to, the end of stdin. A rank that does not get to stop within 4 s after that is
/// ended from here.
class RankVoice {
public:
    RankVoice(int32_t rank, std::chrono::seconds limit);
    ~RankVoice();
    RankVoice(const RankVoice&) = delete;
    RankVoice& operator=(const RankVoice&) = delete;

    void say(const MessageBody& body);
    /// The launcher's first line. Error "no-launcher" if none comes within 10 s.
    Result<std::string> readStart();
    /// From now on the end of stdin means that the launcher is gone.
    void watchInput() { watch_input_ = true; }
    /// Why this rank has to stop; empty = it need not.
    std::string stopReason() const;

private:
    void watch();
    void lookAtInput();

    void end(const ResultMessage& why);

    const int32_t rank_;
    const std::chrono::seconds limit_;
    int out_ = -1;
    std::mutex mutex_; ///< of writing and of what follows
    std::string key_;  ///< at work
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
    std::atomic<bool> watch_input_ = false;
    std::atomic<bool> input_ended_ = false;
    std::atomic<bool> output_broken_ = false;
    std::atomic<bool> done_ = false;
    std::thread thread_;
};

/// The process ends when its parent does, however that ends. Signals that ask to stop set a flag.
void prepareProcess();

} // namespace gs
