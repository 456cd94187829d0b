#include <gtest/gtest.h>

#include "small_machines.hpp"
#include "topology/connection.hpp"
#include "topology/sources/gpu_answers.hpp"
#include "topology/sources/visible_devices.hpp"

namespace mgsync::topology { namespace {

// What NVML says of `count` GPUs, each with `links` links to `remote`.
nvml_answer nvml_of(int count, int links = 0, nvml_link remote = {}) {
  nvml_answer answer;
  answer.answered = true;
  for (int i = 0; i < count; ++i) {
    nvml_gpu g;
    g.gpu.id = i;
    g.gpu.name = "NVIDIA H200";
    g.gpu.uuid = "GPU-0000000" + std::to_string(i) + "-aaaa";
    g.gpu.pci_bus_id = "0000:0" + std::to_string(i) + ":00.0";
    g.links.assign(static_cast<std::size_t>(links), remote);
    answer.gpus.push_back(g);
  }
  return answer;
}

// What CUDA shows: the GPUs with these places in NVML's answer, in this order.
cuda_answer cuda_of(const nvml_answer& nvml, const std::vector<int>& shown) {
  cuda_answer answer;
  answer.answered = true;
  for (const int place : shown) {
    const auto& seen = nvml.gpus[static_cast<std::size_t>(place)].gpu;
    gpu g;
    g.id = static_cast<int>(answer.gpus.size());
    g.cuda_ordinal = g.id;
    g.uuid = seen.uuid.substr(4);
    g.pci_bus_id = seen.pci_bus_id;
    g.sm_count = 132;
    answer.gpus.push_back(g);
  }
  for (const auto& a : answer.gpus)
    for (const auto& b : answer.gpus)
      if (a.id != b.id) answer.peers.push_back({a.id, b.id, true, true, 0, pcie_path::unknown});
  return answer;
}

machine joined(const nvml_answer& nvml, const cuda_answer& cuda, machine m = test::host_machine(1, 4)) {
  join_gpus(m, nvml, cuda);
  return m;
}

TEST(bus_id, is_written_one_way) {
  EXPECT_EQ(plain_bus_id("00000000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(plain_bus_id("0000:1b:00.0"), "0000:1b:00.0");
  EXPECT_EQ(plain_bus_id("00010001:1B:00.0"), "10001:1b:00.0");
  EXPECT_EQ(plain_bus_id(""), "");
}

TEST(gpu_join, links_with_no_known_end_are_a_hidden_switch) {
  const auto nvml = nvml_of(4, 18, {remote_kind::unknown, "", 4, 26.562});
  const auto m = joined(nvml, cuda_of(nvml, {0, 1, 2, 3}));
  ASSERT_EQ(m.switches.size(), 1U);
  EXPECT_TRUE(switches_hidden(m));
  EXPECT_EQ(m.links.size(), 4U);
  const connection_table c(m);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) EXPECT_EQ(matrix_word(c(a, b)), a == b ? "X" : "NV18");
  EXPECT_EQ(m.gpus[0].near_cpus, (std::vector{0, 1, 2, 3, 4, 5, 6, 7})) << "one NUMA node: all of it is near";
}

TEST(gpu_join, switches_without_identity_are_hidden_too) {
  const auto nvml = nvml_of(2, 12, {remote_kind::nvswitch, "", 3, 0});
  const auto m = joined(nvml, cuda_of(nvml, {0, 1}));
  EXPECT_TRUE(switches_hidden(m));
  EXPECT_EQ(m.links[0].gbps_each, 25) << "the nominal speed of the generation";
}

TEST(gpu_join, visible_switches_keep_their_bus_ids) {
  auto nvml = nvml_of(2);
  for (auto& g : nvml.gpus)
    for (const char* bus : {"0000:c4:00.0", "0000:c4:00.0", "0000:c5:00.0"})
      g.links.push_back({remote_kind::nvswitch, bus, 3, 25});
  const auto m = joined(nvml, cuda_of(nvml, {0, 1}));
  EXPECT_EQ(m.switches.size(), 2U);
  EXPECT_EQ(m.links.size(), 4U);
  EXPECT_EQ(matrix_word(connection_table(m)(0, 1)), "NV3");
  EXPECT_FALSE(switches_hidden(m));
}

TEST(gpu_join, a_link_between_gpus_is_counted_once) {
  auto nvml = nvml_of(2);
  nvml.gpus[0].links.assign(2, {remote_kind::gpu, "0000:01:00.0", 2, 25});
  nvml.gpus[1].links.assign(2, {remote_kind::gpu, "0000:00:00.0", 2, 25});
  const auto m = joined(nvml, cuda_of(nvml, {0, 1}));
  ASSERT_EQ(m.links.size(), 1U);
  EXPECT_EQ(m.links[0].width, 2);
}

TEST(gpu_join, links_to_gpus_that_a_container_hides_are_a_note) {
  auto nvml = nvml_of(1);
  nvml.gpus[0].links.assign(3, {remote_kind::gpu, "0000:0f:00.0", 2, 25});
  const auto m = joined(nvml, cuda_of(nvml, {0}));
  EXPECT_TRUE(m.links.empty());
  ASSERT_EQ(m.notes.size(), 1U);
  EXPECT_NE(m.notes[0].find("3 NVLinks end in GPUs that are not visible"), std::string::npos);
}

TEST(gpu_join, gpus_of_the_bus_that_no_driver_shows_are_known) {
  auto nvml = nvml_of(2);  // 0000:00:00.0 and 0000:01:00.0
  const auto cuda = cuda_of(nvml, {0, 1});
  const auto with = [&](const std::vector<std::string>& pci, const std::optional<std::string>& visible) {
    auto m = joined(nvml, cuda);
    add_problems(m, nvml, cuda, pci, visible);
    return m;
  };
  EXPECT_TRUE(with({"0000:00:00.0", "0000:01:00.0"}, std::nullopt).unseen_gpus.empty());
  EXPECT_EQ(with({"0000:00:00.0", "0000:01:00.0", "0000:ab:00.0"}, std::nullopt).unseen_gpus,
            std::vector<std::string>{"0000:ab:00.0"});
  EXPECT_EQ(with({}, "7").cuda_problem,
            "CUDA_VISIBLE_DEVICES='7': '7' names no GPU here; CUDA hides it and every entry after it.");
  EXPECT_EQ(with({}, "1,0").cuda_problem, "");
  nvml.closed = {2};
  EXPECT_EQ(with({}, std::nullopt).unseen_gpus, std::vector<std::string>{"number 2 of NVML"})
      << "the bus tells nothing";
  EXPECT_EQ(with({"0000:ab:00.0"}, std::nullopt).unseen_gpus, std::vector<std::string>{"0000:ab:00.0"});
}

TEST(gpu_join, says_why_cuda_shows_nothing) {
  const auto nvml = nvml_of(2);
  cuda_answer cuda;
  cuda.notes = {"The CUDA driver shows no GPU: CUDA driver version is insufficient."};
  auto m = joined(nvml, cuda);
  add_problems(m, nvml, cuda, {}, std::nullopt);
  EXPECT_EQ(m.cuda_problem, cuda.notes.front());
}

TEST(gpu_join, cuda_may_show_some_in_any_order) {
  const auto nvml = nvml_of(3);
  const auto m = joined(nvml, cuda_of(nvml, {2, 0}));
  ASSERT_EQ(m.gpus.size(), 3U);
  EXPECT_EQ(m.gpus[0].cuda_ordinal, 1);
  EXPECT_FALSE(m.gpus[1].cuda_ordinal);
  EXPECT_EQ(m.gpus[2].cuda_ordinal, 0);
  EXPECT_EQ(m.gpus[2].sm_count, 132);
  ASSERT_EQ(m.peers.size(), 6U);
  for (const auto& p : m.peers) EXPECT_EQ(p.access.has_value(), p.from != 1 && p.to != 1);
}

TEST(gpu_join, a_mig_slice_stands_for_its_gpu) {
  auto nvml = nvml_of(2);
  nvml.gpus[0].gpu.mig = true;
  nvml.gpus[0].mig_uuids = {"MIG-slice-a", "MIG-slice-b"};
  nvml.gpus[0].links.assign(12, {remote_kind::unknown, "", 3, 25});
  auto cuda = cuda_of(nvml, {0});
  cuda.gpus[0].uuid = "slice-b";
  cuda.gpus[0].sm_count = 14;
  const auto m = joined(nvml, cuda);
  ASSERT_EQ(m.gpus.size(), 2U);
  EXPECT_EQ(m.gpus[0].uuid, "MIG-slice-b");
  EXPECT_TRUE(m.gpus[0].mig);
  EXPECT_EQ(m.gpus[0].cuda_ordinal, 0);
  EXPECT_EQ(m.gpus[0].sm_count, 14);
  EXPECT_TRUE(m.links.empty()) << "a slice has no NVLink";
}

TEST(gpu_join, two_slices_of_one_gpu_are_two_gpus) {
  auto nvml = nvml_of(1);
  nvml.gpus[0].gpu.mig = true;
  nvml.gpus[0].mig_uuids = {"MIG-slice-a", "MIG-slice-b"};
  auto cuda = cuda_of(nvml, {0, 0});
  cuda.gpus[0].uuid = "slice-a";
  cuda.gpus[1].uuid = "slice-b";
  const auto m = joined(nvml, cuda);
  ASSERT_EQ(m.gpus.size(), 2U);
  EXPECT_EQ(m.gpus[0].uuid, "MIG-slice-a");
  EXPECT_EQ(m.gpus[1].uuid, "MIG-slice-b");
  EXPECT_EQ(m.gpus[1].cuda_ordinal, 1);
}

TEST(gpu_join, cuda_alone_is_enough) {
  const auto known = nvml_of(2);
  nvml_answer none;
  none.notes = {"No NVIDIA driver here: libnvidia-ml.so.1 is not found."};
  const auto m = joined(none, cuda_of(known, {0, 1}));
  ASSERT_EQ(m.gpus.size(), 2U);
  EXPECT_EQ(m.gpus[0].uuid, "GPU-00000000-aaaa");
  EXPECT_EQ(m.peers.size(), 2U);
  EXPECT_EQ(m.notes, none.notes);
}

TEST(gpu_join, no_driver_is_one_sentence) {
  nvml_answer nvml;
  nvml.notes = {"no NVML"};
  cuda_answer cuda;
  cuda.notes = {"no CUDA"};
  const auto m = joined(nvml, cuda);
  EXPECT_TRUE(m.gpus.empty());
  EXPECT_EQ(m.notes, std::vector<std::string>{"no NVML"});
}

TEST(gpu_join, nvml_alone_says_what_the_hardware_can) {
  auto nvml = nvml_of(2);
  nvml.pairs = {{0, 1, pcie_path::pix, true, false}, {1, 0, pcie_path::pix, true, false}};
  const auto m = joined(nvml, {});
  ASSERT_EQ(m.peers.size(), 2U);
  EXPECT_EQ(m.peers[0].access, true);
  EXPECT_EQ(m.peers[0].path, pcie_path::pix);
  EXPECT_FALSE(m.gpus[0].cuda_ordinal);
}

TEST(gpu_join, a_numa_node_of_gpu_memory_is_no_place_for_threads) {
  auto nvml = nvml_of(1);
  nvml.gpus[0].gpu.numa = 9;
  nvml.gpus[0].gpu.near_cpus = {4, 5};
  const auto m = joined(nvml, cuda_of(nvml, {0}), test::host_machine(2, 4));
  EXPECT_EQ(m.gpus[0].numa, 1);
}

TEST(gpu_join, a_link_to_the_cpu_ends_in_its_package) {
  auto nvml = nvml_of(1);
  nvml.gpus[0].gpu.numa = 1;
  nvml.gpus[0].links.assign(3, {remote_kind::cpu, "0004:00:00.0", 2, 25});
  const auto m = joined(nvml, cuda_of(nvml, {0}), test::host_machine(2, 4));
  ASSERT_EQ(m.links.size(), 1U);
  EXPECT_EQ(m.links[0].b, (link_end{end_kind::cpu, 1}));
  EXPECT_EQ(m.links[0].width, 3);
  EXPECT_FALSE(m.links[0].c2c) << "the CPU has NVLink";
  for (auto& l : nvml.gpus[0].links) l.c2c = true;
  const auto of_grace = joined(nvml, cuda_of(nvml, {0}), test::host_machine(2, 4));
  ASSERT_EQ(of_grace.links.size(), 1U);
  EXPECT_TRUE(of_grace.links[0].c2c);
}

TEST(visible_devices, every_form_that_names_a_gpu_is_fine) {
  auto nvml = nvml_of(4);
  nvml.gpus[3].mig_uuids = {"MIG-1111", "MIG-2222"};
  for (const char* value : {"0", "3,0", " 1 , 2 ", "GPU-00000002-aaaa", "GPU-00000001", "MIG-2222",
                            "0,GPU-00000003", "MIG-GPU-00000003-aaaa/1/0"})
    EXPECT_EQ(visible_devices_problem(value, nvml), "") << value;
}

TEST(visible_devices, what_cuda_silently_drops_is_said) {
  const auto nvml = nvml_of(4);
  const std::pair<const char*, const char*> cases[] = {
      {"", "is empty: CUDA shows no GPU"},     {"-1", "'-1' names no GPU here"},
      {"0,9,1", "'9' names no GPU here"},      {"0,,1", "'' names no GPU here"},
      {"NoDevFiles", "'NoDevFiles' names no"}, {"GPU-0", "begins the UUIDs of 4 GPUs"},
      {"1,1", "names one GPU twice"},          {"01,1", "names one GPU twice"},
      {"GPU-ffff", "'GPU-ffff' names no GPU"}, {"MIG-1", "'MIG-1' names no GPU"}};
  for (const auto& [value, expected] : cases)
    EXPECT_NE(visible_devices_problem(value, nvml).find(expected), std::string::npos)
        << value << ": " << visible_devices_problem(value, nvml);
}

}}  // namespace mgsync::topology
