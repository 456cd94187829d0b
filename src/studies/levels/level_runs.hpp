// Runs the probes of this study on one GPU: a function per kind of measurement, each giving raw samples.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/harness/machine_code/code_check.hpp"
#include "src/studies/levels/probe_family.hpp"
#include "src/studies/levels/raw_samples.hpp"
#include "src/studies/probes/probe_runner.hpp"

namespace mgsync::levels {

// What is told of each launch as soon as it has ended; and what cannot run here, with the reason.
struct listener {
  std::function<void(const raw_samples&)> sample;
  std::function<void(const std::string& what, const std::string& reason)> waived;
};

class level_runs {
 public:
  // On the GPU `ordinal`, `launches` of each chain length.
  level_runs(int ordinal, unsigned launches, listener tell);
  ~level_runs();

  // The code of every probe that this GPU would run, from the bytes that were loaded.
  std::vector<machine_code::code_verdict> check_code() const;

  // One block: every length of a family. `threads` 0: the family's own.
  void latency(const probe_family&, unsigned threads = 0, std::uint32_t lanes = 0xffffffffu);
  // All SMs, so many blocks on each, all warps starting together: the longest chain.
  void throughput(const probe_family&, unsigned threads, unsigned blocks_per_sm);
  // Chases through L1, L2 and DRAM and atomics in L2; L2 and DRAM from every SM.
  void memory();
  // Barriers of `size` blocks: the longest chain, so often that the host's clock can see it too.
  void cluster_by_both_clocks(const probe_family&);

 private:
  // All launches of one length; one launch: false where it cannot run.
  bool run_once(const probe_family&, probes::probe_order, unsigned links, const std::string& where, unsigned blocks_per_sm, unsigned lanes,
                unsigned launch);
  void run(const probe_family&, const probes::probe_order&, unsigned links, const std::string& where, unsigned blocks_per_sm, unsigned lanes);

  int ordinal_;
  unsigned launches_;
  listener tell_;
  std::map<std::string, std::unique_ptr<probes::runner>, std::less<>> runners_;  // by source
  unsigned sms_ = 0;
};

}  // namespace mgsync::levels
