#include "barriers/parts/round_loop/launch_rounds.hpp"

#include <atomic>
#include <tuple>

#include <fmt/format.h>

#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::round_loop {

launch_rounds::launch_rounds(const topology::group& group, session& where, settings given, kernel_end end)
    : gpu_rounds(group, where, std::move(given)), end_(end), beats_(team_.size()) {
  for (const auto& g : gpus()) {
    const cuda::device_scope scope(g.ordinal);
    cuda::load(launch_kernel(), settings_.what);
  }
}

trial launch_rounds::run(const run_request& request, const std::string& what, const driver& drive) {
  std::vector<std::chrono::nanoseconds> elapsed(gpus().size());
  begin(request);
  {
    const watchdog::guard watched(session_.watchdog(), what, request.deadline - awake_clock::now(),
                                  [this] { return progress_now(); });
    drive(elapsed);
  }
  return finish(request, std::move(elapsed));
}

void launch_rounds::begin(const run_request& request) {
  request_ = request;
  if (request.mode == run_mode::check) need_board();
  for (unsigned l = 0; l < gpus().size(); ++l) {
    const cuda::device_scope scope(gpus()[l].ordinal);
    cuda::check(cudaMemset(team_.scratch(l), 0, sizeof(device_findings)), "clearing the findings");
    cuda::check(cudaMemcpy(words(l), &rounds_done_, sizeof rounds_done_, cudaMemcpyHostToDevice),
                "numbering the rounds");
    cuda::check(cudaDeviceSynchronize(), "clearing the findings");
  }
}

void launch_rounds::fill(launch_arguments& into, unsigned local, std::uint32_t round) const {
  into.run = run_of(request_, local);
  into.run.arrived = words(local);
  into.run.fences = end_ == kernel_end::system_fence ? 1 : 0;
  into.round = round;
  into.first_phase = start_phase;
  into.checked = request_.mode == run_mode::check ? 1 : 0;
  into.pointers[0] = &into.run;
  into.pointers[1] = &into.round;
  into.pointers[2] = &into.first_phase;
  into.pointers[3] = &into.checked;
}

void launch_rounds::launch(unsigned local, std::uint32_t round, bool cooperative) const {
  launch_arguments with;
  fill(with, local, round);
  const auto status = cooperative
                          ? cudaLaunchCooperativeKernel(launch_kernel(), dim3(blocks()), dim3(threads()),
                                                        with.pointers, 0, stream(local))
                          : cudaLaunchKernel(launch_kernel(), dim3(blocks()), dim3(threads()), with.pointers,
                                             0, stream(local));
  cuda::check(status, fmt::format("launching round {} on GPU {}", round, gpus()[local].ordinal));
}

void launch_rounds::beat(unsigned local, std::uint32_t round) {
  std::atomic_ref<std::uint64_t>(beats_[local]).store(rounds_done_ + round + 1, std::memory_order_relaxed);
}

std::vector<progress> launch_rounds::progress_now() const {
  std::vector<progress> now;
  for (unsigned l = 0; l < gpus().size(); ++l) {
    auto& beat = const_cast<std::uint64_t&>(beats_[l]);
    now.push_back(gpu_team::team::progress_of(
        group_, gpus()[l].member, std::atomic_ref<std::uint64_t>(beat).load(std::memory_order_relaxed)));
  }
  return now;
}

trial launch_rounds::finish(const run_request& request, std::vector<std::chrono::nanoseconds> elapsed) {
  trial result;
  result.elapsed = std::move(elapsed);
  if (request.mode == run_mode::check) {
    must_be_launched_as_asked();
    add_findings(result);
  }
  if (result.first_violation)
    result.first_violation->round -= rounds_done_;  // the kernels number by the object's life
  rounds_done_ += request.rounds;
  return result;
}

bool same_launches(const run_request& a, const run_request& b) {
  const auto told = [](const run_request& r) {
    return std::tuple(r.mode, r.rounds, r.work_units, r.late_units, r.mode == run_mode::check ? r.seed : 0,
                      r.fault.what, r.fault.member, r.fault.block, r.fault.round);
  };
  return told(a) == told(b);
}

launch_rounds_creation make_launch_rounds(const topology::group& group, const configuration& asked,
                                          session& where, kernel_end end) {
  const auto w = request_of(group, asked, where, "");
  if (auto reason = why_no_room(w, {launch_kernel(), launch_kernel()}); !reason.empty())
    return {nullptr, reason};
  // A check reads what other GPUs wrote; this finds out early whether that is possible.
  if (auto probe = allocate_group_memory(group, 1, reach::own_host, w.peer_memory, where); !probe.memory)
    return {nullptr, probe.reason};
  launch_rounds::settings shape{"the kernel of a round", w.blocks,        w.threads,
                                w.peer_memory,           reach::own_host, 1};
  return {std::make_unique<launch_rounds>(group, where, std::move(shape), end), {}};
}

}  // namespace mgsync::round_loop
