#include "barriers/parts/round_loop/load_maker.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include "barriers/parts/round_loop/load_kernel.hpp"

namespace mgsync::round_loop {

namespace {

constexpr std::size_t target_bytes = std::size_t{8} << 20;  // per GPU
constexpr std::chrono::milliseconds settling{5};

// Words of the pinned memory: the three phases to be copied, what is copied back, and on a line of its own
// what host reads read.
constexpr unsigned running_at = load_ends + 1, host_read_at = 32, host_words = 64;
// The device memory: phase and running, each on a line of its own, then the records.
constexpr std::size_t device_phase = 0, device_running = 128, device_records = 256;

bool to_peers(traffic kind) { return kind == traffic::peer_stores || kind == traffic::peer_loads; }

int most_shared_bytes(int ordinal) {
  int most = 0;
  cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
              "asking for shared memory");
  return most;
}

}  // namespace

load_blocks blocks_of_load(const load& wanted, unsigned blocks, unsigned sms) {
  if (wanted.sms == load_sms::all) {
    const unsigned count = wanted.blocks == 0 ? sms : wanted.blocks;
    if (count % sms != 0)
      return {0, fmt::format("load on all {} SMs takes as many blocks, or a multiple, not {}", sms, count)};
    return {count, {}};
  }
  if (blocks >= sms)
    return {0, "every SM holds blocks of the barrier: there are no others to make load (@all takes them)"};
  const unsigned free = sms - blocks, count = wanted.blocks == 0 ? free : wanted.blocks;
  if (count > free)
    return {0, fmt::format("{} blocks of load take an SM each, and the barrier leaves {} of {}", count, free,
                           sms)};
  return {count, {}};
}

std::string why_no_room_for_load(const load& wanted, const void* kernel, unsigned blocks, unsigned threads,
                                 unsigned members, const std::vector<gpu_team::gpu_member>& gpus,
                                 const gpu_team::resident_blocks& fit) {
  if (members == 1 && to_peers(wanted.kind)) return "one GPU has no peer to make this load to";
  for (std::size_t l = 0; l < gpus.size(); ++l) {
    const cuda::device_scope scope(gpus[l].ordinal);
    const auto sms = static_cast<unsigned>(cuda::sm_count(gpus[l].ordinal));
    const auto needed = blocks_of_load(wanted, blocks, sms);
    if (!needed.reason.empty()) return needed.reason;
    if (wanted.sms == load_sms::others) continue;
    // A thread of the load takes no more of an SM than one of the kernel.
    const unsigned each = (needed.blocks / sms * wanted.threads + threads - 1) / threads;
    if (blocks + each * sms > static_cast<unsigned>(fit(l, kernel, threads)) * sms)
      return "this shape leaves no room for the blocks that make load";
  }
  return {};
}

load_creation make_load_maker(const topology::group& group, const load& wanted, unsigned blocks,
                              std::string_view peer_memory, const session& where) {
  auto scratch = allocate_group_memory(group, target_bytes, reach::group, peer_memory, where);
  if (!scratch.memory) return {nullptr, std::move(scratch.reason)};
  return {std::make_unique<load_maker>(wanted, gpu_team::gpus_of(group, where.rank()), blocks,
                                       std::move(scratch.memory),
                                       static_cast<unsigned>(group.members.size())),
          {}};
}

load_maker::load_maker(const load& wanted, const std::vector<gpu_team::gpu_member>& gpus,
                       unsigned barrier_blocks, std::unique_ptr<group_memory> scratch, unsigned members)
    : load_(wanted), scratch_(std::move(scratch)) {
  for (unsigned l = 0; l < gpus.size(); ++l) {
    const cuda::device_scope scope(gpus[l].ordinal);
    cuda::load(load_kernel(load_.kind), "the kernel that makes load");
    // An SM changes its split into L1 cache and shared memory only when it is idle, and the driver chooses
    // the split by each kernel's resources. Only beside a kernel that leaves the most shared memory can every
    // other kernel start.
    cuda::check(cudaFuncSetAttribute(load_kernel(load_.kind), cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared),
                "leaving the barrier room beside the load");
    gpu_state p;
    p.ordinal = gpus[l].ordinal;
    p.blocks = blocks_of_load(load_, barrier_blocks, static_cast<unsigned>(cuda::sm_count(p.ordinal))).blocks;
    if (load_.sms == load_sms::others) {
      // All of an SM's shared memory: nothing else fits beside such a block.
      p.shared_bytes = most_shared_bytes(p.ordinal) - fixed_shared_bytes();
      cuda::check(cudaFuncSetAttribute(load_kernel(load_.kind), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       p.shared_bytes),
                  "giving the load all shared memory");
    }
    for (unsigned i = 1; i < members && to_peers(load_.kind); ++i)
      p.targets.push_back(scratch_->part((gpus[l].member + i) % members, l));
    if (!to_peers(load_.kind)) p.targets.push_back(scratch_->part(gpus[l].member, l));
    p.stream = cuda::make_stream();
    p.copies = cuda::make_stream();
    p.device = cuda::memory::in_pool(p.ordinal, device_records + p.blocks * sizeof(load_record));
    p.host = cuda::memory::on_host(host_words * sizeof(std::uint32_t));
    for (std::uint32_t phase = 0; phase <= load_ends; ++phase) p.host.as<std::uint32_t>()[phase] = phase;
    states_.push_back(std::move(p));
  }
}

