// Reads the words that users type about barriers: shapes, loads, placements, backends. Nothing is started.
// Each reader adds what the first of `words` means to `into`, and returns how many words it used; 0: it does
// not know the word (read_by in src/harness/axis.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/backend.hpp"

namespace mgsync {

inline constexpr unsigned most_members = 65536;

// "4x256": 4 blocks per SM of 256 threads (host members: 4 threads per member). "b1x32": 1 block per GPU in
// all.
struct shape {
  std::optional<unsigned> blocks_per_sm;
  std::optional<unsigned> blocks;
  unsigned threads_per_block = 32;
  bool operator==(const shape&) const = default;
};
std::string to_string(const shape&);

std::size_t read_shape(std::span<const std::string> words, std::vector<shape>& into);
// read_shapes also reads "all": every power of two from 1 to 32 blocks per SM times every power of two from
// 32 to 1024 threads.
std::size_t read_shapes(std::span<const std::string> words, std::vector<shape>& into);
inline constexpr std::string_view accepted_shape = "BxT (blocks per SM x threads per block, as in 4x256), "
                                                   "b1xT (1 block per GPU in all); blocks 1 to 4096, "
                                                   "threads 1 to 1024",
                                  accepted_shapes = "BxT (blocks per SM x threads per block, as in 4x256), "
                                                    "b1xT (1 block per GPU in all), all; blocks 1 to 4096, "
                                                    "threads 1 to 1024";

// KIND[:BxT][@others|@all]: B blocks per GPU (left out: one on every such SM) of T threads (512; on
// all SMs 128; host reads 32), on the SMs that the barrier does not use (the default), or on all.
std::size_t read_load(std::span<const std::string> words, std::vector<load>& into);
inline constexpr std::string_view accepted_loads =
    "idle, peer-stores, peer-loads, local-stores, local-loads, host-reads; all but idle may be given a "
    "strength in "
    "blocks per GPU x threads (whole warps) and where they run, as in peer-stores:16x512@others, "
    "peer-stores:x128@all (every "
    "SM); blocks 1 to 4096, threads 32 to 1024";
std::vector<std::string> load_words();
std::string to_string(const load&);  // with its strength and its SMs: "peer-stores:x512@others"

// near, far, spread, or list:0 and the numbers behind it.
std::size_t read_placement(std::span<const std::string> words, std::vector<std::string>& into);
inline constexpr std::string_view accepted_placements = "near, far, spread, list:0,3,5";
std::vector<std::string> placement_words();

struct backend_choice {
  const mgsync::backend* backend = nullptr;
  const barrier_variant* variant = nullptr;  // one of backend->variants
  bool operator==(const backend_choice&) const = default;
};
std::string to_string(const backend_choice&);  // "name:variant"

// "all": every variant of every backend; "name": its default variant; "name:variant"; "name:*": all of one,
// "name:lib*" those that begin so; "default": the default variant of every backend. "all" and "default" leave
// out variants that do not join all of their members. Throws usage_error for an unknown backend or variant.
std::size_t read_backend(std::span<const std::string> words, std::vector<backend_choice>& into,
                         std::span<const backend* const> table = backends());
std::vector<std::string> backend_words();  // these words, of every backend

// The same, and "./mine.so" for the barriers of a user's file (docs/check.md), "./mine.so:counted" for one of
// them, as a backend that is named after the file. Throws usage_error for a file without barriers.
std::size_t read_backend_or_file(std::span<const std::string> words, std::vector<backend_choice>& into);
// Every backend of this build, and of the files that were read so far.
std::vector<const backend*> backends_and_files();

}  // namespace mgsync
