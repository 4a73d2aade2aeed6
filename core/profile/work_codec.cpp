// Work lists as JSON, for ranks whose graphs differ.
#include "profile/work_list.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gs {

namespace {

using Json = nlohmann::json;

Json toJson(const WorkItem& item) {
    Json json = {{"work", int(item.work)},      {"key", item.key},
                 {"kind", item.kind},           {"label", item.label},
                 {"calls", item.calls},         {"model_ns", item.model_ns},
                 {"note", item.model_note},     {"cannot", item.cannot},
                 {"members", item.members},     {"group", item.group_ranks},
                 {"placement", item.placement}, {"probe", item.latency_probe},
                 {"contend", item.contend},     {"communicates", item.communicates}};
    if (item.work == WorkKind::Collective)
        json["spec"] = {{"kind", int(item.spec.kind)},
                        {"dtype", int(item.spec.dtype)},
                        {"input_bytes", item.spec.input_bytes},
                        {"output_bytes", item.spec.output_bytes},
                        {"ranks", item.spec.ranks},
                        {"member_bytes", item.spec.member_bytes}};
    return json;
}

WorkItem fromJson(const Json& json) {
    WorkItem item;
    item.work = static_cast<WorkKind>(json.at("work").get<int>());
    json.at("key").get_to(item.key);
    json.at("kind").get_to(item.kind);
    json.at("label").get_to(item.label);
    json.at("calls").get_to(item.calls);
    json.at("model_ns").get_to(item.model_ns);
    json.at("note").get_to(item.model_note);
    json.at("cannot").get_to(item.cannot);
    json.at("members").get_to(item.members);
    json.at("group").get_to(item.group_ranks);
    json.at("placement").get_to(item.placement);
    json.at("probe").get_to(item.latency_probe);
    json.at("contend").get_to(item.contend);
    json.at("communicates").get_to(item.communicates);
    if (item.work == WorkKind::Collective) {
        const Json& spec = json.at("spec");
        item.spec.kind = static_cast<CollectiveKind>(spec.at("kind").get<int>());
        item.spec.dtype = static_cast<DType>(spec.at("dtype").get<int>());
        spec.at("input_bytes").get_to(item.spec.input_bytes);
        spec.at("output_bytes").get_to(item.spec.output_bytes);
        spec.at("ranks").get_to(item.spec.ranks);
        spec.at("member_bytes").get_to(item.spec.member_bytes);
    }
    item.here = item.work == WorkKind::Collective;
    return item;
}

} // namespace

std::string encodeWork(const std::vector<WorkItem>& items) {
    Json json = Json::array();
    for (const WorkItem& item : items)
        json.push_back(toJson(item));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<WorkItem>> decodeWork(const std::string& text) {
    std::vector<WorkItem> items;
    try { // ranks of one version write what they read: an error here is a broken transfer
        for (const Json& item : Json::parse(text))
            items.push_back(fromJson(item));
    } catch (const Json::exception& error) {
        return Error{
            "bad-message", fmt::format("a rank's list of keys cannot be read: {}", error.what()), {}, ""};
    }
    return items;
}

} // namespace gs
