#include "src/studies/levels/level_bench.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/probes/probe_runner.hpp"
#include "src/studies/levels/memory_ring.hpp"

namespace mgsync::levels {

namespace {

constexpr std::uint32_t passes = 65, passes_of_chaos = 1025,
                        passes_of_dram = 17;  // DRAM: few, since each pass needs nodes that no cache holds
constexpr std::uint32_t throughput_passes = 8;
// Throughput passes start together at a boundary of windows of the global timer, and a pass must end within
// its window. The window is 2^first_window_log2_ns ns long at first, and is doubled until a pass fits.
constexpr unsigned first_window_log2_ns = 17, last_window_log2_ns = 22;

// One source's cubin, loaded on the GPU, and what the check of its machine code found.
struct loaded_source {
  std::unique_ptr<probes::runner> runner;
  std::string missing;  // why there is none
  unsigned architecture = 0;
  std::map<std::string_view, probes::code_reading, std::less<>> read;  // by family
};

loaded_source load(std::string_view source, int ordinal) {
  loaded_source one;
  one.runner = probes::runner::load(source, ordinal, one.missing);
  if (!one.runner) return one;
  const auto code = machine_code::read_cubin(one.runner->loaded().bytes);
  one.architecture = code.architecture;
  for (const auto& f : probes::probes_of(source))
    if (f.runs_on(code.architecture)) one.read[f.name] = probes::read_code(code, f);
  return one;
}

// What all subjects of a GPU share: the loaded code, the memory and the clock.
class bench {
 public:
  explicit bench(int ordinal) : ordinal_(ordinal), sms_(static_cast<unsigned>(cuda::sm_count(ordinal))) {
    // The SM's clock rises from idle while the first probes run: wait until it has settled.
    for (int tries = 0; tries < 40; ++tries) {
      const double before = mhz_;
      mhz_ = probes::measure_clock(ordinal).mhz;
      if (tries >= 3 && std::abs(mhz_ - before) < 0.001 * mhz_) break;
    }
  }

  int ordinal() const { return ordinal_; }
  unsigned sms() const { return sms_; }

  const loaded_source& source(std::string_view name) {
    const auto found = sources_.find(name);
    return found != sources_.end() ? found->second
                                   : sources_.emplace(name, load(name, ordinal_)).first->second;
  }

  // The SM's clock in MHz, measured again when the last measurement is older than a second.
  double mhz() {
    const auto now = std::chrono::steady_clock::now();
    if (now - measured_ > std::chrono::seconds(1)) {
      mhz_ = probes::measure_clock(ordinal_, 2).mhz;
      measured_ = now;
    }
    return mhz_;
  }

  memory_ring& ring_of(std::string_view where) {
    auto& one = rings_[where.starts_with("L2") ? "L2" : std::string(where)];
    // DRAM: the whole ring is several times the size of L2, so that its nodes are in no cache.
    if (!one && where == "L1") one.emplace(ordinal_, 16u << 10, 128, 1);
    if (!one && where.starts_with("L2")) one.emplace(ordinal_, 4u << 20, 128, sms_);
    if (!one) one.emplace(ordinal_, std::size_t{512} << 20, 256, sms_);
    return *one;
  }
  // By cluster size: the lowest SM of the first cluster of that size, where later ones must run too.
  std::map<unsigned, std::uint32_t>& places() { return places_; }
  // Words for atomics.
  std::uint64_t* words() {
    if (words_.get() == nullptr) words_ = cuda::memory::on_gpu(ordinal_, 4096);
    return words_.as<std::uint64_t>();
  }

 private:
  int ordinal_;
  unsigned sms_;
  double mhz_ = 0;
  std::chrono::steady_clock::time_point measured_{};
  std::map<std::string, loaded_source, std::less<>> sources_;
  std::map<std::string, std::optional<memory_ring>, std::less<>> rings_;
  std::map<unsigned, std::uint32_t> places_;
  cuda::memory words_;
};

class probe_subject final : public subject {
 public:
  probe_subject(std::shared_ptr<bench> shared, const level_probe& what)
      : bench_(std::move(shared)), what_(what) {}

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    for (;;) {
      const auto saw = run_at_its_place(launch_for(asked.count), came.reason);
      if (!saw) {
        came.ended = ending::died;
        return came;
      }
      if (what_.quantity == quantity::host) came.values["duration_us"] = {saw->host_ns * 1e-3};
      if (const unsigned lanes = lanes_at_the_end(); lanes != 0 && saw->threads_that_ended != lanes) {
        came.ended = ending::wrong;
        came.reason =
            fmt::format("{} lanes came to the end of the chain, not {}", saw->threads_that_ended, lanes);
        return came;
      }
      if (what_.quantity == quantity::latency) add_cycles(*saw, came);
      if (what_.quantity != quantity::throughput || add_rates(*saw, came)) return came;
      if (window_log2_ns_ == last_window_log2_ns) {
        came.ended = ending::wrong;
        came.reason = "no pass of the probe had all of its warps in one window";
        return came;
      }
      ++window_log2_ns_;
    }
  }

