// NVML, loaded at run time. Its types are declared here as its documentation fixes them (the versioned entry
// points keep their ABI), so that neither its header nor the library is needed to build.
#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <type_traits>

#include <fmt/format.h>

#include "topology/sources/dynamic_library.hpp"
#include "topology/sources/gpu_answers.hpp"

namespace mgsync::topology {
namespace {

// NVML counts versions, not generations: 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0. 0: one that this does not know.
int nvlink_generation(unsigned version) {
  constexpr std::array generations = {0, 1, 2, 2, 3, 3, 4, 5};
  return version < generations.size() ? generations[version] : 0;
}

using status = int;  // nvmlReturn_t
using device = void*;
constexpr status success = 0;

struct pci_info {  // nvmlPciInfo_t
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct memory_info {  // nvmlMemory_t
  unsigned long long total, free, used;
};

struct field_value {  // nvmlFieldValue_t
  unsigned field_id, scope_id;
  long long timestamp, latency_us;
  int value_type;
  status result;
  union {
    double real;
    unsigned int number;
    unsigned long count;
    unsigned long long large;
    long long signed_large;
  } value;
};

// The functions that are used; each may be missing in an old driver.
struct functions {
  explicit functions(const dynamic_library& library) {
    const auto load = [&](auto*& function, const char* symbol) {
      function = library.find<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(symbol);
    };
    load(init, "nvmlInit_v2");
    load(shutdown, "nvmlShutdown");
    load(error_string, "nvmlErrorString");
    load(count, "nvmlDeviceGetCount_v2");
    load(handle, "nvmlDeviceGetHandleByIndex_v2");
    load(name, "nvmlDeviceGetName");
    load(uuid, "nvmlDeviceGetUUID");
    load(pci, "nvmlDeviceGetPciInfo_v3");
    load(memory, "nvmlDeviceGetMemoryInfo");
    load(capability, "nvmlDeviceGetCudaComputeCapability");
    load(max_clock, "nvmlDeviceGetMaxClockInfo");
    load(mig_mode, "nvmlDeviceGetMigMode");
    load(mig_count, "nvmlDeviceGetMaxMigDeviceCount");
    load(mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
    load(cpu_affinity, "nvmlDeviceGetCpuAffinity");
    load(memory_affinity, "nvmlDeviceGetMemoryAffinity");
    load(pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
    load(pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
    load(link_state, "nvmlDeviceGetNvLinkState");
    load(link_version, "nvmlDeviceGetNvLinkVersion");
    load(link_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    load(link_remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType");
    load(fields, "nvmlDeviceGetFieldValues");
    load(ancestor, "nvmlDeviceGetTopologyCommonAncestor");
    load(p2p, "nvmlDeviceGetP2PStatus");
  }

  status (*init)() = nullptr;
  status (*shutdown)() = nullptr;
  const char* (*error_string)(status) = nullptr;
  status (*count)(unsigned*) = nullptr;
  status (*handle)(unsigned, device*) = nullptr;
  status (*name)(device, char*, unsigned) = nullptr;
  status (*uuid)(device, char*, unsigned) = nullptr;
  status (*pci)(device, pci_info*) = nullptr;
  status (*memory)(device, memory_info*) = nullptr;
  status (*capability)(device, int*, int*) = nullptr;
  status (*max_clock)(device, int, unsigned*) = nullptr;
  status (*mig_mode)(device, unsigned*, unsigned*) = nullptr;
  status (*mig_count)(device, unsigned*) = nullptr;
  status (*mig_handle)(device, unsigned, device*) = nullptr;
  status (*cpu_affinity)(device, unsigned, unsigned long*) = nullptr;
  status (*memory_affinity)(device, unsigned, unsigned long*, unsigned) = nullptr;
  status (*pcie_generation)(device, unsigned*) = nullptr;
  status (*pcie_width)(device, unsigned*) = nullptr;
  status (*link_state)(device, unsigned, int*) = nullptr;
  status (*link_version)(device, unsigned, unsigned*) = nullptr;
  status (*link_remote)(device, unsigned, pci_info*) = nullptr;
  status (*link_remote_type)(device, unsigned, int*) = nullptr;
  status (*fields)(device, int, field_value*) = nullptr;
  status (*ancestor)(device, device, int*) = nullptr;
  status (*p2p)(device, device, int, int*) = nullptr;
};

template <class Function, class... Arguments>
bool ok(Function* function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == success;
}

std::vector<int> set_bits(std::span<const unsigned long> words) {
  std::vector<int> bits;
  constexpr int width = 8 * sizeof(unsigned long);
  for (std::size_t word = 0; word < words.size(); ++word)
    for (int bit = 0; bit < width; ++bit)
      if ((words[word] >> bit & 1UL) != 0) bits.push_back(static_cast<int>(word) * width + bit);
  return bits;
}

// What one lane of a PCIe generation carries in one direction, GB/s.
std::optional<double> pcie_lane_gbps(unsigned generation) {
  constexpr std::array<double, 6> lanes = {0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (generation < 1 || generation > lanes.size()) return std::nullopt;
  return lanes[generation - 1];
}

void describe(const functions& nvml, device d, gpu& g) {
  std::array<char, 128> text{};
  if (ok(nvml.name, d, text.data(), 128U)) g.name = text.data();
  if (ok(nvml.uuid, d, text.data(), 128U)) g.uuid = text.data();
  if (pci_info pci{}; ok(nvml.pci, d, &pci)) g.pci_bus_id = plain_bus_id(pci.bus_id);
  if (memory_info memory{}; ok(nvml.memory, d, &memory)) g.memory_bytes = memory.total;
  if (int major = 0, minor = 0; ok(nvml.capability, d, &major, &minor)) {
    g.compute_major = major;
    g.compute_minor = minor;
  }
  constexpr int sm_clock = 1;
  if (unsigned mhz = 0; ok(nvml.max_clock, d, sm_clock, &mhz)) g.sm_clock_mhz = static_cast<int>(mhz);
  if (unsigned current = 0, pending = 0; ok(nvml.mig_mode, d, &current, &pending)) g.mig = current == 1;
  std::array<unsigned long, 64> set{};
  if (ok(nvml.cpu_affinity, d, 64U, set.data())) g.near_cpus = set_bits(set);
  set.fill(0);
  constexpr unsigned scope_node = 0;
  if (ok(nvml.memory_affinity, d, 64U, set.data(), scope_node))
    if (const auto nodes = set_bits(set); nodes.size() == 1) g.numa = nodes.front();
  unsigned generation = 0, width = 0;
  if (ok(nvml.pcie_generation, d, &generation) && ok(nvml.pcie_width, d, &width))
    if (const auto lane = pcie_lane_gbps(generation)) g.pcie_gbps = *lane * width;
}

std::optional<unsigned> field_number(const functions& nvml, device d, unsigned field, unsigned scope) {
  field_value value{};
  value.field_id = field;
  value.scope_id = scope;
  if (!ok(nvml.fields, d, 1, &value) || value.result != success) return std::nullopt;
  return value.value.number;
}

// The speed of one link in one direction. Field 164 is per link (driver 450 and later), field 90 is common to
// all.
double link_gbps(const functions& nvml, device d, unsigned link) {
  if (const auto mbps = field_number(nvml, d, 164, link); mbps && *mbps > 0) return *mbps / 1000.0;
  return field_number(nvml, d, 90, 0).value_or(0) / 1000.0;
}

// The class of a PCI device as the kernel writes it; empty: this machine has no such device.
std::string pci_class(const std::string& bus_id) {
  std::string value;
  std::ifstream("/sys/bus/pci/devices/" + bus_id + "/class") >> value;
  return value;
}

// In a virtual machine the other end can be an address of the host, or all ones: an address without a device
// on this machine is taken as unknown. Drivers that do not tell the kind of device leave it to its class:
// 0680 ("bridge, other") is a switch.
void identify(nvml_link& link) {
  if (link.remote == remote_kind::gpu) return;
  const auto device_class = pci_class(link.remote_bus_id);
  if (device_class.empty()) link.remote_bus_id.clear();
  if (link.remote == remote_kind::unknown && device_class.starts_with("0x0680"))
    link.remote = remote_kind::nvswitch;
}

// NVLink-C2C between a GPU and the CPU beside it (Grace): fields 170..172 are count, state and MB/s.
void add_chip_links(const functions& nvml, device d, std::vector<nvml_link>& links) {
  constexpr unsigned most = 64;
  const unsigned count = std::min(field_number(nvml, d, 170, 0).value_or(0), most);
  for (unsigned i = 0; i < count; ++i)
    if (field_number(nvml, d, 171, i) == 1U)
      links.push_back({remote_kind::cpu, "", 0, field_number(nvml, d, 172, i).value_or(0) / 1000.0, true});
}

std::vector<nvml_link> links_of(const functions& nvml, device d) {
  constexpr unsigned most_links = 18;  // NVML_NVLINK_MAX_LINKS
  std::vector<nvml_link> links;
  for (unsigned i = 0; i < most_links; ++i) {
    if (int active = 0; !ok(nvml.link_state, d, i, &active) || active != 1) continue;
    nvml_link link;
    if (unsigned version = 0; ok(nvml.link_version, d, i, &version))
      link.version = nvlink_generation(version);
    if (int type = 255; ok(nvml.link_remote_type, d, i, &type) && type >= 0 && type <= 2)
      link.remote = static_cast<remote_kind>(type);
    if (pci_info pci{}; ok(nvml.link_remote, d, i, &pci)) link.remote_bus_id = plain_bus_id(pci.bus_id);
    identify(link);
    link.gbps = link_gbps(nvml, d, i);
    links.push_back(std::move(link));
  }
  add_chip_links(nvml, d, links);
  return links;
}

std::vector<std::string> mig_uuids(const functions& nvml, device d) {
  std::vector<std::string> uuids;
  unsigned most = 0;
  if (!ok(nvml.mig_count, d, &most)) return uuids;
  for (unsigned i = 0; i < most; ++i) {
    device slice = nullptr;
    std::array<char, 128> text{};
    if (ok(nvml.mig_handle, d, i, &slice) && ok(nvml.uuid, slice, text.data(), 128U))
      uuids.emplace_back(text.data());
  }
  return uuids;
}

pcie_path path_of(int level) {
  switch (level) {
  case 0: return pcie_path::pix;  // one board
  case 10: return pcie_path::pix;
  case 20: return pcie_path::pxb;
  case 30: return pcie_path::phb;
  case 40: return pcie_path::node;
  case 50: return pcie_path::sys;
  default: return pcie_path::unknown;
  }
}

nvml_pair pair_of(const functions& nvml, int from, int to, device a, device b) {
  nvml_pair pair{from, to, pcie_path::unknown, {}, {}};
  if (int level = -1; ok(nvml.ancestor, a, b, &level)) pair.path = path_of(level);
  constexpr int read = 0, atomics = 3;
  if (int p2p = -1; ok(nvml.p2p, a, b, read, &p2p)) pair.access = p2p == 0;
  if (int p2p = -1; ok(nvml.p2p, a, b, atomics, &p2p)) pair.atomics = p2p == 0;
  return pair;
}

void read_all(const functions& nvml, nvml_answer& answer) {
  unsigned count = 0;
  if (!ok(nvml.count, &count)) return;
  std::vector<device> devices;
  for (unsigned i = 0; i < count; ++i) {
    device d = nullptr;
    if (!ok(nvml.handle, i, &d)) {
      answer.closed.push_back(i);
      continue;
    }
    nvml_gpu entry;
    entry.gpu.id = static_cast<int>(devices.size());
    describe(nvml, d, entry.gpu);
    entry.links = links_of(nvml, d);
    if (entry.gpu.mig) entry.mig_uuids = mig_uuids(nvml, d);
    answer.gpus.push_back(std::move(entry));
    devices.push_back(d);
  }
  for (std::size_t from = 0; from < devices.size(); ++from)
    for (std::size_t to = 0; to < devices.size(); ++to)
      if (from != to)
        answer.pairs.push_back(
            pair_of(nvml, static_cast<int>(from), static_cast<int>(to), devices[from], devices[to]));
}

}  // namespace

nvml_answer ask_nvml() {
  nvml_answer answer;
  dynamic_library library("libnvidia-ml.so.1");
  if (!library) {
    answer.notes.push_back("No NVIDIA driver here: libnvidia-ml.so.1 is not found.");
    return answer;
  }
  const functions nvml(library);
  if (nvml.init == nullptr || nvml.count == nullptr || nvml.handle == nullptr) {
    answer.notes.push_back("libnvidia-ml.so.1 is too old: it lacks nvmlInit_v2 or the calls that list GPUs.");
    return answer;
  }
  if (const status result = nvml.init(); result != success) {
    answer.notes.push_back(fmt::format("NVML does not start: {}.", nvml.error_string != nullptr
                                                                       ? nvml.error_string(result)
                                                                       : "unknown error"));
    return answer;
  }
  answer.answered = true;
  read_all(nvml, answer);
  if (nvml.shutdown != nullptr) nvml.shutdown();
  return answer;
}

}  // namespace mgsync::topology
