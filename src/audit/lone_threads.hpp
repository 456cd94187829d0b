// Threads of a block that some of them poll or speak for, and that no barrier of the block holds: a branch by
// the thread's number leads them past the waiting loop, or past the flag.
#pragma once

#include <optional>

#include "src/audit/guards.hpp"
#include "src/audit/waits.hpp"

namespace mgsync::audit {

struct unheld {
  std::size_t branch = 0;  // by which the threads part, or the step itself whose predicate parts them
  std::size_t access = 0;  // theirs, which should have been held
  bool is_sure = false;    // false: a shuffle or vote holds them, or a barrier does on some ways
};

// Threads that skip the waiting loop and then read what the waiting threads read, without a barrier in
// between.
std::optional<unheld> who_passes_by(const flow&, const waiting_loop&);
// Threads whose ordinary stores come before this flag, which they do not set, without a barrier in between.
// Who sets it too releases by itself, and where a branch gives others another role, these do not count.
std::optional<unheld> who_is_not_spoken_for(const flow&, const guards&, std::size_t flag);

}  // namespace mgsync::audit
