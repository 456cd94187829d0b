#include "barriers/parts/round_loop/gpu_crew.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#include <fmt/format.h>

#include "barriers/parts/round_loop/load_kernel.hpp"
#include "src/base/errors.hpp"

namespace mgsync::round_loop {

namespace {

// The same as on hosts: every check crosses the wrap, and so does every barrier's epoch.
constexpr std::uint32_t first_phase = 0xffffff00u;
constexpr std::uint32_t timed_out_word = 1, interrupted_word = 2;
constexpr std::size_t scratch_bytes = std::size_t{8} << 20;  // per GPU, written by the peers in loaded runs

std::size_t record_bytes(unsigned blocks) { return sizeof(device_findings) + blocks * sizeof(std::uint32_t); }

// Lines of a member's part of the control memory.
constexpr unsigned control_words = 32, control_lines = 4;
constexpr unsigned start_at = 2, load_at = 3;

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

std::vector<gpu_member> gpus_of(const topology::group& group, int rank) {
  std::vector<gpu_member> mine;
  for (unsigned m = 0; m < group.members.size(); ++m) {
    const auto& member = group.members[m];
    if (member.rank == rank) mine.push_back({m, member.gpu, member.cpus.empty() ? -1 : member.cpus.front()});
  }
  return mine;
}

std::vector<int> cpus_of(const std::vector<gpu_member>& gpus) {
  std::vector<int> cpus;
  for (const auto& g : gpus) cpus.push_back(g.cpu);
  return cpus;
}

unsigned blocks_of(const configuration& shape, const std::vector<gpu_member>& gpus, const session& where) {
  if (shape.blocks) return *shape.blocks;
  int fewest = cuda::sm_count(gpus.front().ordinal);
  for (const auto& g : gpus) fewest = std::min(fewest, cuda::sm_count(g.ordinal));
  for (const auto& theirs : where.ranks().all_gather(std::to_string(fewest), "comparing the numbers of SMs"))
    fewest = std::min(fewest, std::stoi(theirs));
  return shape.blocks_per_sm.value_or(1) * static_cast<unsigned>(fewest);
}

int runtime_resident_blocks(std::size_t, const void* kernel, unsigned threads) {
  return cuda::resident_blocks(kernel, threads);
}

std::string why_not_resident(const round_kernels& kernels, unsigned blocks, unsigned threads,
                             const std::vector<gpu_member>& gpus, const resident_blocks& fit) {
  if (threads == 0 || threads % 32 != 0 || threads > 1024)
    return fmt::format("blocks of {} threads: mgsync's kernels take whole warps, 32 to 1024 threads", threads);
  for (std::size_t l = 0; l < gpus.size(); ++l) {
    const auto& g = gpus[l];
    const cuda::device_scope scope(g.ordinal);
    for (const void* kernel : {kernels.timed, kernels.checked}) {
      const auto room = static_cast<unsigned>(fit(l, kernel, threads) * cuda::sm_count(g.ordinal));
      if (blocks > room)
        return fmt::format("{} blocks of {} threads are not resident at once on GPU {}: {} fit", blocks, threads,
                           g.ordinal, room);
    }
  }
  return {};
}

void add_findings(trial& result, const cuda::memory& records, unsigned blocks) {
  constexpr const char* what[] = {"phase", "payload", "sum"};
  device_findings found{};
  cuda::check(cudaMemcpy(&found, records.get(), sizeof found, cudaMemcpyDeviceToHost), "reading the findings");
  result.observations += found.observations;
  result.violations += found.violations;
  if (found.first_claimed == 0) return;
  if (result.first_violation && result.first_violation->round <= found.round) return;
  const auto worker = [&](std::uint32_t w) { return worker_id{w / blocks, w % blocks}; };
  result.first_violation = violation{found.round, worker(found.reader), worker(found.offender), found.expected, found.seen,
                                     what[found.what]};
}

std::string why_not_spin(const topology::group& group, const session& where) {
  return first_complaint(where, cuda::reason_not_to_spin(group.members.size()).value_or(""));
}

std::unique_ptr<group_memory> allocate_board(const topology::group& group, unsigned blocks, reach which,
                                             std::string_view peer_memory, const session& where) {
  auto made = allocate_group_memory(group, device_board::bytes(blocks), which, peer_memory, where);
  if (!made.memory) throw api_error("CUDA", made.reason, "making the memory that a check reads");
  return std::move(made.memory);
}

crew_allocation allocate_crew_memory(const topology::group& group, load wanted, std::string_view peer_memory,
                                     const session& where) {
  crew_allocation made;
  auto control = allocate_pinned_parts(group, control_lines * control_words * sizeof(std::uint32_t), where);
  if (!control.memory) return {{}, std::move(control.reason)};
  made.memory.control = std::move(control.memory);
  if (wanted == load::idle) return made;
  auto scratch = allocate_group_memory(group, scratch_bytes, reach::group, peer_memory, where);
  if (!scratch.memory) return {{}, std::move(scratch.reason)};
  made.memory.scratch = std::move(scratch.memory);
  return made;
}

std::string why_no_room_for_load(const void* kernel, unsigned blocks, unsigned threads,
                                 const std::vector<gpu_member>& gpus, const resident_blocks& fit) {
  // The load's threads take no more of an SM than the kernel's.
  const unsigned each = (load_threads + threads - 1) / threads;
  for (std::size_t l = 0; l < gpus.size(); ++l) {
    const cuda::device_scope scope(gpus[l].ordinal);
    const auto sms = static_cast<unsigned>(cuda::sm_count(gpus[l].ordinal));
    if (blocks + each * sms > static_cast<unsigned>(fit(l, kernel, threads)) * sms)
      return "this shape leaves no room for the blocks that make load";
  }
  return {};
}

gpu_crew::gpu_crew(const topology::group& group, session& where, crew_memory memory, settings given)
    : group_(group), session_(&where), settings_(std::move(given)), gpus_(gpus_of(group, where.rank())),
      memory_(std::move(memory)), start_(group, start_words(*memory_.control, group.members.size())),
      pool_(cpus_of(gpus_)), epoch_(first_gpu_epoch) {
  for (const auto& g : gpus_) {
    const cuda::device_scope scope(g.ordinal);
    if (!settings_.preloaded) {
      cuda::load(settings_.kernels.timed, settings_.what);
      cuda::load(settings_.kernels.checked, settings_.what);
    }
    if (memory_.scratch) cuda::load(load_kernel(), "the kernel that makes load");
    places_.push_back({cuda::make_stream(), cuda::memory::in_pool(g.ordinal, record_bytes(settings_.blocks)),
                       memory_.scratch ? cuda::make_stream() : cuda::stream()});
  }
  launch_ = [this](unsigned local, const void* kernel, unsigned grid, unsigned threads, void** arguments, cudaStream_t s) {
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
  run.work_ns = request.work_units * 1000;
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
  run.findings = places_[local].records.as<device_findings>();
  run.arrived = reinterpret_cast<std::uint32_t*>(places_[local].records.get() + sizeof(device_findings));
  run.board.blocks = settings_.blocks;
  for (unsigned m = 0; m < group_.members.size() && memory_.board; ++m) run.board.parts[m] = memory_.board->part(m, local);
  return run;
}

trial gpu_crew::run(const run_request& request) {
  trial result;
  result.elapsed.resize(gpus_.size());
  result.outcome = last_;
  if (last_ != outcome::completed) return result;
  if (takes_checked_kernel(request) && !memory_.board)
    memory_.board = allocate_board(group_, settings_.blocks, reach::group, settings_.peer_memory, *session_);
  std::vector<std::exception_ptr> failures(gpus_.size());
  {
    const auto grace = settings_.bounded ? std::chrono::seconds(5) : std::chrono::seconds(0);
    const auto patience = std::chrono::duration_cast<std::chrono::nanoseconds>(
        request.deadline - std::chrono::steady_clock::now() + grace);
    const watchdog::guard watched(session_->watchdog(), settings_.what, patience, [this] { return progress_now(); },
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
    });
  }
  for (const auto& f : failures)
    if (f) std::rethrow_exception(f);
  rounds_done_ += request.rounds;
  epoch_ += request.rounds;
  collect(result, request.mode == run_mode::check);
  return result;
}

void gpu_crew::launch_and_wait(const run_request& request, unsigned local, bool& met, trial& result) {
  using clock = std::chrono::steady_clock;
  const auto& gpu = gpus_[local];
  cuda::check(cudaSetDevice(gpu.ordinal), fmt::format("selecting GPU {}", gpu.ordinal));
  const auto stream = places_[local].stream.get();
  cuda::check(cudaMemsetAsync(places_[local].records.get(), 0, sizeof(device_findings), stream), "clearing the findings");
  cuda::check(cudaStreamSynchronize(stream), "clearing the findings");
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - clock::now()).count();
  device_run run = describe(request, local, static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1)));
  std::uint32_t phase = first_phase;
  void* arguments[] = {&run, const_cast<void*>(settings_.arguments[local]), &phase};
  const bool checked = takes_checked_kernel(request);
  const void* const kernel = checked ? settings_.kernels.checked : settings_.kernels.timed;
  const bool loaded = memory_.scratch && !checked;
  if (loaded) start_load(request, local);
  met = true;
  if (start_.meet(gpu.member, request.deadline)) {
    const auto begin = clock::now();
    launch_(local, kernel, settings_.blocks, settings_.threads, arguments, stream);
    cuda::check(cudaStreamSynchronize(stream), fmt::format("running {} on GPU {}", settings_.what, gpu.ordinal));
    result.elapsed[local] = clock::now() - begin;
  } else {
    give_up(timed_out_word);
  }
  if (loaded) stop_load(local);
}

