// The proxy of a process: its thread that started MPI takes its node through the rounds of a run. It never
// calls CUDA: members on GPUs meet it in host memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "barriers/nodes/node_place.hpp"
#include "barriers/nodes/proxy_network.hpp"
#include "src/base/session.hpp"

namespace mgsync::nodes {

// Whether the workers and proxies of this machine, or of this process, are more than its hardware threads;
// `threads`: those of this process. Collective over the session's ranks.
bool are_too_many(const session&, unsigned threads);

class speaker {
 public:
  // Proxy number `proxy` of the node; `rail` joins it with those of its number in the other nodes. `before`:
  // the epoch before the first round's. Collective over the rail.
  speaker(const node_place& place, unsigned proxy, communicator rail, std::uint32_t before);

  // All rounds of a run. Throws rank_lost where a node does not answer, after its own workers were told to
  // give up: they would wait for it otherwise.
  void serve(std::uint64_t rounds, const algorithm::host_limits& limits, bool checked, std::string_view what);

 private:
  void pass_all(std::uint64_t rounds, const algorithm::host_limits&, bool checked, std::string_view what);
  std::uint32_t word_of_node();
  void pass_leaves_on();
  void give_up(std::uint64_t round, std::string_view what);

  const node_place* place_;
  unsigned home_, end_;  // the members that it serves
  std::vector<unsigned> node_in_rail_, node_of_rail_;
  std::vector<std::uint64_t> seen_;
  std::optional<proxy_network> network_;
  std::optional<algorithm::across_nodes::proxy<algorithm::host_policy, algorithm::host_lines, proxy_network>>
      proxy_;
  std::uint64_t epoch_;
};

}  // namespace mgsync::nodes
