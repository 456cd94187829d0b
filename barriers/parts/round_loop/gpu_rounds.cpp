#include "barriers/parts/round_loop/gpu_rounds.hpp"

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync::round_loop {

gpu_rounds::gpu_rounds(const topology::group& group, session& where, settings given)
    : group_(group),
      session_(where),
      settings_(std::move(given)),
      team_(group, where.rank(), sizeof(device_findings) + settings_.words_beside * sizeof(std::uint32_t)) {}

void gpu_rounds::need_board() {
  if (board_) return;
  auto made = allocate_group_memory(group_, device_board::bytes(settings_.blocks), settings_.board_reach,
                                    settings_.peer_memory, session_);
  if (!made.memory) throw api_error("CUDA", made.reason, "making the memory that a check reads");
  board_ = std::move(made.memory);
}

device_run gpu_rounds::run_of(const run_request& request, unsigned local) const {
  device_run run{};
  run.member = team_.gpus()[local].member;
  run.members = static_cast<std::uint32_t>(group_.members.size());
  run.blocks = settings_.blocks;
  run.work_ns = work_of(request, run.member, run.members) * 1000;
  run.late_ns = run.work_ns - request.work_units * 1000;
  run.seed = static_cast<std::uint32_t>(request.seed);
  run.fault = request.fault.what == fault::kind::arrive_early   ? fault_early
              : request.fault.what == fault::kind::never_arrive ? fault_never
                                                                : no_fault;
  run.fault_member = request.fault.member;
  run.fault_block = request.fault.block;
  run.findings = reinterpret_cast<device_findings*>(team_.scratch(local));
  run.board.blocks = settings_.blocks;
  for (unsigned m = 0; m < group_.members.size() && board_; ++m) run.board.parts[m] = board_->part(m, local);
  return run;
}

std::uint32_t* gpu_rounds::words(unsigned local) const {
  return reinterpret_cast<std::uint32_t*>(team_.scratch(local) + sizeof(device_findings));
}

device_findings gpu_rounds::found_by(unsigned local) const {
  device_findings found{};
  cuda::check(cudaMemcpy(&found, team_.scratch(local), sizeof found, cudaMemcpyDeviceToHost),
              "reading the findings");
  return found;
}

void gpu_rounds::must_be_launched_as_asked() const {
  for (unsigned l = 0; l < team_.size(); ++l) {
    const auto found = found_by(l);
    if (found.blocks != settings_.blocks || found.threads != settings_.threads)
      throw api_error("CUDA",
                      fmt::format("{} blocks of {} threads ran where {} of {} were asked for", found.blocks,
                                  found.threads, settings_.blocks, settings_.threads),
                      "launching " + settings_.what);
  }
}

void gpu_rounds::add_findings(trial& result) const {
  constexpr const char* what[] = {"phase", "payload", "sum", "pushed payload"};
  const auto worker = [&](std::uint32_t w) { return worker_id{w / settings_.blocks, w % settings_.blocks}; };
  for (unsigned l = 0; l < team_.size(); ++l) {
    const auto found = found_by(l);
    result.observations += found.observations;
    result.violations += found.violations;
    if (found.first_claimed == 0) continue;
    if (result.first_violation && result.first_violation->round <= found.round) continue;
    result.first_violation = violation{found.round,    worker(found.reader), worker(found.offender),
                                       found.expected, found.seen,           what[found.what]};
  }
}

}  // namespace mgsync::round_loop
