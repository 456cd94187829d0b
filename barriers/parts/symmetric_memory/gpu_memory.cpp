#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

// All members in this process: device memory of pools that its GPUs may address.
class peer_access_memory final : public gpu_memory {
 public:
  peer_access_memory(const gpu_members& members, std::size_t bytes)
      : gpu_memory(bytes, members.places.size(), members.places.size()), members_(members) {
    for (std::size_t m = 0; m < members.places.size(); ++m) {
      owners_.push_back(cuda::memory::in_pool(members.places[m].ordinal, bytes + most_shift));
      std::byte* const part = owners_.back().get() + next_shift(members.process);
      for (auto& seen : parts_) seen[m] = part;
    }
  }
  ~peer_access_memory() override {
    for (const auto& place : members_.places) {
      cudaSetDevice(place.ordinal);
      cudaDeviceSynchronize();
    }
  }
  std::string_view provider() const override { return "peer-access"; }

 private:
  gpu_members members_;
  std::vector<cuda::memory> owners_;
};

}  // namespace

// Lines spread evenly (Weyl's sequence), another stretch of it for every process.
std::size_t next_shift(int process) {
  static std::atomic<std::uint64_t> count = 0;
  constexpr std::size_t line = 128;
  const std::uint64_t turn = ++count + (static_cast<std::uint64_t>(process) << 20);
  return static_cast<std::size_t>((turn * 0x9e3779b97f4a7c15u) >> 32) % (most_shift / line) * line;
}

std::vector<unsigned> gpu_members::local() const {
  std::vector<unsigned> mine;
  for (unsigned m = 0; m < places.size(); ++m)
    if (places[m].process == process) mine.push_back(m);
  return mine;
}

bool gpu_members::one_process() const {
  return std::all_of(places.begin(), places.end(), [&](const gpu_place& p) { return p.process == process; });
}

std::string open_peer_access(const gpu_members& members) {
  for (const unsigned from : members.local())
    for (const unsigned to : members.local()) {
      const int f = members.places[from].ordinal, t = members.places[to].ordinal;
      if (f == t) continue;
      int possible = 0;
      cuda::check(cudaDeviceCanAccessPeer(&possible, f, t), fmt::format("asking GPU {} about GPU {}", f, t));
      if (possible == 0) return fmt::format("GPU {} cannot address the memory of GPU {}", f, t);
      const cuda::device_scope scope(f);
      const auto status = cudaDeviceEnablePeerAccess(t, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();
      else
        cuda::check(status, fmt::format("opening the memory of GPU {} to GPU {}", t, f));
    }
  return {};
}

std::string first_complaint(const gpu_members& members, const std::string& mine) {
  if (members.one_process()) return mine;
  for (auto& theirs : members.exchange(mine))
    if (!theirs.empty()) return std::move(theirs);
  return {};
}

void meet_before_freeing(const gpu_members& members) noexcept {
  if (members.one_process() || std::uncaught_exceptions() != 0) return;
  try {
    members.exchange({});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mgsync: freeing GPU memory that other processes address: %s\n", error.what());
  }
}

gpu_allocation allocate_gpu_memory(const gpu_members& members, std::size_t bytes, peer_memory wanted) {
  if (members.one_process()) {
    if (auto reason = open_peer_access(members); !reason.empty()) return {nullptr, std::move(reason)};
    return {std::make_unique<peer_access_memory>(members, bytes), {}};
  }
  if (wanted == peer_memory::vmm) return allocate_vmm_memory(members, bytes);
  auto by_ipc = allocate_ipc_memory(members, bytes);
  if (by_ipc.memory || wanted == peer_memory::ipc) return by_ipc;
  auto by_vmm = allocate_vmm_memory(members, bytes);
  if (!by_vmm.memory) by_vmm.reason = by_ipc.reason + "; " + by_vmm.reason;
  return by_vmm;
}

}  // namespace mgsync
