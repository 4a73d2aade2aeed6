// What gatherscope-rank says on stdout: JSON lines, version 1 (profiling.md, "Rank lockstep").
//
// Every line is an object with "v" (protocol version), "type" and "rank". A rank says, in this order:
//   hello       once: who it is ("ranks", "local_rank", "pid", "host", "backend", "device", "version")
//   heartbeat   every second, from a thread of its own, until bye
//   progress    before each key ("index" of "count", "key", "label", "phase", "eta_ns" or -1)
//   entry       rank 0 only: one reconciled key (the fields of ProfileEntry)
//   contention  rank 0 only: one gather beside compute, or why not (the fields of ContentionPoint)
//   warning     something a person should know ("code", "message", "hint")
//   result      once: "hash" of the whole table, "entries", "runs" (how often operators ran), and from rank 0
//               "profile" (a Profile without its lists); or "error" with the "key" where it happened. The
//               message of an error that one rank is to blame for begins "rank R "
//   bye         last: "reason" is "done", "failed" or "stopped"
// The launcher answers rank 0's hello with one line, `start` with the keys that need not be measured again.
// The end of rank 0's stdin means that the launcher is gone: all ranks leave.
#pragma once

#include "base/result.h"
#include "cost/profile.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gs {

inline constexpr int64_t kProtocolVersion = 1;

struct HelloMessage {
    int32_t ranks = 1;
    int32_t local_rank = 0;
    int64_t pid = 0;
    std::string host;
    std::string backend;
    std::string device;
    std::string version; ///< of the program
};
struct HeartbeatMessage {};
struct ProgressMessage {
    int64_t index = 0; ///< from 0
    int64_t count = 0;
    std::string key;
    std::string label;
    std::string phase;   ///< "compute", "collectives", "contention"
    int64_t eta_ns = -1; ///< until all is measured; -1 = not known yet
};
struct EntryMessage {
    ProfileEntry entry;
};
struct ContentionMessage {
    ContentionPoint point;
};
struct WarningMessage {
    std::string code;
    std::string message;
    std::string hint;
};
struct ResultMessage {
    std::optional<Error> error;
    std::string key;  ///< of the error; may be empty
    std::string hash; ///< tableHash()
    int64_t entries = 0;
    int64_t runs = 0;
    std::optional<Profile> profile; ///< rank 0: without entries and contention
};
struct ByeMessage {
    std::string reason;
};
/// A line of a type that this version does not know: a newer rank may say more. Nothing to fail for.
struct UnknownMessage {
    std::string type;
};

using MessageBody =
    std::variant<HelloMessage, HeartbeatMessage, ProgressMessage, EntryMessage, ContentionMessage,
                 WarningMessage, ResultMessage, ByeMessage, UnknownMessage>;
struct RankMessage {
    int32_t rank = 0;
    MessageBody body;
};

/// One line with its newline. Bytes that are no UTF-8 are replaced, '<' is written \u003c: launchers put
/// marks with it between the pieces of a line.
std::string encodeMessage(const RankMessage& message);
/// Errors: "not-json", "other-version" (names both), "bad-message" (names the type and the field).
Result<RankMessage> decodeMessage(std::string_view line);

/// The launcher's line.
std::string encodeStart(const std::vector<std::string>& reuse);
/// The keys not to measure. Errors as decodeMessage().
Result<std::vector<std::string>> decodeStart(std::string_view line);

/// Nothing for a word that provenanceName() never says.
std::optional<Provenance> provenanceFromName(std::string_view name);

/// Hash of every number and text of a profile's lists, in their order. Ranks with equal tables have equal
/// hashes.
uint64_t tableHash(const Profile& profile);

} // namespace gs
