// The flags of a library group's barriers in GPU memory, each block's record, and the handles that kernels
// are passed. Flags are made once per number of blocks, and stay: kernels of different grids may follow one
// another.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "barriers/library/choice.hpp"
#include "barriers/library/members.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::library {

// The flags for one number of blocks.
struct grid_flags {
  algorithm::grid_choice choice;
  std::unique_ptr<gpu_memory> memory;
  std::vector<cuda::memory> records;       // of every local GPU's blocks
  std::vector<multi_grid_handle> handles;  // of every local GPU
};

class barrier_flags {
 public:
  // Collective. Throws in all processes alike: unsupported_error where a GPU cannot address another.
  barrier_flags(const group_members&, std::chrono::nanoseconds timeout);

  bool has(unsigned blocks) const { return grids_.count(blocks) != 0; }
  // Makes them. Collective, and throws in all processes alike; once it is back, no process lacks any.
  void add(unsigned blocks);
  // Those that there are.
  const grid_flags& of(unsigned blocks) const { return grids_.at(blocks); }
  // All as new, and handles of before are stale. No kernel of any process uses them. Not for processes to go
  // on from at once: others may still be here.
  void renew();

  // Of that kernel of this process that has most to tell. Kernels of this process have ended.
  const multi_grid_report& report() const;
  bool given_up() const;
  // Ends all waits, in all processes: a launch failed half-way, at local GPU `local`. Says what failed, and
  // never throws.
  void give_up(unsigned blocks, unsigned local) noexcept;
  // Asks whether another process told a local GPU that it gave up. `stream`: of that GPU, with nothing on it.
  void listen(unsigned local, cudaStream_t stream);
  // Which GPUs and blocks had not arrived when the others gave up. Kernels of this process have ended.
  std::string who_is_missing() const;

 private:
  void fill(unsigned blocks, grid_flags&) const;
  std::vector<multi_grid_block> records_of(const grid_flags&, unsigned local) const;

  gpu_members members_;
  std::vector<unsigned> local_;
  unsigned fewest_sms_;
  std::uint32_t patience_;
  std::uint32_t generation_ = 1;
  multi_grid_report* reports() const { return report_.as<multi_grid_report>(); }
  // GPU `member`'s, as local GPU `local` addresses it.
  std::uint32_t* stop_word(unsigned member, unsigned local) const {
    return reinterpret_cast<std::uint32_t*>(stops_->part(member, local));
  }
  std::uint32_t* told() const { return reinterpret_cast<std::uint32_t*>(reports() + local_.size() + 1); }

  cuda::memory
      report_;  // of every local GPU, then one of the host, then the word that says that there are any
  cuda::memory heard_;                    // a word of the host: a stop word as it was read
  std::unique_ptr<gpu_memory> stops_;     // a word per GPU
  std::vector<cuda::memory> stop_lists_;  // of every local GPU: where they are
  std::map<unsigned, grid_flags> grids_;
};

}  // namespace mgsync::library
