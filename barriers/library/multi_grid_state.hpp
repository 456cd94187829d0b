// What a group holds behind its public calls: its GPUs, the flags for each number of blocks, and the last
// launch on each GPU.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "barriers/library/barrier_flags.hpp"
#include "barriers/library/fitting_kernels.hpp"
#include "barriers/library/gpu_lives.hpp"
#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/library/launch_plan.hpp"
#include "barriers/library/members.hpp"
#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace library {
// Why these time-outs cannot be used; empty if they can.
std::string why_not_for(const wait_bounds&);
}  // namespace library

struct multi_grid::state {
  struct gpu_state {
    cuda::stream own;
    cuda::event done;  // recorded after the last launch
    bool launched = false;
    library::fitting_kernels fitting;
  };

  state(const std::vector<int>& gpus, int process, process_exchange exchange, const group_options& options,
        library::memory_source for_flags = {});
  ~state();

  int ordinal(unsigned l) const { return group.gpus.places[local[l]].ordinal; }
  // Returns `l`; throws usage_error if this process has no such GPU.
  unsigned known(unsigned l) const {
    if (l >= local.size()) throw usage_error(filled("no GPU {} here: this process has {}", l, local.size()));
    return l;
  }
  // The stream that local GPU `l` launches to, of those that the caller gave: one each, or none for the
  // group's own.
  cudaStream_t stream_of(const std::vector<cudaStream_t>& given, unsigned l) const {
    if (!given.empty() && given.size() != local.size())
      throw usage_error(filled("{} streams for the {} GPUs of this process: one for each, or none",
                               given.size(), local.size()));
    return given.empty() ? states[l].own.get() : given[l];
  }
  std::string name(unsigned l) const { return filled("GPU {}", ordinal(l)); }

  void wait_for_kernels() const;

  bool kernels_ended() const;

  // Asks this process's GPUs whether another process gave up; called once kernels have ended. They may never
  // have had to wait for that process, and then reported nothing. With one process nothing is asked: the
  // kernel that gave up reports it itself.
  void listen();

  // Throws the reason if the group was given up.
  void check() const;

  // Prepares the group for kernels with so many blocks. `may` throws if this process may not. Where the
  // number is new, or `all_agree` asks for it, the call is collective: then all processes throw, also where
  // `planned` returns something else in one of them.
  template <class May, class Planned>
  void make_ready(unsigned blocks, bool all_agree, May may, Planned planned) {
    const auto lives_and_may = [&] {
      lives.must_go_on();
      may();
    };
    if (flags.has(blocks) && !all_agree) {
      lives_and_may();
    } else {
      library::launch_plan plan;
      all_or_none(group.gpus, [&] {
        lives_and_may();
        plan = planned();
      });
      agree_on_launch(std::move(plan));
      const cuda::outside_of_captures apart;
      if (!flags.has(blocks)) flags.add(blocks);
    }
    present = blocks;
  }

  // Collective: waits for the GPUs of all processes, and resets the flags. Returns once all processes have
  // done so, so that none launches a kernel before.
  void renew();

  // Collective: throws in all processes where one wants something else than process 0: "8 bytes".
  void agree_on(const std::string& wanted, const char* things, const char* what) const;
  // Collective: throws in all processes where they do not plan one and the same launch.
  void agree_on_launch(library::launch_plan) const;

  void launch(const launch_parameters* launches, unsigned count);
  // Launches what `all` returns. `all` may throw; where the number of blocks is new, all processes then
  // throw.
  void launch_all(unsigned blocks, const std::function<std::vector<launch_parameters>()>& all);
  void check_launches(const launch_parameters* launches, unsigned count);
  void check_launch(const launch_parameters& p, unsigned l);
  void check_kernel(const launch_parameters& p, unsigned l);
  void start_kernel(const launch_parameters& p, unsigned l);

  int exceptions_then = std::uncaught_exceptions();
  library::wait_bounds bounds;
  bool check_each_launch;
  library::group_members group;
  std::vector<unsigned> local;
  library::memory_source own;
  library::barrier_flags flags;
  unsigned present = 0;  // the last number of blocks
  std::vector<gpu_state> states;
  library::gpu_lives lives;
};

}  // namespace mgsync
