#include "topology/group.hpp"

#include <set>

namespace mgsync::topology {

std::vector<int> owners_of(const group& g) {
  std::set<int> ranks;
  for (const auto& m : g.members) ranks.insert(m.rank);
  return {ranks.begin(), ranks.end()};
}

std::vector<std::string> hosts_of(const group& g) {
  std::set<std::string> hosts;
  for (const auto& m : g.members) hosts.insert(m.host);
  return {hosts.begin(), hosts.end()};
}

}  // namespace mgsync::topology
