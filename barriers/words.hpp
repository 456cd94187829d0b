// What options say of barriers: lists of member counts, of shapes, of loads, of backends. Pure; nothing is
// started. Every parser throws usage_error naming the option, the word and what is accepted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/backend.hpp"

namespace mgsync {

inline constexpr unsigned most_members = 65536;
// "1-4,8": numbers and ranges, each at least 1; in the given order, duplicates removed. `option`: which one
// says so.
std::vector<int> parse_members(std::string_view text, std::string_view option = "members");

// "4x256": 4 blocks per SM of 256 threads (host members: 4 threads per member). "b1x32": 1 block per GPU in
// all.
struct shape {
  std::optional<unsigned> blocks_per_sm;
  std::optional<unsigned> blocks;
  unsigned threads_per_block = 32;
  bool operator==(const shape&) const = default;
};
std::string to_string(const shape&);

// Reads the first word: a shape, or all. 1: it was read and added; 0: it is none.
std::size_t read_shape(std::span<const std::string> words, std::vector<shape>& into);
inline constexpr std::string_view accepted_shapes = "BxT (blocks per SM x threads per block, as in 4x256), "
                                                    "b1xT (1 block per GPU in all), all; blocks 1 to 4096, "
                                                    "threads 1 to 1024";

// "1x32,b1x32": shapes in the given order, duplicates removed; "all": every power of two from 1 to 32 blocks
// per SM times every power of two from 32 to 1024 threads.
std::vector<shape> parse_shapes(std::string_view text);

// "idle,peer-stores,host-reads:1x32@others": loads in the given order, duplicates removed.
// KIND[:BxT][@others|@all]: B blocks per GPU (left out: one on every SM of the place) of T threads (512; on
// all SMs 128; host reads 32), on the SMs that the barrier does not use (the default), or on all.
std::vector<load> parse_loads(std::string_view text);
std::size_t read_load(std::span<const std::string> words, std::vector<load>& into);  // as read_shape
inline constexpr std::string_view accepted_loads =
    "idle, peer-stores, peer-loads, local-stores, local-loads, host-reads; all but idle may be given a "
    "strength in "
    "blocks per GPU x threads (whole warps) and a place, as in peer-stores:16x512@others, "
    "peer-stores:x128@all (every "
    "SM); blocks 1 to 4096, threads 32 to 1024";
std::vector<std::string> load_words();
std::string to_string(const load&);  // with its strength and place: "peer-stores:x512@others"

// Reads a placement: near, far, spread, or list:0 and the numbers behind it. How many words it took; 0: it is
// none.
std::size_t read_placement(std::span<const std::string> words, std::vector<std::string>& into);
inline constexpr std::string_view accepted_placements = "near, far, spread, list:0,3,5";
std::vector<std::string> placement_words();

struct backend_choice {
  const mgsync::backend* backend = nullptr;
  const barrier_variant* variant = nullptr;  // one of backend->variants
  bool operator==(const backend_choice&) const = default;
};
std::string to_string(const backend_choice&);  // "name:variant"

// "all": every variant of every backend; "name": its default variant; "name:variant"; "name:*": all of one;
// comma separated, in the given order, duplicates removed. "" and "default": the default variant of every
// backend. Neither these nor "all" mean what joins not all of its members. read_backend() reads the first
// word and throws usage_error for one that is none.
std::size_t read_backend(std::span<const std::string> words, std::vector<backend_choice>& into,
                         std::span<const backend* const> table = backends());
std::vector<std::string> backend_words();  // these words, of every backend
std::vector<backend_choice> parse_backends(std::string_view text, std::span<const backend* const> table);

}  // namespace mgsync
