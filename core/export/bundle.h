// A whole analysis in one file, `gatherscope.bundle` version 1: opens again as an input, and is compared in
// CI.
#pragma once

#include "analysis/analysis.h"

#include <string>

namespace gs {

/// {"format","version","versions","hashes":{"source","before","after","order","parts":{part:
/// hash}},"request":{"graph_file", "settings":{…as text…},"edits":[…],"cost_overrides":{key:
/// ns},"cost_pins":{key: source},"cost_files":[…],"measured":bool},"input_diagnostics",
/// "cost_diagnostics","costs":{"before":[entry],"after":[entry]},"ranks":{see bundle_ranks.h} or
/// null,"graph":{gatherscope.graph, see graph_json.h},"analysis":{gatherscope.analysis}}. "before" is left
/// out of the costs where both programs share a table. Opened again it gives the same analysis, byte for
/// byte; a part whose hash (bundle_json.h) is not the stated one is a warning.
std::string writeBundle(const Analysis& analysis);

} // namespace gs
