// The present state of this host's GPUs from NVML: clocks, throttling, temperature, power; and the driver's
// version.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mgsync::topology {

// By the GPU's UUID: "SM 1980 of 1980 MHz, memory 3201 MHz, 34 C, 120 W, not slowed". Empty without NVML.
// What a driver does not tell is left out. Takes some milliseconds; no context is made on any GPU.
std::map<std::string, std::string> gpu_states();

// "580.95.05"; empty without NVML.
std::string driver_version();

// What NVML's reasons for slowing clocks down mean: "not slowed" (an idle GPU's low clocks are no slowing),
// or "slowed by power cap, thermal (software)".
std::string slowed_by(unsigned long long reasons);

// The state of one GPU at one moment.
struct gpu_moment {
  unsigned sm_mhz = 0;               // 0: not told
  unsigned long long slowed_by = 0;  // NVML's reasons, without those that slow nothing down
  std::vector<unsigned> processes;   // processes that compute on it, without the server of MPS
};

// Keeps NVML open for frequent looks, each of which takes about a millisecond.
class gpu_watch {
 public:
  gpu_watch();
  ~gpu_watch();
  gpu_watch(const gpu_watch&) = delete;
  gpu_watch& operator=(const gpu_watch&) = delete;
  // Nothing without NVML, or where it knows no such GPU.
  std::optional<gpu_moment> look(const std::string& uuid);

 private:
  struct library;
  std::unique_ptr<library> library_;
};

// Whether it is the server of CUDA's MPS, which NVML lists beside its clients: it computes nothing of its
// own.
bool is_mps_server(unsigned pid);

// How many of the processes on a GPU are not the job's. In a container NVML may number them as the host does:
// where none of the job's own processes is among them, as many of them as the job has on this host are taken
// to be its own. Pure.
std::size_t processes_besides(const std::vector<unsigned>& listed, const std::set<unsigned>& own,
                              std::size_t ranks_here);

}  // namespace mgsync::topology
