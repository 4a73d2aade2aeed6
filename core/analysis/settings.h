// Every setting of the program, in one table: the command line, the settings dock, undo and the help read it.
#pragma once

#include "base/result.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gs {

enum class Setting : uint8_t {
    Scheduler,
    Gathers,
    Contention,
    SlackNs,
    Carry,
    MovePrepChain,
    ComputeSlowdown,
    SimulatedContention,
    SharedLinks,
    GatherBudgetMib,
    SearchSteps,
    MaxInFlightGb,
    ComputeOverlapMultipler,
    MaxCollDistance,
    MaxComputePreFetch,
    MaxMemoryIncreaseGb,
    MaxMemoryIncreaseRatio,
    CollectiveBucketing,
    ForwardDepth,
    BackwardDepth,
    BucketMode,
    BucketCapMib,
    BucketRegion,
    BucketBoundary,
    BucketLayer,
    FsdpDedup,
    Lowering,
    Mesh,
    CostSources,
    ProfileStore,
    ProfileChoice,
    MeasuredContention,
    FusedRegions,
    Device,
    InFlightNs,
    InFlightElapsedNs,
    CommScale,
    CommunicatingOps,
    HeldLimitMib,
    RankModeChoice,
    Count
};
inline constexpr size_t kSettingCount = static_cast<size_t>(Setting::Count);

enum class SettingType : uint8_t { Number, Integer, Flag, Choice, Text };
/// First stage of the analysis that a change makes run again.
enum class Stage : uint8_t { Import, Ranks, Passes, Lint, Costs, Schedule, Simulate };

struct SettingSpec {
    Setting key;
    std::string_view name;  ///< as in --set NAME=VALUE and in the JSON
    std::string_view title; ///< for the dock
    SettingType type;
    std::string_view fallback; ///< default, as text
    double minimum = 0; ///< a Text with a range takes a number of it, "none", or what its fallback says
    double maximum = 0;
    std::vector<std::string_view> choices; ///< of a Choice
    std::string_view unit;                 ///< "ns", "MiB", ""
    std::string_view meaning;              ///< one sentence
    Stage stage;
};

const std::vector<SettingSpec>& settingSpecs();
const SettingSpec& settingSpec(Setting key);
/// Null if no setting has this name.
const SettingSpec* findSetting(std::string_view name);

/// Values of all settings; defaults until set. A plain value: copy and compare freely.
class Settings {
public:
    Settings();
    /// Checks type and range. The error names the setting, what it got and what it takes.
    Status set(Setting key, std::string_view value);
    Status set(std::string_view name, std::string_view value);

    double number(Setting key) const;
    int64_t integer(Setting key) const;
    /// Of a Text with a range: its number; nothing for "none" and other words that it takes.
    std::optional<double> limit(Setting key) const;
    bool flag(Setting key) const;
    const std::string& text(Setting key) const { return values_[static_cast<size_t>(key)]; }
    bool isDefault(Setting key) const;
    bool operator==(const Settings&) const = default;

private:
    std::array<std::string, kSettingCount> values_;
};

} // namespace gs
