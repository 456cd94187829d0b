// The record of where results were measured, filled by the command and written into every document and store.
#pragma once

#include <string>
#include <vector>

#include "src/base/fields.hpp"
#include "topology/cpu_list.hpp"
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
      notes;  // a sentence for each condition of the machines that affects the measured values
  bool operator==(const machine_record&) const = default;
};

void fields_of_gpu(auto& way, topology::gpu& g) {
  way.needs("id", g.id);
  way.needs("cuda_ordinal", g.cuda_ordinal);
  way.needs("name", g.name);
  way.needs("uuid", g.uuid);
  way.needs("pci_bus_id", g.pci_bus_id);
  way.needs("numa", g.numa);
  way.needs("near_cpus", topology::as_cpu_list(g.near_cpus));
  way.needs("compute_major", g.compute_major);
  way.needs("compute_minor", g.compute_minor);
  way.needs("sm_count", g.sm_count);
  way.needs("sm_clock_mhz", g.sm_clock_mhz);
  way.needs("memory_bytes", g.memory_bytes);
  way.needs("mig", g.mig);
}
void fields(auto& way, machine_record& m) {
  way.needs("host", m.host);
  way.needs("hosts", m.hosts);
  way.needs("cpu_model", m.cpu_model);
  way.needs("cores", m.cores);
  way.needs("cpu_mask", topology::as_cpu_list(m.allowed_cpus));
  way.needs("kernel", m.kernel);
  way.needs("compiler", m.compiler);
  way.needs("mpi", m.mpi);
  way.needs("hwloc", m.hwloc);
  way.needs("mgsync", m.mgsync);
  way.needs("ranks", m.ranks);
  way.needs("pinning", m.pinning);
  way.needs("gpus", each_by{m.gpus, [](auto& inner, topology::gpu& g) { fields_of_gpu(inner, g); }});
  way.may("notes", m.notes);
}

// The notes, formatted as lines below a table.
std::string format_notes(const machine_record&);

// One sentence for each field that differs, empty when the machines are the same: "host is 'a', was 'b';
// ...".
std::string difference(const machine_record& was, const machine_record& is);

}  // namespace mgsync
