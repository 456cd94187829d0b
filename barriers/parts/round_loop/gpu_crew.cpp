// The host side of in-kernel barriers: one pinned thread per local GPU launches the kernel of rounds and
// waits for it.
#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "barriers/parts/round_loop/block_record.hpp"
#include "barriers/parts/round_loop/gpu_rounds.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"
#include "barriers/parts/round_loop/load_maker.hpp"
#include "barriers/parts/round_loop/start_line.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::round_loop {

namespace {

constexpr std::uint32_t timed_out_word = 1, interrupted_word = 2;

// Lines of a member's part of the control memory: the abort word (only the first member's is used), the
// heartbeat, and the word of the start line.
constexpr unsigned control_words = 32, control_lines = 3;
constexpr unsigned abort_at = 0, heartbeat_at = 1, start_at = 2;

std::uint32_t* control_word(const pinned_parts& control, unsigned member, unsigned line) {
  return reinterpret_cast<std::uint32_t*>(control.part(member)) + line * control_words;
}

std::vector<std::uint32_t*> start_words(const pinned_parts& control, std::size_t members) {
  std::vector<std::uint32_t*> words;
  for (unsigned m = 0; m < members; ++m) words.push_back(control_word(control, m, start_at));
  return words;
}

// A member that never arrives only exists in the checked kernel.
bool takes_checked_kernel(const run_request& request) {
  return request.mode == run_mode::check || request.fault.what == fault::kind::never_arrive;
}

// The CPUs of the GPUs' threads; where the caller does something beside them, it takes that of the first GPU,
// whose own thread only waits.
std::vector<int> cpus_with(bool caller, std::vector<int> cpus) {
  if (caller) cpus.insert(cpus.begin() + 1, -1);
  return cpus;
}

class gpu_crew final : public barrier, private gpu_rounds {
 public:
  gpu_crew(const flag_barrier_request&, kernel_barrier_parts, std::unique_ptr<pinned_parts> control,
           std::unique_ptr<load_maker>);

  // One launch on every local GPU. Collective over the session's ranks.
  trial run(const run_request&) override;

 private:
  device_run describe(const run_request&, unsigned local) const;
  void end_load(unsigned local);
  void launch_and_wait(const run_request&, unsigned local, bool& met, trial&);
  void serve(const run_request&, unsigned local, trial&);
  bool is_recorded(const run_request&) const;
  // In a GPU's memory, of every block: the rounds that it arrived at, and where it ran.
  std::uint32_t* arrived(unsigned local) const { return words(local); }
  std::uint32_t* sms(unsigned local) const { return words(local) + settings_.blocks; }
  void collect(trial&, bool checked);
  void prepare_recording();
  void add_records(trial&, const run_request&) const;
  void add_arrivals(trial&) const;
  void give_up(std::uint32_t why);
  std::vector<progress> progress_now() const;
  std::uint32_t* abort_word() const { return control_word(*control_, 0, abort_at); }
  std::uint32_t* heartbeat(unsigned member) const { return control_word(*control_, member, heartbeat_at); }

