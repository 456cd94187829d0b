// Barriers whose code harms the process that it runs in: each must cost its scenario, and nothing else. And
// one that only the absence of a member other than the first shows.
#include "lines.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace {

using namespace mgsync::known;

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
// A hub whose wait is bounded: after 100 ms it lets all go on without who is not there.
struct gives_up_waiting : of_lines<gives_up_waiting> {
  using of_lines::of_lines;
  static constexpr const char* name = "gives-up-waiting";
  static unsigned lines(unsigned) { return 3; }
  bool arrive_and_wait() {
    const auto now = next();
    store(line(self(), 1), now);
    if (self() != 0) return wait_until([&] { return reached(load(line(self(), 2)), now); });
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until(
              [&] { return reached(load(line(from, 1)), now) || std::chrono::steady_clock::now() > end; }))
        return false;
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 2), now);
    return true;
  }
};
#if defined(ENDS_AS_IT_IS_LOADED)
[[maybe_unused]] const int never_loaded = (std::abort(), 0);
#endif

}  // namespace

MGSYNC_CHECK_BARRIER(crashes, endless, leaves, crashes_as_it_starts, crashes_when_asked, gives_up_waiting)
