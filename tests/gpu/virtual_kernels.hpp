// Kernels whose slices of blocks stand for GPUs (virtual_gpus.hpp).
#pragma once

#include <cstdint>

#include <mgsync/multi_grid_handle.hpp>

namespace mgsync::test {

// Who is late to a round, and by how much.
struct late_plan {
  std::uint32_t gpu, block;
  std::uint32_t ns;
  std::uint32_t never;  // 1: that block leaves the kernel
};

// (handles, plan of each round, rounds, when each block of each GPU came to each round by the GPU's timer,
// when each GPU told the others that it had come, by the same): grids of `blocks_of_late_rounds` blocks per
// GPU.
constexpr unsigned blocks_of_late_rounds = 8;
using late_kernel = void (*)(const multi_grid_handle*, const late_plan*, unsigned, std::uint64_t*,
                             std::uint64_t*);
late_kernel late_rounds_kernel();

// (handles, rounds): nothing but rounds, of groups that are traced or not, on grids of 1, 8 or 64 blocks per
// GPU.
using bare_kernel = void (*)(const multi_grid_handle*, unsigned);
bare_kernel bare_rounds_kernel(unsigned blocks, bool traced);

// What was found of (handles, first round, rounds, a word of every block, findings): every round carries a
// sum, every third one of floating-point numbers; every fourth is followed by one that carries none. Grids of
// 1, 8, 64 or 352 blocks per GPU.
struct carried_findings {
  unsigned wrong_sums, wrong_bits, wrong_words, given_up, passed;
};
using carried_kernel = void (*)(const multi_grid_handle*, unsigned, unsigned, unsigned*, carried_findings*);
carried_kernel carried_rounds_kernel(unsigned blocks);

// (handle, block, rounds): a traced group of the library's own, of which that block leaves before the last
// round.
using traced_kernel = void (*)(multi_grid_handle, unsigned, unsigned);
traced_kernel traced_rounds_kernel();

// (handles of three teams, by GPU; the team of each step; how many steps; what each GPU must have seen of
// each other behind each step, a step or ~0; a word of each block for each step; findings: wrong values,
// barriers given up): grids of `blocks_of_team_rounds` blocks per GPU.
constexpr unsigned blocks_of_team_rounds = 8;
struct three_teams {
  const multi_grid_handle* of[3];
};
using team_kernel = void (*)(three_teams, const unsigned*, unsigned, const unsigned*, unsigned*, unsigned*);
team_kernel team_rounds_kernel();

// (handle, a team's handle, rounds, how many were passed in each thread of a GPU of the team): the group's
// and the team's in turns.
using team_of_group_kernel = void (*)(multi_grid_handle, multi_grid_handle, unsigned, unsigned*);
team_of_group_kernel team_of_group_rounds_kernel();
// findings: how many threads' rounds passed, and how many words were not of their round.
using pairs_kernel = void (*)(multi_grid_handle, multi_grid_handle, multi_grid_handle, unsigned, unsigned*,
                              const unsigned*, const unsigned*, unsigned*);
pairs_kernel pairs_of_group_rounds_kernel();

// (handles, what passes, first round, rounds, two words of each block of all GPUs, findings: wrong values,
// barriers given up, groups that are not valid): groups of many GPUs, or of those that multi_grid.cuh has, on
// grids of 1 or 4 blocks per GPU. `what`: sync(), two quieter rounds ahead of each, or looks.
enum class many_way : unsigned { whole, less, looks, unlike };
using many_kernel = void (*)(const multi_grid_handle*, many_way, unsigned, unsigned, unsigned*, unsigned*);
many_kernel many_rounds_kernel(unsigned blocks, bool of_many);

}  // namespace mgsync::test