  kernel_barrier_parts parts_;
  std::unique_ptr<pinned_parts> control_;
  std::unique_ptr<load_maker> load_;  // beside timed runs; empty: there is none
  start_line start_;
  std::vector<cuda::memory> events_;  // block_events of every block; made for the first recorded run
  std::function<void(const run_request&, std::uint32_t*)> beside_;
  worker_pool pool_;  // of the GPUs' threads; where something goes on beside them, the caller is its first
  std::uint32_t epoch_ = first_gpu_epoch;
  outcome last_ = outcome::completed;  // after a run that was given up the counters no longer agree
};

gpu_crew::gpu_crew(const flag_barrier_request& w, kernel_barrier_parts parts,
                   std::unique_ptr<pinned_parts> control, std::unique_ptr<load_maker> load)
    : gpu_rounds(w.group, w.where,
                 {parts.what, w.blocks, w.threads, w.peer_memory, reach::group, 2 * std::size_t{w.blocks}}),
      parts_(std::move(parts)),
      control_(std::move(control)),
      load_(std::move(load)),
      start_(w.group, start_words(*control_, w.group.members.size())),
      beside_(w.beside),
      pool_(cpus_with(beside_ != nullptr, gpu_team::cpus_of(team_.gpus())),
            beside_ ? worker_pool::first_worker::caller : worker_pool::first_worker::own_thread) {
  for (const auto& g : team_.gpus()) {
    const cuda::device_scope scope(g.ordinal);
    for (const void* const kernel : {parts_.kernels.timed, parts_.kernels.checked})
      if (!parts_.preloaded) cuda::load(kernel, parts_.what);
  }
  if (parts_.launch) return;
  parts_.launch = [this](unsigned local, const void* kernel, unsigned grid, unsigned threads,
                         void** arguments, cudaStream_t s) {
    cuda::check(cudaLaunchCooperativeKernel(kernel, dim3(grid), dim3(threads), arguments, 0, s),
                fmt::format("launching {} on GPU {}", parts_.what, team_.gpus()[local].ordinal));
  };
}

void gpu_crew::give_up(std::uint32_t why) {
  std::uint32_t none = 0;
  std::atomic_ref<std::uint32_t>(*abort_word()).compare_exchange_strong(none, why);
}

device_run gpu_crew::describe(const run_request& request, unsigned local) const {
  const auto left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - awake_clock::now()).count();
  device_run run = run_of(request, local);
  run.rounds = request.rounds;
  run.epoch = epoch_;
  run.rounds_done = rounds_done_;
  run.fault_round = request.fault.round;
  run.budget_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1));
  run.abort = abort_word();
  run.heartbeat = heartbeat(run.member);
  run.arrived = arrived(local);
  run.sms = sms(local);
  return run;
}

bool gpu_crew::is_recorded(const run_request& request) const {
  return request.mode == run_mode::record && !takes_checked_kernel(request) && !events_.empty();
}

trial gpu_crew::run(const run_request& request) {
  trial result;
  result.elapsed.resize(team_.size());
  const bool checked = takes_checked_kernel(request);
  if (load_ && !checked) result.loads.resize(team_.size());
  result.outcome = last_;
  if (last_ != outcome::completed) return result;
  if (checked) need_board();
  else if (request.mode == run_mode::record && events_.empty()) prepare_recording();
  {
    const auto grace = parts_.bounded ? std::chrono::seconds(5) : std::chrono::seconds(0);
    const auto patience =
        std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - awake_clock::now() + grace);
    const watchdog::guard watched(
        session_.watchdog(), parts_.what, patience, [this] { return progress_now(); },
        [this] { give_up(interrupted_word); });
    pool_.run([&](unsigned worker) {
      if (!beside_) serve(request, worker, result);
      else if (worker > 0) serve(request, worker - 1, result);
      else beside_(request, abort_word());
    });
  }
  rounds_done_ += request.rounds;
  epoch_ += request.rounds;
  collect(result, request.mode == run_mode::check);
  if (is_recorded(request) && result.outcome == outcome::completed) add_records(result, request);
  return result;
}

void gpu_crew::serve(const run_request& request, unsigned local, trial& result) {
  bool met = false;
  try {
    launch_and_wait(request, local, met, result);
  } catch (...) {
    give_up(timed_out_word);
    if (!met) start_.pass_by(team_.gpus()[local].member);
    end_load(local);
    throw;
  }
}

// After a failure, which says more than that the load cannot be ended either.
void gpu_crew::end_load(unsigned local) {
  if (load_) try {
      load_->stop(local);
    } catch (...) {}
}

void gpu_crew::launch_and_wait(const run_request& request, unsigned local, bool& met, trial& result) {
  using clock = std::chrono::steady_clock;
  const auto& gpu = team_.gpus()[local];
  team_.select(local);
  const auto stream = team_.stream(local);
  cuda::check(cudaMemsetAsync(team_.scratch(local), 0, sizeof(device_findings), stream),
              "clearing the findings");
  team_.wait(local, "clearing the findings");
  device_run run = describe(request, local);
  std::uint32_t phase = start_phase;
  const bool checked = takes_checked_kernel(request), recorded = is_recorded(request);
  std::byte* events = recorded ? events_[local].get() : nullptr;
  void* arguments[] = {&run, parts_.arguments[local].data(), recorded ? static_cast<void*>(&events) : &phase};
  const void* const kernel = checked    ? parts_.kernels.checked
                             : recorded ? parts_.kernels.recorded
                                        : parts_.kernels.timed;
  auto* const load = checked ? nullptr : load_.get();
  if (load) load->start(local, request.deadline);
  if (load) load->count(local);
  met = true;
  if (start_.meet(gpu.member, request.deadline)) {
    const auto begin = clock::now();
    parts_.launch(local, kernel, settings_.blocks, settings_.threads, arguments, stream);
    cuda::check(cudaStreamSynchronize(stream), fmt::format("running {} on GPU {}", parts_.what, gpu.ordinal));
    result.elapsed[local] = clock::now() - begin;
  } else {
    give_up(timed_out_word);
  }
  if (!load) return;
  load->stop(local);
  std::vector<std::uint32_t> where(settings_.blocks);
  gpu_team::team::read(where, sms(local), "reading where the blocks ran");
  result.loads[local] = load->seen(local, where);
}

