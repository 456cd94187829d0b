// What every algorithm in this folder is written over, so that one source runs on GPUs, host threads, MPI
// ranks and inside race checkers. C++17, standard library only.
//
// A policy P supplies (names carry scope and ordering; `local` spans the blocks of one member, `system` all
// members):
//   word                              one flag or counter of 32 bits, alone in its own line of line_bytes
//   load_acquire_local(word&), load_acquire_system(word&)
//   store_release_local(word&, v)
//   add_acq_rel_local(word&, v), add_acq_rel_system(word&, v)    return the value before
//   fence_release_system()            orders all that this member's blocks made visible to the caller ...
//   store_fenced_system(word&, v)     ... before this store (relaxed; a release store where a race checker
//                                     ignores fences)
//   add_fenced_system(word&, v)       ... or before this addition, which returns nothing
//   sync(), sync_and(ok)              barrier of the block's own threads (nothing where a block is one
//                                     thread); ok and what sync_and returns: 0 or 1
//   in_team()                         whether the calling thread belongs to the team: one warp of the block,
//                                     or the thread
//   leader()                          whether it is the team's first thread
//   broadcast(v)                      the leader's value, to the whole team
//   for_each(n, f)                    f(i) for 0 <= i < n, spread over the team
//   all(bool)                         whether the condition holds in the whole team
//   sync_team()                       barrier of the team's own threads. It alone orders their accesses:
//                                     broadcast, all and the other votes do not, so another lane may release
//                                     what one lane acquired only after it
//   wait_local(word&, epoch), wait_system(word&, epoch)
//                                     polls with acquire until reached(word, epoch); returns false if it gave
//                                     up (waits are bounded)
// A memory M supplies word& line(member, index): line `index` of that member's part, addressable by every
// member.
#pragma once

#include "barriers/parts/algorithm/integers.hpp"

#if defined(__CUDACC__)
#define MGSYNC_HD __host__ __device__ __forceinline__
#else
#define MGSYNC_HD
#endif

// Written before a loop to keep it from being unrolled on GPUs, where the addresses of all iterations would
// be kept in registers.
#if defined(__CUDA_ARCH__)
#define MGSYNC_ROLLED _Pragma("unroll 1")
#else
#define MGSYNC_ROLLED
#endif
// And to have it unrolled, where its turns fill an array that is to stay in registers.
#if defined(__CUDA_ARCH__)
#define MGSYNC_UNROLLED _Pragma("unroll")
#else
#define MGSYNC_UNROLLED
#endif

namespace mgsync { inline namespace v1 { namespace algorithm {

inline constexpr std::size_t line_bytes = 128;

// Where the caller stands: block `block` of `blocks` in member `member` of `members`.
struct position {
  unsigned member;
  unsigned members;
  unsigned block;
  unsigned blocks;
};

// The polling loops of relay.hpp and spread_counter.hpp; `quiet`: of rounds that order nothing.
enum class polling { inbox, sums, counter, quiet };

// A word that a lane polls until reached(word, target). Null address: nothing to wait for.
template <class Word>
struct polled_word {
  Word* address;
  std::uint32_t target;
};

// Epochs only grow and may wrap: the signed difference keeps the order while two are less than 2^31 apart.
MGSYNC_HD constexpr bool reached(std::uint32_t seen, std::uint32_t epoch) {
  return static_cast<std::int32_t>(seen - epoch) >= 0;
}

}}}  // namespace mgsync::v1::algorithm
