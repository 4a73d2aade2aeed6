#include "cost/device_presets.h"

#include "base/resources.h"
#include "import/importer.h"
#include "import/json_scan.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gs {

namespace {

using Json = nlohmann::ordered_json;

/// A device entry with its base merged in, so that bases can be chained.
using Entries = std::map<std::string, Json>;

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return out;
}

/// Reads the fields of one entry; the first fault stays in `problem`.
class EntryReader {
public:
    EntryReader(const Json& entry, std::string id) : entry_(entry), id_(std::move(id)) {}

    const std::string& problem() const { return problem_; }
    void fault(const std::string& what) {
        if (problem_.empty())
            problem_ = fmt::format("device \"{}\": {}", id_, what);
    }

    double number(const Json& object, const std::string& field, double least, double most) {
        const auto found = object.find(field);
        if (found == object.end()) {
            fault(fmt::format("\"{}\" is missing", field));
        } else if (!found->is_number()) {
            fault(fmt::format("\"{}\" is {}, a number was expected", field, found->dump()));
        } else {
            const double value = found->get<double>();
            if (std::isfinite(value) && value >= least && value <= most)
                return value;
            fault(fmt::format("\"{}\" is {}, expected {} to {}", field, found->dump(), least, most));
        }
        return least;
    }
    double number(const std::string& field, double least, double most) {
        return number(entry_, field, least, most);
    }
    std::optional<double> optionalNumber(const std::string& field, double least, double most) {
        const auto found = entry_.find(field);
        if (found == entry_.end() || found->is_null())
            return std::nullopt;
        return number(field, least, most);
    }
    std::string text(const std::string& field) {
        const auto found = entry_.find(field);
        if (found == entry_.end() || !found->is_string() || found->get<std::string>().empty()) {
            fault(fmt::format("\"{}\" must be a text", field));
            return {};
        }
        return *found;
    }
    bool flag(const std::string& field, bool fallback) {
        const auto found = entry_.find(field);
        if (found == entry_.end())
            return fallback;
        if (!found->is_boolean())
            fault(fmt::format("\"{}\" is {}, true or false was expected", field, found->dump()));
        return found->is_boolean() ? found->get<bool>() : fallback;
    }

private:
    const Json& entry_;
    std::string id_;
    std::string problem_;
};

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kLeastRate = 1e-6;
constexpr double kMostRate = 1e9;

void readPeaks(EntryReader& reader, const Json& entry, RooflineParams& params) {
    const auto peaks = entry.find("peak_tflops");
    if (peaks == entry.end() || !peaks->is_object()) {
        reader.fault("\"peak_tflops\" must be an object of dtype → TFLOP/s");
        return;
    }
    for (const auto& [name, value] : peaks->items()) {
        const double peak = reader.number(*peaks, name, kLeastRate, kMostRate) * kTera;
        const DType dtype = dtypeFromName(name);
        if (name == "other") {
            params.other_peak_flops = peak;
        } else if (name == "float8") {
            for (DType eight : {DType::Float8E4M3FN, DType::Float8E5M2, DType::Float8E4M3FNUZ,
                                DType::Float8E5M2FNUZ, DType::Float8E8M0FNU})
                params.peak_flops[static_cast<size_t>(eight)] = peak;
        } else if (dtype != DType::Unknown) {
            params.peak_flops[static_cast<size_t>(dtype)] = peak;
        } else if (name != "tf32") {
            reader.fault(fmt::format("\"peak_tflops\" names the dtype \"{}\", which is not known", name));
        }
    }
    if (reader.flag("allow_tf32", false) && peaks->contains("tf32"))
        params.peak_flops[static_cast<size_t>(DType::Float32)] =
            reader.number(*peaks, "tf32", kLeastRate, kMostRate) * kTera;
    if (params.other_peak_flops == 0)
        reader.fault("\"peak_tflops\" lacks \"other\"");
}

void readCollectives(EntryReader& reader, DevicePreset& device) {
    const std::string model = reader.text("collectives");
    device.uses_nccl = model == "nccl";
    device.place_by_ranks = reader.flag("place_by_ranks", true);
    device.nccl.gpus_per_node = static_cast<int32_t>(reader.number("gpus_per_node", 1, 1'000'000));
    if (device.uses_nccl) {
        const std::string name = reader.text("generation");
        const auto generation = ncclGenerationFromName(name);
        if (generation)
            device.nccl.generation = *generation;
        else
            reader.fault(
                fmt::format("\"generation\" is \"{}\", expected VOLTA, AMPERE, HOPPER or BLACKWELL", name));
        device.nccl.nvlink = reader.flag("nvlink", true);
        device.nccl.intra_node_gbps = reader.optionalNumber("intra_gbps", kLeastRate, kMostRate);
        device.nccl.inter_node_gbps = reader.optionalNumber("inter_gbps", kLeastRate, kMostRate);
    } else if (model == "linear") {
        device.links.intra_latency_us = reader.number("intra_latency_us", 0, 1e6);
        device.links.inter_latency_us = reader.number("inter_latency_us", 0, 1e6);
        device.links.intra_gbps = reader.number("intra_gbps", kLeastRate, kMostRate);
        device.links.inter_gbps = reader.number("inter_gbps", kLeastRate, kMostRate);
        device.links.efficiency = reader.number("link_efficiency", kLeastRate, 1);
    } else {
        reader.fault(fmt::format("\"collectives\" is \"{}\", expected \"nccl\" or \"linear\"", model));
    }
}

