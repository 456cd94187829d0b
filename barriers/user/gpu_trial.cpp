#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/user/gpu_barrier.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::user {

namespace {

using round_loop::device_board;
using round_loop::device_findings;
using round_loop::device_run;
using clock = std::chrono::steady_clock;

constexpr unsigned threads = 64;           // of a block
constexpr std::size_t guard_bytes = 4096;  // on either side of a member's memory
constexpr unsigned char guard_byte = 0xa5;
constexpr std::chrono::milliseconds for_a_round(
    1);  // a kernel has so much time for each, beside the patience

// What a member's launch in one stream needs of its own.
struct lane {
  unsigned member = 0, stream = 0, blocks = 0;
  int gpu = 0;
  cuda::stream queue;
  cuda::memory board, findings, sms;
  cuda::memory words;  // of the host: the rounds that each block arrived at, then the heartbeat
  std::uint32_t arrived(unsigned block) const {
    return __atomic_load_n(words.as<std::uint32_t>() + block, __ATOMIC_RELAXED);
  }
};

// How many members' parts of the board the memory of one holds.
unsigned boards_of(const check::shape& shape) { return (shape.members - 1) / round_loop::most_gpus + 1; }

class gpu_trial {
 public:
  gpu_trial(const check::barrier_table& of, const scenario& s, int gpus)
      : of_(of), scenario_(s), shape_(shape_of(of, s)), gpus_(gpus) {
    // A graph repeats the phases too: of two rounds only, what the launch before left would look right.
    if (s.replayed) scenario_.rounds = std::max(s.rounds, 4u);
    for (unsigned m = 0; m < shape_.members; ++m)
      parts_.push_back(cuda::memory::on_gpu(gpu_of(m), part_bytes() + 2 * guard_bytes));
    for (unsigned stream = 0; stream < s.streams; ++stream)
      for (unsigned m = 0; m < shape_.members; ++m) lanes_.push_back(make_lane(m, stream));
    abort_ = cuda::memory::on_host(sizeof(std::uint32_t));
    start_all();
  }

  tried run() {
    if (scenario_.replayed) return run_replayed();
    for (std::uint32_t launch = 0; launch < scenario_.launches; ++launch) {
      if (launch != 0 && launch == scenario_.second_object) start_all();
      for (auto& one : lanes_) enqueue(one, launch);
      if (!all_end(launch)) return judge_hang();
      if (auto seen = judge(std::uint64_t{launch} * scenario_.rounds); seen.failed() || control_was_seen_)
        return seen;
    }
    return at_the_end();
  }

 private:
  int gpu_of(unsigned member) const { return static_cast<int>(member) % gpus_; }
  std::size_t part_bytes() const { return std::max<std::size_t>(of_.bytes(&shape_), 1); }
  void* part(unsigned member) const { return parts_[member].get() + guard_bytes; }

  lane make_lane(unsigned member, unsigned stream) const {
    lane one;
    one.member = member, one.stream = stream, one.gpu = gpu_of(member);
    one.blocks = scenario_.blocks[member];
    const cuda::device_scope scope(one.gpu);
    one.queue = cuda::make_stream();
    one.board = cuda::memory::on_gpu(one.gpu, boards_of(shape_) * device_board::bytes(shape_.blocks));
    one.findings = cuda::memory::on_gpu(one.gpu, sizeof(device_findings));
    one.sms = cuda::memory::on_gpu(one.gpu, shape_.blocks * sizeof(std::uint32_t));
    one.words = cuda::memory::on_host((shape_.blocks + 1) * sizeof(std::uint32_t));
    return one;
  }

  // The first values of all members, with a pattern around them.
  void start_all() {
    for (unsigned m = 0; m < shape_.members; ++m) {
      std::vector<unsigned char> image(part_bytes() + 2 * guard_bytes, guard_byte);
      of_.start(image.data() + guard_bytes, m, &shape_);
      const cuda::device_scope scope(gpu_of(m));
      cuda::check(cudaMemcpy(parts_[m].get(), image.data(), image.size(), cudaMemcpyHostToDevice),
                  "writing the first values of a barrier");
      cuda::check(cudaDeviceSynchronize(), "writing the first values of a barrier");
    }
  }

