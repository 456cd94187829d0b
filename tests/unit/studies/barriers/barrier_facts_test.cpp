#include "src/studies/barriers/barrier_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

namespace mgsync::barriers { namespace {

constexpr auto gpu = topology::device::gpu, host = topology::device::host;

point at(std::string_view subject, std::string_view variant, topology::device device, int members,
         double blocks_per_sm = 1, double threads = 32) {
  point p;
  p.subject = subject;
  p.variant = variant;
  p.device = device;
  p.members = members;
  p.set(axes::blocks_per_sm, blocks_per_sm);
  if (device == gpu) p.set(axes::threads_per_block, threads);
  return p;
}

point of_blocks(std::string_view subject, std::string_view variant, double blocks, double threads) {
  auto p = at(subject, variant, gpu, 1, 1, threads);
  p.remove(axes::blocks_per_sm);
  p.set(axes::blocks, blocks);
  return p;
}

std::set<std::string> callable(topology::device device, int members, int ranks) {
  std::set<std::string> names;
  for (const auto* b : backends())
    for (const auto& variant : b->variants) {
      auto p = at(b->name, variant.name, device, members);
      p.ranks = ranks;
      const auto facts = facts_of(p);
      EXPECT_TRUE(facts.known) << b->name << ":" << variant.name;
      EXPECT_EQ(facts.call.empty(), facts.maker.empty()) << b->name << ":" << variant.name;
      if (!facts.call.empty() && facts.never.empty() && !facts.meets_nobody)
        names.insert(fmt::format("{}:{}", b->name, variant.name));
    }
  return names;
}

// The same in every build, also in one without CUDA, NCCL or MPI: results of other machines are read there.
TEST(barrier_facts, say_what_a_program_can_call) {
  using names = std::set<std::string>;
  const names of_kernels{"multigrid:library",
                         "multigrid:library-none",
                         "multigrid:library-split",
                         "multigrid:library-traced",
                         "multigrid:library-one-warp",
                         "multigrid:library-reduce",
                         "multigrid:library-acquire",
                         "multigrid:library-release",
                         "multigrid:library-mixed-none",
                         "multigrid:library-mixed-one",
                         "multigrid:library-mixed-all",
                         "multigrid:vendor",
                         "nccl-device:hub",
                         "nccl-device:per-block",
                         "nccl:graph",
                         "nccl:stream",
                         "nccl:graph-registered",
                         "nccl:stream-registered",
                         "nvshmem:block",
                         "nvshmem:warp",
                         "mpi:default"};
  EXPECT_EQ(callable(gpu, 2, 2), of_kernels);
  auto one_process = of_kernels;
  one_process.insert({"kernel-boundary:cooperative", "kernel-boundary:graph", "kernel-boundary:graph-join",
                      "kernel-boundary:multi-device", "kernel-boundary:stream-memops",
                      "kernel-boundary:traditional", "kernel-boundary:traditional-threads", "openmp:runtime",
                      "openmp:std-barrier"});
  EXPECT_EQ(callable(gpu, 2, 1), one_process);
  EXPECT_EQ(callable(gpu, 1, 1),
            (names{"grid:cooperative-groups", "kernel-boundary:cooperative", "kernel-boundary:graph",
                   "kernel-boundary:multi-device", "kernel-boundary:traditional", "multigrid:library",
                   "multigrid:library-none", "multigrid:library-split", "multigrid:library-traced",
                   "multigrid:library-one-warp", "multigrid:library-reduce", "multigrid:library-acquire",
                   "multigrid:library-release", "multigrid:library-mixed-none", "multigrid:library-mixed-one",
                   "multigrid:library-mixed-all", "multigrid:vendor"}));
  EXPECT_EQ(callable(host, 2, 1), (names{"mpi:default", "openmp:runtime", "openmp:std-barrier"}));
  EXPECT_EQ(callable(host, 2, 2), (names{"mpi:default"}));
}

TEST(barrier_facts, name_the_call_and_what_it_needs) {
  const auto library = facts_of(at("multigrid", "library", gpu, 4));
  EXPECT_EQ(library.maker, "mgsync");
  EXPECT_EQ(library.call, "sync() of mgsync::this_multi_grid(handle)");
  EXPECT_TRUE(library.needs.starts_with("#include <mgsync/multi_grid.cuh>"));
  EXPECT_FALSE(library.by_host);
  const auto fastest = facts_of(at("multigrid", "auto", gpu, 4));
  EXPECT_TRUE(fastest.call.empty());
  EXPECT_EQ(fastest.beside, (std::vector<std::string>{"multigrid:library", "multigrid:vendor"}));
  EXPECT_TRUE(facts_of(at("multigrid", "auto", host, 4)).beside.empty());
  EXPECT_EQ(facts_of(at("openmp", "runtime", host, 4)).call, "#pragma omp barrier");
  EXPECT_TRUE(facts_of(at("kernel-boundary", "graph", gpu, 4)).by_host);
  EXPECT_FALSE(facts_of(at("tomorrow", "auto", gpu, 4)).known);
  EXPECT_FALSE(facts_of(at("multigrid", "tomorrow", gpu, 4)).known);
}

TEST(barrier_facts, are_whole_in_every_record) {
  std::set<std::string> names;
  for (const auto* b : backends())
    for (const auto& v : b->variants) {
      const auto name = fmt::format("{}:{}", b->name, v.name);
      EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
      EXPECT_EQ(b->find(v.name), &v) << name;
      EXPECT_FALSE(v.summary.empty()) << name;
      for (const auto& call : {v.call, v.host_call}) EXPECT_EQ(call.call.empty(), call.maker.empty()) << name;
      EXPECT_TRUE(v.call.call.empty() || v.make.of(gpu) != nullptr) << name << " is called where it is not";
      EXPECT_TRUE(v.host_call.call.empty() || v.make.of(host) != nullptr) << name;
      // What joins not all is a piece of a barrier: nothing that a program calls.
      EXPECT_TRUE(v.facts.joins_all() || v.call.call.empty()) << name;
      EXPECT_EQ(v.facts_for(host).driver, fact::driver::host) << name;
    }
}

TEST(barrier_facts, over_nodes_nothing_orders_memory_but_what_it_carries) {
  for (const auto* b : backends())
    for (const auto& v : b->variants) {
      auto p = at(b->name, v.name, host, 4);
      const auto on_one = known_facts_of(p);
      ASSERT_TRUE(on_one);
      p.set("nodes", 2.0);
      const auto over = known_facts_of(p);
      EXPECT_NE(over->order, fact::order::both) << b->name << ":" << v.name;
      EXPECT_EQ(over->orders_less(), on_one->orders_less()) << b->name << ":" << v.name;
      if (v.facts.order == fact::order::inside_nodes) { EXPECT_EQ(v.facts.scope, fact::scope::nodes); }
    }
  EXPECT_EQ(known_facts_of(at("mpi", "default", host, 4))->order, fact::order::both);
  EXPECT_EQ(known_facts_of(at("nodes", "leader", host, 4))->order, fact::order::inside_nodes);
}

TEST(barrier_facts, say_whom_a_barrier_never_joins) {
  const auto never = [](const point& p) { return !facts_of(p).never.empty(); };
  EXPECT_FALSE(never(of_blocks("warp", "tile", 1, 32)));
  EXPECT_TRUE(never(of_blocks("warp", "tile", 1, 64)));
  EXPECT_TRUE(never(at("warp", "tile", gpu, 1)));
  EXPECT_FALSE(never(of_blocks("block", "cooperative-groups", 1, 1024)));
  EXPECT_TRUE(never(of_blocks("block", "cooperative-groups", 2, 32)));
  EXPECT_TRUE(never(at("block", "cooperative-groups", gpu, 1, 32, 64)));
  EXPECT_FALSE(never(of_blocks("cluster", "hardware", 8, 32)));
  EXPECT_TRUE(never(of_blocks("cluster", "hardware", 3, 32)));
  EXPECT_FALSE(never(at("grid", "auto", gpu, 1)));
  EXPECT_TRUE(never(at("grid", "auto", gpu, 2)));
  EXPECT_FALSE(never(at("multigrid", "library", gpu, 16)));
  EXPECT_TRUE(never(at("multigrid", "library", gpu, 17)));
  EXPECT_TRUE(never(at("multigrid", "library", host, 2)));
  EXPECT_TRUE(never(at("nccl-device", "hub", gpu, 1)));
  // Resident at once, where blocks meet inside a kernel only.
  EXPECT_FALSE(never(at("multigrid", "library", gpu, 2, 32, 64)));
  EXPECT_TRUE(never(at("multigrid", "library", gpu, 2, 32, 128)));
  EXPECT_TRUE(never(at("multigrid", "library", gpu, 2, 64, 32)));
  EXPECT_FALSE(never(at("kernel-boundary", "graph", gpu, 2, 64, 1024)));
  // NCCL's one rank meets nobody.
  EXPECT_TRUE(facts_of(at("nccl", "graph", gpu, 1)).meets_nobody);
  EXPECT_FALSE(facts_of(at("nccl", "graph", gpu, 2)).meets_nobody);
}

}}  // namespace mgsync::barriers
