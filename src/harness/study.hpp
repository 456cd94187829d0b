// A study: a question, the points that answer it, and what is made of their results (docs/method.md). Studies
// are constants and functions, like backends; the table of them is generated from src/studies/CMakeLists.txt.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "src/base/session.hpp"
#include "src/harness/axis.hpp"
#include "src/harness/checker.hpp"
#include "src/harness/methods/method.hpp"
#include "src/harness/stopping.hpp"
#include "src/harness/subject.hpp"
#include "src/results/frame/figure.hpp"
#include "src/results/frame/not_measured.hpp"
#include "src/results/values/result.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// The settings that all studies have in common: options that are no axes.
struct study_settings {
  std::optional<double> precision;                   // --precision, where it was typed
  std::optional<std::chrono::nanoseconds> max_time;  // for sampling a point: --max-time, where it was typed
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::uint64_t check_rounds = 10'000;  // 0: unchecked
  int members_per_rank = 0;             // 0: all in one rank when there is one, else one each
  bool per_node = false;                // every node measures by itself
  bool pin = true;
  bool oversubscribe = false;
};

// What a command requests of a study: values of its axes, the members and the settings.
struct study_request : axis_values {
  std::span<const topology::rank_view> ranks;  // at least one
  topology::device device = topology::device::host;
  bool with_cuda = false;  // this build can run kernels
  bool planning = false;   // nothing will be measured, and the machine may be one that was read from a file
  detail planned = detail::every;  // while planning: grouped describes the first cells only
  study_settings settings;
  std::uint64_t seed = 1;          // of all random numbers
  const session* where = nullptr;  // this process's place among the ranks, where something is measured
  std::vector<std::string>* notes = nullptr;  // gets the study's notes about the whole plan

  // The study's own stopping rule, with the precision and time that were typed.
  stopping_rule stops(stopping_rule own) const {
    own.precision = settings.precision.value_or(own.precision);
    own.max_time = settings.max_time.value_or(own.max_time);
    return own;
  }
  // Whether threads are pinned to processors.
  bool pins() const { return settings.pin && machine().is_this_machine; }

  const topology::machine& machine() const { return ranks.front().seen; }
  // The first GPU that is visible to CUDA; without one the first that is known; nullptr: there is none.
  const topology::gpu* first_gpu() const;
  int first_ordinal() const;  // its CUDA ordinal; 0 without one
  // Sets the values of the study's axes from the typed words (src/harness/axis.hpp).
  void settle(declared_axes axes, const typed_words&);
};

// A subject, or the sentence that says why there is none here.
struct subject_creation {
  std::unique_ptr<mgsync::subject> subject;
  std::string reason;
  std::map<std::string, std::string> found;  // for the result's environment: "code", "driver", ...
  quantities_by_name quantities{};           // for the result's: "clock", ...
};

// One point, and how it is measured. The functions are called once the point's turn has come: create on every
// rank, and again for each batch; method and checker on rank 0.
struct measurement {
  mgsync::point point;
  std::string waived;  // why it is not tried; empty: it is
  std::function<subject_creation()> create;
  std::function<std::unique_ptr<mgsync::method>()> method;
  std::function<std::unique_ptr<mgsync::checker>()> checker;  // empty: unchecked
  std::string cell;  // points of one cell are measured interleaved, batch by batch
  std::function<void()>
      enter_cell;  // for a cell's first point: called on every rank before any subject of the cell is created
  int speaker = 0;                     // the rank whose subject_creation::found goes into the result
  std::vector<std::string> notes;      // for the result
  std::optional<known_facts> facts{};  // for the result
  // For a cell's first point: lines for --dry-run that name the members and the load beside them. Without a
  // function the points' names say everything.
  std::function<std::string(detail)> describe_cell{};
};

// A measurement to start from: its point has one member, the first GPU or thread, on the requested device.
measurement measurement_of(const study_request&, std::string_view study, std::string_view subject,
                           std::string_view variant = {});

// A file that an option of a study names, as --skeleton FILE.
struct named_text {
  std::string option;  // without its dashes
  std::string file;    // "-": stdout
  std::string text;
};

// What a study's model answers without measuring anything: text, figures, and a document for scripts.
struct study_answer {
  std::string text;  // ends with a newline
  std::vector<figure> figures{};
  std::shared_ptr<const nlohmann::ordered_json> document{};  // the same, naming its schema; nullptr: none
  std::string csv{};                                         // the same as rows; empty: none
  std::vector<std::string> read{};                           // the files that it comes from
  std::vector<named_text> written{};                         // the files that it is to be written to
};

// An option that a study cannot use, and a clause that says why.
struct refused_option {
  std::string_view option;  // without its dashes
  std::string_view why;
};

struct study {
  std::string_view name;
  std::string_view summary;  // one line
  declared_axes axes;
  // The points for these values of the axes. Pure. Throws usage_error for values that do not go together.
  std::vector<measurement> (*points)(const study_request&) = nullptr;
  // Evaluates results of this study's points and of others that it knows. Pure. Results may be missing.
  evaluation (*evaluate)(std::span<const result>) = nullptr;
  // Roughly how long a point takes, for the estimate of the whole time.
  double seconds_per_point = 1;
  // Answers by the study's model, where an axis with asks_model was typed; the request then has no machine.
  // Throws usage_error for typed axes that the answer does not use. nullptr: the study has no model.
  study_answer (*answer)(const study_request&) = nullptr;
  // Carries out one measurement, told as JSON, in a child (src/harness/child.hpp), and says what it saw on
  // stdout as JSON. It may end the process. nullptr: nothing of this study runs in a child.
  void (*in_child)(std::string_view asked) = nullptr;
  // Whether its members may be spread over the ranks of a job.
  bool in_ranks = false;
  // Whether its curves only make sense within one program (points of several would show crossings that none
  // of them has). Results of several programs are then evaluated separately.
  bool of_one_program = false;
  // The facts of a point's subject, where it synchronizes anything (src/results/values/facts.hpp): for new
  // results, and for results from files that lack them. nullptr: no subject of this study synchronizes.
  std::optional<known_facts> (*facts_of)(const point&) = nullptr;
  // Makes of a result that an older mgsync wrote what this one would write. nullptr: they are alike.
  void (*renew)(result&) = nullptr;
  // The options that it does not use. Options that only several ranks use are refused anyway where in_ranks
  // is false (why_refused).
  std::span<const refused_option> refuses{};
};

// Whether one of the typed axes has asks_model, so that the study's model answers and nothing is measured.
bool asks_for_answer(const study&, const typed_words&);

// Adds the facts that results or measurements lack, from these studies. `less_order`: subjects that order
// less than a barrier are ranked together with barriers.
void know_facts(std::span<const study* const>, std::span<result>, bool less_order);
void know_facts(std::span<const study* const>, std::span<measurement>, bool less_order);

// Why this study refuses the option; empty: it accepts it.
std::string_view why_refused(const study&, std::string_view option);

// One study's evaluation of results. Where it threw, `failed` says why, and `shown` is only a sentence that
// says so.
struct shown_study {
  const study* of = nullptr;
  evaluation shown;
  std::string failed{};
};
// Runs `evaluate`, an evaluation of study `one`, and catches its exceptions.
shown_study shown_of(const study& one, const std::function<evaluation()>& evaluate);

// Every study of this build, in the order of src/studies/CMakeLists.txt. The table is generated.
std::span<const study* const> studies();

}  // namespace mgsync
