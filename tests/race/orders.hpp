// The orderings that a policy may weaken, one at a time: each weakened twin must be caught by a race checker.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mgsync::race {

enum class weakness {
  none,
  system_store,   // the store that publishes an epoch to another member: relaxed
  system_wait,    // the poll for an epoch of another member: relaxed
  local_arrival,  // the counter of a member's blocks: relaxed
  local_release,  // the store that releases a member's blocks: relaxed
  local_wait,     // the poll for that release: relaxed
  system_add,     // the counter of all members: relaxed
  team_barrier,   // the barrier between what one lane of a team acquired and what another releases: none
};

inline constexpr std::array<std::string_view, 8> weakness_names = {
    "none",          "system-store", "system-wait", "local-arrival",
    "local-release", "local-wait",   "system-add",  "team-barrier"};

}  // namespace mgsync::race
