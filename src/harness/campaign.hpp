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
#include "src/results/machine_record.hpp"

namespace mgsync {

// How evaluations are shown: as text, and their figures as files.
struct presentation {
  std::string (*text)(const evaluation&) = nullptr;
  std::string (*svg)(const figure&) = nullptr;  // std::invalid_argument: this one cannot be drawn
};

struct campaign_request {
  std::vector<const study*> studies;  // at least one
  typed_words axes;                   // as typed
  study_settings settings;
  std::optional<std::uint64_t> seed;  // none: from the clock
  output_request out;
  topology::device device = topology::device::host;
  std::string not_gpus;     // why host members stand in for the GPUs that are here; empty: they do not
  bool with_cuda = false;   // this build can run kernels
  bool planning = false;    // nothing will be measured: the machine may be another one
  bool less_order = false;  // what orders less than a barrier is ranked among them all the same
  machine_record machine;
  std::map<std::string, std::string> surroundings;  // of this process, for the document's settings
  presentation shown;
};

// What is asked of one of the studies, its axes settled. `where` is nullptr where nothing is measured; what a
// study notes about the whole plan goes to `notes`.
study_request request_for(const study&, const campaign_request&, std::span<const topology::rank_view>,
                          const session* where = nullptr, std::vector<std::string>* notes = nullptr);

// What is amiss with the machines, and shows in the figures; a sentence each.
std::vector<std::string> machine_notes(const campaign_request&, std::span<const topology::rank_view>);

// What would be measured, and where, in lines for people.
std::string plan_text(const campaign_request&, std::span<const topology::rank_view>);

// Measures. Returns what the process exits with, the same on every rank. `written` is told of every result as
// soon as it is there, so that whoever ends the process early can still write them all, each with its blame.
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
