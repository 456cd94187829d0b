// Tables III, IV and V for this GPU beside the papers', and where the curves of sums cross: predicted by the
// paper's form and by a refined one, and measured.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::model {

// One of the ways of table V to add up 32 numbers with a warp.
struct warp_way {
  std::string_view name, kernel, type;
  unsigned oldest = 70;  // the oldest architecture that has it: 70 for sm_70
  unsigned blocks = 1;   // of a cluster: the numbers are in the second one's shared memory
};
inline constexpr warp_way warp_ways[] = {{"serial", "warp_serial", "fp64"},
                                         {"nosync", "warp_nosync", "fp64"},  // no barrier: its sum is wrong
                                         {"volatile", "warp_volatile", "fp64"},
                                         {"tile", "warp_tile", "fp64"},
                                         {"coalesced", "warp_coalesced", "fp64"},
                                         {"tile-shuffle", "warp_tile_shuffle", "fp64"},
                                         {"coalesced-shuffle", "warp_coalesced_shuffle", "fp64"},
                                         {"coalesced-shuffle-remade", "warp_coalesced_remade", "fp64"},
                                         {"raw-shuffle", "warp_raw_shuffle", "fp64"},
                                         {"group-reduce", "warp_group_reduce", "fp64"},
                                         {"raw-shuffle-fp32", "warp_raw_shuffle_fp32", "fp32"},
                                         {"raw-shuffle-int32", "warp_raw_shuffle_int32", "int32"},
                                         {"redux", "warp_redux_int32", "int32", 80},
                                         {"dsmem-tile", "warp_remote_tile", "fp64", 90, 2},
                                         {"dsmem-shuffle", "warp_remote_shuffle", "fp64", 90, 2}};

// The longest loop or chain of steps; all lengths are powers of two.
inline constexpr std::uint64_t most_turns = 64;

// Cycles as a linear function of the turns of a loop, by least squares through each length's typical number.
struct turns_line {
  double per_turn = 0, entering = 0;
};
std::optional<turns_line> line_of(const result&);

// The refined form, from probes alone: entering, the turns of the loop, and the steps of joining, in cycles.
struct refined_configuration {
  unsigned workers = 1;
  turns_line loop{};
  double joining = 0;
  double cycles(double bytes) const;  // of a whole sum of doubles
};

// Evaluates results of the study model, in any order; what was not measured is left out.
evaluation evaluate(std::span<const result>);

}  // namespace mgsync::model