 private:
  // Launches a cluster again until it runs where the first cluster of its size ran (at most 48 times), since
  // the path of a fence, and so its time, depends on where the cluster is.
  std::optional<probes::probe_seen> run_at_its_place(probes::probe_order launch, std::string& reason) {
    constexpr unsigned most_tries = 48;
    for (unsigned tries = 1;; ++tries) {
      launch.seed = ++launches_;
      auto saw = bench_->source(what_.family->source).runner->run(launch, reason);
      if (!saw || !launch.fill_sms || what_.family->cluster == 1 || tries == most_tries) return saw;
      const auto [at, is_first] =
          bench_->places().try_emplace(launch.cluster, std::ranges::min(saw->sm_at_start));
      if (at->second == std::ranges::min(saw->sm_at_start)) return saw;
    }
  }

  probes::probe_order launch_for(std::uint64_t links) {
    const auto& f = *what_.family;
    probes::probe_order launch;
    launch.threads = what_.threads;
    launch.cluster = launch.blocks = f.cluster;
    launch.lanes = what_.lanes;
    launch.words = what_.lane_count();  // of the group whose size is known at run time only
    launch.passes = what_.is_chaotic() && what_.quantity == quantity::latency ? passes_of_chaos : passes;
    launch.together = what_.quantity == quantity::latency && what_.left_free != "start";
    // Blocks on the same SM would queue for its units, so each gets an SM of its own where that many fit.
    launch.fill_sms = f.source == "cluster" && f.cluster > 1 && what_.left_free != "place";
    launch.kernel = f.kernel_name(static_cast<int>(links));
    if (launch.fill_sms) launch.fill_sms = bench_->source(f.source).runner->resident_clusters(launch) > 0;
    if (what_.quantity == quantity::throughput) {
      launch.kernel = f.kernel_name(static_cast<int>(f.lengths.back()));
      launch.blocks = what_.blocks_per_sm * bench_->sms();
      launch.passes = throughput_passes;
      if (!what_.is_too_many()) launch.window_log2_ns = window_log2_ns_;
    } else if (what_.quantity == quantity::host && f.has(probes::loop_256)) {
      launch.kernel = f.kernel_name(probes::loop_256);
      launch.loops = static_cast<std::uint32_t>(links / 256);
      launch.passes = 1;
    } else if (what_.quantity == quantity::host) {
      launch.kernel = f.kernel_name(static_cast<int>(f.lengths.back()));
      launch.passes = static_cast<std::uint32_t>(links / f.lengths.back());
    } else if (!what_.where.empty()) {
      point_to_ring(launch, links);
    } else if (f.name == "global_atomic" || f.name == "mbarrier_bulk_copy") {
      launch.memory = bench_->words();  // the same cache line in all launches, since its distance varies
      launch.words = 0;
    }
    return launch;
  }

  // How many lanes must have ended the chain where the probe is a single warp; 0 where all lanes of several
  // warps run it.
  unsigned lanes_at_the_end() const {
    const auto& f = *what_.family;
    if (f.source != "warp" || what_.quantity != quantity::latency) return 0;
    return f.form == probes::form::two_branches ? f.lanes : static_cast<unsigned>(std::popcount(what_.lanes));
  }

  void point_to_ring(probes::probe_order& launch, std::uint64_t links) {
    auto& ring = bench_->ring_of(what_.where);
    if (what_.where == "DRAM") launch.passes = passes_of_dram;
    ring.begin(std::size_t{launch.passes} * links);
    launch.memory = ring.memory();
    launch.words = ring.starts();
    launch.blocks = what_.on_every_sm() ? bench_->sms() : 1;
    launch.fill_sms = what_.on_every_sm();
  }

