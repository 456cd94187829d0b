#include "barriers/library/team_ranks.hpp"

#include <set>

#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

[[noreturn]] void refuse(long long rank, unsigned gpus) {
  throw usage_error(filled(
      "no team with grid {} here: it takes grids of the group, 0 to {}, each once at most", rank, gpus - 1));
}

}  // namespace

std::string list_of_team(const std::vector<unsigned>& ranks, unsigned gpus) {
  if (ranks.empty()) throw usage_error("a team of no grids");
  std::string list;
  std::set<unsigned> seen;
  for (const unsigned r : ranks) {
    list += (list.empty() ? "" : ", ") + std::to_string(r);
    if (r >= gpus || !seen.insert(r).second) refuse(r, gpus);
  }
  return list;
}

// More grids than the group has are refused before the list is read: `count` may be wrong.
std::vector<unsigned> ranks_in_c(const int* ranks, int count, unsigned gpus) {
  if (count < 1 || static_cast<unsigned>(count) > gpus)
    throw usage_error(filled("a team of {} grids: it takes 1 to {}, those of the group", count, gpus));
  if (ranks == nullptr) throw usage_error("grid_ranks is null");
  std::vector<unsigned> all;
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0) refuse(ranks[i], gpus);
    all.push_back(static_cast<unsigned>(ranks[i]));
  }
  return all;
}

void must_be_a_team(unsigned team, unsigned teams) {
  if (team != 0 && team < teams) return;
  if (teams <= 1) throw usage_error(filled("no team {} here: make_team() has made none yet", team));
  throw usage_error(filled("no team {} here: make_team() returned 1 to {}", team, teams - 1));
}

}  // namespace mgsync::library
