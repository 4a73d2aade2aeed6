// Whether another process writes into a profile store at this moment.
#pragma once

#include "base/result.h"

#include <string>

namespace gs {

/// Fine where nobody does, and for a store that is not there yet. Takes the lock and gives it back; waits for
/// nobody and changes nothing. Error "store-locked" names the process where the system tells; what else is
/// wrong with a store checkStorePath() says.
Status checkStoreIsFree(const std::string& path);

} // namespace gs
