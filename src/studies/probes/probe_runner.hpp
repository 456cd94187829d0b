// Loads probes onto a GPU and launches them. Every wait is bounded; nothing here judges what was seen.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/studies/probes/probe_image.hpp"
#include "src/studies/probes/probe_seen.hpp"

namespace mgsync::probes {

// One cubin on one GPU. Not for two threads at once.
class runner {
 public:
  // Nothing, and the reason, where the images have no code for that GPU.
  static std::unique_ptr<runner> load(std::span<const image> images, int ordinal, std::string& reason);
  ~runner();
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;

  const image& loaded() const;  // the bytes that the GPU runs: what the code check reads
  bool has(const std::string& kernel) const;
  // How many blocks of that shape one SM holds at once; with clusters: how many clusters the GPU holds.
  unsigned resident_blocks(const probe_order&) const;
  unsigned resident_clusters(const probe_order&) const;

  // Launches once and waits, at most `most_seconds`; throws timeout_error after that (the GPU is lost to this
  // process). Nothing, and the reason, where the GPU cannot take that shape.
  std::optional<probe_seen> run(const probe_order&, std::string& reason, double most_seconds = 20);

 private:
  struct state;
  explicit runner(std::unique_ptr<state>);
  std::unique_ptr<state> state_;
};

// The SM's clock, over about `milliseconds` of a busy SM.
clock_rate measure_clock(int ordinal, double milliseconds = 5);

}  // namespace mgsync::probes
