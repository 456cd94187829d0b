// What members of overlapping teams do: a sequence of barriers, each of one team, that those of its members
// pass in this order. Who must have seen what of whom follows from it, over any number of teams.
#pragma once

#include <algorithm>
#include <vector>

namespace mgsync::race {

struct team_plan {
  unsigned members, blocks;
  std::vector<std::vector<unsigned>> teams;  // each of some members; their place is their rank
  std::vector<unsigned> steps;               // numbers of teams

  static constexpr unsigned none = ~0u;

  unsigned workers() const { return members * blocks; }
  // The rank of a member in a team, or none.
  unsigned rank(unsigned team, unsigned member) const {
    const auto at = std::find(teams[team].begin(), teams[team].end(), member);
    return at == teams[team].end() ? none : static_cast<unsigned>(at - teams[team].begin());
  }
  // [step][member][other]: the last step ahead of which `other` wrote something that `member` must see behind
  // `step`, or none.
  std::vector<std::vector<std::vector<unsigned>>> knowledge() const {
    std::vector<std::vector<unsigned>> known(members, std::vector<unsigned>(members, none));
    std::vector<std::vector<std::vector<unsigned>>> all;
    for (unsigned s = 0; s < steps.size(); ++s) {
      const auto& team = teams[steps[s]];
      for (const unsigned m : team) known[m][m] = s;
      std::vector<unsigned> together(members, none);
      for (const unsigned m : team)
        for (unsigned other = 0; other < members; ++other)
          if (known[m][other] != none && (together[other] == none || known[m][other] > together[other]))
            together[other] = known[m][other];
      for (const unsigned m : team) known[m] = together;
      all.push_back(known);
    }
    return all;
  }
};

}  // namespace mgsync::race
