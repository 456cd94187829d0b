// Barriers whose code harms the process that it runs in: each must cost its scenario, and nothing else.
#include <mgsync/check.hpp>

#include <unistd.h>

#include <cstdlib>

namespace {

using mgsync::check::position;
using mgsync::check::shape;

struct in_memory {
  explicit in_memory(const position& where) : at(where) {}
  static constexpr std::size_t bytes = 128;
  position at;
};
struct crashes : in_memory {
  using in_memory::in_memory;
  static constexpr const char* name = "crashes";
  void arrive_and_wait() {
    if (at.member == 1) std::abort();
  }
};
struct endless : in_memory {
  using in_memory::in_memory;
  static constexpr const char* name = "endless";
  void arrive_and_wait() {
    for (volatile bool for_ever = true; for_ever;) {}
  }
};
// Ends the process as if all had gone well.
struct leaves : in_memory {
  using in_memory::in_memory;
  static constexpr const char* name = "leaves";
  void arrive_and_wait() { _exit(0); }
};
struct crashes_as_it_starts : in_memory {
  using in_memory::in_memory;
  static constexpr const char* name = "crashes-as-it-starts";
  static void start(void*, unsigned, const shape&) { std::abort(); }
  void arrive_and_wait() {}
};
struct crashes_when_asked : in_memory {
  using in_memory::in_memory;
  static constexpr const char* name = "crashes-when-asked";
  static bool takes(const shape& s) {
    if (s.members == 3) std::abort();
    return false;
  }
  void arrive_and_wait() {}
};
#if defined(ENDS_AS_IT_IS_LOADED)
[[maybe_unused]] const int never_loaded = (std::abort(), 0);
#endif

}  // namespace

MGSYNC_CHECK_BARRIER(crashes, endless, leaves, crashes_as_it_starts, crashes_when_asked)
