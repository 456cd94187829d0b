// What nvidia-smi topo -m printed, read back: tests/machines/smi has tables as five kinds of machine print
// them.
#include <gtest/gtest.h>

#include <fstream>

#include "small_machines.hpp"
#include "tests/unit/refused.hpp"
#include "topology/connection.hpp"
#include "topology/description.hpp"
#include "topology/discovery.hpp"
#include "topology/findings.hpp"
#include "topology/reports/reports.hpp"
#include "topology/sources/smi_matrix.hpp"

namespace mgsync::topology { namespace {

std::string smi_file(const std::string& name) { return MGSYNC_MACHINES "/smi/" + name + ".txt"; }
std::string smi_text(const std::string& name) {
  std::ifstream file(smi_file(name));
  return {std::istreambuf_iterator<char>(file), {}};
}
machine smi_machine(const std::string& name) { return discover({smi_file(name), true}); }

// The words of the connections, as nvidia-smi prints them.
std::string words_between(const machine& m) {
  const connection_table c(m);
  std::string all;
  for (std::size_t a = 0; a < m.gpus.size(); ++a)
    for (std::size_t b = 0; b < m.gpus.size(); ++b)
      all += (a == b ? "X" : matrix_word(c(static_cast<int>(a), static_cast<int>(b)))) +
             (b + 1 < m.gpus.size() ? " " : "\n");
  return all;
}

TEST(smi_matrix, nvlinks_that_are_more_than_a_gpu_has_end_in_a_switch) {
  const auto m = smi_machine("dgx-h100");
  ASSERT_EQ(m.gpus.size(), 8U);
  EXPECT_EQ(m.switches.size(), 1U);
  ASSERT_EQ(m.links.size(), 8U);
  EXPECT_EQ(m.links[3], (link{{end_kind::gpu, 3}, {end_kind::nvswitch, 0}, 18, 0, 0}));
  EXPECT_EQ(m.gpus[5].numa, 1);
  EXPECT_EQ(m.gpus[5].near_cpus.size(), 112U);
  EXPECT_EQ(m.gpus[5].near_cpus.front(), 56);
  EXPECT_FALSE(m.is_this_machine);
  ASSERT_EQ(m.nics.size(), 10U);
  EXPECT_EQ(m.nics[2].name, "mlx5_2") << "from the legend";
  EXPECT_EQ(m.nics[2].numa, 0);
  EXPECT_EQ(m.nics[9].numa, 1);
  using enum pcie_path;
  EXPECT_EQ(m.nics[2].gpu_paths, (std::vector{node, pxb, node, node, sys, sys, sys, sys}));
  EXPECT_EQ(m.notes.size(), 1U);
  EXPECT_FALSE(m.peers.at(0).access.has_value());  // it does not tell
}

TEST(smi_matrix, other_links_join_two_gpus) {
  const auto m = smi_machine("a100x4");
  EXPECT_TRUE(m.switches.empty());
  EXPECT_EQ(m.links.size(), 6U);
  EXPECT_EQ(m.gpus[2].numa, 7);
  EXPECT_EQ(words_between(m), "X NV4 NV4 NV4\nNV4 X NV4 NV4\nNV4 NV4 X NV4\nNV4 NV4 NV4 X\n");
  auto mesh = smi_machine("dgx1-v100");
  EXPECT_EQ(mesh.links.size(), test::cube_mesh().size());
  for (const auto& [ends, width] : test::cube_mesh())
    EXPECT_NE(std::find(mesh.links.begin(), mesh.links.end(),
                        (link{{end_kind::gpu, ends.first}, {end_kind::gpu, ends.second}, width, 0, 0})),
              mesh.links.end());
  EXPECT_FALSE(mesh.gpus[0].numa.has_value());
}

TEST(smi_matrix, says_that_links_of_two_gpus_may_end_in_a_switch) {
  machine m;
  add_smi_matrix(m, "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n", "m.txt");
  EXPECT_EQ(m.links.size(), 1U);
  ASSERT_EQ(m.notes.size(), 2U);
  EXPECT_NE(m.notes[0].find("whether the NVLinks of two GPUs end in a switch"), std::string::npos);
  EXPECT_EQ(smi_machine("a100x4").notes.size(), 1U) << "what reaches several is direct";
}

TEST(smi_matrix, paths_over_pcie_are_as_it_names_them) {
  const auto m = smi_machine("pcie6");
  EXPECT_TRUE(m.links.empty());
  EXPECT_EQ(words_between(m), "X PIX NODE NODE SYS SYS\nPIX X NODE NODE SYS SYS\nNODE NODE X PIX SYS SYS\n"
                              "NODE NODE PIX X SYS SYS\nSYS SYS SYS SYS X PIX\nSYS SYS SYS SYS PIX X\n");
  const rank_view view{0, 0, m};
  const auto near = make_group(std::span(&view, 1), {device::gpu, 2, 0, 1, "near", true});
  const auto far = make_group(std::span(&view, 1), {device::gpu, 2, 0, 1, "far", true});
  EXPECT_EQ(near.chosen.members[1].id, 1);
  EXPECT_EQ(far.chosen.members[1].id, 4);
  EXPECT_EQ(largest_group(std::span(&view, 1), device::gpu, 0), 6);
}

TEST(smi_matrix, a_machine_of_one_gpu_has_no_pair) {
  const auto m = smi_machine("one");
  ASSERT_EQ(m.gpus.size(), 1U);
  EXPECT_EQ(m.gpus[0].near_cpus.size(), 16U);
  EXPECT_EQ(m.gpus[0].numa, 0);
  EXPECT_TRUE(m.links.empty() && m.peers.empty() && m.switches.empty());
}

TEST(smi_matrix, comes_back_from_every_report) {
  for (const auto* name : {"dgx-h100", "a100x4", "pcie6", "one", "dgx1-v100"}) {
    const auto m = smi_machine(name);
    EXPECT_EQ(read_description(write_description(m), "again"), m) << name;
    const std::vector<rank_view> views{{0, 0, m}};
    EXPECT_TRUE(find_problems(views, 0).empty()) << name << ": " << find_problems(views, 0).front().what;
    for (const auto* format : {"text", "json", "xml", "dot", "svg"})
      EXPECT_FALSE(write_report(views, {format, 0, true}).empty()) << name << format;
  }
}

// The text of a machine with two GPUs, with a part of it replaced.
std::string smi_complaint(std::string_view part, std::string_view by) {
  std::string text = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                     "GPU0\t X \tNV2\tPIX\t0-3\t0\t\tN/A\nGPU1\tNV2\t X \tSYS\t4-7\t0-1\t\tN/A\n"
                     "NIC0\tPIX\tSYS\t X \n";
  machine whole;
  add_smi_matrix(whole, text, "m.txt");
  EXPECT_EQ(whole.links.size(), 1U);
  EXPECT_FALSE(whole.gpus[1].numa.has_value());  // no one node is the nearest
  text.replace(text.find(part), part.size(), by);
  machine m;
  auto why = mgsync::test::refused([&] { add_smi_matrix(m, text, "m.txt"); });
  const std::string_view behind = "; accepted: the text of nvidia-smi topo -m, all of it";
  EXPECT_TRUE(why.ends_with(behind)) << why;
  return why.substr(0, why.size() - std::min(why.size(), behind.size()));
}

TEST(smi_matrix, what_is_damaged_is_refused_with_its_line) {
  EXPECT_EQ(smi_complaint("NIC0\tPIX\tSYS\t X \n", ""), "m.txt:4: it ends before the row of NIC0");
  EXPECT_EQ(smi_complaint("GPU1\tNV2", "GPU7\tNV2"), "m.txt:3: 'GPU7' where the row of GPU1 was expected");
  EXPECT_EQ(smi_complaint("GPU1\tNV2\t X \tSYS\t4-7\t0-1\t\tN/A", "GPU1\tNV2"),
            "m.txt:3: the row of GPU1 has 1 of 3 cells");
  EXPECT_EQ(smi_complaint("GPU1\tNV2\t X ", "GPU1\tNV2\tNV2"),
            "m.txt:3: GPU1 beside itself is 'NV2', and not X");
  EXPECT_EQ(smi_complaint("X \tNV2", "X \tNV3"), "m.txt:1: GPU0 to GPU1 is not the same as GPU1 to GPU0");
  EXPECT_EQ(smi_complaint("0-3", "0-x"), "m.txt:2: '0-x' is no list of CPUs such as 0-51,104-155");
  EXPECT_EQ(smi_complaint("\tGPU1\tNIC0", "\tNIC0\tGPU1"),
            "m.txt:1: the columns of GPUs are not GPU0, GPU1 and so on, before all others");
  for (const auto* cell : {"NV", "NV0", "NV99", "NV2x", "OK", "\x1b[31mred"})
    EXPECT_NE(smi_complaint("X \tNV2", std::string("X \t") + cell).find("between GPU0 and GPU1"),
              std::string::npos);
  EXPECT_EQ(smi_complaint("\tGPU0\tGPU1", "\tCPU0\tGPU1"), "m.txt:1: there is no line that begins with GPU0");
}

TEST(smi_matrix, is_bounded) {
  machine m;
  std::string wide;
  for (int i = 0; i <= max_gpus; ++i) wide += "GPU" + std::to_string(i) + " ";
  EXPECT_NE(mgsync::test::refused([&] { add_smi_matrix(m, wide, "m.txt"); }).find("more than 256 GPUs"),
            std::string::npos);
  EXPECT_NE(mgsync::test::refused([&] {
              add_smi_matrix(m, smi_text("one") + std::string(max_matrix_bytes, ' '), "m.txt");
            }).find("larger than 1048576 bytes"),
            std::string::npos);
}

TEST(smi_matrix, is_known_by_its_header) {
  EXPECT_TRUE(is_smi_matrix(smi_text("dgx1-v100")));  // behind a prompt
  EXPECT_TRUE(is_smi_matrix(smi_text("a100x4")));     // underlined
  EXPECT_FALSE(is_smi_matrix("{\"format\": \"mgsync-machine\"}"));
  EXPECT_FALSE(is_smi_matrix("GPU0 X NV2\n"));
  EXPECT_FALSE(is_smi_matrix(std::string(100, '\n') + smi_text("one")));
}

}}  // namespace mgsync::topology
