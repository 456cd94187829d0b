#include "barriers/parts/symmetric_memory/group_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

const std::string& host_of(const topology::group& group, int rank) {
  return std::find_if(group.members.begin(), group.members.end(),
                      [&](const auto& m) { return m.rank == rank; })
      ->host;
}

// The group's members on this rank's host. Ranks that own members are numbered in their order, as the
// session's are.
struct own_host {
  gpu_members members;
  std::vector<int> places;
  std::unique_ptr<communicator> ranks;

  own_host(const topology::group& group, const session& where) {
    const std::string& host = host_of(group, where.rank());
    topology::group near;
    std::ranges::copy_if(group.members, std::back_inserter(near.members),
                         [&](const auto& m) { return m.host == host; });
    const auto owners = topology::owners_of(near);
    const auto hosts = topology::hosts_of(group);
    const auto number = [&](int rank) {
      return static_cast<int>(std::ranges::lower_bound(owners, rank) - owners.begin());
    };
    for (const auto& m : group.members) {
      places.push_back(m.host == host ? static_cast<int>(members.places.size()) : -1);
      if (m.host == host) members.places.push_back({number(m.rank), m.gpu});
    }
    members.process = number(where.rank());
    members.patience = where.timeout();
    const communicator* exchanging = &where.ranks();
    if (hosts.size() > 1) {
      const auto which = std::ranges::lower_bound(hosts, host) - hosts.begin();
      ranks = std::make_unique<communicator>(*where.ranks().split(static_cast<int>(which)));
      exchanging = ranks.get();
    }
    members.exchange = [exchanging](const std::string& mine) {
      return exchanging->all_gather(mine, "sharing GPU memory");
    };
  }
};

// Pinned memory that was given back, by its size: pinning takes milliseconds. Used from one thread.
std::multimap<std::size_t, cuda::memory>& spare_pinned() {
  static std::multimap<std::size_t, cuda::memory> spare;
  return spare;
}

cuda::memory take_pinned(std::size_t bytes) {
  auto found = spare_pinned().find(bytes);
  if (found == spare_pinned().end()) return cuda::memory::on_host(bytes);
  auto taken = std::move(found->second);
  spare_pinned().erase(found);
  std::memset(taken.get(), 0, bytes);
  return taken;
}

// All members in this process.
class own_pinned_parts final : public pinned_parts {
 public:
  own_pinned_parts(std::size_t bytes, std::size_t members)
      : each_((bytes + 127) / 128 * 128), all_(take_pinned(each_ * members)) {}
  ~own_pinned_parts() override { spare_pinned().emplace(all_.bytes(), std::move(all_)); }
  std::byte* part(unsigned member) const override { return all_.get() + each_ * member; }

 private:
  std::size_t each_;
  cuda::memory all_;
};

// A window of the ranks, registered with CUDA by each of them.
class shared_pinned_parts final : public pinned_parts {
 public:
  shared_pinned_parts(std::unique_ptr<symmetric_memory> window, unsigned members)
      : window_(std::move(window)) {
    constexpr std::uintptr_t page = 4096;
    std::uintptr_t first = UINTPTR_MAX, end = 0;
    for (unsigned m = 0; m < members; ++m) {
      const auto at = reinterpret_cast<std::uintptr_t>(window_->part(m));
      first = std::min(first, at / page * page);
      end = std::max(end, (at + window_->bytes() + page - 1) / page * page);
    }
    registered_ = reinterpret_cast<void*>(first);
    cuda::check(cudaHostRegister(registered_, end - first, cudaHostRegisterPortable | cudaHostRegisterMapped),
                "pinning memory that the ranks share");
  }
  ~shared_pinned_parts() override {
    if (const auto status = cudaHostUnregister(registered_);
        status != cudaSuccess && status != cudaErrorCudartUnloading)
      std::fprintf(stderr, "mgsync: CUDA: unpinning memory: %s\n", cudaGetErrorString(status));
  }
  std::byte* part(unsigned member) const override { return window_->part(member); }
  // Whether GPUs address it as the ranks do.
  bool same_address() const {
    void* seen = nullptr;
    cuda::check(cudaHostGetDevicePointer(&seen, registered_, 0), "asking where GPUs see pinned memory");
    return seen == registered_;
  }

 private:
  std::unique_ptr<symmetric_memory> window_;
  void* registered_ = nullptr;
};

}  // namespace

group_allocation allocate_group_memory(const topology::group& group, std::size_t bytes, reach which,
                                       std::string_view wanted, const session& where) {
  const auto hosts = topology::hosts_of(group).size();
  if (which == reach::group && hosts > 1)
    return {nullptr, fmt::format("needs memory that all GPUs address, and they are on {} hosts", hosts)};
  own_host here(group, where);
  const auto how = wanted == "ipc"   ? peer_memory::ipc
                   : wanted == "vmm" ? peer_memory::vmm
                                     : peer_memory::automatic;
  auto made = allocate_gpu_memory(here.members, bytes, how);
  // It may have worked on one host and failed on another.
  if (hosts > 1)
    if (auto reason = first_complaint(where, made.reason); !reason.empty())
      return {nullptr, std::move(reason)};
  if (!made.memory) return {nullptr, std::move(made.reason)};
  return {
      std::make_unique<group_memory>(std::move(here.ranks), std::move(made.memory), std::move(here.places)),
      {}};
}

std::string first_complaint(const session& where, const std::string& mine) {
  if (where.ranks().size() == 1) return mine;
  for (auto& theirs : where.ranks().all_gather(mine, "agreeing on a new barrier"))
    if (!theirs.empty()) return std::move(theirs);
  return {};
}

pinned_allocation allocate_pinned_parts(const topology::group& group, std::size_t bytes,
                                        const session& where) {
  if (where.ranks().size() == 1) return {std::make_unique<own_pinned_parts>(bytes, group.members.size()), {}};
  auto window = allocate_host_memory(group, bytes, reach::group, where);
  if (!window.memory) return {nullptr, std::move(window.reason)};
  auto made = std::make_unique<shared_pinned_parts>(std::move(window.memory),
                                                    static_cast<unsigned>(group.members.size()));
  if (!made->same_address())
    return {nullptr, "this platform shows pinned host memory to GPUs at another address"};
  return {std::move(made), {}};
}

std::string why_no_peer_access(const topology::machine& machine, const topology::group& group) {
  if (const auto hosts = topology::hosts_of(group).size(); hosts > 1)
    return fmt::format(
        "needs memory that all GPUs address, and they are on {} hosts (--per-node measures each node)",
        hosts);
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
