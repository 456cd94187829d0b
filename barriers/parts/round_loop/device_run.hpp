// What a kernel of barrier rounds gets and leaves behind: plain values, the same on host and GPU. C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/parts/round_loop/phase_check.hpp"

namespace mgsync::round_loop {

using algorithm::first_gpu_epoch;
using algorithm::most_gpus;

// The findings of one GPU's blocks, in that GPU's memory; the host reads them after the kernel.
struct device_findings {
  unsigned long long observations;
  unsigned long long violations;
  std::uint32_t first_claimed;  // 1: the fields below are the first violation
  std::uint32_t round;
  std::uint32_t reader;  // worker: member * blocks + block
  std::uint32_t offender;
  std::uint32_t expected;
  std::uint32_t seen;
  std::uint32_t what;     // 0 phase, 1 payload, 2 sum, 3 payload where it was pushed to
  std::uint32_t blocks;   // the grid, as the kernel found it
  std::uint32_t threads;  // of a block
};

// The layout of a member's part of the board, the memory on which checked runs publish; the same for every
// member of a group. A part is null if its member is on another host, and what that member publishes is not
// read. Members beyond most_gpus share GPUs with others, whose parts hold theirs too.
struct device_board {
  static constexpr unsigned most_members = 2 * most_gpus;
  static constexpr unsigned most_missing = 3;

  std::byte* parts[most_gpus];
  std::uint32_t blocks;   // of the member that has most
  std::uint32_t missing;  // two bits of each of the first members: how many blocks fewer it has

  MGSYNC_HD static std::size_t bytes(unsigned blocks) {
    return offset_pushed(blocks) + 2 * payload_bytes(blocks);
  }
  MGSYNC_HD static std::size_t offset_phase(unsigned slot, unsigned blocks) {
    return slot * phase_bytes(blocks);
  }
  MGSYNC_HD static std::size_t offset_payload(unsigned blocks) { return 2 * phase_bytes(blocks); }
  MGSYNC_HD static std::size_t offset_pushed(unsigned blocks) {
    return offset_payload(blocks) + 2 * payload_bytes(blocks);
  }
  MGSYNC_HD static std::size_t phase_bytes(unsigned blocks) { return (blocks * 4u + 127u) / 128u * 128u; }
  MGSYNC_HD static std::size_t payload_bytes(unsigned blocks) {
    return std::size_t{blocks} * payload_lines * 128u;
  }

  // The member and the block of a worker. Without a division, which would be slow because every thread asks
  // in every round.
  struct position {
    unsigned member, block;
  };
  MGSYNC_HD position position_of(unsigned worker) const {
    position at{0, worker};
    for (; at.block >= blocks; ++at.member) at.block -= blocks;
    return at;
  }
  MGSYNC_HD unsigned blocks_of(unsigned member) const {
    return blocks - (member < most_gpus ? missing >> (2 * member) & most_missing : 0);
  }
  MGSYNC_HD std::byte* part(unsigned member) const {
    std::byte* const of_gpu = parts[member % most_gpus];
    return of_gpu == nullptr ? nullptr : of_gpu + member / most_gpus * bytes(blocks);
  }
  MGSYNC_HD bool has(unsigned worker) const {
    const position at = position_of(worker);
    return part(at.member) != nullptr && at.block < blocks_of(at.member);
  }
  MGSYNC_HD std::uint32_t* phase(std::uint32_t phase_now, unsigned worker) const {
    const position at = position_of(worker);
    return reinterpret_cast<std::uint32_t*>(part(at.member) + offset_phase(phase_now & 1, blocks)) + at.block;
  }
  MGSYNC_HD std::uint32_t* payload(std::uint32_t phase_now, unsigned worker) const {
    const position at = position_of(worker);
    return line_of(part(at.member) + offset_payload(blocks), phase_now, at.block);
  }
  // The payload that the worker writes into another member's memory, that of `holder`.
  MGSYNC_HD std::uint32_t* pushed(std::uint32_t phase_now, unsigned holder, unsigned worker) const {
    return line_of(part(holder) + offset_pushed(blocks), phase_now, position_of(worker).block);
  }
  // The member into whose memory a worker's member pushes in this phase: another one for every member. With
  // one member, that member itself.
  MGSYNC_HD unsigned holder_of(unsigned worker, unsigned members, std::uint32_t phase_now) const {
    const unsigned from = position_of(worker).member;
    return members == 1 ? from : push_target(from, members, phase_now);
  }

 private:
  MGSYNC_HD std::uint32_t* line_of(std::byte* slots, std::uint32_t phase_now, unsigned block) const {
    return reinterpret_cast<std::uint32_t*>(slots + (phase_now & 1) * payload_bytes(blocks)) +
           std::size_t{block} * payload_lines * words_per_line;
  }
};

// One launch on one GPU. Trivially copyable: it is a kernel parameter.
struct device_run {
  std::uint32_t member;
  std::uint32_t members;
  std::uint32_t blocks;
  std::uint32_t rounds;
  std::uint32_t epoch;        // of the last round before this launch
  std::uint32_t rounds_done;  // on this object before this launch
  std::uint32_t work_ns;      // between rounds
  std::uint32_t seed;
  std::uint32_t fences;  // 1: a kernel between barriers ends with a system fence
  std::uint32_t fault;   // 0 none, 1 arrive_early, 2 never_arrive
  std::uint32_t fault_member;
  std::uint32_t fault_block;
  std::uint32_t fault_round;
  std::uint32_t late_ns;  // of the work, by which this member comes later than the others
  std::uint64_t budget_ns;
  std::uint32_t* abort;       // host memory
  std::uint32_t* heartbeat;   // host memory: rounds that this member's block 0 arrived at
  std::uint32_t* arrived;     // this GPU's memory, per block: rounds arrived at when it left or gave up
  std::uint32_t* sms;         // this GPU's memory, per block: where it ran; timed runs
  device_findings* findings;  // this GPU's memory
  device_board board;         // checked runs
};

inline constexpr unsigned most_recorded_rounds = 64;

// The SM's cycle counter and the timer that all SMs of the GPU share, read together; clock 0: never read.
struct clock_reading {
  std::uint64_t clock;
  std::uint64_t timer_ns;
};

// What the first warp of a block records of the last rounds of a run, at index round % recorded_ring: the
// cycle counter as the block came to a round (only where it does something between rounds: otherwise it comes
// as it leaves the round before) and as it left it. The readings relate the counter to the timer: they are
// taken every most_recorded_rounds, of which the last two are kept, and once at the end.
inline constexpr unsigned recorded_ring = 2 * most_recorded_rounds;
struct block_events {
  std::uint64_t came[recorded_ring], left[recorded_ring];
  std::uint64_t began;  // when it came to round 0
  clock_reading readings[3];
  std::uint64_t
      spoke[most_recorded_rounds];  // at epoch % most_recorded_rounds: when this block spoke for its GPU
  std::uint32_t spoke_round[most_recorded_rounds];  // which round that was; none: ~0
  std::uint32_t sm, block;
  std::uint32_t stamps_coming;  // 1: came[] is filled
};

inline constexpr std::uint32_t no_fault = 0, fault_early = 1, fault_never = 2;

}  // namespace mgsync::round_loop
