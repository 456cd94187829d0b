#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "small_machines.hpp"
#include "tests/unit/refused.hpp"
#include "topology/connection.hpp"
#include "topology/discovery.hpp"
#include "topology/findings.hpp"
#include "topology/reports/reports.hpp"
#include "topology/sources/xml_reader.hpp"

namespace mgsync::topology { namespace {

TEST(xml, our_own_reports_come_back) {
  for (auto m : {test::host_machine(2, 4), test::cube_mesh_machine()}) {
    m.notes = {"a \"note\" with <signs> & \xc3\xa9"};
    m.is_this_machine = true;
    EXPECT_EQ(read_xml(write_xml(m), "file.xml"), m) << write_xml(m);
  }
}

TEST(xml, what_is_no_topology_is_refused_in_one_sentence) {
  for (const char* text :
       {"<", "<topology", "<topology version=\"2.0\"></topology>", "<html></html>",
        "<topology version=\"2.0\"><object type=\"Machine\"/></topology>",
        "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">"
        "<object type=\"Machine\" cpuset=\"0x1\"><object type=\"PU\" os_index=\"0\"/></object></topology>"}) {
    const auto what = mgsync::test::refused([&] { read_xml(text, "file.xml"); });
    EXPECT_NE(what.find("file.xml: bad topology file"), std::string::npos) << text << "\n" << what;
    EXPECT_NE(what.find("accepted: hwloc XML of version 2"), std::string::npos) << what;
  }
}

// The installed hwloc decides; one that cannot gets the remedy named.
TEST(xml, version_three_is_read_where_hwloc_can) {
  std::ifstream file(MGSYNC_MACHINES "/hwloc/nvidiaDGX2.xml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string second = "<topology version=\"2.0\">";
  text.replace(text.find(second), second.size(), "<topology version=\"3.0\">");
  try {
    EXPECT_EQ(read_xml(text, "file.xml").gpus.size(), 16U);
  } catch (const usage_error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("may not know XML of version 3; accepted: version 2 (lstopo --of v2xml)"),
              std::string::npos)
        << error.what();
    EXPECT_LT(hwloc_version(), "3") << error.what();
  }
}

// hwloc's own test. Its NVLinkBandwidth matrix has the links of GPUs to switches, and none between switches:
// a DGX-2 is one domain, and this file does not say so.
TEST(xml, what_joins_switches_is_unknown_where_the_file_does_not_tell) {
  std::ifstream file(MGSYNC_MACHINES "/hwloc/nvidiaDGX2.xml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto m = read_xml(text, "nvidiaDGX2.xml");
  ASSERT_EQ(m.gpus.size(), 16U);
  EXPECT_EQ(m.switches.size(), 12U);
  EXPECT_EQ(switch_domains(m), 2);
  const connection_table c(m);
  for (int a = 0; a < 16; ++a)
    for (int b = 0; b < 16; ++b)
      if (a != b) { EXPECT_EQ(matrix_word(c(a, b)), a / 8 == b / 8 ? "NV6" : "?") << a << " " << b; }
  EXPECT_EQ(c(0, 8).gbps, 0) << "not what PCIe carries";
  const std::vector<rank_view> views{{0, 0, m}};
  const auto found = find_problems(views, 0);
  const auto unknown =
      std::find_if(found.begin(), found.end(), [](auto& f) { return f.name == "unknown-links"; });
  ASSERT_NE(unknown, found.end());
  EXPECT_NE(unknown->what.find("2 domains of NVSwitches"), std::string::npos) << unknown->what;
  EXPECT_NE(write_report(views, {"text", 0, true})
                .find("switched by 12 NVSwitches, in 2 domains whose links to each other "
                      "are unknown"),
            std::string::npos);
  // Once links between switches are told, what they do not join is not joined.
  m.links.push_back({{end_kind::nvswitch, 0}, {end_kind::nvswitch, 1}, 8, 2, 25});
  EXPECT_EQ(matrix_word(connection_table(m)(0, 8)), "SYS");
}

// What hwloc's NVML, CUDA and PCI plugins leave in a file: no line of ours.
std::string foreign(const std::string& devices, const std::string& matrix) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
         "version=\"2.0\">\n"
         "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
         "allowed_cpuset=\"0x3\" "
         "nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\n"
         "<info name=\"HostName\" value=\"foreign\"/>\n"
         "<object type=\"Package\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
         "complete_nodeset=\"0x1\" gp_index=\"2\">\n"
         "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
         "complete_nodeset=\"0x1\" gp_index=\"3\"/>\n"
         "<object type=\"Core\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
         "complete_nodeset=\"0x1\" gp_index=\"4\"><object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" "
         "complete_cpuset=\"0x1\" "
         "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"5\"/></object>\n"
         "<object type=\"Core\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x1\" "
         "complete_nodeset=\"0x1\" gp_index=\"6\"><object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" "
         "complete_cpuset=\"0x2\" "
         "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"7\"/></object>\n" +
         devices + "</object></object>\n" + matrix + "</topology>\n";
}

std::string bridge(int index, const std::string& kind, const std::string& range, const std::string& inside) {
  return "<object type=\"Bridge\" gp_index=\"" + std::to_string(index) + "\" bridge_type=\"" + kind +
         "\" depth=\"0\" bridge_pci=\"0000:[" + range + "]\"" +
         (kind == "1-1" ? " pci_busid=\"0000:" + range.substr(0, 2) +
                              ":01.0\" pci_type=\"0604 [8086:0000] [0000:0000] 00\""
                        : "") +
         ">\n" + inside + "</object>\n";
}

std::string card(int index, const std::string& bus, int number) {
  const auto n = std::to_string(number);
  return "<object type=\"PCIDev\" gp_index=\"" + std::to_string(index) + "\" pci_busid=\"0000:" + bus +
         ":00.0\" pci_type=\"0302 [10de:20b0] [10de:134f] a1\" pci_link_speed=\"31.507692\">\n"
         "<object type=\"OSDev\" gp_index=\"" +
         std::to_string(index + 1) + "\" name=\"nvml" + n +
         "\" subtype=\"NVML\" osdev_type=\"1\"><info name=\"Backend\" value=\"NVML\"/><info "
         "name=\"GPUModel\" "
         "value=\"A100\"/>"
         "<info name=\"NVIDIAUUID\" value=\"GPU-" +
         n +
         "\"/></object>\n"
         "<object type=\"OSDev\" gp_index=\"" +
         std::to_string(index + 2) + "\" name=\"cuda" + n +
         "\" subtype=\"CUDA\" osdev_type=\"5\"><info name=\"CUDAMultiProcessors\" "
         "value=\"108\"/></object>\n</object>\n";
}

TEST(xml, gpus_paths_and_links_of_hwlocs_own_plugins) {
  const auto devices =
      bridge(10, "0-1", "01-04", bridge(11, "1-1", "01-02", card(20, "01", 0) + card(30, "02", 1))) +
      bridge(12, "0-1", "05-05", card(40, "05", 2));
  const std::string indexes = "OSDev:21 OSDev:31 OSDev:41 ",
                    values = "1000000 50000 0 50000 1000000 0 0 0 1000000 ";
  const auto m =
      read_xml(foreign(devices, "<distances2hetero nbobjs=\"3\" kind=\"25\" name=\"NVLinkBandwidth\">"
                                "<indexes length=\"" +
                                    std::to_string(indexes.size()) + "\">" + indexes +
                                    "</indexes><u64values length=\"" + std::to_string(values.size()) + "\">" +
                                    values + "</u64values></distances2hetero>\n"),
               "file.xml");
  EXPECT_EQ(m.host, "foreign");
  ASSERT_EQ(m.gpus.size(), 3U);
  EXPECT_EQ(m.gpus[1].uuid, "GPU-1");
  EXPECT_EQ(m.gpus[2].pci_bus_id, "0000:05:00.0");
  EXPECT_EQ(m.gpus[2].cuda_ordinal, 2);
  EXPECT_EQ(m.gpus[2].sm_count, 108);
  EXPECT_EQ(m.gpus[0].near_cpus, (std::vector{0, 1}));
  const connection_table c(m);
  EXPECT_EQ(matrix_word(c(0, 1)), "NV2");
  EXPECT_EQ(c(0, 1).path, pcie_path::pix);
  EXPECT_EQ(matrix_word(c(0, 2)), "NODE");
  EXPECT_FALSE(c(0, 1).access) << "hwloc does not say";
  EXPECT_EQ(m.notes.size(), 2U);
}

// A network card with its verbs and its interface.
std::string network_card(int index, const std::string& bus) {
  const auto device = [&](int more, const std::string& name, int type) {
    return "<object type=\"OSDev\" gp_index=\"" + std::to_string(index + more) + "\" name=\"" + name +
           "\" osdev_type=\"" + std::to_string(type) + "\"/>\n";
  };
  return "<object type=\"PCIDev\" gp_index=\"" + std::to_string(index) + "\" pci_busid=\"0000:" + bus +
         ":00.0\" pci_type=\"0207 [15b3:1021] [15b3:0000] 00\" pci_link_speed=\"63\">\n" +
         device(1, "ib0", 2) + device(2, "mlx5_0", 3) + "</object>\n";
}

TEST(xml, network_cards_of_hwloc_stand_beside_the_gpus_of_their_switch) {
  const auto m =
      read_xml(foreign(bridge(10, "0-1", "01-04",
                              bridge(11, "1-1", "01-02", card(20, "01", 0) + network_card(30, "02"))) +
                           bridge(12, "0-1", "05-05", card(40, "05", 1)),
                       ""),
               "file.xml");
  ASSERT_EQ(m.nics.size(), 1U);
  EXPECT_EQ(m.nics[0].name, "mlx5_0");
  EXPECT_EQ(m.nics[0].interface, "ib0");
  EXPECT_EQ(m.nics[0].pci_bus_id, "0000:02:00.0");
  EXPECT_EQ(m.nics[0].numa, 0);
  EXPECT_EQ(m.nics[0].gpu_paths, (std::vector{pcie_path::pix, pcie_path::node}));
}

}}  // namespace mgsync::topology