void gpu_crew::start_load(const run_request& request, unsigned local) {
  const auto& gpu = gpus_[local];
  std::uint32_t* const state = control(gpu.member, load_at);
  load_run run{};
  for (unsigned m = 0; m < group_.members.size(); ++m) run.targets[m] = memory_.scratch->part(m, local);
  run.bytes = scratch_bytes;
  run.member = gpu.member;
  run.members = static_cast<std::uint32_t>(group_.members.size());
  run.turn = std::atomic_ref<std::uint32_t>(state[1]).load() + 1;
  run.running = &state[0];
  run.stop = &state[1];
  run.abort = abort_word();
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - std::chrono::steady_clock::now());
  run.budget_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 1));
  void* arguments[] = {&run};
  cuda::check(cudaLaunchKernel(load_kernel(), dim3(static_cast<unsigned>(cuda::sm_count(gpu.ordinal))), dim3(load_threads),
                               arguments, 0, places_[local].load_stream.get()),
              fmt::format("starting load on GPU {}", gpu.ordinal));
  while (std::atomic_ref<std::uint32_t>(state[0]).load() != run.turn && std::chrono::steady_clock::now() < request.deadline) {
  }
}

void gpu_crew::stop_load(unsigned local) {
  std::uint32_t* const state = control(gpus_[local].member, load_at);
  std::atomic_ref<std::uint32_t>(state[1]).fetch_add(1);
  cuda::check(cudaStreamSynchronize(places_[local].load_stream.get()), "waiting for the load to end");
}

void gpu_crew::collect(trial& result, bool checked) {
  const auto why = std::atomic_ref<std::uint32_t>(*abort_word()).load();
  if (why != 0) {
    result.outcome = last_ = why == timed_out_word ? outcome::timed_out : outcome::aborted;
    add_arrivals(result);
  }
  if (checked)
    for (const auto& p : places_) add_findings(result, p.records, settings_.blocks);
}

void gpu_crew::add_arrivals(trial& result) {
  std::vector<std::uint32_t> arrived(settings_.blocks);
  for (std::size_t l = 0; l < gpus_.size(); ++l) {
    cuda::check(cudaMemcpy(arrived.data(), places_[l].records.get() + sizeof(device_findings),
                           arrived.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost), "reading who arrived");
    for (unsigned b = 0; b < settings_.blocks; ++b) result.arrivals.push_back({{gpus_[l].member, b}, arrived[b]});
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
