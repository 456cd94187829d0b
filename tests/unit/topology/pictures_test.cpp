// What the pictures of machines show: network cards, NVLink-C2C, units of many GPUs, and both grounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "small_machines.hpp"
#include "topology/discovery.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology { namespace {

machine fixture(const std::string& name) {
  return discover({std::string(MGSYNC_MACHINES) + "/" + name + ".machine", true});
}

std::size_t times(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

int number_behind(const std::string& text, const std::string& word) {
  const auto at = text.find(word);
  return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + word.size());
}

TEST(pictures, of_72_gpus_fit_on_a_screen_by_tray) {
  const auto svg = write_svg(fixture("nvl72"));
  EXPECT_LE(number_behind(svg, "width=\""), 1600);
  EXPECT_LE(number_behind(svg, "height=\""), 900);
  EXPECT_EQ(times(svg, ">tray "), 18U);
  EXPECT_EQ(times(svg, ">GPU "), 72U);
  EXPECT_EQ(times(svg, ">CPU "), 36U);
  EXPECT_EQ(times(svg, ">mlx5_"), 72U);
  EXPECT_NE(svg.find("18 NVSwitches; each GPU: 18 links, 900 GB/s"), std::string::npos);
}

TEST(pictures, of_many_gpus_without_trays_are_folded_by_package) {
  auto m = fixture("nvl72");
  for (auto& p : m.packages) p.tray.reset();
  const auto svg = write_svg(m);
  EXPECT_EQ(times(svg, ">tray "), 0U);
  EXPECT_EQ(times(svg, ">package "), 36U);
  EXPECT_LE(number_behind(svg, "width=\""), 1600);
  EXPECT_EQ(units_of(m).size(), 36U);
}

TEST(pictures, of_16_gpus_or_of_links_between_pairs_are_not_folded) {
  EXPECT_FALSE(is_folded(fixture("dgx2")));
  EXPECT_TRUE(is_folded(fixture("nvl72")));
  auto m = fixture("nvl72");
  m.links.push_back({{end_kind::gpu, 0}, {end_kind::gpu, 1}, 1, 5, 50});
  EXPECT_FALSE(is_folded(m)) << "a link between two GPUs would not be seen";
}

TEST(pictures, a_gpu_that_no_node_is_known_of_is_shown_all_the_same) {
  auto m = fixture("nvl72");
  m.gpus[5].numa.reset();
  const auto svg = write_svg(m);
  EXPECT_EQ(times(svg, ">GPU "), 72U);
  EXPECT_EQ(times(svg, ">no NUMA node known<"), 1U);
}

TEST(pictures, every_colour_has_one_for_readers_who_prefer_dark) {
  for (const char* name : {"nvl72", "dgx-h100", "dgx2", "dgx1-v100", "gh200", "laptop", "pcie4", "vm2"}) {
    const auto svg = write_svg(fixture(name));
    const auto end = svg.find("</style>");
    ASSERT_NE(end, std::string::npos);
    const auto style = svg.substr(0, end), rest = svg.substr(end);
    EXPECT_NE(style.find("@media screen and (prefers-color-scheme:dark)"), std::string::npos);
    const std::regex colour("(?:fill|stroke)=\"([^\"]+)\"");
    for (std::sregex_iterator one(rest.begin(), rest.end(), colour), none; one != none; ++one) {
      const auto word = (*one)[1].str();
      EXPECT_TRUE(word == "none" || style.find("\"" + word + "\"]") != std::string::npos)
          << name << ": " << word;
    }
  }
}

