// Some of many results, by words: "members=4,shape=1x32,subject=multigrid:auto/grid".
#pragma once

#include <string_view>
#include <vector>

#include "src/results/result.hpp"

namespace mgsync {

// Those that have one of the words after each name: subject ("grid" is all its variants), shape, members,
// ranks, device, study, placement, or an axis. Throws usage_error for a part that is no NAME=WORD/WORD, and
// for a name that no result has.
std::vector<result> selected(std::vector<result>, std::string_view where);

}  // namespace mgsync
