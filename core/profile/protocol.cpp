#include "profile/protocol.h"

#include "base/hash.h"

#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gs {

namespace {

using Json = nlohmann::json;

/// No '<' is left, which only texts can have: none looks like the marks that mpirun puts between.
std::string toLine(const Json& json) {
    std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    for (size_t at = line.find('<'); at != std::string::npos; at = line.find('<', at))
        line.replace(at, 1, "\\u003c");
    return line;
}

/// Fields of one line; the first that is missing or of another type is remembered.
class Fields {
public:
    explicit Fields(const Json& json) : json_(json) {}

    std::string text(const char* name) {
        const Json* value = find(
            name, [](const Json& item) { return item.is_string(); }, "a text");
        return value ? value->get<std::string>() : std::string();
    }
    int64_t number(const char* name) {
        const Json* value = find(
            name, [](const Json& item) { return item.is_number_integer(); }, "a whole number");
        if (!value)
            return 0;
        if (value->is_number_unsigned() &&
            value->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
            fail(name, "a whole number of 64 bits");
        return value->get<int64_t>();
    }
    /// A number from `least` that fits 32 bits.
    int32_t small(const char* name, int32_t least = 0) {
        const int64_t value = number(name);
        if (value < least || value > std::numeric_limits<int32_t>::max()) {
            fail(name, "a number in range");
            return least;
        }
        return static_cast<int32_t>(value);
    }
    const Json* object(const char* name) {
        return find(
            name, [](const Json& item) { return item.is_object(); }, "an object");
    }
    bool has(const char* name) const { return json_.contains(name); }
    void fail(const char* name, const char* wanted) {
        if (fault_.empty())
            fault_ = fmt::format("field \"{}\" is not {}", name, wanted);
    }
    const std::string& fault() const { return fault_; }
    void adopt(const Fields& inner) {
        if (fault_.empty())
            fault_ = inner.fault_;
    }

private:
    template <typename Check>
    const Json* find(const char* name, Check check, const char* wanted) {
        const auto found = json_.find(name);
        if (found != json_.end() && check(*found))
            return &*found;
        fail(name, wanted);
        return nullptr;
    }

    const Json& json_;
    std::string fault_;
};

void write(Json& json, const HelloMessage& m) {
    json.update({{"ranks", m.ranks},
                 {"local_rank", m.local_rank},
                 {"pid", m.pid},
                 {"host", m.host},
                 {"backend", m.backend},
                 {"device", m.device},
                 {"version", m.version}});
}
HelloMessage readHello(Fields& f) {
    return {f.small("ranks", 1), f.small("local_rank"), f.number("pid"),  f.text("host"),
            f.text("backend"),   f.text("device"),      f.text("version")};
}

void write(Json&, const HeartbeatMessage&) {}

void write(Json& json, const ProgressMessage& m) {
    json.update({{"index", m.index},
                 {"count", m.count},
                 {"key", m.key},
                 {"label", m.label},
                 {"phase", m.phase},
                 {"eta_ns", m.eta_ns}});
}
ProgressMessage readProgress(Fields& f) {
    return {f.number("index"), f.number("count"), f.text("key"),
            f.text("label"),   f.text("phase"),   f.number("eta_ns")};
}

void write(Json& json, const EntryMessage& m) {
    const ProfileEntry& e = m.entry;
    json.update({{"key", e.key},
                 {"kind", e.kind},
                 {"label", e.label},
                 {"ns", e.ns},
                 {"samples", e.samples},
                 {"spread_ns", e.spread_ns},
                 {"rank_skew_ns", e.rank_skew_ns},
                 {"calls", e.calls},
                 {"provenance", provenanceName(e.provenance)},
                 {"note", e.note}});
}
EntryMessage readEntry(Fields& f) {
    ProfileEntry e;
    e.key = f.text("key");
    e.kind = f.text("kind");
    e.label = f.text("label");
    e.ns = f.number("ns");
    e.samples = f.number("samples");
    e.spread_ns = f.number("spread_ns");
    e.rank_skew_ns = f.number("rank_skew_ns");
    e.calls = f.number("calls");
    e.note = f.text("note");
    if (const auto provenance = provenanceFromName(f.text("provenance")))
        e.provenance = *provenance;
    else
        f.fail("provenance", "a known provenance");
    return {e};
}

void write(Json& json, const ContentionMessage& m) {
    const ContentionPoint& p = m.point;
    json.update({{"key", p.key},
                 {"beside", p.beside},
                 {"bytes", p.bytes},
                 {"alone_ns", p.alone_ns},
                 {"together_ns", p.together_ns},
                 {"compute_alone_ns", p.compute_alone_ns},
                 {"compute_together_ns", p.compute_together_ns},
                 {"reason", p.reason}});
}
ContentionMessage readContention(Fields& f) {
    return {{f.text("key"), f.text("beside"), f.number("bytes"), f.number("alone_ns"),
             f.number("together_ns"), f.number("compute_alone_ns"), f.number("compute_together_ns"),
             f.text("reason")}};
}

void write(Json& json, const WarningMessage& m) {
    json.update({{"code", m.code}, {"message", m.message}, {"hint", m.hint}});
}
WarningMessage readWarning(Fields& f) {
    return {f.text("code"), f.text("message"), f.text("hint")};
}

void write(Json& json, const ResultMessage& m) {
    if (m.error)
        json["error"] = {{"code", m.error->code}, {"message", m.error->message}, {"hint", m.error->hint}};
    json.update({{"key", m.key}, {"hash", m.hash}, {"entries", m.entries}, {"runs", m.runs}});
    if (!m.profile)
        return;
    const Profile& p = *m.profile;
    json["profile"] = {{"unix_time_s", p.unix_time_s},
                       {"device", p.device},
                       {"driver", p.driver},
                       {"versions", p.versions},
                       {"clocks", p.clocks},
                       {"backend", p.backend},
                       {"ranks", p.ranks},
                       {"graph_name", p.graph_name},
                       {"graph_hash", p.graph_hash},
                       {"mode", p.mode}};
}
Profile readProfile(const Json& json, Fields& outer) {
    Fields f(json);
    Profile p;
    p.unix_time_s = f.number("unix_time_s");
    p.device = f.text("device");
    p.driver = f.text("driver");
    p.clocks = f.text("clocks");
    p.backend = f.text("backend");
    p.ranks = f.small("ranks", 1);
    p.graph_name = f.text("graph_name");
    p.graph_hash = f.text("graph_hash");
    p.mode = f.text("mode");
    if (const Json* versions = f.object("versions")) {
        Fields each(*versions);
        for (const auto& item : versions->items())
            p.versions[item.key()] = each.text(item.key().c_str());
        f.adopt(each);
    }
    outer.adopt(f);
    return p;
}
ResultMessage readResult(Fields& f) {
    ResultMessage m;
    if (const Json* error = f.has("error") ? f.object("error") : nullptr) {
        Fields e(*error);
        m.error = Error{e.text("code"), e.text("message"), {}, e.text("hint")};
        f.adopt(e);
    }
    m.key = f.text("key");
    m.hash = f.text("hash");
    m.entries = f.number("entries");
    m.runs = f.number("runs");
    if (const Json* profile = f.has("profile") ? f.object("profile") : nullptr)
        m.profile = readProfile(*profile, f);
    return m;
}

void write(Json& json, const ByeMessage& m) {
    json["reason"] = m.reason;
}
void write(Json&, const UnknownMessage&) {}

/// Names by the position in MessageBody.
constexpr const char* kTypes[] = {"hello",   "heartbeat", "progress", "entry", "contention",
                                  "warning", "result",    "bye",      ""};

MessageBody readBody(const std::string& type, Fields& f) {
    if (type == "hello")
        return readHello(f);
    if (type == "heartbeat")
        return HeartbeatMessage{};
    if (type == "progress")
        return readProgress(f);
    if (type == "entry")
        return readEntry(f);
    if (type == "contention")
        return readContention(f);
    if (type == "warning")
        return readWarning(f);
    if (type == "result")
        return readResult(f);
    if (type == "bye")
        return ByeMessage{f.text("reason")};
    return UnknownMessage{type};
}

/// Parses a line and checks its version.
Result<Json> parseLine(std::string_view line) {
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object())
        return Error{"not-json",
                     fmt::format("a line of a rank is no JSON object: \"{}\"", line.substr(0, 80)),
                     {},
                     "only gatherscope-rank may write to its stdout"};
    Fields f(json);
    const int64_t version = f.number("v");
    if (!f.fault().empty())
        return Error{"bad-message", "a rank's line states no version", {}, ""};
    if (version != kProtocolVersion)
        return Error{"other-version",
                     fmt::format("a rank speaks version {} of the protocol, this program version {}", version,
                                 kProtocolVersion),
                     {},
                     "install the same version of Gatherscope on all machines"};
    return json;
}

} // namespace

