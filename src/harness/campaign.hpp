// One command that measures studies, from the plan to the last line that it prints: plan, open the outputs,
// run, say who is to blame, evaluate, write, print. The same for every study, alone and in ranks, and from a
// store that is resumed. SPMD: every rank of the job calls each of these functions with the same request.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/communicator.hpp"
#include "src/base/watchdog.hpp"
#include "src/harness/axis.hpp"
#include "src/harness/outputs.hpp"
#include "src/harness/study.hpp"
#include "src/results/values/machine_record.hpp"

namespace mgsync {

// How evaluations are shown: as text, and their figures as files.
struct presentation {
  std::string (*text)(const evaluation&) = nullptr;
  // One of the figures that are shown together; throws std::invalid_argument where it cannot be drawn.
  std::string (*svg)(const figure&, std::span<const figure> together) = nullptr;
};

struct campaign_request {
  std::vector<const study*> studies;  // at least one
  typed_words axes;                   // as typed
  std::vector<typed_words> sweeps;    // where several plans make one campaign: their axes, in place of `axes`
  study_settings settings;
  std::optional<std::uint64_t> seed;  // none: from the clock
  output_request out;
  topology::device device = topology::device::host;
  std::string not_gpus;     // why host members stand in for the GPUs that are here; empty: they do not
  bool with_cuda = false;   // this build can run kernels
  bool planning = false;    // nothing will be measured: the machine may be another one
  bool less_order = false;  // rank subjects that order less than a barrier together with barriers
  machine_record machine;
  std::map<std::string, std::string>
      surroundings;  // environment of this process, for the document's settings
  presentation shown;
};

// The request for one of the studies, with the values of its axes. `where` is nullptr where nothing is
// measured; `notes` gets the study's notes about the whole plan.
study_request request_for(const study&, const campaign_request&, std::span<const topology::rank_view>,
                          const session* where = nullptr, std::vector<std::string>* notes = nullptr);

// A sentence for each condition of the machines that affects the measured values.
std::vector<std::string> machine_notes(const campaign_request&, std::span<const topology::rank_view>);

// A point of the plan; `waived`: why it would not be measured.
struct point_here {
  mgsync::point point;
  std::string waived;
};
std::vector<point_here> planned_points(const campaign_request&, std::span<const topology::rank_view>);

// What would be measured, and where, in lines for people.
std::string plan_text(const campaign_request&, std::span<const topology::rank_view>);

// Measures the studies, and returns the exit code, the same on every rank. `written` gets every result as
// soon as it exists, so that an early end can still write all of them.
int measure(const campaign_request&, communicator& job, std::span<const topology::rank_view>, watchdog&,
            outputs& written);

// What the studies make of these results: text for people, and their figures as files. A timeline that
// belongs to one result is attached to it. False in `whole`: an evaluation failed, and the text says so.
struct presented_results {
  std::string text;
  named_files files;
  bool whole = true;
};
presented_results present(std::span<const study* const>, std::vector<result>&, const presentation&);

}  // namespace mgsync