TEST(pictures, network_cards_stand_above_the_gpus_that_they_are_near) {
  const auto m = fixture("dgx-h100");
  EXPECT_EQ(near_gpus(m.nics[0]), std::vector{0});
  EXPECT_EQ(near_gpus(m.nics[1]), std::vector<int>{}) << "NODE is nearer to none of four";
  const auto svg = write_svg(m);
  EXPECT_EQ(times(svg, ">NIC mlx5_"), 10U);
  const auto text = write_report(test::ranks_of(m, 1), {});
  EXPECT_NE(text.find("Network cards\n"), std::string::npos);
  EXPECT_TRUE(std::regex_search(text, std::regex("2 +mlx5_2 +ib2 +0000:40:00.0 +0 +1 \\(PXB\\)"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("1 +mlx5_1 +ens1 +0000:29:00.0 +0 +0-3 \\(NODE\\)")))
      << text;
  const auto dot = write_dot(m);
  EXPECT_NE(dot.find("nic2 -- gpu1 "), std::string::npos);
  EXPECT_NE(dot.find("numa0 -- nic1 "), std::string::npos);
  EXPECT_EQ(write_report(test::ranks_of(test::cube_mesh_machine(), 1), {}).find("Network cards"),
            std::string::npos);
}

TEST(pictures, cards_of_one_gpu_stand_one_above_the_other) {
  auto m = fixture("dgx-h100");
  m.nics[1].gpu_paths[0] = pcie_path::pxb;  // two at GPU 0
  const auto one = number_behind(write_svg(fixture("dgx-h100")), "height=\"");
  m.nics[6].gpu_paths[4] = pcie_path::pxb;
  EXPECT_EQ(number_behind(write_svg(m), "height=\""), one + 24 - 18) << "one row more, no other cards";
}

TEST(pictures, nvlink_c2c_is_an_edge_of_its_own_kind) {
  auto m = fixture("gh200");
  const std::string c2c = "#7b3fc4\" stroke-width", nvlink = "#2f7d32\" stroke-width";
  auto svg = write_svg(m);
  EXPECT_EQ(times(svg, c2c), 2U) << "a double line";
  EXPECT_EQ(times(svg, nvlink), 0U);
  EXPECT_NE(svg.find("NVLink-C2C, 450 GB/s"), std::string::npos);
  EXPECT_NE(write_dot(m).find("#7b3fc4:white:#7b3fc4"), std::string::npos);
  EXPECT_NE(write_report(test::ranks_of(m, 1), {}).find("NVLink-C2C, 450 GB/s in one direction: GPU 0 with"),
            std::string::npos);
  m.links[0].c2c = false;  // an older NVLink to the CPU
  svg = write_svg(m);
  EXPECT_EQ(times(svg, c2c), 0U);
  EXPECT_EQ(times(svg, nvlink), 1U);
  EXPECT_EQ(svg.find("C2C"), std::string::npos);
  EXPECT_EQ(times(write_svg(fixture("nvl72")), c2c), 2 * 72 + 2U) << "and in the legend";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

TEST(pictures, of_text_are_no_wider_than_the_terminal_and_plain_where_it_is) {
  for (const char* name :
       {"nvl72", "dgx-h100", "dgx2", "dgx1-v100", "gh200", "laptop", "pcie4", "vm2", "dgx-a100"})
    for (const int columns : {60, 100}) {
      const auto m = fixture(name);
      const auto plain = write_picture(m, {columns, false}), drawn = write_picture(m, {columns, true});
      for (const auto& line : lines_of(plain))
        EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
      EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](char c) {
        return c == '\n' || (c >= ' ' && c < 127);
      })) << name;
      EXPECT_EQ(lines_of(plain).size(), lines_of(drawn).size());
      EXPECT_EQ(times(plain, "GPU "), times(drawn, "GPU "));
    }
}

TEST(pictures, of_text_join_gpus_to_their_switches) {
  const auto lines = lines_of(write_picture(fixture("dgx-h100"), {100, true}));
  ASSERT_EQ(lines.size(), 1U + 2 + 2 + 8);
  EXPECT_EQ(lines[3], "   ├─ GPU 0, NIC mlx5_0                   ══18═══╗");
  EXPECT_EQ(lines[4], "   ├─ GPU 1, NIC mlx5_2                   ══18═══╣");
  EXPECT_NE(lines[7].find("║"), std::string::npos) << "past the other package: " << lines[7];
  EXPECT_EQ(lines[12],
            "   └─ GPU 7, NIC mlx5_9                   ══18═══╝═ 4 NVSwitches, each GPU 18 links, 478 GB/s");
  const auto rack = lines_of(write_picture(fixture("nvl72"), {100, true}));
  ASSERT_EQ(rack.size(), 19U) << "a line for each tray";
  EXPECT_NE(rack[1].find("tray 0   CPUs 0-1 ═C2C═ GPUs 0-3, 4 NICs"), std::string::npos) << rack[1];
  const auto grace = write_picture(fixture("gh200"), {100, false});
  EXPECT_NE(grace.find("`= GPU 0, NVLink-C2C, 450 GB/s"), std::string::npos) << grace;
}

}}  // namespace mgsync::topology
