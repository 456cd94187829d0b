#include "src/studies/pipeline/kernel_subjects.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/pipeline/gemm_kernel.hpp"
#include "src/studies/pipeline/launch_timer.hpp"
#include "src/studies/pipeline/product_check.hpp"
#include "src/studies/pipeline/synthetic_kernel.hpp"

namespace mgsync::pipeline {

namespace {

machine_facts facts_of(int gpu) {
  cudaDeviceProp seen{};
  int driver = 0, runtime = 0, khz = 0;
  cuda::check(cudaGetDeviceProperties(&seen, gpu), "asking about the GPU");
  cuda::check(cudaDriverGetVersion(&driver), "asking for the driver");
  cuda::check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
  cuda::check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, gpu), "asking for the clock");
  return {seen.name,
          seen.multiProcessorCount,
          static_cast<int>(seen.sharedMemPerBlockOptin),
          {{"driver", fmt::format("{}", driver)},
           {"runtime", fmt::format("{}", runtime)},
           {"highest_clock_mhz", fmt::format("{}", khz / 1000)}}};
}

// The largest m, n and k over the rows, so that one set of operands is large enough for all.
extent largest(std::span<const product_row> rows) {
  extent all{64, 64, 64};
  for (const product_row& r : rows)
    all = {std::max(all.m, r.size.m), std::max(all.n, r.size.n), std::max(all.k, r.size.k)};
  return all;
}

class product_subject final : public subject {
 public:
  product_subject(const gemm_kernel& kernel, const product_choice& of, const gpu_room& room, int gpu,
                  std::shared_ptr<const kernel_plan> plan)
      : kernel_(kernel),
        of_(of),
        gpu_(gpu),
        plan_(std::move(plan)),
        checks_(product_checks(of, room)),
        operands_(largest(plan_->products), 1) {
    // Warm-up: a GPU that was idle runs slower for a while.
    const extent size{2048, 2048, 2048};
    product_row row = plan_->products.front();
    row.size = size;
    row.buffers = 2 <= buffers_that_fit(row.tile, room) ? 2 : 1;
    row.blocks = plan_->sms;
    row.loads = row.math = row.epilogue = true;
    random_product some(size, 3);
    gemm_operands on = some.operands();
    load_code(row, on);
    timer_.time_ns([&](cudaStream_t stream) { kernel_.launch(launch_of(row), on, stream); }, 200, 2);
  }

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    try {
      const cuda::device_scope scope(gpu_);
      asked.what == run_order::purpose::time ? time(asked, came) : check(asked, came);
    } catch (const api_error& error) {
      came.ended = ending::died;
      came.reason = error.what();
    }
    return came;
  }

 private:
  gemm_launch launch_of(const product_row& r) const {
    return {of_.instance, r.buffers, r.producers, r.blocks, {r.loads, r.math, r.epilogue}};
  }

  // Loading waits for the kernels that run, and the timer has one that waits for all launches.
  void load_code(const product_row& r, const gemm_operands& on) {
    if (!kernel_.loads_late) return;
    kernel_.launch(launch_of(r), on, timer_.stream());
    cuda::check(cudaStreamSynchronize(timer_.stream()), "multiplying");
  }

  void time(const run_order& asked, seen& came) {
    const product_row& r = plan_->products.at(asked.units);
    gemm_operands on = operands_.operands();
    on.size = r.size;
    const double flops = 2.0 * r.size.m * r.size.n * r.size.k;
    const int launches = flops <= 1e11 ? 16 : r.set == "large" ? 4 : 2;
    load_code(r, on);
    came.values["time_ns"] =
        timer_.time_ns([&](cudaStream_t stream) { kernel_.launch(launch_of(r), on, stream); }, launches, 1);
  }

  void check(const run_order& asked, seen& came) {
    if (asked.units == checks_.size()) return record(asked, came);
    const product_check_setting& c = checks_.at(asked.units);
    random_product product(c.size, asked.seed);
    kernel_.launch({of_.instance, c.buffers, of_.producers, c.blocks, {}}, product.operands(), nullptr);
    cuda::check(cudaDeviceSynchronize(), "multiplying");
    if (asked.fault == fault_of_products) product.spoil(c.size.m / 2, c.size.n / 3, 2.0f);
    const bool small = std::int64_t{c.size.m} * c.size.n * c.size.k <= (std::int64_t{1} << 30);
    const double error =
        small ? product.full_error() : std::max(product.freivalds_error(3), product.sampled_error(4096));
    came.values["error"] = {error};
    came.checked = check_of_product(
        error, fmt::format("{} with {} buffers and {} blocks", text(c.size), c.buffers, c.blocks));
  }

  // Two output tiles for each of 132 SMs, few stages each, so that all of it can be seen.
  void record(const run_order& asked, seen& came) {
    constexpr extent size{1536, 2816, 768};
    random_product product(size, asked.seed);
    came.own = kernel_.record(product.operands());
    const double error = std::max(product.freivalds_error(3), product.sampled_error(4096));
    came.values["error"] = {error};
    came.checked = check_of_product(error, fmt::format("{} of the recorded kernel", text(size)));
  }

  const gemm_kernel& kernel_;
  product_choice of_;
  int gpu_;
  std::shared_ptr<const kernel_plan> plan_;
  std::vector<product_check_setting> checks_;
  random_product operands_;
  launch_timer timer_;
};

