// Where members go: what --placement says, which GPUs it means, and which CPU each host thread gets. Pure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "topology/connection.hpp"
#include "topology/machine.hpp"
#include "topology/subset_search.hpp"

namespace mgsync::topology {

enum class placement_kind { near, far, spread, list };

struct placement {
  placement_kind kind = placement_kind::near;
  std::vector<int> list;  // ids of GPUs or of cores, as `mgsync topology` prints them
};

// Throws usage_error unless `text` is near, far, spread or list:NUMBER,...; each number once.
placement parse_placement(std::string_view text);

// The cost of a pair of GPUs under a placement; the wanted group has the least sum over its pairs. near: peer
// access, then NVLink, then the nearer PCIe path, then fewer switches on the way, then more bandwidth, then
// one package. far: the opposite in all of these, so backends that need peer access may be waived. spread:
// evenly over packages, then over NUMA nodes, then near.
pair_cost placement_cost(const connection&, placement_kind);

// The ids of the `wanted` GPUs among `candidates` (ids) that the placement means; rising, except a list's own
// order. Throws usage_error for a list that is too short or names a GPU that is no candidate.
subset choose_gpus(const connection_table&, std::span<const int> candidates, int wanted, const placement&);

// One host thread that wants a CPU of its own.
struct thread_request {
  int mask = 0;  // index of its rank's mask
  // Ids of cores, best first; any other core of the mask follows in its order. Requests that want the same
  // share it.
  std::shared_ptr<const std::vector<int>> preferred;
};

struct thread_placement {
  std::vector<std::optional<int>>
      cpus;              // OS index per request; nothing: its mask holds no CPU of this machine
  int sharing_core = 0;  // threads that had to take a second hardware thread of a used core
  int sharing_cpu = 0;   // threads that had to take a CPU that another one holds
};

// One CPU per request, inside its mask: a core of its own while any assignment gives it one, then a hardware
// thread of its own, then the least loaded CPU. Earlier requests get their wishes first.
thread_placement place_threads(std::span<const core>, std::span<const std::vector<int>> masks,
                               std::span<const thread_request>);

// The cores that each of `members` members (each with `threads` threads) should take first, best first;
// `cores` are those that the host's ranks may use, and outlive this. near: the smallest of cache, NUMA node,
// package that holds all threads, first; far: neighbours in the group as far apart as can be; spread: members
// evenly over packages and NUMA nodes, in blocks.
class preferred_cores {
 public:
  preferred_cores(std::span<const core> cores, placement_kind, int members, int threads);
  std::shared_ptr<const std::vector<int>> of(int index);

 private:
  using domain = std::tuple<int, int, int>;  // package, NUMA node, cache; -1: any
  std::span<const core> cores_;
  placement_kind kind_;
  int members_, threads_;
  std::vector<domain> nodes_;                                       // that members begin at; near: none
  std::map<domain, std::shared_ptr<const std::vector<int>>> made_;  // by the node
};

}  // namespace mgsync::topology
