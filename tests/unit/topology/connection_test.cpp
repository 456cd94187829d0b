#include "topology/connection.hpp"

#include <gtest/gtest.h>

#include "topology/machine.hpp"

namespace mgsync::topology { namespace {

link_end gpu_of(int id) { return {end_kind::gpu, id}; }
link_end switch_of(int id) { return {end_kind::nvswitch, id}; }

machine with_gpus(int count, std::vector<nvswitch> switches = {}, std::vector<link> links = {}) {
  machine m;
  m.gpus.resize(static_cast<std::size_t>(count));
  for (int i = 0; auto& g : m.gpus) g.id = i++;
  m.switches = std::move(switches);
  m.links = std::move(links);
  return m;
}

const std::vector<nvswitch> two_switches = {{0, "a"}, {1, "b"}};

TEST(connection, direct_links_add_up) {
  const auto m = with_gpus(4, {}, {{gpu_of(0), gpu_of(1), 2, 0, 25}, {gpu_of(1), gpu_of(0), 1, 0, 25}});
  const connection_table c(m);
  EXPECT_EQ(c(0, 1).nvlinks, 3);
  EXPECT_EQ(c(1, 0).gbps, 75);
  EXPECT_EQ(c(0, 1).reach, reach::direct);
  EXPECT_EQ(matrix_word(c(0, 1)), "NV3");
  EXPECT_EQ(matrix_word(c(0, 0)), "X");
  EXPECT_EQ(matrix_word(c(0, 2)), "?");
}

TEST(connection, a_switch_carries_what_both_ends_bring) {
  const auto m = with_gpus(4, two_switches,
                           {{gpu_of(0), switch_of(0), 5, 0, 25},
                            {gpu_of(0), switch_of(1), 4, 0, 25},
                            {gpu_of(1), switch_of(0), 4, 0, 25},
                            {switch_of(1), gpu_of(1), 5, 0, 25},
                            {gpu_of(2), switch_of(1), 9, 0, 25}});
  const connection_table c(m);
  EXPECT_EQ(c(0, 1).nvlinks, 8);
  EXPECT_EQ(c(0, 2).nvlinks, 4);
  EXPECT_EQ(c(0, 1).reach, reach::switched);
  EXPECT_FALSE(c(0, 3).by_nvlink());
  EXPECT_FALSE(switches_hidden(m));
}

TEST(connection, switches_that_links_join_are_one_plane) {
  const auto m = with_gpus(4, two_switches,
                           {{gpu_of(0), switch_of(0), 6, 0, 25},
                            {gpu_of(1), switch_of(1), 6, 0, 25},
                            {switch_of(0), switch_of(1), 8, 0, 25}});
  const connection_table c(m);
  EXPECT_EQ(c(0, 1).nvlinks, 6);
  EXPECT_EQ(c(0, 1).reach, reach::trunk);
}

TEST(connection, hidden_switches_are_said) {
  const auto m =
      with_gpus(4, {{0, ""}}, {{gpu_of(0), switch_of(0), 18, 0, 0}, {gpu_of(1), switch_of(0), 18, 0, 0}});
  EXPECT_TRUE(switches_hidden(m));
  EXPECT_EQ(matrix_word(connection_table(m)(0, 1)), "NV18");
}

TEST(connection, without_a_path_the_numa_nodes_say_the_little_that_they_can) {
  auto m = with_gpus(4);
  m.packages = {{0, ""}, {1, ""}};
  m.numa_nodes = {{0, 0}, {1, 1}, {2, 1}};
  for (std::size_t i = 0; const int node : {0, 0, 1, 2}) m.gpus[i++].numa = node;
  const connection_table c(m);
  EXPECT_EQ(matrix_word(c(0, 1)), "NODE");
  EXPECT_EQ(matrix_word(c(0, 2)), "SYS");
  EXPECT_TRUE(c(2, 3).same_package);
  EXPECT_FALSE(c(2, 3).same_numa);
}

TEST(connection, pcie_carries_what_the_slower_slot_does) {
  auto m = with_gpus(2);
  m.gpus[0].pcie_gbps = 63;
  m.gpus[1].pcie_gbps = 31.5;
  m.peers = {{0, 1, {}, {}, {}, pcie_path::pix}, {1, 0, {}, {}, {}, pcie_path::pix}};
  EXPECT_EQ(connection_table(m)(0, 1).gbps, 31.5);
  EXPECT_EQ(matrix_word(connection_table(m)(0, 1)), "PIX");
}

}}  // namespace mgsync::topology
