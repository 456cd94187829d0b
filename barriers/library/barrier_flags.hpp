// The flags of a library group's barriers in GPU memory, each block's record, and the handles that kernels
// are passed. Flags are made once per number of blocks, and stay: kernels of different grids may follow one
// another.
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

// Where the memory comes from that all GPUs address: so many bytes on each, zeroed or not. Collective, and
// throws in all processes alike.
using memory_source = std::function<std::unique_ptr<gpu_memory>(const gpu_members&, std::size_t bytes)>;
// Of the library's own: between processes by VMM, or by IPC where that does not work, or as `wanted`.
memory_source own_memory(peer_memory wanted);
// Of memory that the caller made: `parts` of so many bytes, by member. Throws usage_error for what cannot be
// such memory.
memory_source memory_of_caller(std::vector<void*> parts, std::size_t bytes);
inline constexpr std::size_t part_alignment = 256;
// How many bytes so many blocks take of a source, on GPUs of so many SMs.
std::size_t memory_of_flags(unsigned gpus, unsigned blocks, unsigned sms);

class barrier_flags {
 public:
  // Collective. Throws in all processes alike: unsupported_error where a GPU cannot address another.
  barrier_flags(const group_members&, const wait_bounds&, memory_source);
  ~barrier_flags();

  bool has(unsigned blocks) const { return grids_.count(blocks) != 0; }
  // Makes them. Collective, and throws in all processes alike; once it is back, no process lacks any.
  void add(unsigned blocks);
  // Those that there are.
  const grid_flags& of(unsigned blocks) const { return grids_.at(blocks); }
  // All as new, and handles of before are stale. No kernel of any process uses them. Not for processes to go
  // on from at once: others may still be here.
  void renew();

  // Of that kernel of this process that has most to tell. Kernels of this process have ended.
  multi_grid_report report() const;
  bool given_up() const;
  // Ends all waits, in all processes: a launch failed half-way, at local GPU `local`; or somebody wants it,
  // and says why. Neither waits for anything. What fails is said on stderr. Any thread may abort at any time.
  void launch_failed(unsigned blocks, unsigned local) noexcept;
  void abort(std::string_view why) noexcept;
  std::string why_aborted() const;
  // Of all waits from now on, also of kernels that run.
  void set_bounds(const wait_bounds&);
  // Asks whether another process told a local GPU that it gave up. `stream`: of that GPU, with nothing on it.
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
  // GPU `member`'s, as local GPU `local` addresses it.
  std::uint32_t* stop_word(unsigned member, unsigned local) const {
    return reinterpret_cast<std::uint32_t*>(stops_->part(member, local));
  }
  std::uint32_t* told() const { return reinterpret_cast<std::uint32_t*>(reports() + local_.size() + 1); }

  cuda::memory
      report_;  // of every local GPU, then one of the host, then the word that says that there are any
  cuda::memory heard_;  // words of the host: a stop word as it was read, and one as it is written
  cuda::stream voice_;  // of the first local GPU, for that
  mutable std::mutex told_by_host_;  // what abort() touches
  std::string why_aborted_;
  std::unique_ptr<gpu_memory> stops_;     // a word per GPU
  std::vector<cuda::memory> stop_lists_;  // of every local GPU: where they are
  std::map<unsigned, grid_flags> grids_;
};

}  // namespace mgsync::library
