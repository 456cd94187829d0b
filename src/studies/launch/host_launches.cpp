#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "src/base/pinning.hpp"
#include "src/studies/launch/launches.hpp"

namespace mgsync::launch {
namespace {

using clock = std::chrono::steady_clock;

// Reading a clock takes 20 ns, and on some virtual machines 200, so it is not read where there is nothing to
// wait for.
void wait_for(std::chrono::nanoseconds how_long) {
  if (how_long.count() == 0) return;
  const auto end = clock::now() + how_long;
  while (clock::now() < end) {}
}

class host_launches final : public subject {
 public:
  host_launches(host_kind kind, unsigned members, std::vector<int> cpus)
      : kind_(kind), members_(members), cpus_(std::move(cpus)), before_(allowed_cpus()) {
    if (kind_ != host_kind::openmp_region) return;
#pragma omp parallel num_threads(static_cast <int>(members_))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      if (me == 0) team_ = static_cast<unsigned>(omp_get_num_threads());
      pin(me);
    }
  }
  ~host_launches() override {
    if (kind_ != host_kind::openmp_region) return;
#pragma omp parallel num_threads(static_cast <int>(members_))
    restrict_calling_thread(before_);
  }
  host_launches(const host_launches&) = delete;
  host_launches& operator=(const host_launches&) = delete;

  unsigned team() const { return team_; }

  seen run(const run_order& asked) override {
    const std::chrono::nanoseconds unit(
        static_cast<std::int64_t>(static_cast<double>(asked.units) * asked.unit_us * 1e3));
    const auto begin = clock::now();
    for (std::uint64_t i = 0; i < asked.count; ++i)
      kind_ == host_kind::openmp_region ? start_region(unit) : start_threads(unit);
    const double us = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    seen came{.done = asked};
    came.values = {
        {"total_us", {us}},
        {"call_us", {us}},
        {"waited_us", {static_cast<double>(asked.count) * static_cast<double>(unit.count()) * 1e-3}}};
    return came;
  }

 private:
  void pin(unsigned member) const {
    if (member < cpus_.size()) pin_calling_thread(cpus_[member]);
  }
  void start_region(std::chrono::nanoseconds unit) const {
#pragma omp parallel num_threads(static_cast <int>(members_))
    {
      wait_for(unit);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the empty region
    }
  }
  void start_threads(std::chrono::nanoseconds unit) const {
    std::vector<std::thread> started;
    started.reserve(members_);
    for (unsigned m = 0; m < members_; ++m)
      started.emplace_back([this, unit, m] {
        pin(m);
        wait_for(unit);
      });
    for (auto& each : started) each.join();
  }

  host_kind kind_;
  unsigned members_;
  std::vector<int> cpus_;
  std::vector<int> before_;
  unsigned team_ = 0;
};

}  // namespace

creation make_host_launches(host_kind kind, unsigned members, const std::vector<int>& cpus) {
  auto made = std::make_unique<host_launches>(kind, members, cpus);
  if (kind == host_kind::openmp_region && made->team() != members)
    return {nullptr,
            fmt::format("OpenMP gave a team of {} where {} were asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC)",
                        made->team(), members)};
  return {std::move(made), {}};
}

}  // namespace mgsync::launch
