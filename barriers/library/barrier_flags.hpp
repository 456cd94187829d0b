// The flags of a library group's barriers in GPU memory, the record of each block, and the handles that are
// passed to kernels. Flags are made once per number of blocks and kept, so that kernels of different grids
// can alternate.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/library/choice.hpp"
#include "barriers/library/members.hpp"
#include "barriers/library/missing.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::library {

// The flags for one number of blocks.
struct grid_flags {
  algorithm::grid_choice choice;
  std::unique_ptr<gpu_memory> memory;
  std::vector<cuda::memory> records;       // of every local GPU's blocks
  std::vector<multi_grid_handle> handles;  // of every local GPU
};

// How long a wait at a barrier may take; 0: for ever.
struct wait_bounds {
  std::chrono::nanoseconds of_a_wait{};
  std::chrono::nanoseconds of_the_first{};  // of the first barrier of each number of blocks
};

// Allocates `bytes` bytes on each GPU that all GPUs of the group can address; they need not be zeroed.
// Collective; throws in all processes alike.
using memory_source = std::function<std::unique_ptr<gpu_memory>(const gpu_members&, std::size_t bytes)>;
// The library's own memory: shared between processes by VMM, or by IPC where that does not work, or as
// `wanted` says.
memory_source own_memory(peer_memory wanted);
// Memory that the caller made: `parts` of `bytes` bytes each, by member. Throws usage_error for parts that
// are missing or badly aligned, and where they are used up.
memory_source memory_of_caller(std::vector<void*> parts, std::size_t bytes);
inline constexpr std::size_t part_alignment = 256;
// The bytes on each GPU for the flags of so many blocks per GPU, on GPUs of so many SMs.
std::size_t memory_of_flags(unsigned gpus, unsigned blocks, unsigned sms);

class barrier_flags {
 public:
  // Collective. Throws in all processes alike: unsupported_error where a GPU cannot address another.
  barrier_flags(const group_members&, const wait_bounds&, memory_source);
  ~barrier_flags();

  bool has(unsigned blocks) const { return grids_.count(blocks) != 0; }
  // Makes the flags for `blocks` blocks per GPU. Collective, and throws in all processes alike; when it
  // returns, all processes have them.
  void add(unsigned blocks);
  // The flags for a number of blocks for which has() is true.
  const grid_flags& of(unsigned blocks) const { return grids_.at(blocks); }
  // Resets all flags and makes all earlier handles stale. Called when no kernel of any process uses them. It
  // does not wait for the other processes, so the caller must before it launches anything.
  void renew();

  // The most telling report of the kernels of this process, which must have ended.
  multi_grid_report report() const;
  bool given_up() const;
  // Both end all waits, in all processes: because a launch failed on local GPU `local` after others had
  // succeeded, or because the user wants it and gives a reason. Neither waits for anything; errors are
  // printed on stderr. abort() may be called from any thread at any time.
  void launch_failed(unsigned blocks, unsigned local) noexcept;
  void abort(std::string_view why) noexcept;
  std::string why_aborted() const;
  // Sets the time-outs of all waits from now on, also of kernels that are running.
  void set_bounds(const wait_bounds&);
  // Asks local GPU `local` whether another process told it that it gave up. `stream`: an idle stream of that
  // GPU.
  void listen(unsigned local, cudaStream_t stream);
  // Which GPUs and blocks had not arrived when the others gave up. Kernels of this process have ended.
  absence who_is_missing() const;

 private:
  void probe_all_ways() const;
  void fill(unsigned blocks, grid_flags&) const;
  void end_all_waits(const multi_grid_report&) noexcept;
  std::vector<multi_grid_block> records_of(const grid_flags&, unsigned local) const;

  gpu_members members_;
  std::vector<unsigned> local_;
  unsigned fewest_sms_;
  wait_bounds bounds_;
  memory_source source_;
  std::uint32_t generation_ = 1;
  multi_grid_report* reports() const { return report_.as<multi_grid_report>(); }
  // The stop word of GPU `member`, as local GPU `local` addresses it.
  std::uint32_t* stop_word(unsigned member, unsigned local) const {
    return reinterpret_cast<std::uint32_t*>(stops_->part(member, local));
  }
  std::uint32_t* told() const { return reinterpret_cast<std::uint32_t*>(reports() + local_.size() + 1); }

  cuda::memory report_;  // one per local GPU, one of the host, then the word told(): not 0 if there is any
  cuda::memory heard_;   // two words in host memory: a stop word as it was read, and the 1 that is written
  cuda::stream voice_;   // of the first local GPU: writes stop words
  mutable std::mutex told_by_host_;  // guards what abort() and launch_failed() write
  std::string why_aborted_;
  std::unique_ptr<gpu_memory> stops_;     // a word per GPU
  std::vector<cuda::memory> stop_lists_;  // per local GPU: addresses of all stop words, its own first
  std::map<unsigned, grid_flags> grids_;
};

}  // namespace mgsync::library
