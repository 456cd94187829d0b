// The flags of a library group's barriers in GPU memory, the record of each block, and the handles that are
// passed to kernels. Flags are made once per number of blocks and kept, so that kernels of different grids
// can alternate.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/library/choice.hpp"
#include "barriers/library/members.hpp"
#include "barriers/library/missing.hpp"
#include "barriers/library/wait_traces.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::library {

// The flags for one number of blocks.
struct grid_flags {
  algorithm::grid_choice choice;
  std::unique_ptr<gpu_memory> memory;
  std::vector<cuda::memory> records;  // of every local GPU's blocks
  std::vector<cuda::memory>
      tables;  // of more GPUs than a handle names: the addresses of all flags, on every local one
  std::vector<multi_grid_handle> handles;  // of every local GPU
  std::unique_ptr<wait_traces> traces;     // of traced groups
};

// Grids that meet: all of a group, or a team of some. By rank among them: their ranks in the group.
struct team_flags {
  std::vector<unsigned> ranks;
  std::map<unsigned, grid_flags> grids;  // by number of blocks
  cuda::memory reports;                  // one per local GPU

  // The rank in the team of a GPU of the group, if it is of the team.
  std::optional<unsigned> rank_of(unsigned grid) const;
  std::string name() const;  // "the team of grids 0, 2"
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
  struct habits {
    bool traced = false;            // what traced kernels note is kept
    bool one_block_speaks = false;  // group_options has it
  };
  barrier_flags(const group_members&, const wait_bounds&, memory_source, const habits&);
  ~barrier_flags();

  bool has(unsigned blocks) const { return teams_.front().grids.count(blocks) != 0; }
  // The algorithm that so many blocks per GPU get, and why.
  algorithm::grid_choice chosen_for(unsigned blocks) const;
  // Makes the flags for `blocks` blocks per GPU, of all teams. Collective, and throws in all processes alike;
  // when it returns, all processes have them.
  void add(unsigned blocks);
  // Makes a team of these grids of the group, and its flags for all numbers of blocks that there are. Returns
  // its number. Collective, alike.
  unsigned add_team(std::vector<unsigned> ranks);
  unsigned teams() const { return static_cast<unsigned>(teams_.size()); }  // number 0: the whole group
  // The flags for a number of blocks for which has() is true. In a team the handles of other GPUs are empty.
  const grid_flags& of(unsigned blocks, unsigned team = 0) const { return teams_[team].grids.at(blocks); }
  // Resets all flags and makes all earlier handles stale. Called when no kernel of any process uses them. It
  // does not wait for the other processes, so the caller must before it launches anything.
  void renew();

  // The most telling report of the kernels of this process, which must have ended; the rank is the group's.
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
  void add_to(unsigned team, unsigned blocks);
  algorithm::grid_choice choice_for(unsigned gpus, unsigned blocks) const;
  void fill(unsigned team, unsigned blocks, grid_flags&) const;
  template <class F>
  void each_grid(F f) const;
  void end_all_waits(const multi_grid_report&) noexcept;
  multi_grid_report report_of(const team_flags&) const;
  absence missing_in(const team_flags&, unsigned blocks) const;
  std::vector<multi_grid_block> records_of(const grid_flags&, unsigned local) const;

  group_members group_;
  const gpu_members& members_ = group_.gpus;
  habits habits_;
  std::vector<unsigned> local_;
  wait_bounds bounds_;
  memory_source source_;
  std::uint32_t generation_ = 1;
  multi_grid_report& report_of_host() const { return *report_.as<multi_grid_report>(); }
  // The stop word of GPU `member`, as local GPU `local` addresses it.
  std::uint32_t* stop_word(unsigned member, unsigned local) const {
    return reinterpret_cast<std::uint32_t*>(stops_->part(member, local));
  }
  std::uint32_t* told() const { return reinterpret_cast<std::uint32_t*>(&report_of_host() + 1); }
  std::uint32_t* refused() const { return told() + 1; }  // multi_grid_handle::refused

  cuda::memory report_;  // the host's own, then the words told(), not 0 if there is any report, and refused()
  cuda::memory heard_;   // two words in host memory: a stop word as it was read, and the 1 that is written
  cuda::stream voice_;   // of the first local GPU: writes stop words
  mutable std::mutex told_by_host_;  // guards what abort() and launch_failed() write
  std::string why_aborted_;
  std::unique_ptr<gpu_memory> stops_;     // a word per GPU
  std::vector<cuda::memory> stop_lists_;  // per local GPU: addresses of all stop words, its own first
  std::vector<team_flags> teams_;         // the first: the whole group
};

}  // namespace mgsync::library
