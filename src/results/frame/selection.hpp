// Selects results by words (--where): "members=4,shape=1x32,subject=multigrid:auto/grid".
#pragma once

#include <string_view>
#include <vector>

#include "src/results/values/result.hpp"

namespace mgsync {

// The results that have, for each name, one of the words after it, or behind "!=" none of them. Names:
// subject ("grid": all its variants), shape, members, ranks, device, study, placement, or an axis. Throws
// usage_error for a part that is not NAME=WORD/WORD, and for a name that no result has.
std::vector<result> selected(std::vector<result>, std::string_view where);

}  // namespace mgsync
