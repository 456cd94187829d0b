// MPI_Barrier of the ranks that own members, on host members. Where a rank has several workers: a local
// arrival, the leaders' MPI_Barrier, a local release. Worker 0 is the thread that started MPI, so that no
// second thread calls it.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "barriers/mpi/rank_barrier.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/mpi_native.hpp"
#include "src/base/worker_pool.hpp"
#include "topology/group.hpp"

namespace mgsync {

namespace {

// What ranks of different hosts can know of each other without shared memory, without clocks, and without
// trust in the barrier under test: a rank that leaves a round tells a rank of another host so, by a message
// of its own. If that rank has not yet arrived at the round which the message names, the barrier did not wait
// for it. A sound barrier is never accused, since a message is received after it was sent.
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

constexpr int tag = 1;

departures::departures(const topology::group& group, int rank, MPI_Comm ranks) : ranks_(ranks) {
  const auto owners = topology::owners_of(group);
  std::string here;
  for (const auto& m : group.members) {
    rank_of_member_.push_back(static_cast<int>(std::ranges::lower_bound(owners, m.rank) - owners.begin()));
    if (m.rank == rank) here = m.host;
  }
  first_member_of_.resize(owners.size());
  for (std::size_t m = group.members.size(); m-- > 0;)
    first_member_of_[static_cast<std::size_t>(rank_of_member_[m])] = static_cast<unsigned>(m);
  for (std::size_t r = 0; r < owners.size(); ++r)
    if (group.members[first_member_of_[r]].host != here) far_.push_back(static_cast<int>(r));
  told_.resize(owners.size());
}

void departures::left(std::uint32_t round, unsigned late) {
  for (int taken = 1; taken != 0 && !sent_.empty();) {
    check_mpi(MPI_Test(&sent_.front().request, &taken, MPI_STATUS_IGNORE), "telling of a departure");
    if (taken != 0) sent_.pop_front();
  }
  int whom = rank_of_member_[late];
  if (std::ranges::find(far_, whom) == far_.end()) whom = far_[round % far_.size()];
  auto& telling = sent_.emplace_back();
  telling.round = round;
  ++told_[static_cast<std::size_t>(whom)];
  check_mpi(MPI_Isend(&telling.round, 1, MPI_UINT32_T, whom, tag, ranks_, &telling.request),
            "telling of a departure");
}

std::optional<unsigned> departures::who_left(std::uint32_t round, std::chrono::nanoseconds patience) {
  std::optional<unsigned> who;
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    int there = 0;
    MPI_Status from;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, ranks_, &there, &from), "listening for departures");
    if (there != 0) {
      const auto ahead = static_cast<std::int32_t>(receive(from) - round);
      if (ahead >= 0) who = first_member_of_[static_cast<std::size_t>(from.MPI_SOURCE)];
    } else if (who || std::chrono::steady_clock::now() >= until) {
      return who;
    }
  }
}

void departures::finish() {
  int expected = 0;
  check_mpi(MPI_Reduce_scatter_block(told_.data(), &expected, 1, MPI_INT, MPI_SUM, ranks_),
            "counting the messages");
  while (heard_ < expected) {
    MPI_Status from;
    check_mpi(MPI_Probe(MPI_ANY_SOURCE, tag, ranks_, &from), "listening for departures");
    receive(from);
  }
  for (auto& telling : sent_)
    check_mpi(MPI_Wait(&telling.request, MPI_STATUS_IGNORE), "telling of a departure");
  sent_.clear();
  std::ranges::fill(told_, 0);
  heard_ = 0;
}

std::uint32_t departures::receive(const MPI_Status& from) {
  std::uint32_t round = 0;
  check_mpi(MPI_Recv(&round, 1, MPI_UINT32_T, from.MPI_SOURCE, tag, ranks_, MPI_STATUS_IGNORE),
            "listening for departures");
  ++heard_;
  return round;
}

using algorithm::host_policy;

// The flags of one rank's workers, each in a line of its own.
struct local_flags {
  alignas(algorithm::line_bytes) std::uint32_t arrivals = 0;
  alignas(algorithm::line_bytes) std::uint32_t release = 0;
};

// Worker 0 speaks for its rank.
class alignas(algorithm::line_bytes) pass {  // its epoch is written every round: no line is shared
 public:
  // `told`: for worker 0 where members are on several hosts; else nullptr.
  pass(unsigned local, unsigned locals, local_flags* flags, MPI_Comm ranks, departures* told)
      : local_(local), locals_(locals), flags_(flags), ranks_(ranks), told_(told) {}

  void begin(const algorithm::host_limits& limits) { policy_ = host_policy(limits); }

  bool operator()() {
    ++epoch_;
    if (local_ != 0) {
      policy_.add_acq_rel_local(flags_->arrivals, 1);
      return policy_.wait_local(flags_->release, epoch_);
    }
    if (locals_ > 1 && !policy_.wait_local(flags_->arrivals, (locals_ - 1) * epoch_)) return false;
    if (MPI_Barrier(ranks_) != MPI_SUCCESS) return false;
    if (locals_ > 1) policy_.store_release_local(flags_->release, epoch_);
    return true;
  }

  departures* told() const { return told_; }

 private:
  host_policy policy_;
  unsigned local_;
  unsigned locals_;
  local_flags* flags_;
  MPI_Comm ranks_;
  departures* told_;
  std::uint32_t epoch_ = 0;
};

class mpi_barrier final : public barrier {
 public:
  mpi_barrier(const topology::group& group, unsigned blocks, session& where,
              std::unique_ptr<symmetric_memory> board)
      : crew_(group, blocks, where, std::move(board), false, "mpi"),
        pool_(crew_.cpus(), worker_pool::first_worker::caller),
        ranks_(where.ranks().duplicate()) {
    const MPI_Comm comm = ranks_.native_handle()->comm;
    const auto locals = static_cast<unsigned>(crew_.workers().size());
    if (topology::hosts_of(group).size() > 1) departures_.emplace(group, where.rank(), comm);
    for (unsigned i = 0; i < locals; ++i)
      passes_.emplace_back(i, locals, &flags_, comm, i == 0 && departures_ ? &*departures_ : nullptr);
  }

  trial run(const run_request& request) override {
    return crew_.run(request, passes_, [this](const auto& work) { pool_.run(work); });
  }

 private:
  round_loop::host_crew crew_;
  worker_pool pool_;
  local_flags flags_;
  communicator ranks_;
  std::optional<departures> departures_;
  std::vector<pass> passes_;
};

}  // namespace

creation create_rank_barrier(const topology::group& group, const configuration& wanted, session& where) {
  const unsigned blocks = wanted.blocks_per_sm.value_or(1);
  auto board =
      allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::own_host, where);
  if (!board.memory) return creation::none(board.reason);
  return {
      std::make_unique<mpi_barrier>(group, blocks, where, std::move(board.memory)), {}, "MPI_Barrier", {}};
}

}  // namespace mgsync