  void add_cycles(const probes::probe_seen& saw, seen& came) const {
    auto& cycles = came.values["cycles"];
    auto& sms = came.values["sm"];
    const auto all = saw.passes();
    for (const auto& p : all) {
      if (p.latency_cycles < 0 || (!what_.on_every_sm() && p.sm != all.front().sm)) continue;
      cycles.push_back(static_cast<double>(p.latency_cycles));
      sms.push_back(static_cast<double>(p.sm));
    }
    came.values["sms_used"] = {
        static_cast<double>(std::set(saw.sm_at_start.begin(), saw.sm_at_start.end()).size())};
    came.values["first_sm"] = {static_cast<double>(std::ranges::min(saw.sm_at_start))};
    if (!cycles.empty()) return;
    came.ended = ending::wrong;
    came.reason = "no pass of the probe has both of its stamps";
  }

  // Each SM's rate over all that it ran, from the first begin to the last end.
  std::map<std::uint32_t, double> rates_of_all(const probes::probe_seen& saw) const {
    struct span {
      std::uint64_t begin = UINT64_MAX, end = 0;
      double passes = 0;
    };
    std::map<std::uint32_t, span> of_sms;
    for (std::size_t i = 0; i < saw.stamps.size(); ++i) {
      const auto& one = saw.stamps[i];
      auto& here = of_sms[saw.sm_at_start[i % saw.warps]];
      here.begin = std::min(here.begin, one.begin);
      here.end = std::max(here.end, one.end);
      ++here.passes;
    }
    std::map<std::uint32_t, double> rates;
    for (const auto& [sm, all] : of_sms)
      if (all.end > all.begin)
        rates[sm] = static_cast<double>(what_.family->lengths.back()) * all.passes /
                    static_cast<double>(all.end - all.begin);
    return rates;
  }

  // Adds each SM's rate, that of its fastest pass; returns false where no pass fitted into a window.
  bool add_rates(const probes::probe_seen& saw, seen& came) const {
    std::map<std::uint32_t, double> best;
    if (what_.is_too_many()) best = rates_of_all(saw);
    else
      for (const auto& p : saw.passes()) {
        if (p.span_cycles == 0) continue;
        auto& one = best[p.sm];
        one = std::max(one, static_cast<double>(what_.family->lengths.back()) * p.warps /
                                static_cast<double>(p.span_cycles));
      }
    auto& rates = came.values["per_cycle"];
    for (const auto& [sm, each] : best) rates.push_back(each);
    return !rates.empty();
  }

  std::shared_ptr<bench> bench_;
  level_probe what_;
  std::uint64_t launches_ = 0;
  unsigned window_log2_ns_ = first_window_log2_ns;
};

subject_creation subject_of(const std::shared_ptr<bench>& shared, const level_probe& what) {
  subject_creation made;
  const auto& f = *what.family;
  const auto& source = shared->source(f.source);
  if (!source.runner) {
    made.reason = source.missing;
    return made;
  }
  const auto read = source.read.find(f.name);
  if (read == source.read.end()) made.reason = probes::what_it_needs(f);
  else if (!read->second.complaint.empty())
    made.reason = fmt::format("{}{}", probes::not_as_said, read->second.complaint);
  if (!made.reason.empty()) return made;
  if (what.quantity == quantity::throughput) {
    probes::probe_order shape;
    shape.kernel = f.kernel_name(static_cast<int>(f.lengths.back()));
    shape.threads = what.threads;
    const unsigned fit = source.runner->resident_blocks(shape);
    if (fit < what.blocks_per_sm && !what.is_too_many()) {
      made.reason =
          fmt::format("an SM holds {} blocks of {} threads of this probe at once", fit, what.threads);
      return made;
    }
  }
  made.found["code"] =
      f.library ? std::string(label_of(f))
                : fmt::format("sm_{}, {}", source.architecture,
                              read->second.in_full ? "read in full" : "clock reads and stall counts read");
  made.quantities["clock"] = {"MHz", {shared->mhz()}};
  made.subject = std::make_unique<probe_subject>(shared, what);
  return made;
}

}  // namespace

subject_maker probes_on(int ordinal) {
  const auto shared = std::make_shared<std::shared_ptr<bench>>();
  return [shared, ordinal](const level_probe& what) {
    if (!*shared) *shared = std::make_shared<bench>(ordinal);
    return subject_of(*shared, what);
  };
}

}  // namespace mgsync::levels
