// Where the memory of flags comes from.
#include <utility>

#include "barriers/library/barrier_flags.hpp"
#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

memory_source own_memory(peer_memory wanted) {
  return [wanted](const gpu_members& members, std::size_t bytes) {
    // Memory shared by VMM exists until the last process has released it, so that no process has to wait for
    // the others before it frees its part.
    const bool both = wanted == peer_memory::automatic && !members.one_process();
    auto made = allocate_gpu_memory(members, bytes, both ? peer_memory::vmm : wanted, given_back::at_once);
    if (!made.memory && both) {
      const std::string why = std::move(made.reason);
      made = allocate_gpu_memory(members, bytes, peer_memory::ipc, given_back::at_once);
      made.reason = why + "; " + made.reason;
    }
    if (!made.memory) throw unsupported_error(made.reason);
    return std::move(made.memory);
  };
}

namespace {

// A range of the parts that the caller gave.
class borrowed_memory final : public gpu_memory {
 public:
  borrowed_memory(const std::vector<void*>& parts, std::size_t from, std::size_t bytes, std::size_t locals)
      : gpu_memory(bytes, locals, parts.size()) {
    for (auto& seen : parts_)
      for (std::size_t m = 0; m < parts.size(); ++m) seen[m] = static_cast<std::byte*>(parts[m]) + from;
  }
  std::string_view provider() const override { return "the caller's"; }
};

std::string why_no_parts(const gpu_members& members, const std::vector<void*>& parts) {
  if (parts.size() != members.places.size())
    return filled("{} parts of symmetric memory for {} GPUs: one for each, by grid rank", parts.size(),
                  members.places.size());
  for (std::size_t m = 0; m < parts.size(); ++m) {
    if (parts[m] == nullptr) return filled("no address of grid {}'s part: this GPU cannot reach it", m);
    if (reinterpret_cast<std::uintptr_t>(parts[m]) % part_alignment != 0)
      return filled("grid {}'s part is aligned to less than {} bytes", m, part_alignment);
  }
  return {};
}

}  // namespace

// Ranges are taken in the order of the requests, which is the same in all processes.
memory_source memory_of_caller(std::vector<void*> parts, std::size_t bytes) {
  return [parts = std::move(parts), bytes, taken = std::size_t{0}](const gpu_members& members,
                                                                   std::size_t wanted) mutable {
    all_or_none(members, [&] {
      if (const auto why = why_no_parts(members, parts); !why.empty()) throw usage_error(why);
      if (wanted > bytes || taken > bytes - wanted)
        throw usage_error(
            filled("the caller's memory has {} bytes on each GPU, {} of them taken, and {} more are "
                   "wanted: multi_grid::flag_bytes() says how many a number of blocks takes",
                   bytes, taken, wanted));
    });
    auto made = std::make_unique<borrowed_memory>(parts, taken, wanted, members.local().size());
    taken += (wanted + part_alignment - 1) / part_alignment * part_alignment;
    return made;
  };
}

}  // namespace mgsync::library
