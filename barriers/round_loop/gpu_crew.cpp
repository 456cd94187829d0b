#include "barriers/round_loop/gpu_crew.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "barriers/algorithm/policy.hpp"
#include "src/base/errors.hpp"

namespace mgsync::round_loop {

namespace {

// The same as on hosts: every check crosses the wrap, and so does every barrier's epoch.
constexpr std::uint32_t first_phase = 0xffffff00u;
constexpr std::uint32_t timed_out_word = 1;
constexpr std::size_t scratch_bytes = std::size_t{8} << 20;  // per GPU, written by the peers in loaded runs

std::vector<int> cpus_of(const std::vector<gpu_member>& gpus) {
  std::vector<int> cpus;
  for (const auto& g : gpus) cpus.push_back(g.cpu);
  return cpus;
}

std::size_t record_bytes(unsigned blocks) { return sizeof(device_findings) + blocks * sizeof(std::uint32_t); }

}  // namespace

std::vector<gpu_member> gpus_of(const topology::group& group, int rank) {
  std::vector<gpu_member> mine;
  for (unsigned m = 0; m < group.members.size(); ++m) {
    const auto& member = group.members[m];
    if (member.rank == rank) mine.push_back({m, member.gpu, member.cpus.empty() ? -1 : member.cpus.front()});
  }
  return mine;
}

unsigned blocks_of(const configuration& shape, const std::vector<gpu_member>& gpus) {
  if (shape.blocks) return *shape.blocks;
  int fewest = cuda::sm_count(gpus.front().ordinal);
  for (const auto& g : gpus) fewest = std::min(fewest, cuda::sm_count(g.ordinal));
  return shape.blocks_per_sm.value_or(1) * static_cast<unsigned>(fewest);
}

std::string why_not_resident(const round_kernels& kernels, unsigned blocks, unsigned threads,
                             const std::vector<gpu_member>& gpus) {
  if (threads == 0 || threads % 32 != 0 || threads > 1024)
    return fmt::format("blocks of {} threads: mgsync's kernels take whole warps, 32 to 1024 threads", threads);
  for (const auto& g : gpus) {
    const cuda::device_scope scope(g.ordinal);
    for (const void* kernel : {kernels.timed, kernels.checked}) {
      const auto room = static_cast<unsigned>(cuda::resident_blocks(kernel, threads) * cuda::sm_count(g.ordinal));
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

gpu_crew::gpu_crew(const topology::group& group, session& where, std::unique_ptr<symmetric_memory> board, settings given)
    : group_(group), session_(&where), settings_(std::move(given)), gpus_(gpus_of(group, where.rank())),
      board_(std::move(board)), control_(cuda::memory::on_host(128 * (gpus_.size() + 1))), pool_(cpus_of(gpus_)),
      epoch_(first_gpu_epoch) {
  for (const auto& g : gpus_) {
    const cuda::device_scope scope(g.ordinal);
    if (!settings_.preloaded) {
      cuda::load(settings_.kernels.timed, settings_.what);
      cuda::load(settings_.kernels.checked, settings_.what);
    }
    places_.push_back({cuda::make_stream(), cuda::memory::on_gpu(g.ordinal, record_bytes(settings_.blocks)), {}});
  }
  launch_ = [this](unsigned local, const void* kernel, unsigned grid, unsigned threads, void** arguments, cudaStream_t s) {
    cuda::check(cudaLaunchCooperativeKernel(kernel, dim3(grid), dim3(threads), arguments, 0, s),
                fmt::format("launching {} on GPU {}", settings_.what, gpus_[local].ordinal));
  };
}

gpu_crew::~gpu_crew() = default;

unsigned room_for_load(const void* kernel, unsigned blocks, unsigned threads, const std::vector<gpu_member>& gpus) {
  unsigned room = UINT32_MAX;
  for (const auto& g : gpus) {
    const cuda::device_scope scope(g.ordinal);
    const auto sms = static_cast<unsigned>(cuda::sm_count(g.ordinal));
    const unsigned all = static_cast<unsigned>(cuda::resident_blocks(kernel, threads)) * sms;
    room = std::min({room, all - std::min(all, blocks), sms});
  }
  return room;
}

unsigned gpu_crew::load_blocks() const {
  if (settings_.load == load::idle) return 0;
  return room_for_load(settings_.kernels.timed, settings_.blocks, settings_.threads, gpus_);
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
  run.heartbeat = heartbeat(local);
  run.findings = places_[local].records.as<device_findings>();
  run.arrived = reinterpret_cast<std::uint32_t*>(places_[local].records.get() + sizeof(device_findings));
  run.board.blocks = settings_.blocks;
  for (std::size_t m = 0; m < group_.members.size(); ++m) run.board.parts[m] = board_->part(static_cast<unsigned>(m));
  if (settings_.load == load::streaming && request.mode == run_mode::time) {
    run.load_bytes = scratch_bytes;
    for (std::size_t l = 0; l < gpus_.size(); ++l) run.load_target[gpus_[l].member] = places_[l].scratch.get();
  }
  return run;
}

trial gpu_crew::run(const run_request& request) {
  trial result;
  result.elapsed.resize(gpus_.size());
  if (broken_) {
    result.outcome = outcome::timed_out;
    return result;
  }
  if (settings_.load == load::streaming)
    for (std::size_t l = 0; l < gpus_.size(); ++l)
      if (places_[l].scratch.get() == nullptr)
        places_[l].scratch = cuda::memory::on_gpu(gpus_[l].ordinal, scratch_bytes);
  std::vector<std::exception_ptr> failures(gpus_.size());
  std::atomic<unsigned> ready{0};
  {
    const auto grace = settings_.bounded ? std::chrono::seconds(5) : std::chrono::seconds(0);
    const auto patience = std::chrono::duration_cast<std::chrono::nanoseconds>(
        request.deadline - std::chrono::steady_clock::now() + grace);
    const watchdog::guard watched(session_->watchdog(), settings_.what, patience, [this] { return progress_now(); });
    pool_.run([&](unsigned local) {
      try {
        launch_and_wait(request, local, ready, result);
      } catch (...) {
        failures[local] = std::current_exception();
        ready += 1u << 16;  // nobody waits for a thread that is gone
        std::atomic_ref<std::uint32_t>(*abort_word()).store(timed_out_word);
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

void gpu_crew::launch_and_wait(const run_request& request, unsigned local, std::atomic<unsigned>& ready, trial& result) {
  using clock = std::chrono::steady_clock;
  cuda::check(cudaSetDevice(gpus_[local].ordinal), fmt::format("selecting GPU {}", gpus_[local].ordinal));
  const auto stream = places_[local].stream.get();
  cuda::check(cudaMemsetAsync(places_[local].records.get(), 0, sizeof(device_findings), stream), "clearing the findings");
  cuda::check(cudaStreamSynchronize(stream), "clearing the findings");
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(request.deadline - clock::now()).count();
  device_run run = describe(request, local, static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1)));
  std::uint32_t phase = first_phase;
  void* arguments[] = {&run, const_cast<void*>(settings_.arguments[local]), &phase};
  // A member that never arrives only exists in the checked kernel.
  const bool checked = request.mode == run_mode::check || run.fault == fault_never;
  const void* const kernel = checked ? settings_.kernels.checked : settings_.kernels.timed;
  const unsigned grid = settings_.blocks + (checked ? 0 : load_blocks());
  ready.fetch_add(1);
  while ((ready.load() & 0xffffu) + (ready.load() >> 16) < gpus_.size()) {
  }
  const auto begin = clock::now();
  launch_(local, kernel, grid, settings_.threads, arguments, stream);
  cuda::check(cudaStreamSynchronize(stream), fmt::format("running {} on GPU {}", settings_.what, gpus_[local].ordinal));
  result.elapsed[local] = clock::now() - begin;
}

void gpu_crew::collect(trial& result, bool checked) {
  const auto why = std::atomic_ref<std::uint32_t>(*abort_word()).load();
  if (why != 0) {
    broken_ = true;
    result.outcome = why == timed_out_word ? outcome::timed_out : outcome::aborted;
    name_missing(result);
  }
  if (checked)
    for (const auto& p : places_) add_findings(result, p.records, settings_.blocks);
}

void gpu_crew::name_missing(trial& result) {
  std::vector<std::uint32_t> arrived(gpus_.size() * settings_.blocks);
  for (std::size_t l = 0; l < gpus_.size(); ++l)
    cuda::check(cudaMemcpy(arrived.data() + l * settings_.blocks, places_[l].records.get() + sizeof(device_findings),
                           settings_.blocks * sizeof(std::uint32_t), cudaMemcpyDeviceToHost), "reading who arrived");
  const auto furthest = *std::max_element(arrived.begin(), arrived.end());
  result.stuck_round = furthest;
  for (std::size_t i = 0; i < arrived.size(); ++i)
    if (arrived[i] < furthest)
      result.missing.push_back({gpus_[i / settings_.blocks].member, static_cast<unsigned>(i % settings_.blocks)});
}

std::vector<progress> gpu_crew::progress_now() const {
  std::vector<progress> now;
  for (unsigned l = 0; l < gpus_.size(); ++l) {
    const auto& member = group_.members[gpus_[l].member];
    now.push_back({fmt::format("GPU {} (rank {} on {})", member.id, member.rank, member.host),
                   std::atomic_ref<std::uint32_t>(*heartbeat(l)).load(std::memory_order_relaxed)});
  }
  return now;
}

}  // namespace mgsync::round_loop
