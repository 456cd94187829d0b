// One barrier over the members of several nodes: inside a node by shared memory, between nodes by proxies.
#include "barriers/nodes/host_nodes.hpp"
#include "barriers/nodes/node_group.hpp"

namespace mgsync {

namespace {

constexpr const char* without_mpi = "this mgsync was built without MPI";

// Execution of all members is ordered; memory inside each node, and between nodes what the proxies carry.
constexpr facts ours{.origin = fact::origin::ours,
                     .driver = fact::driver::device,
                     .scope = fact::scope::nodes,
                     .extent = fact::extent::everything,
                     .order = fact::order::both};

support has_rails(const topology::machine&, const topology::group& group, const configuration&) {
  if (auto why = nodes::why_no_rails(group); !why.empty()) return support::no(std::move(why));
  return support::yes();
}

constexpr barrier_variant variants[] = {
    {.name = "auto",
     .summary = "leader or rail, whichever is faster when the barrier is made",
     .facts = ours,
     .make = makers::of_hosts(built<MGSYNC_WITH_MPI, nodes::create_faster, without_mpi>),
     .bounded = true},
    {.name = "leader",
     .summary = "one proxy for each node speaks for all its members",
     .facts = ours,
     .make = makers::of_hosts(built<MGSYNC_WITH_MPI, nodes::create_leader, without_mpi>),
     .bounded = true},
    {.name = "rail",
     .summary = "one proxy for each rank, which meets those of its number in the other nodes",
     .facts = ours,
     .make = makers::of_hosts(built<MGSYNC_WITH_MPI, nodes::create_rail, without_mpi>),
     .bounded = true,
     .can_run = has_rails}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!MGSYNC_WITH_MPI) return support::no(without_mpi);
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  if (topology::hosts_of(group).size() < 2)
    return support::no("a barrier over nodes needs members on two or more nodes (jobs/multi-node.sbatch)");
  return support::yes();
}

}  // namespace

extern const backend nodes_backend;
const backend nodes_backend{.name = "nodes",
                            .summary = "barriers over nodes: shared memory in each, proxies between them",
                            .variants = variants,
                            .can_run = can_run};

}  // namespace mgsync
