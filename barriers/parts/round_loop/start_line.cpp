#include "barriers/parts/round_loop/start_line.hpp"

#include <sched.h>

#include <atomic>

#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync::round_loop {

start_line::start_line(const topology::group& group, std::vector<std::uint32_t*> lines)
    : lines_(std::move(lines)), turns_(group.members.size(), 0), yields_(group.oversubscribed) {}

void start_line::pass_by(unsigned member) {
  std::atomic_ref<std::uint32_t>(*lines_[member]).store(++turns_[member], std::memory_order_release);
}

bool start_line::meet(unsigned member, awake_clock::time_point deadline) {
  pass_by(member);
  for (auto* const line : lines_) {
    unsigned polls = 0;
    while (!algorithm::reached(std::atomic_ref<std::uint32_t>(*line).load(std::memory_order_acquire),
                               turns_[member])) {
      if (yields_) sched_yield();
      // A yield may cost a time slice, so look at the clock more often then.
      if (++polls % (yields_ ? 16 : 1024) == 0 && awake_clock::now() > deadline) return false;
    }
  }
  return true;
}

}  // namespace mgsync::round_loop
