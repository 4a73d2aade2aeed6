// The scheduler interface and its registry. A new scheduler is one file and one line in registry.cpp.
#pragma once

#include "analysis/edits.h"
#include "analysis/settings.h"
#include "base/progress.h"
#include "schedule/schedule.h"

namespace gs {

struct ScheduleInput {
    const Graph& graph;
    const CollectiveTable& collectives;
    const CostTable& costs;
    const Settings& settings;
    JobContext job;
    /// Changes made by hand. Schedulers need not read them (applyEdits() follows), but those that place
    /// gathers one by one leave edited gathers alone, so that others get their window.
    Edits edits = {};
};

struct SchedulerInfo {
    std::string_view name; ///< as in --scheduler NAME
    std::string_view title;
    std::string_view meaning;      ///< one sentence
    std::vector<Setting> settings; ///< the settings it reads
    Schedule (*run)(const ScheduleInput&);
};

const std::vector<SchedulerInfo>& schedulers();
/// Null if no scheduler has this name.
const SchedulerInfo* findScheduler(std::string_view name);

} // namespace gs
