// What NVML and the CUDA driver report about the GPUs, as plain values, and the functions that join both into
// one machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/gpu.hpp"
#include "topology/link.hpp"
#include "topology/machine.hpp"

namespace mgsync::topology {

// The other end of a NVLink as NVML names it; unknown: a virtual machine hides it.
enum class remote_kind { gpu, cpu, nvswitch, unknown };

struct nvml_link {
  remote_kind remote = remote_kind::unknown;
  std::string remote_bus_id;  // empty: not told
  int version = 0;
  double gbps = 0;  // 0: not told
  bool c2c = false;
};

struct nvml_gpu {
  topology::gpu gpu;                   // its id is its place in the answer
  std::vector<nvml_link> links;        // the active ones
  std::vector<std::string> mig_uuids;  // of its slices
};

struct nvml_pair {
  int from = 0;
  int to = 0;
  pcie_path path = pcie_path::unknown;
  std::optional<bool> access;
  std::optional<bool> atomics;
};

struct nvml_answer {
  bool answered = false;
  std::vector<nvml_gpu> gpus;
  std::vector<nvml_pair> pairs;  // by place in `gpus`
  std::vector<unsigned> closed;  // indices of GPUs that NVML counts but cannot open
  std::vector<std::string> notes;
};

struct cuda_answer {
  bool answered = false;
  std::vector<topology::gpu> gpus;  // in the order of their ordinals; uuid without "GPU-" or "MIG-"
  std::vector<peer> peers;          // by ordinal
  std::vector<std::string> notes;
};

nvml_answer ask_nvml();
cuda_answer ask_cuda();

// The NVIDIA GPUs of this host's PCI bus as the kernel lists them, whoever may use them; `folder` is for
// tests.
std::vector<std::string> pci_gpus(const std::filesystem::path& folder = "/sys/bus/pci/devices");

// Pure: joins both answers (by UUID, then by PCI bus id) into machine.gpus, switches, links, peers and notes.
void join_gpus(machine&, const nvml_answer&, const cuda_answer&);

// Pure: what is wrong with the GPUs of a joined machine: machine.unseen_gpus and cuda_problem. `pci`: all
// that the bus holds; `visible`: CUDA_VISIBLE_DEVICES.
void add_problems(machine&, const nvml_answer&, const cuda_answer&, std::span<const std::string> pci,
                  const std::optional<std::string>& visible);

// "00000000:1B:00.0" and "0000:1b:00.0" are one GPU: four digits of domain (more when needed), lower case.
std::string plain_bus_id(std::string_view);

}  // namespace mgsync::topology
