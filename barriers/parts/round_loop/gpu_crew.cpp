#include "barriers/parts/round_loop/gpu_crew.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#include <fmt/format.h>

#include "barriers/parts/round_loop/block_record.hpp"
#include "src/base/errors.hpp"

namespace mgsync::round_loop {

namespace {

constexpr std::uint32_t timed_out_word = 1, interrupted_word = 2;

std::size_t record_bytes(unsigned blocks) {
  return sizeof(device_findings) + 2 * blocks * sizeof(std::uint32_t);
}

// Lines of a member's part of the control memory.
constexpr unsigned control_words = 32, control_lines = 3;
constexpr unsigned start_at = 2;

std::vector<std::uint32_t*> start_words(const pinned_parts& control, std::size_t members) {
  std::vector<std::uint32_t*> words;
  for (unsigned m = 0; m < members; ++m)
    words.push_back(reinterpret_cast<std::uint32_t*>(control.part(m)) + start_at * control_words);
  return words;
}

// A member that never arrives only exists in the checked kernel.
bool takes_checked_kernel(const run_request& request) {
  return request.mode == run_mode::check || request.fault.what == fault::kind::never_arrive;
}

}  // namespace

void must_be_launched_as_asked(const cuda::memory& records, unsigned blocks, unsigned threads,
                               const std::string& what) {
  device_findings found{};
  cuda::check(cudaMemcpy(&found, records.get(), sizeof found, cudaMemcpyDeviceToHost),
              "reading what was launched");
  if (found.blocks == blocks && found.threads == threads) return;
  throw api_error("CUDA",
                  fmt::format("{} blocks of {} threads ran where {} of {} were asked for", found.blocks,
                              found.threads, blocks, threads),
                  "launching " + what);
}

void add_findings(trial& result, const cuda::memory& records, unsigned blocks) {
  constexpr const char* what[] = {"phase", "payload", "sum", "pushed payload"};
  device_findings found{};
  cuda::check(cudaMemcpy(&found, records.get(), sizeof found, cudaMemcpyDeviceToHost),
              "reading the findings");
  result.observations += found.observations;
  result.violations += found.violations;
  if (found.first_claimed == 0) return;
  if (result.first_violation && result.first_violation->round <= found.round) return;
  const auto worker = [&](std::uint32_t w) { return worker_id{w / blocks, w % blocks}; };
  result.first_violation = violation{found.round,    worker(found.reader), worker(found.offender),
                                     found.expected, found.seen,           what[found.what]};
}

std::unique_ptr<group_memory> allocate_board(const topology::group& group, unsigned blocks, reach which,
                                             std::string_view peer_memory, const session& where) {
  auto made = allocate_group_memory(group, device_board::bytes(blocks), which, peer_memory, where);
  if (!made.memory) throw api_error("CUDA", made.reason, "making the memory that a check reads");
  return std::move(made.memory);
}

crew_allocation allocate_crew_memory(const topology::group& group, const load& wanted, unsigned blocks,
                                     std::string_view peer_memory, const session& where) {
  crew_allocation made;
  auto control = allocate_pinned_parts(group, control_lines * control_words * sizeof(std::uint32_t), where);
  if (!control.memory) return {{}, std::move(control.reason)};
  made.memory.control = std::move(control.memory);
  if (wanted.idle()) return made;
  auto load = make_load_maker(group, wanted, blocks, peer_memory, where);
  if (!load.maker) return {{}, std::move(load.reason)};
  made.memory.load = std::move(load.maker);
  return made;
}

gpu_crew::gpu_crew(const topology::group& group, session& where, crew_memory memory, settings given)
    : group_(group),
      session_(&where),
      settings_(std::move(given)),
      gpus_(gpus_of(group, where.rank())),
      memory_(std::move(memory)),
      start_(group, start_words(*memory_.control, group.members.size())),
      pool_(cpus_of(gpus_)),
      epoch_(first_gpu_epoch) {
  for (const auto& g : gpus_) {
    const cuda::device_scope scope(g.ordinal);
    if (!settings_.preloaded) {
      cuda::load(settings_.kernels.timed, settings_.what);
      cuda::load(settings_.kernels.checked, settings_.what);
    }
    states_.push_back(
        {cuda::make_stream(), cuda::memory::in_pool(g.ordinal, record_bytes(settings_.blocks)), {}});
  }
  launch_ = [this](unsigned local, const void* kernel, unsigned grid, unsigned threads, void** arguments,
                   cudaStream_t s) {
    cuda::check(cudaLaunchCooperativeKernel(kernel, dim3(grid), dim3(threads), arguments, 0, s),
                fmt::format("launching {} on GPU {}", settings_.what, gpus_[local].ordinal));
  };
}

gpu_crew::~gpu_crew() = default;

std::uint32_t* gpu_crew::control(unsigned member, unsigned line) const {
  return reinterpret_cast<std::uint32_t*>(memory_.control->part(member)) + line * control_words;
}

void gpu_crew::give_up(std::uint32_t why) {
  std::uint32_t none = 0;
  std::atomic_ref<std::uint32_t>(*abort_word()).compare_exchange_strong(none, why);
}

device_run gpu_crew::describe(const run_request& request, unsigned local, std::uint64_t budget_ns) const {
  device_run run{};
  run.member = gpus_[local].member;
  run.members = static_cast<std::uint32_t>(group_.members.size());
  run.blocks = settings_.blocks;
  run.rounds = request.rounds;
  run.epoch = epoch_;
  run.rounds_done = rounds_done_;
  run.work_ns = work_of(request, run.member, run.members) * 1000;
  run.seed = static_cast<std::uint32_t>(request.seed);
  run.fault = request.fault.what == fault::kind::arrive_early   ? fault_early
              : request.fault.what == fault::kind::never_arrive ? fault_never
                                                                : no_fault;
  run.fault_member = request.fault.member;
  run.fault_block = request.fault.block;
  run.fault_round = request.fault.round;
  run.budget_ns = budget_ns;
  run.abort = abort_word();
  run.heartbeat = heartbeat(gpus_[local].member);
  run.findings = states_[local].records.as<device_findings>();
  run.arrived = arrived(local);
  run.sms = sms(local);
  run.board.blocks = settings_.blocks;
  for (unsigned m = 0; m < group_.members.size() && memory_.board; ++m)
    run.board.parts[m] = memory_.board->part(m, local);
  return run;
}

trial gpu_crew::run(const run_request& request) {
  trial result;
  result.elapsed.resize(gpus_.size());
  if (memory_.load && !takes_checked_kernel(request)) result.loads.resize(gpus_.size());
  result.outcome = last_;
  if (last_ != outcome::completed) return result;
  if (takes_checked_kernel(request) && !memory_.board)
    memory_.board = allocate_board(group_, settings_.blocks, reach::group, settings_.peer_memory, *session_);
  const bool recorded =
      request.mode == run_mode::record && !takes_checked_kernel(request) && prepare_recording();
  std::vector<std::exception_ptr> failures(gpus_.size());
  {
    const auto grace = settings_.bounded ? std::chrono::seconds(5) : std::chrono::seconds(0);
    const auto patience =
        std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - awake_clock::now() + grace);
    const watchdog::guard watched(
        session_->watchdog(), settings_.what, patience, [this] { return progress_now(); },
        [this] { give_up(interrupted_word); });
    pool_.run([&](unsigned local) {
      bool met = false;
      try {
        launch_and_wait(request, local, met, result);
      } catch (...) {
        failures[local] = std::current_exception();
        give_up(timed_out_word);
        if (!met) start_.pass_by(gpus_[local].member);
      }
      end_load(local, failures[local]);
    });
  }
  for (const auto& f : failures)
    if (f) std::rethrow_exception(f);
  rounds_done_ += request.rounds;
  epoch_ += request.rounds;
  collect(result, request.mode == run_mode::check);
  if (recorded && result.outcome == outcome::completed) add_records(result, request);
  return result;
}

