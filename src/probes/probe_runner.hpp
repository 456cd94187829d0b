// Loads probes onto a GPU and launches them. Every wait is bounded. The results are not judged here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/probes/catalogue.hpp"
#include "src/probes/probe_image.hpp"
#include "src/probes/probe_seen.hpp"

namespace mgsync::probes {

// One cubin on one GPU. Not thread-safe.
class runner {
 public:
  // The probes of a source; nullptr, and the reason, where this build has no code for that GPU.
  static std::unique_ptr<runner> load(std::string_view source, int ordinal, std::string& reason);
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

// Probes whose machine code was read, on the bytes that the GPU runs.
struct ready_probes {
  std::unique_ptr<probes::runner> runner;  // nullptr: there is a reason
  std::string reason;                      // a probe whose code is not as it says is not measured
  std::string code, twin;                  // "sm_90, as it must be"; what is wrong with the twin
  double mhz = 0;                          // the SM's clock
};
// These probes are of one source.
ready_probes make_ready(std::span<const probe> those, int ordinal, bool with_clock = true);

// Measures the SM's clock over about `milliseconds` of a busy SM.
clock_rate measure_clock(int ordinal, double milliseconds = 5);

}  // namespace mgsync::probes
