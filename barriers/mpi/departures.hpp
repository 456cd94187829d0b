// What ranks of different hosts can know of each other without shared memory, without clocks, and without
// trust in the barrier under test: who leaves a round tells a rank of another host, by a message of its own.
// A rank that has not yet arrived at the round which the message names was not waited for. Nothing sound is
// ever accused, since a message is received after it was sent.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "topology/group.hpp"

namespace mgsync {

// One per rank; only one thread at a time calls it. Rounds are counted in 32 bits, and may wrap.
class departures {
 public:
  // `ranks`: those of the group's members, in order; it is `rank` of the job that calls.
  departures(const topology::group&, int rank, MPI_Comm ranks);

  // This rank has left `round`. It tells the rank of `late`, a member whose arrival is delayed in this round;
  // where that is no rank of another host, one of those in turn.
  void left(std::uint32_t round, unsigned late);

  // A member of a rank that has left `round` or a later one, if a message says so within `patience`.
  std::optional<unsigned> who_left(std::uint32_t round, std::chrono::nanoseconds patience);

  // Receives what is under way. Collective.
  void finish();

 private:
  struct message {
    std::uint32_t round = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::uint32_t receive(const MPI_Status& from);

  MPI_Comm ranks_;
  std::vector<int> rank_of_member_;        // in ranks_
  std::vector<unsigned> first_member_of_;  // by rank in ranks_
  std::vector<int> far_;                   // ranks on other hosts
  std::deque<message> sent_;               // until MPI has taken them; a deque keeps them where they are
  std::vector<int> told_;                  // messages to each rank since finish()
  int heard_ = 0;                          // messages received since finish()
};

}  // namespace mgsync
