// Whether a machine is as it should be before anything is measured on it: links, PCIe lanes, memory errors,
// clocks, other processes. Looks are values; what is wrong in them is found by a pure function.
//
//   for (const auto& wrong : find_faults(seen, gpu_healths(), {&reference, 1})) ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/findings.hpp"
#include "topology/machine.hpp"

namespace mgsync::topology {

// What NVML tells of one GPU at one moment; what a driver does not tell is absent.
struct gpu_health {
  std::string uuid{};
  std::optional<bool> ecc{};                   // whether its memory corrects errors
  std::optional<std::uint64_t> uncorrected{};  // errors since the driver was loaded
  std::optional<bool> remap_pending{};         // rows of its memory are replaced when it is reset
  std::optional<bool> remap_failed{};          // no rows are left to replace others
  std::optional<unsigned> pcie_lanes{}, pcie_lanes_most{};
  std::uint64_t slowed_by = 0;        // NVML's reasons, without those that slow nothing down
  std::vector<unsigned> processes{};  // that compute on it
  bool operator==(const gpu_health&) const = default;
};

// Of all GPUs of this host; empty without NVML. Takes some milliseconds, and makes no context on any GPU.
std::vector<gpu_health> gpu_healths();

// "missing-gpus", of a machine of which others of its kind have `usual` GPUs.
finding missing_gpus(const machine& seen, std::size_t usual);

// What is wrong, with each GPU named: fewer GPUs, NVLinks, PCIe bandwidth or clock than the GPUs beside it or
// than a reference of the same model of GPU has (of links, lanes and clocks: with as many), and what the
// healths say. Names: "missing-gpus", "fewer-links", "fewer-lanes", "lower-clock", "memory-errors",
// "ecc-off", "slowed", "in-use". Pure.
std::vector<finding> find_faults(const machine&, std::span<const gpu_health>,
                                 std::span<const machine> references);

}  // namespace mgsync::topology
