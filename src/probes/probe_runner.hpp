// Loads probes onto a GPU and launches them. Every wait is bounded. The results are not judged here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/probes/probe_image.hpp"
#include "src/probes/probe_seen.hpp"

namespace mgsync::probes {

// One cubin on one GPU. Not thread-safe.
class runner {
 public:
  // nullptr, and the reason, where the images have no code for that GPU.
  static std::unique_ptr<runner> load(std::span<const image> images, int ordinal, std::string& reason);
  ~runner();
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;

  const image& loaded() const;  // the bytes that the GPU runs, for the code check
  bool has(const std::string& kernel) const;
  // How many blocks of that shape one SM holds at once; with clusters: how many clusters the GPU holds.
  unsigned resident_blocks(const probe_order&) const;
  unsigned resident_clusters(const probe_order&) const;

  // Launches once and waits for at most `most_seconds`; then throws timeout_error (and this process cannot
  // use the GPU any more). Nothing, and the reason, where the GPU cannot run that shape.
  std::optional<probe_seen> run(const probe_order&, std::string& reason, double most_seconds = 20);

 private:
  struct state;
  explicit runner(std::unique_ptr<state>);
  std::unique_ptr<state> state_;
};

// Measures the SM's clock over about `milliseconds` of a busy SM.
clock_rate measure_clock(int ordinal, double milliseconds = 5);

}  // namespace mgsync::probes