  device_run run_of(const lane& one, std::uint32_t launch) const {
    device_run run{};
    run.member = one.member;
    run.members = shape_.members;
    run.blocks = shape_.blocks;
    run.rounds = scenario_.rounds;
    const std::uint32_t since = launch < scenario_.second_object ? 0 : scenario_.second_object;
    run.epoch = shape_.epoch + (scenario_.replayed ? 0 : (launch - since) * scenario_.rounds);
    run.rounds_done = scenario_.replayed ? 0 : launch * scenario_.rounds;
    run.seed = scenario_.seed;
    run.fault = scenario_.fault == round_loop::host_run::arrive_early   ? round_loop::fault_early
                : scenario_.fault == round_loop::host_run::never_arrive ? round_loop::fault_never
                                                                        : round_loop::no_fault;
    run.fault_member = scenario_.fault_member;
    run.fault_round = missed_round;
    const auto budget = scenario_.patience + for_a_round * scenario_.rounds;
    run.budget_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(budget).count());
    run.abort = abort_.as<std::uint32_t>();
    run.arrived = one.words.as<std::uint32_t>();
    run.heartbeat = one.words.as<std::uint32_t>() + shape_.blocks;
    run.sms = one.sms.as<std::uint32_t>();
    run.findings = one.findings.as<device_findings>();
    run.board.blocks = shape_.blocks;
    for (const auto& other : lanes_)
      if (other.stream == one.stream && other.member < round_loop::most_gpus) {
        run.board.parts[other.member] = other.board.get();
        run.board.missing |= (shape_.blocks - other.blocks) << (2 * other.member);
      }
    return run;
  }

  void enqueue(lane& one, std::uint32_t launch) {
    const cuda::device_scope scope(one.gpu);
    auto run = run_of(one, launch);
    check::kernel_arguments given{};
    given.at.stream = one.stream;
    given.at.streams = scenario_.streams;
    for (unsigned m = 0; m < shape_.members; ++m) given.parts[m] = part(m);
    std::uint32_t phase = round_loop::start_phase;
    void* arguments[] = {&run, &given, &phase};
    // Several grids on one GPU at once: a cooperative launch may wait for the one before it.
    const check::launch_order order{check::kernel::checked, one.blocks, threads, 0, arguments,
                                    one.queue.get()};
    cuda::check(static_cast<cudaError_t>(of_.launch(&order)), fmt::format("launching {}", of_.name));
  }

  // Of one graph, launched again and again: the arguments are those that it was made with.
  tried run_replayed() {
    const cuda::device_scope scope(lanes_.front().gpu);
    const auto origin = lanes_.front().queue.get();
    const auto graph = gpu_team::captured(origin, "capturing a barrier's launches", [&] {
      const auto begun = cuda::make_event();
      cuda::check(cudaEventRecord(begun.get(), origin), "capturing a barrier's launches");
      std::vector<cuda::event> ended;
      for (auto& one : lanes_) {
        const cuda::device_scope there(one.gpu);
        if (one.queue.get() != origin)
          cuda::check(cudaStreamWaitEvent(one.queue.get(), begun.get(), 0), "capturing a barrier's launches");
        enqueue(one, 0);
        if (one.queue.get() == origin) continue;
        ended.push_back(cuda::make_event());
        cuda::check(cudaEventRecord(ended.back().get(), one.queue.get()), "capturing a barrier's launches");
      }
      for (const auto& each : ended)
        cuda::check(cudaStreamWaitEvent(origin, each.get(), 0), "capturing a barrier's launches");
    });
    for (std::uint32_t launch = 0; launch < scenario_.launches; ++launch) {
      for (auto& one : lanes_) std::memset(one.words.get(), 0, one.words.bytes());
      cuda::check(cudaGraphLaunch(graph.get(), origin), "launching the graph of a barrier");
      if (!all_end(0)) return judge_hang();
      if (auto seen = judge(std::uint64_t{launch} * scenario_.rounds); seen.failed()) return seen;
    }
    return at_the_end();
  }

  std::uint64_t progress() const {
    std::uint64_t sum = 0;
    for (const auto& one : lanes_)
      for (unsigned b = 0; b < one.blocks; ++b) sum += one.arrived(b);
    return sum;
  }