/// The problem is empty if the device is good.
DevicePreset readDevice(const Json& entry, const std::string& id, std::string& problem) {
    EntryReader reader(entry, id);
    DevicePreset device;
    device.id = id;
    device.name = reader.text("name");
    RooflineParams& params = device.roofline;
    readPeaks(reader, entry, params);
    params.memory_bandwidth = reader.number("memory_gbps", kLeastRate, kMostRate) * kGiga;
    params.compute_efficiency = reader.number("compute_efficiency", kLeastRate, 1);
    params.memory_efficiency = reader.number("memory_efficiency", kLeastRate, 1);
    params.launch_floor_ns = static_cast<int64_t>(reader.number("launch_floor_ns", 0, 1e9));
    constexpr double kGib = 1 << 30;
    device.memory_bytes = static_cast<int64_t>(reader.number("memory_gib", kLeastRate, 1e6) * kGib);
    readCollectives(reader, device);
    if (const auto sources = entry.find("sources"); sources != entry.end() && sources->is_object()) {
        for (const auto& [field, text] : sources->items()) {
            if (text.is_string())
                device.sources.emplace_back(field, text.get<std::string>());
        }
    }
    problem = reader.problem();
    return device;
}

/// Reads all devices of a file into `devices`; `entries` holds what may be a base. Returns what is wrong.
std::string readDevices(const Json& data, Entries& entries, std::vector<DevicePreset>& devices) {
    if (!data.is_object() || data.value("format", Json()) != "gatherscope.devices")
        return "\"format\" is not \"gatherscope.devices\"";
    if (data.value("version", Json()) != 1)
        return fmt::format("version {} of the format, this program reads version 1",
                           data.value("version", Json()).dump());
    const auto list = data.find("devices");
    if (list == data.end() || !list->is_array() || list->empty())
        return "\"devices\" must be an array with at least one device";
    for (const Json& item : *list) {
        if (!item.is_object() || !item.contains("id") || !item["id"].is_string())
            return "a device has no \"id\"";
        const std::string id = lower(item["id"].get<std::string>());
        Json merged = Json::object();
        if (item.contains("base")) {
            const auto base = item["base"].is_string() ? entries.find(lower(item["base"].get<std::string>()))
                                                       : entries.end();
            if (base == entries.end())
                return fmt::format("device \"{}\": its base {} is not a known device", id,
                                   item["base"].dump());
            merged = base->second;
        }
        // Objects (peaks, sources) are merged field by field; a null takes the base's field away.
        merged.merge_patch(item);
        std::string problem;
        devices.push_back(readDevice(merged, id, problem));
        if (!problem.empty())
            return problem;
        entries[id] = std::move(merged);
    }
    return {};
}

struct Presets {
    Entries entries;
    std::vector<DevicePreset> devices;

    Presets() {
        const Json data = Json::parse(resourceText("device_presets.json"));
        const std::string problem = readDevices(data, entries, devices);
        if (!problem.empty())
            throw std::logic_error("resources/device_presets.json: " + problem);
    }
};

const Presets& presets() {
    static const Presets kPresets;
    return kPresets;
}

} // namespace

const std::vector<DevicePreset>& devicePresets() {
    return presets().devices;
}

const DevicePreset* findDevicePreset(std::string_view id) {
    const std::string wanted = lower(id);
    for (const DevicePreset& device : devicePresets()) {
        if (device.id == wanted)
            return &device;
    }
    return nullptr;
}

Result<std::vector<DevicePreset>> loadDevicePresets(const std::string& path, Diagnostics& diagnostics) {
    Result<InputText> input = readInput(path, diagnostics);
    if (!input)
        return input.error();
    const Json data = Json::parse(input->text, nullptr, false);
    if (data.is_discarded()) {
        const JsonFault fault = findJsonFault(input->text);
        return Error{"bad-json",
                     fmt::format("{}:{}:{}: {}", path, fault.line, fault.column, fault.message),
                     {path, fault.line, fault.column},
                     "correct the file at this place"};
    }
    Entries entries = presets().entries;
    std::vector<DevicePreset> devices;
    const std::string problem = readDevices(data, entries, devices);
    if (!problem.empty())
        return Error{"bad-device",
                     fmt::format("{}: {}", path, problem),
                     {path, 1, 1},
                     "see resources/device_presets.json for the fields"};
    return devices;
}

} // namespace gs