load_maker::~load_maker() {
  for (unsigned l = 0; l < states_.size(); ++l) try {
      if (!states_[l].runs) continue;
      cudaSetDevice(states_[l].ordinal);
      stop(l);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "mgsync: ending a load: %s\n", error.what());
    }
}

int load_maker::fixed_shared_bytes() const {
  cudaFuncAttributes kernel{};
  cuda::check(cudaFuncGetAttributes(&kernel, load_kernel(load_.kind)),
              "asking about the kernel that makes load");
  return static_cast<int>(kernel.sharedSizeBytes);
}

void load_maker::tell(gpu_state& p, std::uint32_t phase) const {
  cuda::check(cudaMemcpyAsync(p.device.get() + device_phase, p.host.as<std::uint32_t>() + phase, sizeof phase,
                              cudaMemcpyHostToDevice, p.copies.get()),
              "telling the load");
  cuda::check(cudaStreamSynchronize(p.copies.get()), "telling the load");
}

void load_maker::start(unsigned local, awake_clock::time_point deadline) {
  gpu_state& p = states_[local];
  std::byte* const device = p.device.get();
  cuda::check(cudaMemsetAsync(device, 0, p.device.bytes(), p.stream.get()), "preparing load");
  load_run run{};
  std::copy(p.targets.begin(), p.targets.end(), run.targets);
  run.count = static_cast<std::uint32_t>(p.targets.size());
  run.bytes = target_bytes;
  run.host_word = p.host.as<std::uint32_t>() + host_read_at;
  run.phase = reinterpret_cast<std::uint32_t*>(device + device_phase);
  run.running = reinterpret_cast<std::uint32_t*>(device + device_running);
  run.records = reinterpret_cast<load_record*>(device + device_records);
  const auto left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - awake_clock::now()).count();
  run.budget_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1));
  void* arguments[] = {&run};
  cuda::check(cudaLaunchKernel(load_kernel(load_.kind), dim3(p.blocks), dim3(load_.threads), arguments,
                               static_cast<std::size_t>(p.shared_bytes), p.stream.get()),
              fmt::format("starting load on GPU {}", p.ordinal));
  p.runs = true;
  auto* const begun = p.host.as<std::uint32_t>() + running_at;
  do {
    cuda::check(cudaMemcpyAsync(begun, run.running, sizeof *begun, cudaMemcpyDeviceToHost, p.copies.get()),
                "watching load");
    cuda::check(cudaStreamSynchronize(p.copies.get()), "watching load");
  } while (*begun != p.blocks && awake_clock::now() < deadline);
  std::this_thread::sleep_for(settling);
}

void load_maker::count(unsigned local) { tell(states_[local], load_counts); }

void load_maker::stop(unsigned local) {
  gpu_state& p = states_[local];
  if (!p.runs) return;
  tell(p, load_ends);
  cuda::check(cudaStreamSynchronize(p.stream.get()), "waiting for the load to end");
  p.runs = false;
}

load_seen load_maker::seen(unsigned local, std::span<const std::uint32_t> barrier_sms) const {
  const gpu_state& p = states_[local];
  std::vector<load_record> records(p.blocks);
  cuda::check(cudaMemcpy(records.data(), p.device.get() + device_records,
                         records.size() * sizeof(load_record), cudaMemcpyDeviceToHost),
              "reading what the load did");
  load_seen all;
  std::vector<std::uint32_t> sms;
  for (const auto& r : records) {
    sms.push_back(r.sm);
    if (r.began_ns != 0 && r.ended_ns > r.began_ns)
      all.gbps += static_cast<double>(r.bytes) / static_cast<double>(r.ended_ns - r.began_ns);
  }
  std::ranges::sort(sms);
  const auto together = static_cast<std::size_t>(std::ranges::count_if(
      barrier_sms, [&](std::uint32_t sm) { return std::ranges::binary_search(sms, sm); }));
  if (load_.sms == load_sms::others && together != 0)
    all.misplaced = fmt::format("{} of the barrier's {} blocks on GPU {} shared an SM with the load",
                                together, barrier_sms.size(), p.ordinal);
  if (load_.sms == load_sms::all && together != barrier_sms.size())
    all.misplaced = fmt::format("{} of the barrier's {} blocks on GPU {} had no load on their SM",
                                barrier_sms.size() - together, barrier_sms.size(), p.ordinal);
  return all;
}

}  // namespace mgsync::round_loop
