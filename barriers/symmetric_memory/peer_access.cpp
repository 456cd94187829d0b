#include "barriers/symmetric_memory/peer_access.hpp"

#include <fmt/format.h>

#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

class peer_memory final : public symmetric_memory {
 public:
  peer_memory(const topology::group& group, std::size_t bytes) : symmetric_memory(bytes, group.members.size()) {
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      ordinals_.push_back(group.members[m].gpu);
      owners_.push_back(cuda::memory::on_gpu(group.members[m].gpu, bytes));
      parts_[m] = owners_.back().get();
    }
  }
  // Nobody may touch a part while it goes: kernels of every GPU of the group have ended first.
  ~peer_memory() override {
    for (const int ordinal : ordinals_) {
      cudaSetDevice(ordinal);
      cudaDeviceSynchronize();
    }
  }
  std::string_view provider() const override { return "peer-access"; }

 private:
  std::vector<int> ordinals_;
  std::vector<cuda::memory> owners_;
};

// Empty, or why `from` cannot address `to`.
std::string open(int from, int to) {
  int possible = 0;
  cuda::check(cudaDeviceCanAccessPeer(&possible, from, to), fmt::format("asking GPU {} about GPU {}", from, to));
  if (possible == 0) return fmt::format("GPU {} cannot address the memory of GPU {}", from, to);
  const cuda::device_scope scope(from);
  const auto status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    cuda::check(status, fmt::format("opening the memory of GPU {} to GPU {}", to, from));
  return {};
}

}  // namespace

allocation allocate_peer_memory(const topology::group& group, std::size_t bytes) {
  for (const auto& from : group.members)
    for (const auto& to : group.members)
      if (from.gpu != to.gpu)
        if (auto reason = open(from.gpu, to.gpu); !reason.empty()) return {nullptr, std::move(reason)};
  return {std::make_unique<peer_memory>(group, bytes), {}};
}

std::string why_no_peer_access(const topology::machine& machine, const topology::group& group) {
  for (const auto& m : group.members)
    if (m.rank != group.members.front().rank)
      return "these GPUs belong to several processes; this variant shares memory inside one process";
  for (const auto& p : machine.peers) {
    bool from = false, to = false;
    for (const auto& m : group.members) {
      from = from || m.id == p.from;
      to = to || m.id == p.to;
    }
    if (from && to && p.from != p.to && p.access == false)
      return fmt::format("GPU {} cannot address the memory of GPU {}", p.from, p.to);
  }
  return {};
}

}  // namespace mgsync
