// What a group holds behind its public calls: its GPUs, the flags for each number of blocks, and the last
// launch on each GPU.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "barriers/library/barrier_flags.hpp"
#include "barriers/library/fitting_kernels.hpp"
#include "barriers/library/gpu_lives.hpp"
#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/library/members.hpp"
#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace library {
// Why no group waits so long; empty: it does.
std::string why_not_for(const wait_bounds&);
}  // namespace library

struct multi_grid::state {
  struct place {
    cuda::stream own;
    cuda::event done;  // behind the last launch
    bool launched = false;
    library::fitting_kernels fitting;
  };

  state(const std::vector<int>& gpus, int process, process_exchange exchange, const group_options& options,
        library::memory_source for_flags = {});
  ~state();

  int ordinal(unsigned l) const { return group.gpus.places[local[l]].ordinal; }
  // `l`, where this process has such a GPU.
  unsigned known(unsigned l) const {
    if (l >= local.size()) throw usage_error(filled("no GPU {} here: this process has {}", l, local.size()));
    return l;
  }
  std::string name(unsigned l) const { return filled("GPU {}", ordinal(l)); }

  void wait_for_kernels() const;

  bool kernels_ended() const;

  // Once kernels have ended. They may never have had to wait for the process that gave up, and then told
  // nothing; within one process, whose kernel it is tells all.
  void listen();

  // Throws where the group was given up: what came to it.
  void check() const;

  // Ready for kernels of so many blocks. `may` throws where this process may not; where the number is new,
  // which is collective, all do.
  template <class F>
  void make_ready(unsigned blocks, F may) {
    const auto lives_and_may = [&] {
      lives.must_go_on();
      may();
    };
    if (flags.has(blocks)) {
      lives_and_may();
    } else {
      all_or_none(group.gpus, lives_and_may);
      agree_on(blocks, "blocks per GPU", "the grid");
      const cuda::outside_of_captures apart;
      flags.add(blocks);
    }
    present = blocks;
  }

  // Collective: the flags as new, once no kernel of any process uses them, and before any is launched.
  void renew();

  // Collective: throws in all processes where one wants another number of `things` than process 0.
  void agree_on(std::size_t number, const char* things, const char* what) const;

  void launch(const launch_parameters* launches, unsigned count);
  // Starts what `all` gives, once `all`, which may throw, was asked: where the number of blocks is new, in
  // all processes.
  void launch_all(unsigned blocks, const std::function<std::vector<launch_parameters>()>& all);
  void check_launches(const launch_parameters* launches, unsigned count);
  void check_launch(const launch_parameters& p, unsigned l);
  void check_kernel(const launch_parameters& p, unsigned l);
  void start_kernel(const launch_parameters& p, unsigned l);

  int exceptions_then = std::uncaught_exceptions();
  library::wait_bounds bounds;
  library::group_members group;
  std::vector<unsigned> local;
  library::memory_source own;
  library::barrier_flags flags;
  unsigned present = 0;  // the last number of blocks
  std::vector<place> places;
  library::gpu_lives lives;
};

}  // namespace mgsync
