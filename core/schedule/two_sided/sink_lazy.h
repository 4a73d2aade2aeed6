// Puts waits and views where they are needed.
#pragma once

#include "schedule/two_sided/step_problem.h"

namespace gs {

/// Any order of the problem with lazy nodes right in front of their first users, waits above all; those in
/// `pinned` stay. Simulates to the same time or less.
Order sinkLazyNodes(const StepProblem& problem, const Order& order, const std::vector<char>& pinned);

} // namespace gs
