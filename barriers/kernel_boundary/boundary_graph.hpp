// Graphs of a run's rounds: a kernel node per GPU and round, each depending on all nodes of the round before:
// n x n edges. With a join all of them lead to one null kernel on the first GPU, and from there to the next
// round: 2 n edges, one after the other (an empty node in its place took three times as long). A long run
// takes several graphs of at most most_rounds rounds each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "barriers/kernel_boundary/boundary_methods.hpp"

namespace mgsync {

class boundary_graph : public boundary_method {
 public:
  boundary_graph(round_loop::launch_rounds& rounds, bool joins) : rounds_(rounds), joins_(joins) {}
  // Building graphs takes longer than running them, so those of timed runs are kept, and those of the last
  // checked run.
  void prepare(const run_request&) override;
  void issue(unsigned thread, std::uint32_t rounds, const std::atomic<bool>& failed) override;

 protected:
  // What the node of this GPU waits for in this round: all of `before`, one for each GPU, or the join; in the
  // first round there are none. A test leaves some out.
  virtual std::vector<cudaGraphNode_t> awaited(unsigned local, std::uint32_t round,
                                               const std::vector<cudaGraphNode_t>& before) const;

 private:
  static constexpr std::uint32_t most_rounds = 1024;  // of one graph

  cuda::executable build(std::uint32_t first, std::uint32_t count);
  cudaGraphNode_t add_kernel(cudaGraph_t into, const std::vector<cudaGraphNode_t>& after,
                             round_loop::launch_arguments&, unsigned blocks) const;
  cudaGraphNode_t add_join(cudaGraph_t into, const std::vector<cudaGraphNode_t>& after) const;

  round_loop::launch_rounds& rounds_;
  bool joins_;
  std::map<std::array<std::uint32_t, 3>, std::vector<cuda::executable>> timed_;  // by rounds, work, lateness
  std::vector<cuda::executable> checked_;
  run_request checked_run_;  // the run that checked_ is for
  std::vector<cuda::executable>* now_ = nullptr;
};

}  // namespace mgsync
