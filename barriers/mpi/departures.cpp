#include "barriers/mpi/departures.hpp"

#include <algorithm>
#include <string>

#include "src/base/mpi_native.hpp"

namespace mgsync {

namespace {

constexpr int tag = 1;

}  // namespace

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

}  // namespace mgsync
