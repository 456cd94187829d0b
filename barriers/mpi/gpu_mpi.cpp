#include "barriers/mpi/gpu_mpi.hpp"

#include <barrier>
#include <exception>
#include <stdexcept>

#include "barriers/parts/round_loop/synchronized_rounds.hpp"
#include "src/base/mpi_native.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync {

namespace {

using round_loop::launch_rounds;

// The thread of a rank's first GPU calls MPI_Barrier between two barriers of the rank's threads. It is the
// thread that started MPI, so that no second thread calls it.
class gpu_mpi final : public round_loop::synchronized_rounds {
 public:
  gpu_mpi(session& where, std::unique_ptr<launch_rounds> rounds)
      : synchronized_rounds("mpi", std::move(rounds)),
        locals_(static_cast<std::ptrdiff_t>(rounds_->gpus().size())),
        pool_(gpu_team::cpus_of(rounds_->gpus()), worker_pool::first_worker::caller),
        ranks_(where.ranks().duplicate()) {}

 private:
  void on_all(const member_work& work) override {
    const bool alone = rounds_->gpus().size() == 1;
    const cuda::device_scope scope(rounds_->gpus().front().ordinal);  // gives the caller its current GPU back
    pool_.run([&](unsigned local) {
      work(local, [&] {
        if (!alone) locals_.arrive_and_wait();
        if (local == 0 && MPI_Barrier(ranks_.native_handle()->comm) != MPI_SUCCESS)
          fail(0, std::make_exception_ptr(std::runtime_error("MPI_Barrier failed")));
        if (!alone) locals_.arrive_and_wait();
      });
    });
  }

  std::barrier<> locals_;
  worker_pool pool_;
  communicator ranks_;
};

}  // namespace

creation create_gpu_mpi(const topology::group& group, const configuration& asked, session& where) {
  auto made = round_loop::make_launch_rounds(group, asked, where);
  if (!made.rounds) return {nullptr, made.reason, {}, {}};
  return {std::make_unique<gpu_mpi>(where, std::move(made.rounds)), {}, "MPI_Barrier", {}};
}

}  // namespace mgsync
