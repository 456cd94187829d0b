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
#include "src/results/figure.hpp"
#include "src/results/not_measured.hpp"
#include "src/results/result.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// What every study is asked for alike: the options that are no axes.
struct study_settings {
  std::optional<double> precision;                   // of a figure, where it was typed
  std::optional<std::chrono::nanoseconds> max_time;  // of sampling a point, where it was typed
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::uint64_t check_rounds = 10'000;  // 0: unchecked
  int members_per_rank = 0;             // 0: all in one rank when there is one, else one each
  bool per_node = false;                // every node by itself
  bool pin = true;
  bool oversubscribe = false;
};

// What a command asks of a study: values of its axes, and of which members.
struct study_request : axis_values {
  std::span<const topology::rank_view> ranks;  // at least one
  topology::device device = topology::device::host;
  bool with_cuda = false;  // this build can run kernels
  bool planning = false;   // nothing will be measured: the machine may be another one
  study_settings settings;
  std::uint64_t seed = 1;          // of whatever is random in measuring
  const session* where = nullptr;  // this process's place among the ranks, where something is measured
  std::vector<std::string>* notes = nullptr;  // where it says what is to be known of the whole plan

  // What was typed, in place of the study's own precision and time.
  stopping_rule stops(stopping_rule own) const {
    own.precision = settings.precision.value_or(own.precision);
    own.max_time = settings.max_time.value_or(own.max_time);
    return own;
  }
  // Whether threads are pinned to processors.
  bool pins() const { return settings.pin && machine().is_this_machine; }

  const topology::machine& machine() const { return ranks.front().seen; }
  // The first GPU that CUDA shows; without one the first that is known; nullptr: there is none.
  const topology::gpu* first_gpu() const;
  int first_ordinal() const;  // its number in CUDA; 0 without one
  // Settles the study's axes for these members, by the words that were typed (src/harness/axis.hpp).
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
  std::string waived;  // why it is not even tried; empty: it is
  std::function<subject_creation()> create;
  std::function<std::unique_ptr<mgsync::method>()> method;
  std::function<std::unique_ptr<mgsync::checker>()> checker;  // empty: unchecked
  std::string cell;                    // points of one cell are measured interleaved, batch by batch
  std::function<void()> enter_cell;    // of a cell's first point: called on every rank before any is made
  int speaker = 0;                     // the rank whose word counts of what a creation found
  std::vector<std::string> notes;      // for the result
  std::optional<known_facts> facts{};  // for the result
  // Of a cell's first point: who its members are and what goes on beside them, in lines for a plan. Empty:
  // nothing that the points' names do not say.
  std::function<std::string(detail)> describe_cell{};
};

// What measurements of all studies begin with: a point of one member, the first GPU or thread, on the asked
// device.
measurement measurement_of(const study_request&, std::string_view study, std::string_view subject,
                           std::string_view variant = {});

// What a study says without measuring anything: a model's answer, in words, for scripts and in pictures.
struct study_answer {
  std::string text;  // ends with a newline
  std::vector<figure> figures{};
  std::shared_ptr<const nlohmann::ordered_json> document{};  // the same, naming its schema; nullptr: none
  std::vector<std::string> read{};                           // the files that it comes from
};

// An option that a study cannot use, and why: a clause for whoever typed it.
struct refused_option {
  std::string_view option;  // without its dashes
  std::string_view why;
};

struct study {
  std::string_view name;
  std::string_view summary;  // one line
  declared_axes axes;
  // Pure. Throws usage_error for words that each are right, and together are not.
  std::vector<measurement> (*points)(const study_request&) = nullptr;
  // What results mean, of this study's points and of others that it knows. Pure, and happy with what there
  // is.
  evaluation (*evaluate)(std::span<const result>) = nullptr;
  // About how long a point takes, for the estimate before a long study.
  double seconds_per_point = 1;
  // Answers what its model is asked, where an axis that asks it was typed; the request knows no machine then.
  // Throws usage_error for typed axes that the answer does not use. nullptr: the study has none.
  study_answer (*answer)(const study_request&) = nullptr;
  // Whether its members may be spread over the ranks of a job.
  bool in_ranks = false;
  // Whether its curves are of one program: between points of several they would cross where none of them
  // does. Results of several are then evaluated each by itself.
  bool of_one_program = false;
  // What is true of a point's subject, where one passage of it synchronizes anybody (src/results/facts.hpp):
  // for the results, and for those of files that do not say it. nullptr: nothing here does.
  std::optional<known_facts> (*facts_of)(const point&) = nullptr;
  // The options that it does not use. What only several ranks use is refused where in_ranks is false
  // (why_refused).
  std::span<const refused_option> refuses{};
};

// Whether these words ask the study's model, and nothing is to be measured.
bool asks_for_answer(const study&, const typed_words&);

// Takes from these studies what results do not say of their subjects. `less_order`: what orders
// less than a barrier is ranked among them all the same.
void know_facts(std::span<const study* const>, std::span<result>, bool less_order);
void know_facts(std::span<const study* const>, std::span<measurement>, bool less_order);

// Why this study refuses the option, from its record; empty: it takes it.
std::string_view why_refused(const study&, std::string_view option);

// What one study makes of results. An evaluation that throws costs its own section: `failed` says why, and
// what is shown is a sentence that says it too.
struct shown_study {
  const study* of = nullptr;
  evaluation shown;
  std::string failed{};
};
// Runs `evaluate`, what `one` makes of something.
shown_study shown_of(const study& one, const std::function<evaluation()>& evaluate);

// Every study of this build, in the order of src/studies/CMakeLists.txt. The table is generated.
std::span<const study* const> studies();

}  // namespace mgsync