std::string encodeMessage(const RankMessage& message) {
    const auto* unknown = std::get_if<UnknownMessage>(&message.body);
    Json json = {{"v", kProtocolVersion},
                 {"type", unknown ? unknown->type : kTypes[message.body.index()]},
                 {"rank", message.rank}};
    std::visit([&](const auto& body) { write(json, body); }, message.body);
    return toLine(json);
}

Result<RankMessage> decodeMessage(std::string_view line) {
    const Result<Json> json = parseLine(line);
    if (!json)
        return json.error();
    Fields f(json.value());
    RankMessage message;
    const std::string type = f.text("type");
    message.rank = f.small("rank");
    if (f.fault().empty())
        message.body = readBody(type, f);
    if (!f.fault().empty())
        return Error{"bad-message",
                     fmt::format("a rank's line of type \"{}\" cannot be read: {}", type, f.fault()),
                     {},
                     ""};
    return message;
}

std::string encodeStart(const std::vector<std::string>& reuse) {
    return toLine({{"v", kProtocolVersion}, {"type", "start"}, {"reuse", reuse}});
}

Result<std::vector<std::string>> decodeStart(std::string_view line) {
    const Result<Json> json = parseLine(line);
    if (!json)
        return json.error();
    const Error bad{"bad-message", "the launcher's first line is no list of keys to reuse", {}, ""};
    if (json->value("type", Json()) != "start" || !json->contains("reuse") || !json->at("reuse").is_array())
        return bad;
    std::vector<std::string> keys;
    for (const Json& key : json->at("reuse")) {
        if (!key.is_string())
            return bad;
        keys.push_back(key.get<std::string>());
    }
    return keys;
}

std::optional<Provenance> provenanceFromName(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Provenance::Missing); ++i) {
        if (provenanceName(static_cast<Provenance>(i)) == name)
            return static_cast<Provenance>(i);
    }
    return std::nullopt;
}

uint64_t tableHash(const Profile& profile) {
    Hash64 hash;
    for (const ProfileEntry& e : profile.entries)
        hash.text(e.key)
            .text(e.kind)
            .text(e.label)
            .number(e.ns)
            .number(e.samples)
            .number(e.spread_ns)
            .number(e.rank_skew_ns)
            .number(e.calls)
            .number(static_cast<int64_t>(e.provenance))
            .text(e.note);
    for (const auto* points : {&profile.contention, &profile.no_contention}) {
        for (const ContentionPoint& p : *points)
            hash.text(p.key)
                .text(p.beside)
                .number(p.bytes)
                .number(p.alone_ns)
                .number(p.together_ns)
                .number(p.compute_alone_ns)
                .number(p.compute_together_ns)
                .text(p.reason);
    }
    return hash.value();
}

} // namespace gs
