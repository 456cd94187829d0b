// Lets the members of a host, whatever rank they belong to, start a run at the same moment.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/awake_clock.hpp"
#include "topology/group.hpp"

namespace mgsync::round_loop {

// Every member has a line of its own in memory that all ranks of its host address; it writes the number of
// the run there, and spins until all others have.
class start_line {
 public:
  // `lines`: a zeroed word per member; the members are on one host.
  start_line(const topology::group&, std::vector<std::uint32_t*> lines);

  // Called once per run by the thread of each member; false: the others did not come before `deadline`.
  bool meet(unsigned member, awake_clock::time_point deadline);
  // Called instead of meet() by a member that cannot take part, so that nobody waits for it.
  void pass_by(unsigned member);

 private:
  std::vector<std::uint32_t*> lines_;
  std::vector<std::uint32_t> turns_;  // by member; each is written by its own thread
  bool yields_;
};

}  // namespace mgsync::round_loop
