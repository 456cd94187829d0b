// Every machine of tests/machines/: its matrix, its groups for every size, and its pinning, against a
// reviewed file. MGSYNC_WRITE_GOLDEN=1 writes the files anew; look at what changed before you keep it.
#include <gtest/gtest.h>

#include <algorithm>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "build_kind.hpp"
#include "topology/connection.hpp"
#include "topology/cpu_list.hpp"
#include "topology/discovery.hpp"
#include "topology/grouping.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology { namespace {

machine machine_of(const std::string& name) {
  return discover({std::string(MGSYNC_MACHINES) + "/" + name + ".machine", true});
}

grouping group_of(const machine& m, device kind, int members, const char* placement) {
  const rank_view view{0, 0, m};
  return make_group(std::span(&view, 1), {kind, members, 0, 1, placement, true});
}

std::string ids(const grouping& g) {
  std::vector<int> list;
  for (const auto& m : g.chosen.members) list.push_back(m.id);
  return write_cpu_list(list);
}

std::string cpus(const grouping& g) {
  std::vector<int> list;
  for (const auto& m : g.chosen.members) list.insert(list.end(), m.cpus.begin(), m.cpus.end());
  return write_cpu_list(list);
}

std::string golden_of(const machine& m) {
  std::ostringstream out;
  if (!m.gpus.empty()) out << "matrix\n" << write_matrix(m);
  const int gpus = static_cast<int>(m.gpus.size());
  for (const char* placement : {"near", "far", "spread"})
    for (int n = 1; n <= gpus; ++n)
      out << placement << " " << n << ": " << ids(group_of(m, device::gpu, n, placement)) << "\n";
  if (gpus > 0)
    out << "CPUs of the threads of all GPUs: " << cpus(group_of(m, device::gpu, gpus, "near")) << "\n";
  for (const char* placement : {"near", "far", "spread"})
    for (const int n : {2, 4, 16}) {
      const auto g = group_of(m, device::host, n, placement);
      out << n << " host members " << placement << ": CPUs " << cpus(g)
          << (g.chosen.oversubscribed ? " (oversubscribed)" : "") << "\n";
    }
  return out.str();
}

class machines : public testing::TestWithParam<const char*> {};

TEST_P(machines, are_as_reviewed) {
  const std::string file = std::string(MGSYNC_MACHINES) + "/" + GetParam() + ".golden";
  const auto actual = golden_of(machine_of(GetParam()));
  if (std::getenv("MGSYNC_WRITE_GOLDEN") != nullptr) std::ofstream(file) << actual;
  std::ifstream in(file);
  const std::string expected((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(actual, expected) << "differs from " << file;
}

TEST_P(machines, come_back_from_both_formats) {
  const auto m = machine_of(GetParam());
  for (const char* format : {"description", "xml"}) {
    const std::string file = testing::TempDir() + "mgsync_" + GetParam() + "." + format;
    std::ofstream(file) << write_report(std::vector{rank_view{0, 0, m}}, {format, 0, true});
    auto again = discover({file, true});
    again.source = m.source;
    EXPECT_EQ(again, m) << format;
    std::remove(file.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(all, machines,
                         testing::Values("laptop", "vm2", "pcie4", "dgx1-v100", "dgx2", "dgx-a100",
                                         "dgx-h100", "h200x4", "gh200", "nvl72"),
                         [](const auto& machine_name) {
                           std::string name = machine_name.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(dgx1, the_only_groups_of_four_with_all_links_are_the_quads) {
  const auto m = machine_of("dgx1-v100");
  const connection_table connections(m);
  std::vector<std::vector<int>> cliques;
  for (unsigned mask = 0; mask < 256; ++mask) {
    std::vector<int> chosen;
    for (int i = 0; i < 8; ++i)
      if ((mask >> i & 1U) != 0) chosen.push_back(i);
    bool all = chosen.size() == 4;
    for (const int a : chosen)
      for (const int b : chosen) all = all && (a == b || connections(a, b).by_nvlink());
    if (all) cliques.push_back(chosen);
  }
  EXPECT_EQ(cliques, (std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(ids(group_of(m, device::gpu, 4, "near")), "0-3");
  const auto two = group_of(m, device::gpu, 2, "near").chosen.members;
  EXPECT_EQ(connections(two[0].id, two[1].id).nvlinks, 2);
}

double time_of_ms(const machine& m, int members, const char* placement) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double start = test::cpu_ms();
    group_of(m, device::gpu, members, placement);
    best = std::min(best, test::cpu_ms() - start);
  }
  return best;
}

TEST(speed, sixteen_gpus_in_ten_milliseconds) {
  const auto m = machine_of("dgx2");
  for (const char* placement : {"near", "far", "spread"})
    for (int n = 1; n <= 16; ++n)
      EXPECT_LT(time_of_ms(m, n, placement), 10 * test::slack) << placement << " " << n;
}

TEST(speed, seventy_two_gpus_in_a_second) {
  const auto m = machine_of("nvl72");
  for (const char* placement : {"near", "far", "spread"})
    for (const int n : {2, 36, 71})
      EXPECT_LT(time_of_ms(m, n, placement), 1000 * test::slack) << placement << " " << n;
}

}}  // namespace mgsync::topology