// Allocates the memory for what every local GPU records, unless there is no such kernel, or its blocks are
// not all resident at once.
void gpu_crew::prepare_recording() {
  const void* const kernel = parts_.kernels.recorded;
  if (kernel == nullptr || !gpu_team::why_not_resident({kernel, kernel}, settings_.blocks, settings_.threads,
                                                       team_.gpus(), gpu_team::runtime_resident_blocks)
                                .empty())
    return;
  std::vector<cuda::memory> made;
  for (const auto& g : team_.gpus()) {
    const cuda::device_scope scope(g.ordinal);
    cuda::load(kernel, parts_.what);
    made.push_back(cuda::memory::on_gpu(g.ordinal, settings_.blocks * sizeof(block_events)));
  }
  events_ = std::move(made);
}

void gpu_crew::add_records(trial& result, const run_request& request) const {
  const std::uint32_t told = std::min({request.kept_rounds, most_recorded_rounds, request.rounds});
  std::vector<block_events> blocks(settings_.blocks);
  for (unsigned l = 0; l < team_.size(); ++l) {
    gpu_team::team::read(blocks, events_[l].get(), "reading what was recorded");
    for (const auto& b : blocks)
      result.records.push_back(record_of(b, team_.gpus()[l].member, request.rounds, told));
  }
}

void gpu_crew::collect(trial& result, bool checked) {
  const auto why = std::atomic_ref<std::uint32_t>(*abort_word()).load();
  if (why != 0) {
    result.outcome = last_ = why == timed_out_word ? outcome::timed_out : outcome::aborted;
    add_arrivals(result);
  } else {
    must_be_launched_as_asked();
  }
  if (checked) add_findings(result);
}

void gpu_crew::add_arrivals(trial& result) const {
  std::vector<std::uint32_t> rounds(settings_.blocks);
  for (unsigned l = 0; l < team_.size(); ++l) {
    gpu_team::team::read(rounds, arrived(l), "reading who arrived");
    for (unsigned b = 0; b < settings_.blocks; ++b)
      result.arrivals.push_back({{team_.gpus()[l].member, b}, rounds[b]});
  }
}

std::vector<progress> gpu_crew::progress_now() const {
  std::vector<progress> now;
  for (unsigned m = 0; m < group_.members.size(); ++m)
    now.push_back(gpu_team::team::progress_of(
        group_, m, std::atomic_ref<std::uint32_t>(*heartbeat(m)).load(std::memory_order_relaxed)));
  return now;
}

}  // namespace

creation make_kernel_barrier(const flag_barrier_request& w, kernel_barrier_parts parts) {
  auto control =
      allocate_pinned_parts(w.group, control_lines * control_words * sizeof(std::uint32_t), w.where);
  if (!control.memory) return creation::none(std::move(control.reason));
  load_creation load;
  if (!w.load.idle()) load = make_load_maker(w.group, w.load, w.blocks, w.peer_memory, w.where);
  if (!load.reason.empty()) return creation::none(std::move(load.reason));
  creation made;
  made.algorithm = parts.algorithm;
  if (parts.flags) made.peer_memory = parts.flags->provider();
  if (!parts.preloaded && !w.beside && !w.gpus.empty()) {
    const cuda::device_scope scope(w.gpus.front().ordinal);
    if (auto is = cuda::symbol_of(parts.kernels.checked); is.architecture != 0)
      made.checked = {std::move(is.name), std::move(is.file), is.architecture};
  }
  made.barrier =
      std::make_unique<gpu_crew>(w, std::move(parts), std::move(control.memory), std::move(load.maker));
  return made;
}

}  // namespace mgsync::round_loop
