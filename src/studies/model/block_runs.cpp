#include "src/studies/model/block_runs.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/harness/methods/slope.hpp"
#include "src/probes/probe_runner.hpp"

namespace mgsync::model {
namespace {

using probes::most_numbers_of_a_loop;
using probes::numbers_at;

constexpr unsigned passes = 33;

class block_runs final : public subject {
 public:
  block_runs(std::unique_ptr<probes::runner> runner, const block_run& asked, int ordinal)
      : runner_(std::move(runner)),
        asked_(asked),
        memory_(cuda::memory::in_pool(ordinal, (numbers_at + most_numbers_of_a_loop) * sizeof(double))),
        ordinal_(ordinal) {
    std::vector<double> numbers(most_numbers_of_a_loop);
    for (unsigned i = 0; i < numbers.size(); ++i) numbers[i] = number_of(i);
    const cuda::device_scope scope(ordinal);
    cuda::check(cudaMemcpy(memory_.as<double>() + numbers_at, numbers.data(), numbers.size() * sizeof(double),
                           cudaMemcpyHostToDevice),
                "copying numbers");
  }

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    const bool loop = asked_.what == block_quantity::loop;
    const auto count = loop ? static_cast<unsigned>(asked.count) * asked_.workers
                            : asked_.numbers;  // steps: unused, but by joins
    probes::probe_order launch;
    launch.kernel = asked_.probe->kernel_name(
        asked_.what == block_quantity::step ? static_cast<int>(asked.count) : probes::alone);
    launch.threads = asked_.threads;
    launch.blocks = launch.cluster = asked_.probe->cluster;
    launch.loops = probes::word_of(count, asked_.workers);
    launch.dynamic_shared_bytes = loop ? probes::shared_bytes_of_a_loop : probes::shared_bytes;
    launch.passes = passes;
    launch.memory = memory_.as<std::uint64_t>();
    const auto saw = runner_->run(launch, came.reason);
    if (!saw) {
      came.ended = ending::died;
      return came;
    }
    const auto cycles = cycles_of(*saw);
    if (loop || asked_.what == block_quantity::step) came.values["cycles"] = cycles;
    else came.values["typical_cycles"] = {static_cast<double>(mode_of(histogram_of(cycles)))};
    if (asked_.what != block_quantity::step) compare(count, came);
    return came;
  }

 private:
  // The cycles of each pass but the first, which meets cold instruction caches.
  std::vector<double> cycles_of(const probes::probe_seen& saw) const {
    std::vector<double> all;
    const auto warps = saw.warps;
    for (unsigned pass = 1; pass < passes; ++pass) {
      const auto first = saw.stamps.begin() + static_cast<std::ptrdiff_t>(pass) * warps;
      const auto last_warp = first + (asked_.what == block_quantity::warp_sum ? 1 : warps);
      const auto begun = std::min_element(first, last_warp, [](const auto& a, const auto& b) {
                           return a.begin < b.begin;
                         })->begin;
      const auto last =
          std::max_element(first, last_warp, [](const auto& a, const auto& b) { return a.end < b.end; })->end;
      const bool of_first_warp =
          asked_.what == block_quantity::sum || asked_.what == block_quantity::warp_sum;
      const auto ended = of_first_warp ? first->end : last;
      if (ended > begun) all.push_back(static_cast<double>(ended - begun));
    }
    return all;
  }

  // What thread 0's sum must be: the whole sum, or its own share of it.
  double expected(unsigned count) const {
    if (asked_.what != block_quantity::loop) return sum_of(count);
    double sum = 0;
    for (unsigned i = 0; i < count; i += asked_.workers) sum += number_of(i);
    return sum;
  }

  void compare(unsigned count, seen& came) const {
    std::vector<double> sums(passes);
    const cuda::device_scope scope(ordinal_);
    cuda::check(cudaMemcpy(sums.data(), memory_.get(), passes * sizeof(double), cudaMemcpyDeviceToHost),
                "reading sums");
    const double right = expected(count);
    const auto wrong = std::count_if(sums.begin(), sums.end(), [right](double sum) { return sum != right; });
    came.checked = check_counts{passes, passes, static_cast<std::uint64_t>(wrong)};
    came.values["expected"] = {right};
    came.values["seen"] = {sums.back()};
  }

  std::unique_ptr<probes::runner> runner_;
  block_run asked_;
  cuda::memory memory_;
  int ordinal_;
};

}  // namespace

subject_creation make_block_run(const block_run& asked, int ordinal) {
  subject_creation made;
  static std::map<int, double> mhz;  // measured once: 5 ms of a busy SM
  auto ready = probes::make_ready({asked.probe, 1}, ordinal, !mhz.contains(ordinal));
  made.reason = ready.reason;
  if (!ready.runner) return made;
  made.subject = std::make_unique<block_runs>(std::move(ready.runner), asked, ordinal);
  made.quantities["clock"] = {"MHz", {mhz.try_emplace(ordinal, ready.mhz).first->second}};
  return made;
}

}  // namespace mgsync::model