  // Waits for all kernels. False: nobody went on for the scenario's patience, or somebody gave up by itself.
  bool all_end(std::uint32_t launch) {
    auto last_seen = progress();
    auto since = clock::now();
    for (auto& one : lanes_) {
      const cuda::device_scope scope(one.gpu);
      while (true) {
        const auto status = cudaStreamQuery(one.queue.get());
        if (status == cudaSuccess) break;
        if (status != cudaErrorNotReady) cuda::check(status, fmt::format("running {}", of_.name));
        const auto now = progress();
        if (now != last_seen) since = clock::now();
        last_seen = now;
        if (clock::now() - since > scenario_.patience) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    }
    const std::uint32_t due = run_of(lanes_.front(), launch).rounds_done + scenario_.rounds;
    return std::all_of(lanes_.begin(), lanes_.end(), [&](const lane& one) {
      for (unsigned b = 0; b < one.blocks; ++b)
        if (one.arrived(b) != due) return false;
      return true;
    });
  }

  std::string name_of(const lane& one, unsigned block) const {
    auto name = fmt::format("member {}", one.member);
    if (shape_.blocks > 1) name += fmt::format(" block {}", block);
    if (scenario_.streams > 1) name += fmt::format(" of stream {}", one.stream);
    return name;
  }
  std::string name_of(const lane& seen_by, std::uint32_t worker, unsigned blocks) const {
    for (const auto& one : lanes_)
      if (one.stream == seen_by.stream && one.member == worker / blocks) return name_of(one, worker % blocks);
    return {};
  }

  // What the kernels that have ended found; `before`: rounds of earlier launches.
  tried judge(std::uint64_t before) {
    constexpr const char* what[] = {"phase", "payload", "sum", "pushed payload"};
    const lane* by = nullptr;
    device_findings first{};
    for (const auto& one : lanes_) {
      const cuda::device_scope scope(one.gpu);
      device_findings found{};
      cuda::check(cudaMemcpy(&found, one.findings.get(), sizeof found, cudaMemcpyDeviceToHost),
                  "reading what was found");
      if (found.first_claimed == 0 || (by != nullptr && first.round <= found.round)) continue;
      by = &one;
      first = found;
    }
    const auto round = before + (by == nullptr ? scenario_.rounds : first.round + 1);
    if (by == nullptr) return {ending::passed, round, {}};
    control_was_seen_ = scenario_.fault == round_loop::host_run::arrive_early;
    if (control_was_seen_) return {ending::passed, round, {}};
    return {ending::violated, round,
            fmt::format("{} left round {} and read of {}: {} 0x{:08x}, expected 0x{:08x}",
                        name_of(*by, first.reader, shape_.blocks), round,
                        name_of(*by, first.offender, shape_.blocks), what[first.what & 3], first.seen,
                        first.expected)};
  }

  tried judge_hang() const {
    if (scenario_.fault == round_loop::host_run::never_arrive) {
      for (const auto& one : lanes_)
        for (unsigned b = 0; b < one.blocks; ++b)
          if (one.arrived(b) > missed_round + 1)
            return {ending::violated, one.arrived(b),
                    fmt::format("{} left round {}, at which member {} never arrived", name_of(one, b),
                                missed_round + 1, scenario_.fault_member)};
      return {ending::passed, missed_round + 1, {}};
    }
    std::vector<std::pair<std::string, std::uint64_t>> where;
    for (const auto& one : lanes_)
      for (unsigned b = 0; b < one.blocks; ++b) where.emplace_back(name_of(one, b), one.arrived(b));
    return stuck_at(where);
  }

  tried at_the_end() const {
    const std::uint64_t rounds = std::uint64_t{scenario_.launches} * scenario_.rounds;
    for (unsigned m = 0; m < shape_.members; ++m) {
      std::vector<unsigned char> image(part_bytes() + 2 * guard_bytes);
      cuda::check(cudaMemcpy(image.data(), parts_[m].get(), image.size(), cudaMemcpyDeviceToHost),
                  "reading a member's memory");
      const auto whole = [](unsigned char byte) { return byte == guard_byte; };
      if (!std::all_of(image.begin(), image.begin() + guard_bytes, whole) ||
          !std::all_of(image.end() - guard_bytes, image.end(), whole))
        return {ending::overran, rounds,
                fmt::format("wrote beside the {} bytes of member {}'s memory", of_.bytes(&shape_), m)};
    }
    if (scenario_.fault == round_loop::host_run::arrive_early)
      return {ending::violated, rounds,
              "member 0 came early on purpose, and nobody saw it: what this check says means nothing"};
    if (scenario_.fault == round_loop::host_run::never_arrive)
      return {ending::violated, rounds,
              fmt::format("all went on, although member {} never arrived", scenario_.fault_member)};
    return {ending::passed, rounds, {}};
  }

  const check::barrier_table& of_;
  scenario scenario_;
  check::shape shape_;
  int gpus_;
  bool control_was_seen_ = false;
  std::vector<cuda::memory> parts_;
  std::vector<lane> lanes_;
  cuda::memory abort_;
};

// Makes the GPUs address each other. Why they cannot; empty: they do.
std::string why_apart(int gpus) {
  for (int from = 0; from < gpus; ++from)
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      const cuda::device_scope scope(from);
      const auto status = cudaDeviceEnablePeerAccess(to, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled) static_cast<void>(cudaGetLastError());
      else if (status != cudaSuccess)
        return fmt::format("GPU {} cannot address GPU {}: {}", from, to, cudaGetErrorString(status));
    }
  return {};
}

