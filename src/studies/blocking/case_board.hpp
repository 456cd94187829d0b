// The state of the participants of a case on the host: stamps that they and a watcher see, in a process's
// memory or in memory shared by ranks; and what a participant does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

inline constexpr unsigned most_participants = 64;

// All zero at first. Stamps are ns of the monotonic clock, which is the same for all processes of a host.
struct case_board {
  struct alignas(128) place {
    std::atomic<std::int64_t> arrived, left, acted, done;
    std::atomic<std::uint32_t> gave_up;
  };
  place places[most_participants];
};

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The barrier of a case, as a participant uses it.
class meeting {
 public:
  virtual ~meeting() = default;
  // Passes the barrier. False where its wait timed out; named() then tells who was missing.
  virtual bool meet(unsigned participant) = 0;
  // Waits at another barrier, to which nobody else comes.
  virtual void wait_elsewhere(unsigned participant) = 0;
  virtual void drop(unsigned) {}
  virtual std::vector<unsigned> named(unsigned) const { return {}; }
};

// What the participants of a case share.
struct case_run {
  const blocking_case* asked;
  unsigned participants;
  case_board* board;
  meeting* barrier;
};

// Does what participant `me` does in the case. `exit` is called where an absent one is to end; for a rank it
// does not return. Every stamp is also passed to `say`, which may be empty.
using stamp_listener = std::function<void(const participant& stamp)>;
void take_part(const case_run&, unsigned me, const stamp_listener& say, const std::function<void()>& exit);

// Whether every participant has begun what it does, so that nothing more can end a wait.
bool settled(const case_run&);
// Whether all participants are done that will ever be.
bool finished(const case_run&);

// Waits until the case is finished, or until the bound (twice the bound for our barrier, whose waits last
// that long) has passed after it settled, or until it has not settled for 30 s. Returns how it ended.
std::string watch(const case_run&);

// Tells the parent a part of what was seen: a line by a single write, so that those of several processes do
// not mix.
void tell(const case_seen& part);
void tell_found(const std::string& key, const std::string& text);

}  // namespace mgsync::blocking
