#include "app/rank/rank_voice.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace gs {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBeat{1000};
constexpr std::chrono::milliseconds kGrace{4000};

std::atomic<int> signal_received = 0; // set by the handler, which can reach nothing else
static_assert(std::atomic<int>::is_always_lock_free);

void onSignal(int number) {
    signal_received = number;
}

/// False if nobody reads any more.
bool writeAll(int fd, const std::string& line) {
    size_t done = 0;
    while (done < line.size()) {
        const ssize_t wrote = write(fd, line.data() + done, line.size() - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        done += static_cast<size_t>(wrote);
    }
    return true;
}

} // namespace

void prepareProcess() {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // also ends a stopped process, which reads no pipe
    struct sigaction action = {};
    action.sa_handler = onSignal;
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        sigaction(number, &action, nullptr);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
}

RankVoice::RankVoice(int32_t rank, std::chrono::seconds limit)
    : rank_(rank), limit_(limit), out_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    thread_ = std::thread([this] { watch(); });
}

RankVoice::~RankVoice() {
    done_ = true;
    thread_.join();
    close(out_);
}

void RankVoice::say(const MessageBody& body) {
    const std::string line = encodeMessage({rank_, body});
    const std::lock_guard lock(mutex_); // a long line takes more than one write of a pipe
    if (!writeAll(out_, line))
        output_broken_ = true;
    if (const auto* progress = std::get_if<ProgressMessage>(&body)) {
        key_ = progress->key;
        since_ = Clock::now();
    }
}

Result<std::string> RankVoice::readStart() {
    std::string line;
    const auto end = Clock::now() + std::chrono::seconds(10);
    while (Clock::now() < end) {
        pollfd waited{STDIN_FILENO, POLLIN, 0};
        if (poll(&waited, 1, 200) <= 0)
            continue;
        char byte = 0; // the line is short, and nothing behind it may be lost
        const ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (byte == '\n')
            return line;
        line += byte;
    }
    return Error{"no-launcher",
                 "the launcher's first line did not come",
                 {},
                 "without a launcher leave out --launched"};
}

std::string RankVoice::stopReason() const {
    if (const int number = signal_received)
        return fmt::format("signal {}", number);
    if (input_ended_ || output_broken_)
        return "its launcher is gone";
    return {};
}

void RankVoice::lookAtInput() {
    pollfd waited{STDIN_FILENO, POLLIN, 0};
    char bytes[256];
    if (poll(&waited, 1, 0) > 0 && read(STDIN_FILENO, bytes, sizeof bytes) == 0)
        input_ended_ = true;
}

void RankVoice::end(const ResultMessage& why) {
    say(why);
    say(ByeMessage{why.error->code == "stopped" ? "stopped" : "failed"});
    _exit(5);
}

void RankVoice::watch() {
    auto next = Clock::now();
    auto asked = Clock::time_point::max();
    while (!done_) {
        if (Clock::now() >= next) {
            say(HeartbeatMessage{});
            next += kBeat;
        }
        if (watch_input_ && !input_ended_)
            lookAtInput();
        const bool stop = !stopReason().empty();
        if (stop && asked == Clock::time_point::max())
            asked = Clock::now();
        ResultMessage why;
        Clock::duration busy;
        {
            const std::lock_guard lock(mutex_);
            why.key = key_;
            busy = Clock::now() - since_;
        }
        if (stop && Clock::now() - asked > kGrace) // an operator that takes too long to wait for
            why.error = Error{"stopped", fmt::format("rank {} stops: {}", rank_, stopReason()), {}, ""};
        else if (busy > limit_)
            why.error = Error{"rank-hangs",
                              fmt::format("rank {} is at one key for more than {} s", rank_, limit_.count()),
                              {},
                              "--time-limit allows more"};
        if (why.error)
            end(why);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

} // namespace gs
