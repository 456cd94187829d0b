// The grids that a team is made of.
#pragma once

#include <string>
#include <vector>

namespace mgsync::library {

// The grids as text, "0, 2". Throws usage_error where they make no team of a group of `gpus` grids.
std::string list_of_team(const std::vector<unsigned>& ranks, unsigned gpus);

// The same grids as a program in C gives them. Throws usage_error where there is no list of `count` grids, or
// where it has numbers that no grid has.
std::vector<unsigned> ranks_in_c(const int* ranks, int count, unsigned gpus);

// Throws usage_error if make_team() never returned this number. There are `teams` of them, with number 0, the
// whole group.
void must_be_a_team(unsigned team, unsigned teams);

}  // namespace mgsync::library
