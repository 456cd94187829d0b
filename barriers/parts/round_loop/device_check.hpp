// What a worker does in a checked round, on a GPU: it is held back, publishes its phase and its payload, and
// reads those of others by ordinary loads (docs/method.md, "Is it a barrier?"; phase_check.hpp has who and
// what). A worker is a block, or a part of the only block (inner_rounds.hpp): its team says which. C++17.
#pragma once

#include <cstdint>

#include "barriers/parts/algorithm/ptx.hpp"
#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync::round_loop {

// The turns of the last rounds in a ring: that of the round just passed is still in use when that of the
// round after the next is computed.
struct kept_turns {
  reading of_round[4];
  __device__ const reading& operator[](std::uint32_t in_life) const { return of_round[in_life % 4]; }
};

// The team of a worker that is a block.
struct block_team {
  static constexpr bool is_block = true, is_lane = false;
  static constexpr unsigned most_workers = 1;  // of a block
  __device__ __forceinline__ unsigned worker() const { return blockIdx.x; }
  __device__ __forceinline__ unsigned lane() const { return threadIdx.x; }
  __device__ __forceinline__ unsigned lanes() const { return blockDim.x; }
  // Joins a worker's own threads only.
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  // Runs a round, where a late worker may need a way of its own.
  template <class Round>
  __device__ __forceinline__ static bool run_round(bool, const Round& round) {
    return round();
  }
};

__device__ __forceinline__ void hold_ns(std::uint64_t how_long) {
  const std::uint64_t begin = algorithm::ptx::global_time_ns();
  while (algorithm::ptx::global_time_ns() - begin < how_long) {}
}

template <class Team>
__device__ __forceinline__ bool is_faulty(const device_run& run, std::uint32_t fault, const Team& team) {
  return run.fault == fault && run.fault_member == run.member && run.fault_block == team.worker();
}

// Ordinary (weak) loads and stores that the compiler can neither drop nor turn into strong ones.
__device__ __forceinline__ std::uint32_t plain_load(const std::uint32_t* w) {
  std::uint32_t v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(w) : "memory");
  return v;
}
__device__ __forceinline__ void plain_store(std::uint32_t* w, std::uint32_t v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(w), "r"(v) : "memory");
}

__device__ inline void note(const device_run& run, std::uint32_t round, unsigned reader, unsigned offender,
                            std::uint32_t expected, std::uint32_t seen, std::uint32_t what) {
  if (atomicCAS(&run.findings->first_claimed, 0u, 1u) != 0) return;
  run.findings->round = round;
  run.findings->reader = reader;
  run.findings->offender = offender;
  run.findings->expected = expected;
  run.findings->seen = seen;
  run.findings->what = what;
}

// Words of one payload.
inline constexpr unsigned payload_words = payload_lines * words_per_line;

// Four words of a payload, which one instruction loads or stores.
struct alignas(16) quad {
  std::uint32_t word[4];
};
inline constexpr unsigned payload_quads = payload_words / 4;

__device__ __forceinline__ quad plain_load(const quad* from) {
  quad q;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "l"(from)
               : "memory");
  return q;
}
__device__ __forceinline__ void plain_store(quad* to, const quad& q) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(q.word[0]), "r"(q.word[1]),
               "r"(q.word[2]), "r"(q.word[3])
               : "memory");
}

template <class Team>
__device__ inline void publish(const device_run& run, const Team& team, unsigned self, std::uint32_t phase) {
  if (team.lane() == team.lanes() - 1) plain_store(run.board.phase(phase, self), phase);
  if (team.lane() >= payload_quads) return;
  auto* const payload = reinterpret_cast<quad*>(run.board.payload(phase, self));
  const unsigned holder = run.board.holder_of(self, run.members, phase);
  auto* const pushed = run.members > 1 && run.board.part(holder) != nullptr
                           ? reinterpret_cast<quad*>(run.board.pushed(phase, holder, self))
                           : nullptr;
  for (unsigned i = team.lane(); i < payload_quads; i += team.lanes()) {
    quad q;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) q.word[k] = payload_word(phase, self, 4 * i + k);
    plain_store(payload + i, q);
    if (pushed != nullptr) plain_store(pushed + i, q);
  }
}

// The address at which to read what `other` wrote in this phase: in its own memory, or where it pushed it to
// (`pushed`). Null: it cannot be reached.
__device__ inline const std::uint32_t* written_by(const device_run& run, unsigned other, std::uint32_t phase,
                                                  bool pushed) {
  const unsigned holder = run.board.holder_of(other, run.members, phase);
  // The memory pushed to must be reachable too: what a member of another host pushes does not arrive here.
  if (!run.board.has(other) || (pushed && (run.members == 1 || run.board.part(holder) == nullptr)))
    return nullptr;
  return pushed ? run.board.pushed(phase, holder, other) : run.board.payload(phase, other);
}

// What a worker's reads in a round depend on: its phase, and whom and what it reads.
struct round_reads {
  std::uint32_t phase;
  std::uint32_t in_life;  // the round's number over the life of the barrier object
  const reading& turn;
};

