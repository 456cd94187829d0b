#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "small_machines.hpp"
#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/discovery.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology { namespace {

using test::cube_mesh_machine;
using test::ranks_of;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(report, every_format_speaks_of_every_machine) {
  for (const auto format : report_formats())
    for (const machine& m : {machine{}, test::host_machine(2, 4), cube_mesh_machine()})
      EXPECT_FALSE(write_report(ranks_of(m, 1), {std::string(format), 0, true}).empty()) << format;
}

TEST(report, an_unknown_format_names_the_known_ones) {
  try {
    write_report(ranks_of(machine{}, 1), {"yaml", 0, true});
    FAIL();
  } catch (const usage_error& e) {
    EXPECT_STREQ(e.what(), "--format 'yaml'; accepted: text, picture, json, xml, dot, svg, description");
  }
}

TEST(report, speaks_of_ways_between_gpus_where_there_are_several) {
  auto m = cube_mesh_machine();
  m.links.clear();
  EXPECT_NE(write_report(ranks_of(m, 1), {}).find("NVLink: none: GPUs reach each other over PCIe, if at all"),
            std::string::npos);
  auto one = test::host_machine(2, 4);
  one.gpus.push_back(m.gpus[0]);
  EXPECT_NE(write_report(ranks_of(one, 1), {}).find("NVLink: none to another GPU: there is one"),
            std::string::npos);
}

TEST(report, text_shows_matrix_groups_pins_and_findings) {
  const auto text = write_report(ranks_of(cube_mesh_machine(), 1), {});
  for (const char* part :
       {"GPU0  X     NV1   NV1   NV2   NV2   SYS", "Bandwidth, GB/s", "P+A", "near the GPU",
        "no-peer-access: 12 pairs of GPUs (GPUs 0 and 5, ...)", "change: --placement near"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// As a description written by hand has it.
TEST(report, of_gpus_without_uuids_says_of_each_whether_its_own_core_is_near) {
  auto m = cube_mesh_machine();
  for (auto& gpu : m.gpus) gpu.uuid.clear();
  const auto text = write_report(ranks_of(m, 1), {});
  EXPECT_NE(text.find("near the GPU"), std::string::npos) << text;
  EXPECT_EQ(text.find("far from the GPU"), std::string::npos) << text;
}

TEST(report, whoever_has_several_gpus_is_told_not_to_poll_host_memory) {
  const std::string advice = "no kernel should poll a flag in host memory";
  EXPECT_NE(write_text(ranks_of(cube_mesh_machine(), 1), {}).find(advice), std::string::npos);
  EXPECT_EQ(write_text(ranks_of(test::host_machine(2, 4), 1), {}).find(advice), std::string::npos);
}

TEST(report, ranks_are_listed_with_their_differences) {
  auto views = ranks_of(cube_mesh_machine(), 2);
  EXPECT_NE(write_text(views, {}).find("Ranks\n"), std::string::npos);
  EXPECT_EQ(write_text(views, {}).find("Differences"), std::string::npos);
  views[1].seen.allowed_cpus = {1};
  EXPECT_NE(write_text(views, {}).find("Rank 1 on box differs from rank 0: CPUs 1 instead of 0-15."),
            std::string::npos);
}

TEST(report, json_is_valid_and_complete) {
  auto m = cube_mesh_machine();
  m.host = "bad \xff byte";
  const auto parsed = nlohmann::json::parse(write_report(ranks_of(m, 2), {"json", 0, true}));
  EXPECT_EQ(parsed["format"], "mgsync-topology");
  EXPECT_EQ(parsed["version"], 2);
  ASSERT_EQ(parsed["ranks"].size(), 2U);
  const auto& seen = parsed["ranks"][0]["machine"];
  EXPECT_EQ(seen["gpus"].size(), 8U);
  EXPECT_EQ(parsed["ranks"][1]["pairs"].size(), 56U);
  EXPECT_EQ(parsed["ranks"][1]["pairs"][2]["connection"], "NV2");
  m.host = "bad \xef\xbf\xbd byte";
  EXPECT_EQ(read_description(seen.dump(), "the report's machine"), m) << "it is a machine file";
  EXPECT_EQ(parsed["groups"].size(), 2U) << "two ranks, one GPU each";
}

TEST(report, pictures_hold_every_gpu_and_escape_names) {
  auto m = cube_mesh_machine();
  m.host = "a<b>&\"c\\";
  const auto svg = write_svg(m);
  EXPECT_EQ(count(svg, ">GPU "), 8U);
  EXPECT_EQ(count(svg, "<path "), 16U);
  EXPECT_NE(svg.find("a&lt;b&gt;&amp;&quot;c"), std::string::npos);
  const auto dot = write_dot(m);
  EXPECT_EQ(count(dot, "[label=\"GPU "), 8U);
  EXPECT_EQ(count(dot, " -- gpu"), 24U) << "16 links and 8 PCIe lines";
  EXPECT_NE(dot.find("a<b>&\\\"c\\\\"), std::string::npos);
}

TEST(report, switches_that_serve_the_same_gpus_are_one_bar) {
  const auto m = discover({std::string(MGSYNC_MACHINES) + "/dgx2.machine", true});
  const auto svg = write_svg(m);
  EXPECT_EQ(count(svg, "6 NVSwitches"), 2U);
  EXPECT_NE(svg.find("48 links, 1200 GB/s"), std::string::npos);
}

}}  // namespace mgsync::topology
