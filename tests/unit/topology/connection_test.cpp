#include "topology/connection.hpp"

#include <gtest/gtest.h>

#include "small_machines.hpp"

namespace mgsync::topology {
namespace {

using test::parsed;

const std::string four = "gpu 0\ngpu 1\ngpu 2\ngpu 3\n";

TEST(connection, direct_links_add_up) {
  const auto m = parsed(four + "link gpu:0 gpu:1 width=2 gbps=25\nlink gpu:1 gpu:0 width=1 gbps=25\n");
  const connection_table c(m);
  EXPECT_EQ(c(0, 1).nvlinks, 3);
  EXPECT_EQ(c(1, 0).gbps, 75);
  EXPECT_EQ(c(0, 1).reach, reach::direct);
  EXPECT_EQ(matrix_word(c(0, 1)), "NV3");
  EXPECT_EQ(matrix_word(c(0, 0)), "X");
  EXPECT_EQ(matrix_word(c(0, 2)), "?");
}

TEST(connection, a_switch_carries_what_both_ends_bring) {
  const auto m = parsed(four + "switch 0 bus=a\nswitch 1 bus=b\nlink gpu:0 switch:0 width=5 gbps=25\n"
                               "link gpu:0 switch:1 width=4 gbps=25\nlink gpu:1 switch:0 width=4 gbps=25\n"
                               "link switch:1 gpu:1 width=5 gbps=25\nlink gpu:2 switch:1 width=9 gbps=25\n");
  const connection_table c(m);
  EXPECT_EQ(c(0, 1).nvlinks, 8);
  EXPECT_EQ(c(0, 2).nvlinks, 4);
  EXPECT_EQ(c(0, 1).reach, reach::switched);
  EXPECT_FALSE(c(0, 3).by_nvlink());
  EXPECT_FALSE(switches_hidden(m));
}

TEST(connection, switches_that_links_join_are_one_plane) {
  const auto m = parsed(four + "switch 0 bus=a\nswitch 1 bus=b\nlink gpu:0 switch:0 width=6 gbps=25\n"
                               "link gpu:1 switch:1 width=6 gbps=25\nlink switch:0 switch:1 width=8 gbps=25\n");
  const connection_table c(m);
  EXPECT_EQ(c(0, 1).nvlinks, 6);
  EXPECT_EQ(c(0, 1).reach, reach::trunk);
}

TEST(connection, hidden_switches_are_said) {
  const auto m = parsed(four + "switch 0\nlink gpu:0 switch:0 width=18\nlink gpu:1 switch:0 width=18\n");
  EXPECT_TRUE(switches_hidden(m));
  EXPECT_EQ(matrix_word(connection_table(m)(0, 1)), "NV18");
}

TEST(connection, without_a_path_the_numa_nodes_say_the_little_that_they_can) {
  const auto m = parsed("package 0\npackage 1\nnuma 0 package=0\nnuma 1 package=1\nnuma 2 package=1\n"
                        "gpu 0 numa=0\ngpu 1 numa=0\ngpu 2 numa=1\ngpu 3 numa=2\n");
  const connection_table c(m);
  EXPECT_EQ(matrix_word(c(0, 1)), "NODE");
  EXPECT_EQ(matrix_word(c(0, 2)), "SYS");
  EXPECT_TRUE(c(2, 3).same_package);
  EXPECT_FALSE(c(2, 3).same_numa);
}

TEST(connection, pcie_carries_what_the_slower_slot_does) {
  const auto m = parsed("gpu 0 pcie_gbps=63\ngpu 1 pcie_gbps=31.5\npeer * * path=pix\n");
  EXPECT_EQ(connection_table(m)(0, 1).gbps, 31.5);
  EXPECT_EQ(matrix_word(connection_table(m)(0, 1)), "PIX");
}

}  // namespace
}  // namespace mgsync::topology
