#include <gtest/gtest.h>

#include "small_machines.hpp"
#include "src/base/errors.hpp"
#include "topology/cpu_list.hpp"
#include "topology/description.hpp"

namespace mgsync::topology {
namespace {

using test::parsed;

std::string failure_of(const std::string& text) {
  try {
    read_description(text, "file");
  } catch (const usage_error& e) {
    return e.what();
  }
  return "no error";
}

TEST(cpu_list, is_exact_for_any_order) {
  for (const std::vector<int>& cpus : {std::vector<int>{}, {0}, {0, 1, 2, 3}, {3, 2, 1}, {8, 0, 1, 64}, {5, 5}})
    EXPECT_EQ(parse_cpu_list(write_cpu_list(cpus)), cpus);
  EXPECT_EQ(write_cpu_list(std::vector{0, 1, 2, 8, 64, 65}), "0-2,8,64-65");
}

TEST(cpu_list, refuses_what_is_no_list) {
  for (const char* text : {",", "0,", "-1", "3-1", "a", "0-", "0-70000", "1 2", "99999999999999999999", "+1", "0x1"})
    EXPECT_FALSE(parse_cpu_list(text)) << text;
}

TEST(cpu_list, bounds_what_repeats_can_ask_for) {
  std::string text = "0-65535";
  for (int i = 0; i < 1000; ++i) text += ",0-65535";
  EXPECT_FALSE(parse_cpu_list(text));
}

machine every_field() {
  machine m = test::cube_mesh_machine();
  m.host = "node \"1\"\n#x=\\ \x01 \x7f \xc3\xa9";
  m.source = "";
  m.is_this_machine = true;
  m.packages[1].model = "CPU @ 2.0 GHz";
  m.cores[3].cpus.clear();
  m.cores[5].cache = 7;
  m.allowed_cpus = {0, 2, 3, 9};
  auto& g = m.gpus[2];
  g.name = "NVIDIA H200";
  g.pci_bus_id = "0000:1b:00.0";
  g.compute_major = 9;
  g.compute_minor = 0;
  g.sm_count = 132;
  g.sm_clock_mhz = 1980;
  g.memory_bytes = 18446744073709551615ULL;
  g.pcie_gbps = 63.015;
  g.mig = true;
  g.near_cpus = {7, 3, 3, 4, 5};
  m.gpus[3].cuda_ordinal.reset();
  m.gpus[3].numa.reset();
  m.switches = {{0, ""}, {1, "0000:c1:00.0"}};
  m.links.push_back({{end_kind::gpu, 0}, {end_kind::nvswitch, 1}, 18, 4, 26.562});
  m.links.push_back({{end_kind::nvswitch, 0}, {end_kind::nvswitch, 1}, 8, 0, 0.1});
  m.links.push_back({{end_kind::gpu, 3}, {end_kind::cpu, 1}, 3, 2, 0});
  m.peers[4].performance_rank = 1;
  m.peers[5].access.reset();
  m.notes = {"a note", ""};
  m.quota = cpu_quota{1.5, "26:4711"};
  m.unseen_gpus = {"0000:ab:00.0", "number 3 of NVML"};
  m.cuda_problem = "CUDA_VISIBLE_DEVICES is empty: CUDA shows no GPU.";
  return m;
}

TEST(description, round_trip_is_exact) {
  const machine m = every_field();
  EXPECT_EQ(read_description(write_description(m), "test"), m) << write_description(m);
  EXPECT_EQ(read_description(write_description(machine{}), "test"), machine{});
  machine some = m;  // not every pair was asked
  some.peers.erase(some.peers.begin() + 3);
  EXPECT_EQ(read_description(write_description(some), "test"), some);
  machine odd = m;  // in an order that nothing makes any more
  std::swap(odd.peers.front(), odd.peers.back());
  EXPECT_EQ(read_description(write_description(odd), "test"), odd);
}

TEST(description, neighbouring_cores_share_a_line) {
  const auto text = write_description(test::host_machine(2, 4));
  EXPECT_NE(text.find("core 0-3 package=0 numa=0 cache=0 cpus=0-3,8-11\n"), std::string::npos) << text;
}

TEST(description, usual_peer_is_said_once) {
  const auto m = parsed("gpu 0\ngpu 1\ngpu 2\npeer * * access=yes path=sys\npeer 1 2 access=no\n");
  ASSERT_EQ(m.peers.size(), 6U);
  EXPECT_EQ(m.peers[0].access, true);
  EXPECT_EQ(m.peers[3], (peer{1, 2, false, {}, {}, pcie_path::unknown}));
}

TEST(description, comments_blanks_and_dos_lines) {
  const auto m = read_description("mgsync-machine 1\r\n\r\n# text\n  host  a # rest\r\n\tpackage 0\n", "test");
  EXPECT_EQ(m.host, "a");
  EXPECT_EQ(m.packages.size(), 1U);
}

TEST(description, every_error_says_where_and_what_is_accepted) {
  const std::string head = "mgsync-machine 1\npackage 0\nnuma 0 package=0\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "file:1: the file is empty; accepted: the first line is 'mgsync-machine 1'"},
      {"hello\n", "file:1: not a machine description; accepted: the first line is"},
      {head + "cor 0\n", "file:4: unknown keyword cor; accepted: host, source,"},
      {head + "core 1 package=0 numa=0\n", "file:4: core 1 is out of order; the next one is core 0"},
      {head + "core 0 package=1 numa=0\n", "file:4: there is no package 1"},
      {head + "core 0 package=0 numa=4\n", "file:4: there is no numa 4"},
      {head + "core 0 package=0 numa=0 cpus=0-70000\n", "file:4: cpus=0-70000 is not a list of numbers like 0-3,8"},
      {head + "core 0-1 package=0 numa=0 cpus=0-2\n", "file:4: 3 CPUs cannot be shared evenly by 2 cores"},
      {head + "core 0-1 package=0 numa=0 cpus=1,1\n", "file:4: CPU 1 is in two cores"},
      {head + "core 0-1000000000 package=0\n", "file:4: a core is a number or FIRST-LAST"},
      {head + "gpu 0 color=red\n", "file:4: unknown key color; accepted: gpu ID [name="},
      {head + "gpu 0 mig=maybe\n", "file:4: mig=maybe; accepted: yes, no"},
      {head + "gpu 0 numa=-1\n", "file:4: numa=-1 is not a number of 0..65535"},
      {head + "gpu 0 uuid=a\ngpu 1 uuid=a\n", "file:5: gpu 0 and gpu 1 have the same uuid"},
      {head + "link gpu:0 gpu:1\n", "file:4: there is no gpu 0"},
      {head + "gpu 0\nlink gpu:0 gpu:0\n", "file:5: a link needs two different ends"},
      {head + "link gpu:0 toaster:1\n", "toaster:1 is no end of a link; accepted: gpu:ID, switch:ID, cpu:ID"},
      {head + "gpu 0\npeer 0 1\n", "file:5: there is no gpu 1"},
      {head + "gpu 0\ngpu 1\npeer 0 1\npeer 0 1\n", "file:7: peer 0 1 is given twice"},
      {head + "note \"no end\n", "file:4: a quoted text does not end"},
      {head + "note \"\\q\"\n", "file:4: unknown escape in a quoted text; accepted:"},
      {head + "host a b\n", "file:4: 'host' takes 1 word(s), not 2; accepted: host NAME"},
      {head + "host a\nhost b\n", "file:5: 'host' is given twice"},
      {head + "gpu 0 name=a name=b\n", "file:4: key name is given twice"},
      {head + "gpu 0 pcie_gbps=nan\n", "file:4: pcie_gbps=nan is not a number of 0 or more"},
      {head + "allowed 3,1\n", "file:4: allowed takes a rising list"},
      {head + "=x\n", "file:4: unexpected character"},
      {head + "a=b\n", "file:4: a line starts with its keyword"}};
  for (const auto& [text, expected] : cases)
    EXPECT_NE(failure_of(text).find(expected), std::string::npos) << failure_of(text) << "\nexpected: " << expected;
}

TEST(description, refuses_what_is_too_large) {
  EXPECT_NE(failure_of(std::string(max_description_bytes + 1, 'x')).find("larger than 16 MiB"), std::string::npos);
}

}  // namespace
}  // namespace mgsync::topology
