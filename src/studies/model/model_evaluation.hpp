// Tables III, IV and V for this GPU beside the papers', and where the curves of sums cross: predicted by the
// paper's form and by a refined one, and measured.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/catalogue.hpp"
#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::model {

// One of the ways of table V, and others, to add up 32 numbers with a warp: an entry of block_sums.cu.
struct warp_way {
  std::string_view name;
  const probes::probe* probe = nullptr;  // its numbers' type, and the blocks of its cluster
};
std::span<const warp_way> warp_ways();

// The longest loop. A loop's lengths are thirds of its longest and multiples of four turns: the compiler
// unrolls by four and puts the remainder first, so that other lengths run other code.
inline constexpr std::uint64_t most_turns = 96;

// Cycles as a linear function of the turns of a loop, by least squares through each length's typical number;
// nothing where the lengths lie on no line (is_a_line).
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

// Adds a table, an expectation for each pair and a sentence; nothing where there are no such results.
void add_wider_switches(std::span<const result>, evaluation&);

}  // namespace mgsync::model
