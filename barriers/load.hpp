// Load: the traffic that other blocks of the same GPUs make while a barrier is timed (docs/method.md,
// "Load"). A plain value: its kind, how many blocks and threads make it, and where they run.
#pragma once

namespace mgsync {

enum class traffic {
  none,
  peer_stores,   // 16 bytes a thread, to the memory of the other GPUs in turn
  peer_loads,    // the same, read
  local_stores,  // to the GPU's own memory
  local_loads,
  host_reads  // one word of host memory, read again and again by every warp: what polling a flag there is
};

// Which SMs make it. `others`: none that holds a block of the barrier. `all`: every one.
enum class load_sms { others, all };

struct load {
  traffic kind = traffic::none;
  unsigned blocks = 0;   // per GPU; 0: one on every one of these SMs
  unsigned threads = 0;  // of a block
  load_sms sms = load_sms::others;

  bool idle() const { return kind == traffic::none; }
  bool operator==(const load&) const = default;
};

}  // namespace mgsync
