// Sums by several GPUs whose kernels put the parts together themselves, and the base of the ways that do
// more: the memory that the GPUs share, the threads that launch, what is timed and what is compared.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "barriers/parts/gpu_team/launch.hpp"
#include "barriers/parts/gpu_team/team.hpp"
#include "barriers/parts/round_loop/start_line.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/worker_pool.hpp"
#include "src/studies/reduction/places.hpp"
#include "src/studies/reduction/several_gpus.hpp"
#include "src/studies/reduction/sum_exchange.hpp"

namespace mgsync::reduction {

// What was settled before the sums are made.
struct several_parts {
  reading how_to_read;
  unsigned blocks = 1;
  std::unique_ptr<symmetric_memory> start{};
  std::vector<CUfunction> vendor{};  // by GPU
};

inline bool one_process(const several_sum& asked) { return asked.where->ranks().size() == 1; }

// The layout of each GPU's part of the memory that other GPUs address, in bytes: a barrier's flags, and by
// turn the slots for what the GPUs below it in a tree send. On GPU 0 also, by turn, the sums of the blocks of
// all GPUs, a counter of blocks, and the whole sums.
struct shared_memory {
  std::size_t flags = 0, arrived = 0, partials = 0, results = 0, slots = 0, bytes = 0;
};

// A GPU of this process, with the host thread that uses it.
struct lane {
  unsigned local = 0, member = 0;
  int ordinal = 0;
  std::shared_ptr<const gpu_numbers> numbers{};
  cuda::memory box{};  // along a tree in one process: its part of the shared memory
  relay_arguments meeting{};
  double duration_us = 0, call_us = 0;
};

// Sums whose parts are put together by the kernels themselves.
class one_kernel_each : public subject {
 public:
  one_kernel_each(const several_sum&, several_parts);

  seen run(const run_order&) final;
  seen put_together(seen mine) final { return put_sums_together(asked_.where->ranks(), std::move(mine)); }

 protected:
  static constexpr std::size_t at_home = 512;  // of a GPU's scratch: a counter, a result, the blocks' sums

  // What a way does: issues all sums of a run on a GPU; before the clock starts; behind a sum's kernel; with
  // other arguments of its kernel; when a thread of this process has failed and comes no more.
  virtual void issue(lane& l, std::uint64_t count, bool faulty) {
    for (std::uint64_t turn = 0; turn < count; ++turn) issue_one(l, turn, faulty);
  }
  virtual void warm_up(lane&) {}
  virtual void go_on(lane&, std::uint64_t, const sum_arguments&) {}
  virtual void* beside(lane& l, std::uint64_t turn) {
    l.meeting.run.epoch = first_epoch_ + static_cast<std::uint32_t>(turn) + 1;
    return &l.meeting;
  }
  virtual void comes_no_more() {}

  void issue_one(lane&, std::uint64_t turn, bool faulty);

  sum_arguments arguments_of(const lane&, std::uint64_t turn, bool faulty) const;

  unsigned gpus() const { return static_cast<unsigned>(asked_.group.members.size()); }
  std::size_t sums_of_blocks() const { return std::size_t{kernel_.blocks} * gpus(); }
  std::byte* part(unsigned member, const lane& seen_by) const {
    return memory_ ? memory_->part(member, seen_by.local) : lanes_[member].box.get();
  }
  std::byte* partials(const lane& l, std::size_t turn) const {
    const std::size_t kept = asked_.how->kept == 0 ? capacity_ : asked_.how->kept;
    return part(0, l) + lies_.partials + turn % kept * sums_of_blocks() * bytes_of(asked_.type);
  }
  std::byte* result(const lane& l, std::size_t turn) const { return part(0, l) + lies_.results + turn * 8; }
  std::byte* slot(unsigned member, std::size_t turn, const lane& l) const {
    return part(member, l) + lies_.slots + turn * gpus() * 16;
  }

  several_sum asked_;
  reading reading_;
  gpu_team::kernel_launch kernel_;
  const void* second_ = joining_kernel(asked_.type, false);  // adds up what blocks stored
  std::unique_ptr<symmetric_memory> start_;
  round_loop::start_line line_;
  gpu_team::team team_;
  std::vector<lane> lanes_;

 private:
  shared_memory layout_for(std::size_t count, std::size_t flag_words) const;

  // Allocates and clears the memory for a run of `count` sums. Returns why that failed, or nothing.
  // Collective over the ranks.
  std::string prepare(std::size_t count);

  void set_flags(lane&, const std::vector<std::uint32_t>& image);

  void time(lane&, std::uint64_t count, bool faulty);

  void compare(std::uint64_t count, bool faulty, seen&);

  places_of_sums places_;
  std::unique_ptr<group_memory> memory_;
  shared_memory lies_;
  std::size_t capacity_ = 0;
  std::uint32_t epoch_ = 0, first_epoch_ = 0;
  worker_pool pool_;
  std::atomic<bool> failed_ = false;  // a thread of this process, before the clock started
  cuda::memory abort_;
};

}  // namespace mgsync::reduction
