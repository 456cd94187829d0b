// One barrier over the members of several nodes: inside a node by shared
// memory or on its GPUs, between nodes by proxies.
#include "barriers/nodes/gpu_nodes.hpp"
#include "barriers/nodes/host_nodes.hpp"
#include "barriers/nodes/node_group.hpp"

namespace mgsync {

namespace {

constexpr const char* without_mpi = "this mgsync was built without MPI";
constexpr bool with_both = MGSYNC_WITH_MPI && MGSYNC_WITH_CUDA;

// Execution of all members is ordered; memory inside each node, and between nodes what the proxies carry.
constexpr facts ours{.origin = fact::origin::ours,
                     .driver = fact::driver::device,
                     .scope = fact::scope::nodes,
                     .extent = fact::extent::everything,
                     .order = fact::order::inside_nodes};

support has_rails(const topology::machine&, const topology::group& group, const configuration&) {
  if (auto why = nodes::why_no_rails(group); !why.empty()) return support::no(std::move(why));
  return support::yes();
}

constexpr barrier_variant variants[] = {
    {.name = "auto",
     .summary = "leader or rail, whichever is faster when the barrier is made",
     .facts = ours,
     .make = makers::of_both(built<MGSYNC_WITH_MPI, nodes::create_faster, without_mpi>,
                             built<with_both, nodes::create_gpu_faster>),
     .bounded = true},
    {.name = "leader",
     .summary = "one proxy for each node speaks for all its members",
     .facts = ours,
     .make = makers::of_both(built<MGSYNC_WITH_MPI, nodes::create_leader, without_mpi>,
                             built<with_both, nodes::create_gpu_leader>),
     .bounded = true},
    {.name = "rail",
     .summary = "one proxy for each rank, which meets those of its number in the other nodes",
     .facts = ours,
     .make = makers::of_both(built<MGSYNC_WITH_MPI, nodes::create_rail, without_mpi>,
                             built<with_both, nodes::create_gpu_rail>),
     .bounded = true,
     .can_run = has_rails}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!MGSYNC_WITH_MPI) return support::no(without_mpi);
  if (!wanted.load.idle()) return support::never("load is made beside barriers of one node only");
  if (topology::hosts_of(group).size() < 2)
    return support::no("a barrier over nodes needs members on two or more nodes (jobs/multi-node.sbatch)");
  if (group.device == topology::device::gpu && !MGSYNC_WITH_CUDA) return support::no(without_cuda);
  return support::yes();
}

}  // namespace

extern const backend nodes_backend;
const backend nodes_backend{.name = "nodes",
                            .summary = "barriers over nodes: shared memory in each, proxies between them",
                            .variants = variants,
                            .can_run = can_run};

}  // namespace mgsync
