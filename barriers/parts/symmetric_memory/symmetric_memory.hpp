// Memory in parts, one per member of a group, every part addressable by every member that this process runs.
// Providers: host threads (plain memory), ranks of one host (MPI shared window); GPU memory comes beside
// them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/session.hpp"
#include "topology/group.hpp"

namespace mgsync {

class symmetric_memory {
 public:
  virtual ~symmetric_memory() = default;
  // What a result calls it: "threads", "mpi-window".
  virtual std::string_view provider() const = 0;
  // This process's address of the member's part, aligned to 128 bytes; nothing (nullptr) where it cannot be
  // reached.
  std::byte* part(unsigned member) const { return parts_[member]; }
  std::size_t bytes() const { return bytes_; }

 protected:
  symmetric_memory(std::size_t bytes, std::size_t members) : bytes_(bytes), parts_(members, nullptr) {}

  std::size_t bytes_;
  std::vector<std::byte*> parts_;
};

// Either memory, or why it cannot be had (alike on all ranks of the session).
struct allocation {
  std::unique_ptr<symmetric_memory> memory;
  std::string reason;
};

// Which parts must be reachable: all of them, or only those on the caller's own host (the others are
// nullptr).
enum class reach { group, own_host };

// Zeroed host memory of `bytes` for each member of `group`. Collective over the session's ranks. Where a part
// lies in its pages varies from one allocation to the next, since the latency of a flag depends on it: the
// batches of a measurement are to differ in it as processes do. Pages are placed by whoever touches them
// first.
allocation allocate_host_memory(const topology::group& group, std::size_t bytes, reach which, const session&);

// Bytes to map for a part of `bytes`: whole pages, with room for its shift.
std::size_t mapped_bytes(std::size_t bytes);

// How far into its pages a member's part begins in the n-th allocation of this process (n is the same on all
// ranks): a multiple of 128 bytes, below one page.
std::size_t shift_of_part(std::size_t allocation, std::size_t member);

// Counts the allocations of this process.
std::size_t next_allocation();

}  // namespace mgsync
