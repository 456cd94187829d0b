// The ordered members of one measurement, known alike to every rank.
#pragma once

#include <string>
#include <vector>

namespace mgsync::topology {

enum class device { host, gpu };

// One participant of the barrier under test.
struct member {
  int id = 0;             // its number on its machine: the GPU's id, or the host member's number
  int rank = 0;           // rank (in the whole job) whose process runs it
  std::string host;       // name of the host that it is on
  int gpu = -1;           // ordinal for CUDA in its own process; only for device::gpu
  std::string uuid;       // of the GPU; empty on hosts
  std::vector<int> cpus;  // OS index of the hardware thread for each of its host threads (host: one per
                          // block, GPU: one); empty: not pinned
};

struct group {
  topology::device device = topology::device::host;
  std::vector<member> members;
  std::string placement = "near";  // near | far | spread | list:...
  bool oversubscribed = false;     // more host threads than CPUs, or CPU time, on some host: waits must yield
};

// The ranks (in the whole job) that own members, ascending: the ranks of a session over this group, in their
// order.
std::vector<int> owners_of(const group&);

// The names of the hosts that members are on, each once, in order.
std::vector<std::string> hosts_of(const group&);

}  // namespace mgsync::topology
