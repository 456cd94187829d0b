// The simulated barrier over nodes: what can be counted by hand, and how it must grow.
#include "src/models/scale_out/scale_out.hpp"

#include <gtest/gtest.h>

#include <string>

#include "src/results/files/result_file.hpp"

namespace mgsync::scale_out { namespace {

constexpr network_times network{.latency = 1, .gap = 0.1, .jitter = 0};
constexpr node_times node{.arrive = 2, .leave = 3, .hop = 0.5, .slow = 0};

double us(cluster of, network_times over = network, node_times within = node) {
  return simulated_us(of, over, within, 50, 1);
}

TEST(scale_out, is_what_can_be_counted_by_hand) {
  // Arrival, a step (sent after a gap, seen after the latency, taken after a gap), and leaving.
  EXPECT_NEAR(us({.nodes = 2, .gpus = 8, .how = form::leader}), 2 + 1.2 + 3, 1e-9);
  EXPECT_NEAR(us({.nodes = 8, .gpus = 8, .how = form::leader}), 2 + 3 * 1.2 + 3, 1e-9);
  EXPECT_NEAR(us({.nodes = 5, .gpus = 8, .how = form::leader}), 2 + 3 * 1.2 + 3, 1e-9);
  EXPECT_NEAR(us({.nodes = 8, .gpus = 4, .how = form::rail}), 2 + 3 * 1.2 + 3, 1e-9);
  // Two nodes of two: a step inside the nodes, and one between them.
  EXPECT_NEAR(us({.nodes = 2, .gpus = 1, .how = form::flat}), 2 + 1.2 + 3, 1e-9);
  EXPECT_NEAR(us({.nodes = 1, .gpus = 8, .how = form::leader}), 5, 1e-9);
}

TEST(scale_out, a_higher_radix_takes_fewer_steps_and_more_messages_in_each) {
  const double two = us({.nodes = 64, .how = form::leader, .radix = 2});
  const double eight = us({.nodes = 64, .how = form::leader, .radix = 8});
  EXPECT_LT(eight, two);
  EXPECT_GT(eight, 2 + 2 * 1.2 + 3);
  const network_times costly{.latency = 0.1, .gap = 1, .jitter = 0};
  EXPECT_GT(us({.nodes = 64, .how = form::leader, .radix = 64}, costly),
            us({.nodes = 64, .how = form::leader, .radix = 2}, costly));
}

TEST(scale_out, everybody_waits_for_a_slow_node_and_for_late_messages) {
  for (const auto how : {form::leader, form::rail, form::flat}) {
    const cluster of{.nodes = 16, .gpus = 4, .how = how};
    auto slow = node;
    slow.slow = 10;
    EXPECT_NEAR(us(of, network, slow), us(of) + 10, 5);
    EXPECT_GT(us(of, network, slow), us(of) + 5);
    auto late = network;
    late.jitter = 1;
    EXPECT_GT(us(of, late), us(of) + 1);
  }
  // Of rails a GPU waits for the slowest of its own, and the node then for the slowest rail.
  auto late = network;
  late.jitter = 1;
  EXPECT_GT(us({.nodes = 64, .gpus = 8, .how = form::rail}, late),
            us({.nodes = 64, .gpus = 8, .how = form::leader}, late));
}

// The time of two virtual nodes foretells that of four and of eight.
TEST(scale_out, agrees_with_virtual_nodes) {
  const auto measured = read_result_file(std::string(MGSYNC_RESULTS) + "/host16/nodes.json.xz").document;
  const auto us_over = [&](int nodes) {
    for (const auto& r : measured.results)
      if (r.point.subject == "nodes" && r.point.members == nodes) return r.metrics.front().median;
    return 0.0;
  };
  constexpr double word = 0.1;  // from a member to its proxy and back
  const network_times between{.latency = us_over(2) - word, .gap = 0, .jitter = 0};
  for (const unsigned nodes : {4U, 8U}) {
    const double simulated = us({.nodes = nodes, .gpus = 1, .how = form::leader}, between,
                                {.arrive = word / 2, .leave = word / 2, .hop = 0, .slow = 0});
    EXPECT_NEAR(simulated / us_over(static_cast<int>(nodes)), 1, 0.1) << nodes;
  }
}

TEST(scale_out, is_the_same_for_the_same_seed) {
  const network_times late{.latency = 1, .gap = 0.1, .jitter = 1};
  const cluster of{.nodes = 32, .gpus = 8, .how = form::rail, .radix = 4};
  EXPECT_EQ(simulated_us(of, late, node, 20, 7), simulated_us(of, late, node, 20, 7));
  EXPECT_NE(simulated_us(of, late, node, 20, 7), simulated_us(of, late, node, 20, 8));
}

}}  // namespace mgsync::scale_out
