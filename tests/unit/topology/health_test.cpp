#include "topology/health.hpp"

#include <gtest/gtest.h>

#include "small_machines.hpp"

namespace mgsync::topology { namespace {

machine with_switch(int gpus) {
  auto m = test::host_machine(2, 8);
  m.switches = {{0, ""}};
  for (int i = 0; i < gpus; ++i) {
    gpu g;
    g.id = i;
    g.name = "NVIDIA H200";
    g.uuid = "GPU-" + std::to_string(i);
    g.sm_clock_mhz = 1980;
    g.pcie_gbps = 63.008;
    m.gpus.push_back(g);
    m.links.push_back({{end_kind::gpu, i}, {end_kind::nvswitch, 0}, 18, 4, 26.562});
  }
  return m;
}

std::vector<std::string> sentences(const machine& m, const std::vector<gpu_health>& healths = {},
                                   const std::vector<machine>& references = {}) {
  std::vector<std::string> all;
  for (const auto& f : find_faults(m, healths, references)) {
    EXPECT_FALSE(f.change.empty()) << f.name;
    all.push_back(f.name + ": " + f.what);
  }
  return all;
}
using list = std::vector<std::string>;

TEST(health, nothing_is_wrong_with_equal_gpus) {
  EXPECT_EQ(sentences(with_switch(4)), list{});
  EXPECT_EQ(
      sentences(with_switch(4),
                {{.uuid = "GPU-0", .ecc = true, .uncorrected = 0, .pcie_lanes = 16, .pcie_lanes_most = 16}},
                {with_switch(4)}),
      list{});
  EXPECT_EQ(sentences(machine{}), list{});
}

TEST(health, names_the_gpu_with_fewer_links_lanes_or_clock) {
  auto m = with_switch(4);
  m.links[2].width = 17;
  EXPECT_EQ(sentences(m), list{"fewer-links: GPU 2 has 17 active NVLinks; others of its kind have 18."});
  m = with_switch(4);
  m.gpus[1].pcie_gbps = 31.504;
  EXPECT_EQ(sentences(m), list{"fewer-lanes: GPU 1 has 31.5 GB/s of PCIe; others of its kind have 63.01."});
  m = with_switch(4);
  m.gpus[0].sm_clock_mhz = 1500;
  EXPECT_EQ(sentences(m),
            list{"lower-clock: GPU 0 has 1500 MHz as its largest clock; others of its kind have 1980."});
}

TEST(health, a_gpu_without_any_link_has_fewer) {
  auto m = with_switch(3);
  m.links.pop_back();
  EXPECT_EQ(sentences(m), list{"fewer-links: GPU 2 has 0 active NVLinks; others of its kind have 18."});
}

TEST(health, a_reference_tells_what_all_gpus_lack) {
  auto m = with_switch(2);
  for (auto& one : m.links) one.width = 12;
  EXPECT_EQ(sentences(m), list{}) << "two GPUs that are alike";
  const auto found = sentences(m, {}, {with_switch(2)});
  ASSERT_EQ(found.size(), 2U) << "where as many have either value, the larger one is usual";
  EXPECT_EQ(found[0], "fewer-links: GPU 0 has 12 active NVLinks; others of its kind have 18.");
}

TEST(health, names_missing_gpus) {
  EXPECT_EQ(sentences(with_switch(7), {}, {with_switch(8)}),
            list{"missing-gpus: box shows 7 GPUs; a node of its kind has 8."});
  EXPECT_EQ(sentences(with_switch(8), {}, {with_switch(7)}), list{});
  EXPECT_EQ(sentences(with_switch(4), {}, {with_switch(4), with_switch(8)}), list{}) << "a kind of its own";
  machine none;
  none.host = "box";
  EXPECT_EQ(missing_gpus(none, 8).what, "box shows no GPU; a node of its kind has 8.");
}

TEST(health, tells_the_state_of_a_gpu) {
  const auto m = with_switch(2);
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-1", .uncorrected = 3}}),
            list{"memory-errors: GPU 1 has had 3 memory errors that could not be corrected."});
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-1", .remap_pending = true}}),
            list{"memory-errors: GPU 1 waits for a reset to replace broken rows of its memory."});
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-0", .pcie_lanes = 8, .pcie_lanes_most = 16}}),
            list{"fewer-lanes: GPU 0 runs 8 of its 16 PCIe lanes."});
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-0", .slowed_by = 0x40}}),
            list{"slowed: GPU 0 is slowed by thermal (hardware)."});
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-0", .processes = {12, 14}}}),
            list{"in-use: GPU 0 is used by other processes (process 12, 14)."});
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-0", .ecc = true}, {.uuid = "GPU-1", .ecc = false}}),
            list{"ecc-off: GPU 1 does not correct memory errors; others here do."});
  EXPECT_EQ(sentences(m, {{.uuid = "GPU-9", .uncorrected = 3}}), list{}) << "of another machine";
}

}}  // namespace mgsync::topology