class synthetic_subject final : public subject {
 public:
  synthetic_subject(semaphore kind, int gpu, std::shared_ptr<const kernel_plan> plan)
      : kind_(kind), gpu_(gpu), plan_(std::move(plan)), stream_(cuda::make_stream()) {}

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    try {
      const cuda::device_scope scope(gpu_);
      if (asked.what == run_order::purpose::time) {
        const auto once = run_synthetic(setting_of(plan_->synthetic.at(asked.units)), false, stream_.get());
        came.values["cycles"] = {static_cast<double>(once.cycles)};
      } else {
        record(asked, came);
      }
    } catch (const api_error& error) {
      came.ended = ending::died;
      came.reason = error.what();
    }
    return came;
  }

 private:
  synthetic_setting setting_of(const synthetic_row& r) const {
    return {kind_,
            r.producers,
            r.buffers,
            r.stages,
            static_cast<int>(r.load_a_cycles),
            static_cast<int>(r.load_b_cycles),
            static_cast<int>(r.math_cycles)};
  }

  void record(const run_order& asked, seen& came) {
    const synthetic_row& r = plan_->recorded.at(asked.units);
    auto setting = setting_of(r);
    setting.releases_early = asked.fault == fault_of_stages;
    run_synthetic(setting, true, stream_.get());  // warm-up: the first launch has cold instruction caches
    std::vector<stamp_row> rows;
    for (const activity_cycles& a : run_synthetic(setting, true, stream_.get()).activities)
      rows.push_back({static_cast<int>(asked.units), r.semaphore, r.producers, r.buffers, r.stages, a.agent,
                      a.what, a.stage, static_cast<double>(a.begin), static_cast<double>(a.end),
                      r.load_a_cycles, r.load_b_cycles, r.math_cycles});
    came.own = std::move(rows);
  }

  semaphore kind_;
  int gpu_;
  std::shared_ptr<const kernel_plan> plan_;
  cuda::stream stream_;
};

void describe_machine(kernel_plan& plan, int gpu) {
  plan.facts = facts_of(gpu);
  plan.sms = cuda::sm_count(gpu);
}

}  // namespace

subject_creation make_product(const product_choice& of, const held_out_sizes& sizes, int gpu,
                              std::shared_ptr<kernel_plan> plan) {
  const cuda::device_scope scope(gpu);
  const gemm_kernel& kernel = of.family == &mma_family     ? mma_kernel()
                              : of.family == &wgmma_family ? wgmma_kernel()
                                                           : cublas_kernel();
  if (const auto why = kernel.cannot_run()) return {nullptr, *why, {}};
  int shared = 0;
  cuda::check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu),
              "asking for shared memory");
  const gpu_room room{cuda::sm_count(gpu), shared};
  if (plan->products.empty()) {
    describe_machine(*plan, gpu);
    plan->products = product_settings(of, room, sizes);
    const kernel_needs needs = kernel.needs(of.instance);
    for (product_row& r : plan->products)
      r.registers = needs.registers, r.spilled_bytes = needs.spilled_bytes;
    plan->checks = product_checks(of, room).size();
    plan->is_recorded = kernel.record != nullptr && of.instance == kernel.recorded_instance;
  }
  if (plan->products.empty())
    return {nullptr,
            fmt::format("a block has {} bytes of shared memory here, and one buffer needs more", shared),
            {}};
  return {std::make_unique<product_subject>(kernel, of, room, gpu, plan),
          {},
          {{"instruction", std::string(of.family->instruction)}}};
}

subject_creation make_synthetic(std::size_t which, int held_out, int gpu, std::shared_ptr<kernel_plan> plan) {
  const cuda::device_scope scope(gpu);
  const semaphore kind = all_semaphores[which];
  if (plan->synthetic.empty()) {
    describe_machine(*plan, gpu);
    plan->synthetic = synthetic_settings(name_of(kind), most_buffers(kind), held_out, 24 + which);
    plan->recorded = recorded_settings(name_of(kind));
  }
  return {std::make_unique<synthetic_subject>(kind, gpu, plan), {}, {}};
}

}  // namespace mgsync::pipeline