std::string why_not_on_gpus(const check::barrier_table& of, const scenario& s, int gpus) {
  const auto members = static_cast<int>(s.blocks.size());
  if (members > static_cast<int>(device_board::most_members))
    return fmt::format("mgsync's kernels know {} members at most", device_board::most_members);
  const auto [fewest, most] = std::minmax_element(s.blocks.begin(), s.blocks.end());
  if (*most - *fewest > device_board::most_missing ||
      (*most != *fewest && members > static_cast<int>(round_loop::most_gpus)))
    return fmt::format("mgsync's kernels know grids that differ by {} blocks, of {} members at most",
                       device_board::most_missing, round_loop::most_gpus);
  if (of.orders == check::extent::equal_blocks && *most > 1)
    return "mgsync's kernels read of all blocks: what orders blocks of equal number is tried with one block "
           "of each "
           "member";
  if (s.what == check::loop::ordinary)
    return "is tried with host threads; of kernels, mgsync audit reads the machine code";
  const unsigned on_one = static_cast<unsigned>((members + gpus - 1) / gpus) * *most * s.streams;
  for (int gpu = 0; gpu < std::min(gpus, members); ++gpu) {
    const cuda::device_scope scope(gpu);
    int blocks = 0;
    cuda::check(static_cast<cudaError_t>(of.resident(check::kernel::checked, threads, &blocks)),
                fmt::format("finding out how many blocks of {} fit", of.name));
    if (static_cast<unsigned>(blocks * cuda::sm_count(gpu)) < on_one)
      return fmt::format("{} blocks do not fit on GPU {} at once", on_one, gpu);
  }
  const auto reason = cuda::reason_not_to_spin(static_cast<std::size_t>(members));
  return reason ? *reason : why_apart(std::min(gpus, members));
}

}  // namespace

std::string why_no_gpus_here() {
  int gpus = 0;
  const auto status = cudaGetDeviceCount(&gpus);
  if (status == cudaSuccess && gpus > 0) return {};
  return fmt::format("needs a GPU, and none is visible here ({})",
                     cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status));
}

tried try_on_gpus(const check::barrier_table& of, const scenario& s) {
  if (auto why = why_no_gpus_here(); !why.empty()) return {ending::waived, 0, std::move(why)};
  int gpus = 0;
  cuda::check(cudaGetDeviceCount(&gpus), "counting GPUs");
  if (auto why = why_not_on_gpus(of, s, gpus); !why.empty()) return {ending::waived, 0, std::move(why)};
  // Never freed, since that would wait for kernels that may never end.
  auto* const made = new gpu_trial(of, s, std::min(gpus, static_cast<int>(s.blocks.size())));
  return made->run();
}

}  // namespace mgsync::user
