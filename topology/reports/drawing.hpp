// The contents of the pictures of a machine: equal lines are bundled, so that 16 GPUs stay readable.
#pragma once

#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace mgsync::topology {

// Switches that the same GPUs hang on: one bar in the picture.
struct switch_bar {
  std::vector<int> switches;  // ids
  std::vector<int> gpus;      // rising
  std::string label;
};

// A bundle of links between two things of the picture.
struct bundle {
  int from = 0;  // GPU id, or bar for trunks
  int to = 0;    // GPU id (direct), bar (up), package (cpu), bar (trunks)
  int links = 0;
  double gbps = 0;  // of all, one direction; 0: unknown
  bool c2c = false;
};

// GPUs that share a PCIe switch, by the words PIX and PXB.
struct drawing {
  std::vector<switch_bar> bars;
  std::vector<bundle> up, direct, trunks, cpu;
  std::vector<std::vector<int>> pcie_switches;  // GPU ids, two or more each
  double most_gbps = 0;                         // of any bundle
  int most_links = 1;
};

drawing drawing_of(const machine&);

// What a picture of many GPUs is folded into: a tray of a rack, or where no source named trays a package.
struct unit {
  std::string title;  // "tray 3"
  std::vector<int> packages, gpus, nics;
};
std::vector<unit> units_of(const machine&);

// Whether a picture shows units in rows rather than all GPUs side by side: of more GPUs than a screen is
// wide, unless links between pairs must be seen.
inline constexpr std::size_t most_unfolded = 16;
bool is_folded(const machine&);

// The GPUs to which a network card has the shortest path, as far as that is no longer than `furthest`: by
// itself where a PCIe switch or a host bridge joins them.
std::vector<int> near_gpus(const nic&, pcie_path furthest = pcie_path::phb);
std::string nic_name(const nic&);

// 1.2 (thinnest) to 7 points, by bandwidth, or by the number of links where no bandwidth is known.
double line_width(const drawing&, const bundle&);

// "18 links, 478 GB/s"
std::string bundle_label(const bundle&);

// "8 x NVIDIA H200, NVLink switched", for the title.
std::string machine_title(const machine&);

// The GPU's name without the words that the names of all GPUs share.
std::string short_model(const gpu&);

}  // namespace mgsync::topology
