// What one launch of a probe is asked for, and what it saw: plain values, for any evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/probes/probe_arguments.hpp"

namespace mgsync::probes {

// One launch. `kernel` is the probe's name with its chain length: "fp32_add_256", "fp32_add_loop_256".
struct probe_order {
  std::string kernel{};
  unsigned blocks = 1;
  unsigned threads = 32;             // per block
  unsigned cluster = 1;              // blocks per cluster; above 8 the non-portable sizes are allowed for
  std::uint32_t passes = 33;         // the first one is dropped, since it meets cold instruction caches
  std::uint32_t loops = 1;           // turns of looped chains
  std::uint32_t window_log2_ns = 0;  // see probe_arguments.hpp
  std::uint32_t lanes = 0xffffffffu;
  std::uint32_t words = 0;
  bool together = false;  // the warps of a block start each pass together
  std::size_t dynamic_shared_bytes = 0;
  std::uint64_t seed = 1;           // for the input words
  std::uint64_t* memory = nullptr;  // on the GPU
  bool fill_sms = false;            // use so much shared memory that an SM holds one block only
};

// One pass of one SM. The warps' counters are compared within an SM only.
struct pass_of_sm {
  std::uint32_t pass = 0;
  std::uint32_t sm = 0;
  std::uint32_t warps = 0;
  std::int64_t latency_cycles =
      0;  // earliest end - latest start: from the last to arrive until the first to leave
  std::uint64_t span_cycles = 0;  // latest end - earliest start: what throughput is over
};

struct probe_seen {
  probe_order asked;
  std::uint32_t warps = 0;                 // of the grid
  std::vector<stamp> stamps;               // [passes][warps], the first pass included
  std::vector<std::uint32_t> sm_at_start;  // [warps]
  std::vector<std::uint32_t> sm_at_end;    // [warps]
  std::uint32_t threads_that_ended = 0;    // of one block: how many stored their chain's last value
  double host_ns = 0;                      // from the launch to its end, by the host's monotonic clock

  // All passes but the first, for each SM. Left out are warps that changed their SM, and stamps without an
  // end. Where passes start at windows of the global timer, a pass is what started in one window, since
  // blocks may enter the windows at different passes; windows that some warps of the SM missed are left out.
  std::vector<pass_of_sm> passes() const;
  // The latency of each pass, on the only SM or on the first one: the raw integer samples.
  std::vector<std::int64_t> latency_cycles() const;

 private:
  std::vector<pass_of_sm> passes_by_number() const;
  std::vector<pass_of_sm> passes_by_window() const;
};

// The SM's clock while it was busy, and how finely the global timer steps.
struct clock_rate {
  double mhz = 0;
  std::uint64_t timer_step_ns = 0;
};

}  // namespace mgsync::probes
