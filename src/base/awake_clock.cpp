#include "src/base/awake_clock.hpp"

namespace mgsync {

awake_clock::time_point awake_clock::now() {
  // looked_ is loaded before left_out_: then left_out_ contains every stop that was noted before the time
  // that is loaded here.
  const rep looked = looked_.load(std::memory_order_acquire);
  const rep time = raw().count();
  constexpr rep often_enough =
      shortest_stop.count() / 50;  // so that not every reader writes to this cache line
  if (time - looked > often_enough && keepers_.load(std::memory_order_relaxed) > 0) {
    const std::lock_guard lock(noting_);
    const rep since = time - looked_.load(std::memory_order_relaxed);
    if (since > shortest_stop.count()) {
      left_out_.fetch_add(since, std::memory_order_relaxed);
      last_stop_ = since;
      last_stop_ended_ = time;
    }
    if (since > 0) looked_.store(time, std::memory_order_release);
  }
  return time_point(duration(time - left_out_.load(std::memory_order_relaxed)));
}

awake_clock::duration awake_clock::stopped() {
  now();
  return duration(left_out_);
}

awake_clock::duration awake_clock::stopped_within(duration recent) {
  now();
  return last_stop_ != 0 && raw().count() - last_stop_ended_ <= recent.count() ? duration(last_stop_)
                                                                               : duration(0);
}

awake_clock::keeper::keeper() {
  const std::lock_guard lock(noting_);
  if (keepers_++ == 0) looked_ = raw().count();
}

awake_clock::keeper::~keeper() { --keepers_; }

}  // namespace mgsync