// Reads, before the next round, one word of every sector of 32 bytes that will be read after that round, so
// that a stale line left in the L1 cache is noticed. Returns a value that depends on all of them.
template <class Team>
__device__ __forceinline__ std::uint32_t touch(const device_run& run, const Team& team, unsigned self,
                                               const round_reads& next) {
  constexpr unsigned words_of_sector = 8, payload_sectors = payload_words / words_of_sector;
  const unsigned workers = run.members * run.blocks, count = read_count(workers);
  const unsigned phases = (count + words_of_sector - 1) / words_of_sector + 1;
  const unsigned all = phases + (run.members > 1 ? 2 : 1) * payload_sectors;
  std::uint32_t seen = 0;
  for (unsigned i = team.lane(); i < all; i += team.lanes()) {
    const std::uint32_t* from = nullptr;
    if (i < phases) {
      const unsigned other = read_target(next.turn, self, workers,
                                         i * words_of_sector < count ? i * words_of_sector : count - 1);
      if (other != self && run.board.has(other)) from = run.board.phase(next.phase, other);
    } else {
      from = written_by(run, next.turn.payload_of, next.phase, i - phases >= payload_sectors);
      if (from != nullptr) from += (i - phases) % payload_sectors * words_of_sector;
    }
    if (from != nullptr) seen += plain_load(from);
  }
  return seen;
}

// Compares what this thread reads of others with what they should have published in the round just passed:
// phases of others, and one other's payload, in its own memory and where it was pushed to. Several loads are
// in flight at once: one after the other, each across a link, they would take longer than everything else in
// a checked round.
template <class Team>
__device__ __forceinline__ void judge(const device_run& run, const Team& team, unsigned self,
                                      const round_reads& passed, unsigned& observations,
                                      unsigned& violations) {
  constexpr unsigned at_once = 4;
  const unsigned workers = run.members * run.blocks, count = read_count(workers);
  const auto look = [&](unsigned what, unsigned offender, std::uint32_t expected, std::uint32_t seen) {
    ++observations;
    if (seen != expected && violations++ == 0)
      note(run, passed.in_life - run.rounds_done, self, offender, expected, seen, what);
  };
  for (unsigned first = team.lane(); first < count; first += at_once * team.lanes()) {
    unsigned from[at_once];
    std::uint32_t seen[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const unsigned i = first + k * team.lanes();
      from[k] = i < count ? read_target(passed.turn, self, workers, i) : self;
      if (from[k] != self && run.board.has(from[k]))
        seen[k] = plain_load(run.board.phase(passed.phase, from[k]));
      else from[k] = self;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (from[k] != self) look(0u, from[k], passed.phase, seen[k]);
  }
  const unsigned quads = (run.members > 1 ? 2 : 1) * payload_quads, of = passed.turn.payload_of;
  for (unsigned i = team.lane(); i < quads; i += team.lanes()) {
    const bool pushed = i >= payload_quads;
    const std::uint32_t* const payload = written_by(run, of, passed.phase, pushed);
    if (payload == nullptr) continue;
    const unsigned at = i % payload_quads;
    const quad q = plain_load(reinterpret_cast<const quad*>(payload) + at);
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      look(pushed ? 3u : 1u, of, payload_word(passed.phase, of, 4 * at + k), q.word[k]);
  }
}

// Judges what others wrote for the round just passed (null: there was none), and touches what will be read
// after the next.
template <class Team>
__device__ __forceinline__ void read_others(const device_run& run, const Team& team, unsigned self,
                                            const round_reads* passed, const round_reads& next,
                                            unsigned& observations, unsigned& violations) {
  const std::uint32_t touched = touch(run, team, self, next);
  if (passed != nullptr) judge(run, team, self, *passed, observations, violations);
  asm volatile("" ::"r"(touched));
}

// Called by one thread of the worker; the others see the result after their next sync().
__device__ inline void find_turn(const device_run& run, unsigned self, std::uint32_t in_life,
                                 kept_turns& turns) {
  const unsigned workers = run.members * run.blocks;
  if (workers > 1) turns.of_round[in_life % 4] = reading_of(run.seed, self, workers, in_life);
}

// Adds what the threads of this block found to the GPU's findings, by one atomic addition per block, since
// the kernels of a single round come here often.
__device__ inline void add_up(const device_run& run, unsigned observations, unsigned violations) {
  __shared__ unsigned sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  if (observations != 0) atomicAdd(&sums[0], observations);
  if (violations != 0) atomicAdd(&sums[1], violations);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (sums[0] != 0) atomicAdd(&run.findings->observations, static_cast<unsigned long long>(sums[0]));
  if (sums[1] != 0) atomicAdd(&run.findings->violations, static_cast<unsigned long long>(sums[1]));
}

// Delays this worker's arrival by its random skew, and if it is the late worker long enough to be noticed.
// Meanwhile the next round's turn is computed.
template <class Team>
__device__ inline void skew_arrival(const device_run& run, const Team& team, unsigned self,
                                    std::uint32_t in_life, bool late, kept_turns& turns) {
  if (team.lane() == 0) {
    const std::uint64_t begin = algorithm::ptx::global_time_ns();
    const std::uint64_t ns = (late ? hold_ns_of(in_life) : 0) + skew_unit_ns * skew(run.seed, in_life, self);
    find_turn(run, self, in_life + 1, turns);
    while (algorithm::ptx::global_time_ns() - begin < ns) {}
  }
  team.sync();
}

}  // namespace mgsync::round_loop
