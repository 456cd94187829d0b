// What ranks of different hosts can know of each other without shared memory, without clocks, and without
// trust in the barrier under test: a rank that leaves a round tells a rank of another host so, by a message
// of its own. If that rank has not yet arrived at the round which the message names, the barrier did not wait
// for it. A sound barrier is never accused, since a message is received after it was sent.
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
  // `ranks`: a communicator of the ranks that own members, in their order. `rank`: the calling rank's number
  // in the job.
  departures(const topology::group&, int rank, MPI_Comm ranks);

  // To be called when this rank has left `round`. Tells the rank of `late`, a member whose arrival is delayed
  // in this round; if that rank is on this host, one of the ranks of other hosts in turn.
  void left(std::uint32_t round, unsigned late);

  // A member of a rank that has left `round` or a later one, if a message says so within `patience`.
  std::optional<unsigned> who_left(std::uint32_t round, std::chrono::nanoseconds patience);

  // Receives all messages that are still under way. Collective.
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
