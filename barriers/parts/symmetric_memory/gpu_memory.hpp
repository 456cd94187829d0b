// Symmetric memory of GPUs: a part in the memory of every member's GPU, which the GPUs of all members may
// address. Members may be spread over the processes of one host in any way: inside a process by peer access,
// between processes by CUDA IPC handles or by VMM allocations. It knows neither ranks nor groups: the
// processes' exchange is a parameter.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// A member's GPU: `ordinal` is what CUDA calls it in process number `process`.
struct process_gpu {
  int process = 0;
  int ordinal = 0;
};

// All-gather of bytes: every process gives some, and gets those of all processes in the order of their
// numbers. Collective. May throw when a process does not answer. Not called where one process has all
// members.
using byte_exchange = std::function<std::vector<std::string>(const std::string& mine)>;

// The members of a group, as the calling process knows them. All but `process` is the same in every process.
struct gpu_members {
  std::vector<process_gpu> places;
  int process = 0;
  byte_exchange exchange;
  std::chrono::nanoseconds patience =
      std::chrono::seconds(30);  // of the waits that the exchange does not bound

  std::vector<unsigned> local() const;  // indices of the calling process's members
  bool one_process() const;
};

// How processes share memory.
enum class peer_memory { automatic, ipc, vmm };

class gpu_memory {
 public:
  // Kernels that use the memory must have ended on all GPUs of the caller. Memory shared by IPC is destroyed
  // collectively by all processes, because it must not be freed while kernels of others use it; memory shared
  // by VMM stays until the last process has released it.
  virtual ~gpu_memory() = default;
  gpu_memory(const gpu_memory&) = delete;
  gpu_memory& operator=(const gpu_memory&) = delete;

  // What a result calls it: "peer-access", "cuda-ipc", "vmm-fd" or "vmm-fabric".
  virtual std::string_view provider() const = 0;
  // The member's part as the calling process's GPU number `local` (in the order of its members) addresses it,
  // aligned to 128 bytes, and to 256 where it is given back at once.
  std::byte* part(unsigned member, unsigned local = 0) const { return parts_[local][member]; }
  // The same, or std::out_of_range where there is no such member or GPU.
  std::byte* part_of(unsigned member, unsigned local) const { return parts_.at(local).at(member); }
  std::size_t bytes() const { return bytes_; }

 protected:
  gpu_memory(std::size_t bytes, std::size_t locals, std::size_t members)
      : bytes_(bytes), parts_(locals, std::vector<std::byte*>(members, nullptr)) {}

  std::size_t bytes_;
  std::vector<std::vector<std::byte*>> parts_;  // by local GPU, then member
};

// The memory, or why it cannot be had (alike in all processes).
struct gpu_allocation {
  std::unique_ptr<gpu_memory> memory;
  std::string reason;
};

// Where freed memory goes: back to the GPU at once; or, where all members are in one process, to a pool of
// that process, so that the next allocation takes microseconds and begins at another place, as a new
// process's would.
enum class given_back { at_once, when_the_process_ends };

// Zeroed memory of `bytes` for each member. Collective over the processes; each of them has at least one
// member. `wanted` counts where there are several processes: automatic takes IPC, or VMM where IPC does not
// work. Throws only where one process has all members.
gpu_allocation allocate_gpu_memory(const gpu_members&, std::size_t bytes, peer_memory wanted,
                                   given_back = given_back::when_the_process_ends);

}  // namespace mgsync
