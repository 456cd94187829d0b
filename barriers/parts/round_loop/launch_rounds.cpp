#include "barriers/parts/round_loop/launch_rounds.hpp"

#include <atomic>
#include <tuple>

#include <fmt/format.h>

#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::round_loop {

launch_rounds::launch_rounds(const topology::group& group, session& where, std::string peer_memory,
                             unsigned blocks, unsigned threads, kernel_end end)
    : group_(group),
      gpus_(gpus_of(group, where.rank())),
      session_(where),
      peer_memory_(std::move(peer_memory)),
      blocks_(blocks),
      threads_(threads),
      end_(end),
      beats_(gpus_.size()) {
  for (const auto& g : gpus_) {
    const cuda::device_scope scope(g.ordinal);
    cuda::load(launch_kernel(), "the kernel of a round");
    states_.push_back({cuda::make_stream(),
                       cuda::memory::in_pool(g.ordinal, sizeof(device_findings) + sizeof rounds_done_)});
  }
}

void launch_rounds::begin(const run_request& request) {
  request_ = request;
  if (request.mode == run_mode::check && !board_)
    board_ = allocate_board(group_, blocks_, reach::own_host, peer_memory_, session_);
  for (std::size_t l = 0; l < gpus_.size(); ++l) {
    const cuda::device_scope scope(gpus_[l].ordinal);
    cuda::check(cudaMemset(states_[l].records.get(), 0, sizeof(device_findings)), "clearing the findings");
    cuda::check(cudaMemcpy(rounds_before(static_cast<unsigned>(l)), &rounds_done_, sizeof rounds_done_,
                           cudaMemcpyHostToDevice),
                "numbering the rounds");
    cuda::check(cudaDeviceSynchronize(), "clearing the findings");
  }
}

void launch_rounds::fill(launch_arguments& into, unsigned local, std::uint32_t round) const {
  device_run& run = into.run;
  run = {};
  run.member = gpus_[local].member;
  run.members = static_cast<std::uint32_t>(group_.members.size());
  run.blocks = blocks_;
  run.arrived = rounds_before(local);
  run.work_ns = work_of(request_, run.member, run.members) * 1000;
  run.seed = static_cast<std::uint32_t>(request_.seed);
  run.fences = end_ == kernel_end::system_fence ? 1 : 0;
  run.fault = request_.fault.what == fault::kind::arrive_early ? fault_early : no_fault;
  run.fault_member = request_.fault.member;
  run.fault_block = request_.fault.block;
  run.findings = states_[local].records.as<device_findings>();
  run.board.blocks = blocks_;
  for (unsigned m = 0; m < group_.members.size() && board_; ++m) run.board.parts[m] = board_->part(m, local);
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
  const auto status =
      cooperative
          ? cudaLaunchCooperativeKernel(launch_kernel(), dim3(blocks_), dim3(threads_), with.pointers, 0,
                                        stream(local))
          : cudaLaunchKernel(launch_kernel(), dim3(blocks_), dim3(threads_), with.pointers, 0, stream(local));
  cuda::check(status, fmt::format("launching round {} on GPU {}", round, gpus_[local].ordinal));
}

void launch_rounds::beat(unsigned local, std::uint32_t round) {
  std::atomic_ref<std::uint64_t>(beats_[local]).store(rounds_done_ + round + 1, std::memory_order_relaxed);
}

std::vector<progress> launch_rounds::progress_now() const {
  std::vector<progress> now;
  for (std::size_t l = 0; l < gpus_.size(); ++l) {
    const auto& m = group_.members[gpus_[l].member];
    auto& beat = const_cast<std::uint64_t&>(beats_[l]);
    now.push_back({fmt::format("GPU {} (rank {} on {})", m.id, m.rank, m.host),
                   std::atomic_ref<std::uint64_t>(beat).load(std::memory_order_relaxed)});
  }
  return now;
}

std::uint32_t* launch_rounds::rounds_before(unsigned local) const {
  return reinterpret_cast<std::uint32_t*>(states_[local].records.get() + sizeof(device_findings));
}

trial launch_rounds::finish(const run_request& request, std::vector<std::chrono::nanoseconds> elapsed) {
  trial result;
  result.elapsed = std::move(elapsed);
  if (request.mode == run_mode::check)
    for (const auto& p : states_) {
      must_be_launched_as_asked(p.records, blocks_, threads_, "the kernel of a round");
      add_findings(result, p.records, blocks_);
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
  return {std::make_unique<launch_rounds>(group, where, w.peer_memory, w.blocks, w.threads, end), {}};
}

}  // namespace mgsync::round_loop
