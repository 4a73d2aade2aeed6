// Sections of the HTML report, each a function of the snapshot.
#pragma once

#include "analysis/analysis.h"

#include <string>

namespace gs::html {

/// One file that needs nothing else: no network, no scripts, pictures as inline SVG.
std::string writeReport(const Analysis& analysis);

// report_head.cpp
std::string headSection(const Analysis& analysis);
std::string timelineSection(const Analysis& analysis);
// report_gathers.cpp
std::string gatherSection(const Analysis& analysis);
std::string cardSection(const Analysis& analysis);
std::string transferSection(const Analysis& analysis);
// report_rest.cpp
std::string costSection(const Analysis& analysis);
std::string settingSection(const Analysis& analysis);
std::string passSection(const Analysis& analysis);
std::string diagnosticSection(const Analysis& analysis);
std::string originSection(const Analysis& analysis);

/// Decisions about candidates, the longest stall first, then the longest transfer, then program order.
std::vector<const Decision*> worstFirst(const Analysis& analysis);

} // namespace gs::html
