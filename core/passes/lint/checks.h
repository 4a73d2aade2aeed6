// The groups of checks, one file each; registry.cpp lists them.
#pragma once

#include "passes/lint/lint.h"

namespace gs {

void lintLaunchesAndWaits(LintContext& context);
void lintBuffers(LintContext& context);
void lintDead(LintContext& context);
void lintRepeated(LintContext& context);
void lintGroups(LintContext& context);
void lintHidden(LintContext& context);
void lintLatency(LintContext& context);
void lintWireDtype(LintContext& context);
void lintShards(LintContext& context);
void lintMemory(LintContext& context);

} // namespace gs
