// What a result says about where it was measured: filled by the command, written into every document and
// store.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "topology/gpu.hpp"

namespace mgsync {

struct machine_record {
  std::string host;                // of rank 0
  std::vector<std::string> hosts;  // of all ranks, without duplicates, in rank order
  std::string cpu_model;
  int cores = 0;                  // physical cores of the host
  std::vector<int> allowed_cpus;  // the affinity mask that the launcher gave, OS indices, sorted
  std::string kernel;             // "Linux 6.1.0-18-amd64"
  std::string compiler;           // "GNU 12.2.0"
  std::string mpi;                // library and version, "none" without
  std::string hwloc;              // version
  std::string mgsync;             // version, with the commit where it is known
  int ranks = 1;
  std::string pinning;  // "one core per worker", "none", ...
  std::vector<topology::gpu> gpus;
  std::vector<std::string>
      notes;  // what is amiss with the machines, and shows in the figures; a sentence each
  bool operator==(const machine_record&) const = default;
};

nlohmann::ordered_json to_json(const machine_record&);
// Throws usage_error naming the field below `path` that is missing or of the wrong type.
machine_record machine_from_json(const nlohmann::ordered_json& value, const std::string& path);

// The notes as lines below a table.
std::string format_notes(const machine_record&);

// One sentence for each field that differs, empty when the machines are the same: "host is 'a', was 'b';
// ...".
std::string difference(const machine_record& was, const machine_record& is);

}  // namespace mgsync