// Also after a failure, when the load still runs.
void gpu_crew::end_load(unsigned local, std::exception_ptr& failure) {
  if (!memory_.load) return;
  try {
    memory_.load->stop(local);
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
}

void gpu_crew::launch_and_wait(const run_request& request, unsigned local, bool& met, trial& result) {
  using clock = std::chrono::steady_clock;
  const auto& gpu = gpus_[local];
  cuda::check(cudaSetDevice(gpu.ordinal), fmt::format("selecting GPU {}", gpu.ordinal));
  const auto stream = states_[local].stream.get();
  cuda::check(cudaMemsetAsync(states_[local].records.get(), 0, sizeof(device_findings), stream),
              "clearing the findings");
  cuda::check(cudaStreamSynchronize(stream), "clearing the findings");
  const auto left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - awake_clock::now()).count();
  device_run run = describe(request, local, static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1)));
  std::uint32_t phase = start_phase;
  const bool checked = takes_checked_kernel(request);
  const bool recorded =
      !checked && request.mode == run_mode::record && states_[local].events.get() != nullptr;
  std::byte* events = states_[local].events.get();
  void* arguments[] = {&run, const_cast<void*>(settings_.arguments[local]),
                       recorded ? static_cast<void*>(&events) : &phase};
  const void* const kernel = checked    ? settings_.kernels.checked
                             : recorded ? settings_.kernels.recorded
                                        : settings_.kernels.timed;
  auto* const load = checked ? nullptr : memory_.load.get();
  if (load) load->start(local, request.deadline);
  if (load) load->count(local);
  met = true;
  if (start_.meet(gpu.member, request.deadline)) {
    const auto begin = clock::now();
    launch_(local, kernel, settings_.blocks, settings_.threads, arguments, stream);
    cuda::check(cudaStreamSynchronize(stream),
                fmt::format("running {} on GPU {}", settings_.what, gpu.ordinal));
    result.elapsed[local] = clock::now() - begin;
  } else {
    give_up(timed_out_word);
  }
  if (!load) return;
  load->stop(local);
  result.loads[local] = load_beside(local);
}

