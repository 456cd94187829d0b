// Memory that the kernels of a group's GPUs meet in, for members that are spread over ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"
#include "barriers/parts/symmetric_memory/symmetric_memory.hpp"
#include "src/base/session.hpp"
#include "topology/group.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// GPU memory of a group's members, or of those on the caller's host.
class group_memory {
 public:
  group_memory(std::unique_ptr<communicator> host_ranks, std::unique_ptr<gpu_memory> memory,
               std::vector<int> places)
      : host_ranks_(std::move(host_ranks)), memory_(std::move(memory)), places_(std::move(places)) {}

  // The member's part, as this rank's GPU number `local` addresses it; nullptr where the member is on another
  // host.
  std::byte* part(unsigned member, unsigned local) const {
    return places_[member] < 0 ? nullptr : memory_->part(static_cast<unsigned>(places_[member]), local);
  }
  std::string_view provider() const { return memory_->provider(); }

 private:
  std::unique_ptr<communicator>
      host_ranks_;  // where the group is on several hosts; the memory exchanges over them
  std::unique_ptr<gpu_memory> memory_;
  std::vector<int> places_;  // of each member in memory_, -1: on another host
};

struct group_allocation {
  std::unique_ptr<group_memory> memory;
  std::string reason;
};

// Zeroed memory of `bytes` on the GPU of each member, or why it cannot be had (alike on all ranks). `wanted`
// is the value of --peer-memory: "", "ipc" or "vmm". Collective over the session's ranks.
group_allocation allocate_group_memory(const topology::group&, std::size_t bytes, reach,
                                       std::string_view wanted, const session&);

// The first rank's complaint that is not empty, the same on all ranks. Collective over the session's ranks.
std::string first_complaint(const session&, const std::string& mine);

// Host memory in parts, one per member, that all ranks and all GPUs of the group (on one host) may address.
class pinned_parts {
 public:
  virtual ~pinned_parts() = default;
  virtual std::byte* part(unsigned member) const = 0;
};

struct pinned_allocation {
  std::unique_ptr<pinned_parts> memory;
  std::string reason;
};

// Zeroed, `bytes` for each member. Collective over the session's ranks.
pinned_allocation allocate_pinned_parts(const topology::group&, std::size_t bytes, const session&);

// Why the GPUs of a group cannot address each other's memory, from what is known of the machine; empty when
// they can.
std::string why_no_peer_access(const topology::machine&, const topology::group&);

}  // namespace mgsync
