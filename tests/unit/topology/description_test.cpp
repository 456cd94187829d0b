#include <fmt/format.h>
#include <gtest/gtest.h>

#include "small_machines.hpp"
#include "src/base/printable.hpp"
#include "tests/unit/refused.hpp"
#include "topology/cpu_list.hpp"
#include "topology/description.hpp"

namespace mgsync::topology { namespace {

// A description of these members.
std::string with(const std::string& members) {
  return R"({"format": "mgsync-machine", "version": 2, )" + members + "}";
}

std::string refusal_of(const std::string& text) {
  return mgsync::test::refused([&] { read_description(text, "file"); });
}

TEST(cpu_list, is_exact_for_any_order) {
  for (const std::vector<int>& cpus :
       {std::vector<int>{}, {0}, {0, 1, 2, 3}, {3, 2, 1}, {8, 0, 1, 64}, {5, 5}})
    EXPECT_EQ(parse_cpu_list(write_cpu_list(cpus)), cpus);
  EXPECT_EQ(write_cpu_list(std::vector{0, 1, 2, 8, 64, 65}), "0-2,8,64-65");
}

TEST(cpu_list, refuses_what_is_no_list) {
  for (const char* text :
       {",", "0,", "-1", "3-1", "a", "0-", "0-70000", "1 2", "99999999999999999999", "+1", "0x1"})
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

// What would steer a terminal is spelt out once read, and stays so.
TEST(description, round_trip_is_exact) {
  machine m = every_field();
  EXPECT_EQ(read_description(write_description(m), "test").host, one_line(m.host));
  m.host = one_line(m.host);
  EXPECT_EQ(read_description(write_description(m), "test"), m) << write_description(m);
  EXPECT_EQ(read_description(write_description(machine{}), "test"), machine{});
  machine some = m;  // not every pair was asked
  some.peers.erase(some.peers.begin() + 3);
  EXPECT_EQ(read_description(write_description(some), "test"), some);
  machine odd = m;  // in an order that nothing makes any more
  std::swap(odd.peers.front(), odd.peers.back());
  EXPECT_EQ(read_description(write_description(odd), "test"), odd);
}

TEST(description, a_byte_that_is_no_text_is_replaced_once) {
  machine m;
  m.host = "box \xff\xc3";
  m.gpus.emplace_back().name = std::string("a\0b", 3);
  const auto read = read_description(write_description(m), "test");
  EXPECT_EQ(read.host, "box \xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(read.gpus.at(0).name, "a\\u0000b");
  EXPECT_EQ(read_description(write_description(read), "test"), read);
}

TEST(description, is_written_to_be_read_line_by_line) {
  auto m = test::host_machine(1, 4);
  m.gpus.resize(3);
  for (int i = 0; auto& g : m.gpus) g.id = i++;
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to)
      if (from != to) m.peers.push_back({from, to, from != 1, {}, {}, pcie_path::sys});
  m.notes = {"one", "two"};
  EXPECT_EQ(write_description(m), R"({
  "format": "mgsync-machine",
  "version": 2,
  "host": "box",
  "is_this_machine": false,
  "packages": [
    {"id": 0}
  ],
  "numa_nodes": [
    {"id": 0, "package": 0}
  ],
  "cores": [
    {"ids": "0-3", "package": 0, "numa": 0, "cache": 0, "cpus": "0-7"}
  ],
  "allowed_cpus": "0-7",
  "gpus": [
    {"id": 0, "mig": false},
    {"id": 1, "mig": false},
    {"id": 2, "mig": false}
  ],
  "usual_peer": {"access": true, "path": "sys"},
  "peers": [
    {"from": 1, "to": 0, "access": false, "path": "sys"},
    {"from": 1, "to": 2, "access": false, "path": "sys"}
  ],
  "notes": [
    "one",
    "two"
  ]
}
)");
}

TEST(description, usual_peer_is_said_once) {
  const auto m = read_description(
      with(R"("gpus": [{"id": 0}, {"id": 1}, {"id": 2}], "usual_peer": {"access": true, "path": "sys"},
                                         "peers": [{"from": 1, "to": 2, "access": false}])"),
      "test");
  ASSERT_EQ(m.peers.size(), 6U);
  EXPECT_EQ(m.peers[0].access, true);
  EXPECT_EQ(m.peers[3], (peer{1, 2, false, {}, {}, pcie_path::unknown}));
}

TEST(description, comments_order_and_dos_lines) {
  const auto m = read_description(
      "// hers\r\n{\"version\": 2, /* his */ \"packages\": [{\"id\": 0}], // why\r\n\"host\": \"a\",\r\n"
      "\"quota\": null, \"format\": \"mgsync-machine\"}\r\n// end",
      "test");
  EXPECT_EQ(m.host, "a");
  EXPECT_EQ(m.packages.size(), 1U);
}

TEST(description, every_error_says_where_and_what_is_accepted) {
  const std::string head = R"("packages": [{"id": 0}], "numa_nodes": [{"id": 0}], )";
  const std::string two = R"("gpus": [{"id": 0}, {"id": 1}], )";
  const std::string accepted =
      R"(; accepted: JSON with "format": "mgsync-machine" and "version": 2, as mgsync topology --format description writes it, or hwloc XML of version 2)";
  const std::pair<std::string, std::string> cases[] = {
      {"", "file: parse error at line 1, column 1: "},
      {"hello\n", "file: parse error at line 1, column 1: "},
      {"{\n\n \"host\": }", "file: parse error at line 3, column 10: a value is missing here"},
      {"[]", "file: no description of a machine" + accepted},
      {"mgsync-machine 1\nhost a\n",
       "file: a description of version 1, in lines, which is no longer read" + accepted},
      {R"({"format": "mgsync-results"})", "file: no description of a machine" + accepted},
      {R"({"format": "mgsync-machine", "version": 3})", "file: a description of another version" + accepted},
      {with(R"("host": "a", "host": "b")"), "file: the key 'host' stands twice in one object"},
      {with(R"("hosts": "a")"),
       "file: unknown key \"hosts\"; accepted: format, version, host, source, is_this_machine, packages,"},
      {with(R"("host": 3)"), "file: host: expected text"},
      {with(R"("is_this_machine": "yes")"), "file: is_this_machine: expected true or false"},
      {with(head + R"("cores": {})"), "file: cores: expected an array of at most 65535"},
      {with(head + R"("cores": [[]])"), "file: cores[0]: expected an object"},
      {with(head + R"("cores": [{"ids": "1"}])"),
       "file: cores[0].ids: expected a number or FIRST-LAST that begins with 0, the next core"},
      {with(head + R"("cores": [{"ids": "0", "package": 1}])"),
       "file: cores[0].package: there is no package 1"},
      {with(head + R"("cores": [{"ids": "0", "numa": 4}])"), "file: cores[0].numa: there is no NUMA node 4"},
      {with(head + R"("cores": [{"ids": "0", "cpus": "0-70000"}])"),
       R"(file: cores[0].cpus: expected a list in one text, as in "0-3,8", of numbers from 0 to 65535)"},
      {with(head + R"("cores": [{"ids": "0", "cpus": 0}])"),
       "file: cores[0].cpus: expected a list in one text"},
      {with(head + R"("cores": [{"ids": "0-1", "cpus": "0-2"}])"),
       "file: cores[0].cpus: 3 CPUs cannot be shared evenly by 2 cores"},
      {with(head + R"("cores": [{"ids": "0-1", "cpus": "1,1"}])"),
       "file: cores[0].cpus: CPU 1 is in two cores"},
      {with(head + R"("cores": [{"ids": "0-1000000000"}])"),
       "file: cores[0].ids: expected a list in one text"},
      {with(R"("numa_nodes": [{"id": 0}])"), "file: numa_nodes[0].package: there is no package 0"},
      {with(R"("packages": [{"id": 0}], "numa_nodes": [{"id": 4}, {"id": 4}])"),
       "file: numa_nodes[1].id: an earlier entry has the same"},
      {with(R"("gpus": [{}])"), "file: gpus[0].id: missing"},
      {with(R"("gpus": [{"id": 1}])"), "file: gpus[0].id: expected 0: ids count from 0 in order"},
      {with(R"("gpus": [{"id": 0, "color": "red"}])"),
       "file: gpus[0]: unknown key \"color\"; accepted: id, cuda_ordinal, name,"},
      {with(R"("gpus": [{"id": 0, "mig": 1}])"), "file: gpus[0].mig: expected true or false"},
      {with(R"("gpus": [{"id": 0, "numa": -1}])"),
       "file: gpus[0].numa: expected a whole number from 0 to 65535"},
      {with(R"("gpus": [{"id": 0, "cuda_ordinal": 256}])"),
       "file: gpus[0].cuda_ordinal: expected a whole number from 0 to 255"},
      {with(R"("gpus": [{"id": 0, "sm_count": 1.5}])"),
       "file: gpus[0].sm_count: expected a whole number from 0 to 1048576"},
      {with(R"("gpus": [{"id": 0, "memory_bytes": -1}])"),
       "file: gpus[0].memory_bytes: expected a whole number from 0 to 18446744073709551615"},
      {with(R"("gpus": [{"id": 0, "pcie_gbps": -1}])"),
       "file: gpus[0].pcie_gbps: expected a number of 0 or more"},
      {with(R"("gpus": [{"id": 0, "pcie_gbps": 1e999}])"),
       "file: number overflow parsing '1e999'; accepted: JSON with"},
      {with(R"("gpus": [{"id": 0, "uuid": "a"}, {"id": 1, "uuid": "a"}])"),
       "file: gpus[1].uuid: an earlier entry has the same"},
      {with(R"("gpus": [{"id": 0, "cuda_ordinal": 3}, {"id": 1, "cuda_ordinal": 3}])"),
       "file: gpus[1].cuda_ordinal: an earlier entry has the same"},
      {with(R"("links": [{"a": "gpu:0", "b": "gpu:1"}])"), "file: links[0].a: there is no GPU 0"},
      {with(two + R"("links": [{"a": "gpu:0"}])"), "file: links[0].b: missing"},
      {with(two + R"("links": [{"a": "gpu:0", "b": "cpu:1"}])"), "file: links[0].b: there is no package 1"},
      {with(two + R"("links": [{"a": "gpu:0", "b": "gpu:0"}])"),
       "file: links[0].b: expected another end than a"},
      {with(two + R"("links": [{"a": "gpu:0", "b": "toaster:1"}])"),
       R"(file: links[0].b: expected "gpu:ID", "switch:ID" or "cpu:PACKAGE")"},
      {with(two + R"("links": [{"a": "gpu:0", "b": "gpu:1", "width": 2000}])"),
       "file: links[0].width: expected a whole number from 0 to 1024"},
      {with(two + R"("peers": [{"from": 0, "to": 2}])"), "file: peers[0].to: there is no GPU 2"},
      {with(two + R"("peers": [{"from": 0, "to": 0}])"), "file: peers[0].to: expected another GPU than from"},
      {with(two + R"("peers": [{"from": 0, "to": 1}, {"from": 0, "to": 1}])"),
       "file: peers[1].to: an earlier entry has the same, from the same GPU"},
      {with(two + R"("usual_peer": {"path": "near"})"),
       "file: usual_peer.path: expected one of self, pix, pxb, phb, node, sys, unknown, not 'near'"},
      {with(two + R"("usual_peer": {"from": 0})"),
       "file: usual_peer: unknown key \"from\"; accepted: access, atomics, performance_rank, path"},
      {with(R"("notes": ["no end})"), "file: parse error at line 1, column "},
      {with("\"host\": \"\xff\""), "file: parse error at line 1, column 53: a byte that is no UTF-8"},
      {with(R"("quota": {"cpus": 0})"), "file: quota.cpus: expected more than 0"},
      {with(R"("allowed_cpus": "3,1")"), "file: allowed_cpus: expected a rising list"}};
  for (const auto& [text, expected] : cases)
    EXPECT_NE(refusal_of(text).find(expected), std::string::npos)
        << refusal_of(text) << "\nexpected: " << expected;
}

TEST(description, refuses_what_is_too_large) {
  EXPECT_NE(refusal_of(std::string(max_description_bytes + 1, ' ')).find("larger than 64 MiB"),
            std::string::npos);
  EXPECT_NE(refusal_of(std::string(max_description_bytes, '[')).find("nested deeper than 32"),
            std::string::npos);
  std::string many = R"("gpus": [)";
  for (int i = 0; i <= max_gpus; ++i) many += fmt::format(R"({}{{"id": {}}})", i > 0 ? "," : "", i);
  EXPECT_NE(refusal_of(with(many + "]")).find("file: gpus: expected an array of at most 256"),
            std::string::npos);
  std::string listed = R"("packages": [{"id": 0}], "cores": [)";
  for (int i = 0; i < 40; ++i)
    listed += fmt::format(R"({}{{"ids": "0", "cpus": "0-65535"}})", i > 0 ? "," : "");
  EXPECT_NE(
      refusal_of(with(listed + "]")).find("cpus: the lists up to this one hold more than 2097152 numbers"),
      std::string::npos);
}

TEST(description, is_known_by_its_format) {
  EXPECT_TRUE(is_description(write_description(machine{})));
  EXPECT_TRUE(is_description("mgsync-machine 1\n"));
  EXPECT_FALSE(is_description(R"({"format": "mgsync-results", "note": "a \"mgsync-machine\""})"));
}

}}  // namespace mgsync::topology
