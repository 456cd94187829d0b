// sync() in kernels of nothing but barriers, and the algorithm alone.
#include <chrono>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include <mgsync/multi_grid.hpp>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/library/library_subjects.hpp"
#include "src/studies/library/sync_forms.hpp"

namespace mgsync::library {
namespace {

using clock = std::chrono::steady_clock;

class sync_rounds final : public subject {
 public:
  sync_rounds(const grid_shape& on, unsigned blocks, sync_form form)
      : grids_(on.gpus), blocks_(blocks), threads_(on.threads), sites_(sites_of(form)) {
    grids_.resize(blocks_);
    timed_ = timed_kernel(form, grids_.handle_for(blocks_));
    checking_ = checking_kernel(form, grids_.handle_for(blocks_));
    grids_.prepare(timed_, blocks_, threads_);
    board_.emplace(grids_.allocate(board_bytes() + 2 * sizeof(unsigned long long)));
  }

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    try {
      if (asked.what == run_order::purpose::check) check(asked, came);
      else time(asked, came);
    } catch (const timeout_error& error) {
      came.ended = ending::stuck;
      came.reason = error.what();
      grids_.reset();
    }
    return came;
  }

 private:
  static unsigned sites_of(sync_form form) {
    return form == sync_form::two ? 2 : form == sync_form::three ? 3 : 1;
  }
  // Two slots of a word for each block, in whole lines.
  std::size_t board_bytes() const { return (2 * blocks_ * sizeof(std::uint32_t) + 127) / 128 * 128; }

  unsigned turns_of(const run_order& asked) const { return static_cast<unsigned>(asked.count) / sites_; }

  void time(const run_order& asked, seen& came) {
    const auto begin = clock::now();
    grids_.launch(timed_, blocks_, threads_, 0, {}, turns_of(asked));
    grids_.wait();
    came.values["duration_us"] = {std::chrono::duration<double, std::micro>(clock::now() - begin).count()};
  }

  unsigned long long* counts(unsigned gpu) const {
    return reinterpret_cast<unsigned long long*>(board_->part_as<std::byte>(gpu, gpu) + board_bytes());
  }
  void check(const run_order& asked, seen& came) {
    for (unsigned g = 0; g < grids_.gpus(); ++g) {
      const cuda::device_scope scope(grids_.ordinal(g));
      cuda::check(cudaMemset(counts(g), 0, 2 * sizeof(unsigned long long)), "clearing counts");
      cuda::check(cudaDeviceSynchronize(),
                  "clearing counts");  // the group's streams do not wait for the default one
    }
    grids_.launch_each(checking_, blocks_, threads_, 0, {}, [&](unsigned gpu) {
      check_board board{{}, counts(gpu), phase_, asked.fault.empty() ? 0u : 1u};
      for (unsigned g = 0; g < grids_.gpus(); ++g) board.words[g] = board_->part_as<std::uint32_t>(g, gpu);
      return std::tuple(turns_of(asked), board);
    });
    grids_.wait();
    const auto rounds = turns_of(asked) * sites_;
    phase_ += rounds;
    check_counts found{.rounds = rounds};
    for (unsigned g = 0; g < grids_.gpus(); ++g) {
      const cuda::device_scope scope(grids_.ordinal(g));
      unsigned long long both[2] = {};
      cuda::check(cudaMemcpy(both, counts(g), sizeof both, cudaMemcpyDeviceToHost), "reading counts");
      found.compared += both[0];
      found.wrong += both[1];
    }
    if (found.wrong != 0 && asked.fault.empty()) {
      came.ended = ending::wrong;
      came.reason =
          fmt::format("{} of {} phases of others were not those of the round", found.wrong, found.compared);
    }
    came.checked = found;
  }

  multi_grid grids_;
  unsigned blocks_, threads_, sites_;
  turn_kernel timed_ = nullptr;
  checked_kernel checking_ = nullptr;
  std::optional<multi_grid_memory> board_;
  std::uint32_t phase_ = 1;
};

}  // namespace

creation make_sync(const grid_shape& on, sync_form form) {
  if (const auto reason = cuda::reason_not_to_spin(on.gpus.size())) return {nullptr, *reason};
  if (on.gpus.size() > multi_grid_handle::gpus_inside)
    return {nullptr,
            "the algorithm without the library reads the flags' addresses from the handle, which has "
            "those of up to 8 GPUs"};
  const unsigned blocks =
      on.blocks != 0 ? on.blocks : on.blocks_per_sm * static_cast<unsigned>(cuda::sm_count(on.gpus.front()));
  try {
    return {std::make_unique<sync_rounds>(on, blocks, form)};
  } catch (const usage_error& error) {  // a grid that does not fit
    return {nullptr, error.what()};
  }
}

}  // namespace mgsync::library
