// MPI_Barrier of the ranks that own members, on host members. Where a rank has several workers: a local
// arrival, the leaders' MPI_Barrier, a local release. Worker 0 is the thread that started MPI, so that no
// second thread calls it.
#include <optional>

#include "barriers/mpi/departures.hpp"
#include "barriers/mpi/rank_barrier.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/mpi_native.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

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
