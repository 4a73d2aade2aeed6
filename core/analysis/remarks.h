// What an analysis says about itself, beside what its stages say.
#pragma once

#include "analysis/analysis.h"

namespace gs {

/// Ops whose cost nobody knows and that count as 0.
void remarkMissingCosts(Analysis& analysis);
/// Gathers that no scheduler may move are no decisions, but nobody should have to wonder about them.
void remarkUnmoved(Analysis& analysis);

} // namespace gs