// Allocates the memory for what every local GPU records. Returns false if there is no such kernel, or if its
// blocks are not all resident at once.
bool gpu_crew::prepare_recording() {
  const void* const kernel = settings_.kernels.recorded;
  if (kernel == nullptr ||
      !why_not_resident({kernel, kernel}, settings_.blocks, settings_.threads, gpus_, runtime_resident_blocks)
           .empty())
    return false;
  for (std::size_t l = 0; l < gpus_.size(); ++l) {
    if (states_[l].events.get() != nullptr) continue;
    const cuda::device_scope scope(gpus_[l].ordinal);
    cuda::load(kernel, settings_.what);
    states_[l].events = cuda::memory::on_gpu(gpus_[l].ordinal, settings_.blocks * sizeof(block_events));
  }
  return true;
}

void gpu_crew::add_records(trial& result, const run_request& request) const {
  const std::uint32_t told = std::min({request.kept_rounds, most_recorded_rounds, request.rounds});
  std::vector<block_events> blocks(settings_.blocks);
  for (std::size_t l = 0; l < gpus_.size(); ++l) {
    cuda::check(cudaMemcpy(blocks.data(), states_[l].events.get(), blocks.size() * sizeof blocks[0],
                           cudaMemcpyDeviceToHost),
                "reading what was recorded");
    for (const auto& b : blocks)
      result.records.push_back(record_of(b, gpus_[l].member, request.rounds, told));
  }
}

std::uint32_t* gpu_crew::arrived(unsigned local) const {
  return reinterpret_cast<std::uint32_t*>(states_[local].records.get() + sizeof(device_findings));
}

load_seen gpu_crew::load_beside(unsigned local) const {
  std::vector<std::uint32_t> where(settings_.blocks);
  cuda::check(cudaMemcpy(where.data(), sms(local), where.size() * sizeof where[0], cudaMemcpyDeviceToHost),
              "reading where the blocks ran");
  return memory_.load->seen(local, where);
}

void gpu_crew::collect(trial& result, bool checked) {
  const auto why = std::atomic_ref<std::uint32_t>(*abort_word()).load();
  if (why != 0) {
    result.outcome = last_ = why == timed_out_word ? outcome::timed_out : outcome::aborted;
    add_arrivals(result);
  } else {
    for (const auto& p : states_)
      must_be_launched_as_asked(p.records, settings_.blocks, settings_.threads, settings_.what);
  }
  if (checked)
    for (const auto& p : states_) add_findings(result, p.records, settings_.blocks);
}

void gpu_crew::add_arrivals(trial& result) {
  std::vector<std::uint32_t> rounds(settings_.blocks);
  for (std::size_t l = 0; l < gpus_.size(); ++l) {
    cuda::check(cudaMemcpy(rounds.data(), arrived(static_cast<unsigned>(l)), rounds.size() * sizeof rounds[0],
                           cudaMemcpyDeviceToHost),
                "reading who arrived");
    for (unsigned b = 0; b < settings_.blocks; ++b)
      result.arrivals.push_back({{gpus_[l].member, b}, rounds[b]});
  }
}

std::vector<progress> gpu_crew::progress_now() const {
  std::vector<progress> now;
  for (unsigned m = 0; m < group_.members.size(); ++m) {
    const auto& member = group_.members[m];
    now.push_back({fmt::format("GPU {} (rank {} on {})", member.id, member.rank, member.host),
                   std::atomic_ref<std::uint32_t>(*heartbeat(m)).load(std::memory_order_relaxed)});
  }
  return now;
}

}  // namespace mgsync::round_loop
