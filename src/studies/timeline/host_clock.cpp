#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "src/base/cycle_counter.hpp"
#include "src/studies/timeline/common_clock.hpp"
#include "src/studies/timeline/core_clocks.hpp"

namespace mgsync::timelines {

namespace {

class host_clock final : public common_clock {
 public:
  host_clock(const std::vector<int>& cpus, std::size_t blocks)
      : clocks_(cpus), blocks_(blocks), ticks_per_ns_(measure_ticks_per_ns()), zero_(cycles_now()) {}

  bool before_run(std::string& reason) override {
    offsets_ = clocks_.measure(reason);
    return !offsets_.empty();
  }
  bool after_run(std::string& reason) override {
    const auto after = clocks_.measure(reason);
    if (after.size() != offsets_.size()) return false;
    for (std::size_t i = 0; i < after.size(); ++i) offsets_[i] = over_run(offsets_[i], after[i]);
    return true;
  }
  double at_ns(const worker_id& worker, const moment& when) const override {
    const auto since = static_cast<double>(static_cast<std::int64_t>(when.clock - zero_));
    return (since - offsets_.at(worker.member * blocks_ + worker.block).ticks()) / ticks_per_ns_;
  }
  // The sum of the two largest error bounds, which bounds the error of a time difference between any two
  // workers.
  double uncertainty_ns() const override {
    std::vector<double> bounds;
    for (const auto& o : offsets_) bounds.push_back(o.bound() / ticks_per_ns_);
    std::ranges::sort(bounds, std::greater());
    return bounds.empty() ? 0 : bounds[0] + (bounds.size() > 1 ? bounds[1] : 0);
  }
  std::string description() const override {
    return fmt::format("cycle counters, {:.4f} ticks per ns; offsets from messages sent back and forth "
                       "before and after each run",
                       ticks_per_ns_);
  }

 private:
  core_clocks clocks_;
  std::size_t blocks_;
  double ticks_per_ns_;
  std::uint64_t zero_;
  std::vector<clock_offset> offsets_;
};

}  // namespace

std::unique_ptr<common_clock> make_host_clock(const topology::group& group) {
  std::vector<int> cpus;
  for (const auto& m : group.members) cpus.insert(cpus.end(), m.cpus.begin(), m.cpus.end());
  return std::make_unique<host_clock>(cpus, group.members.front().cpus.size());
}

}  // namespace mgsync::timelines
