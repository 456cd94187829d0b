// What the points of an acceptance say of a node: that it is normal, or which GPU, pair, link or all of it is
// slow, and by how much. And the record of this, one JSON line a run, which fleets' reports and node
// databases read. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/enum_words.hpp"
#include "src/base/fields.hpp"
#include "src/results/comparison/acceptance_plan.hpp"
#include "topology/findings.hpp"

namespace mgsync {

inline constexpr std::string_view acceptance_schema = "mgsync-accept/1";

enum class node_verdict_kind {
  normal,
  wrong,          // something is wrong with it before anything is measured
  slow,           // a point takes longer than it may
  broken,         // a barrier was violated, or got stuck
  cannot_be_told  // nothing is wrong, but points have no number, or too uncertain a one
};
template <>
struct enum_words<node_verdict_kind> {
  static constexpr std::pair<node_verdict_kind, std::string_view> list[] = {
      {node_verdict_kind::normal, "normal"},
      {node_verdict_kind::wrong, "wrong"},
      {node_verdict_kind::slow, "slow"},
      {node_verdict_kind::broken, "broken"},
      {node_verdict_kind::cannot_be_told, "cannot be told"}};
};

enum class judged_state { ok, slow, broken, unsure, no_number };
template <>
struct enum_words<judged_state> {
  static constexpr std::pair<judged_state, std::string_view> list[] = {
      {judged_state::ok, "ok"},
      {judged_state::slow, "slow"},
      {judged_state::broken, "broken"},
      {judged_state::unsure, "unsure"},
      {judged_state::no_number, "no number"}};
};

struct judged_point {
  std::string part;          // "GPU 3", "GPUs 0 and 3", "all 8 GPUs"
  std::vector<int> members;  // their numbers; empty: of a host
  int together = 0;          // how many they are
  std::string subject, shape;
  judged_state state = judged_state::no_number;
  double us = 0, low = 0, high = 0;  // the median, and its interval
  double base_us = 0, times = 0, limit = 0;
  std::string reason;  // why it has no number, or which member is last
  bool operator==(const judged_point&) const = default;
};
void fields(auto& way, judged_point& p) {
  way.needs("part", p.part);
  way.may("members", p.members);
  way.may("together", p.together);
  way.needs("subject", p.subject);
  way.needs("shape", p.shape);
  way.needs("state", p.state);
  way.may("us", p.us);
  way.may("low", p.low);
  way.may("high", p.high);
  way.may("base_us", p.base_us);
  way.may("times", p.times);
  way.may("limit", p.limit);
  way.may("reason", p.reason);
}

// What is to blame, once what it explains is taken away: a slow GPU explains its slow pairs.
struct suspect {
  std::string part;  // "GPU 3", "GPU 3 with every other GPU", "GPUs 0 and 3", "all 8 GPUs"
  std::vector<int> members;
  double times = 0, limit = 0;  // of its slowest point
  std::string command;          // to look further
  bool operator==(const suspect&) const = default;
};
void fields(auto& way, suspect& s) {
  way.needs("part", s.part);
  way.may("members", s.members);
  way.may("times", s.times);
  way.may("limit", s.limit);
  way.may("command", s.command);
}

struct told_finding : topology::finding {};
void fields(auto& way, told_finding& f) {
  way.needs("name", f.name);
  way.needs("what", f.what);
  way.may("change", f.change);
}

// Where a reference was measured.
inline constexpr std::string_view on_this_machine = "this machine", on_other_machines = "other machines";

struct acceptance {
  std::string node{}, kind{};  // "2 x NVIDIA H200, 32 cores of ..."
  std::string started{};       // UTC
  double seconds = 0;
  std::string mgsync{};
  node_verdict_kind verdict = node_verdict_kind::cannot_be_told;
  int exit_code = 4;
  std::string sentence{};
  std::vector<std::string> gpus{};  // UUIDs by number
  std::string against{};            // on_this_machine or on_other_machines; empty: not recorded
  std::vector<told_finding> findings{};
  std::vector<suspect> suspects{};
  std::vector<std::string> notes{};  // what makes its figures mean little
  std::vector<judged_point> points{};
};
void fields(auto& way, acceptance& a) {
  std::string schema(acceptance_schema);
  way.needs("schema", schema);
  way.needs("node", a.node);
  way.may("kind", a.kind);
  way.needs("started", a.started);
  way.may("seconds", a.seconds);
  way.may("mgsync", a.mgsync);
  way.needs("verdict", a.verdict);
  way.needs("exit_code", a.exit_code);
  way.needs("sentence", a.sentence);
  way.may("gpus", a.gpus);
  way.may("against", a.against);
  way.may("findings", a.findings);
  way.may("suspects", a.suspects);
  way.may("notes", a.notes);
  way.may("points", a.points);
}

// What is to blame for the slow ones of a node's points.
std::vector<suspect> suspects_of(std::span<const judged_point>);

// Fills in verdict, exit_code, sentence, suspects, notes and points from what was planned and what was
// measured of it. `why_short`: why the measurement may lack points; empty: it was complete.
void judge(acceptance&, std::span<const acceptance_point> planned, const json_document& measured,
           const std::string& why_short = "");
// The same where findings stand in the way of measuring. `is_of_node`: some are the node's own, and come
// first; else they tell of the process that looks, or of what runs beside it, and the node's state is not
// known.
void judge_unmeasured(acceptance&, bool is_of_node);

// The node's name and the UUIDs of its GPUs become hashes (--anonymous), in the sentences too.
void make_anonymous(acceptance&);

// One line, without its end.
std::string to_line(const acceptance&);
// Whether a text begins as such a line, or as its JSON in another layout.
bool is_acceptance(std::string_view text);
// Every one of a text, in any layout of JSON in which they, and nothing inside them, begin a line with a
// brace. A line that was cut short is left out, with a sentence in `damage`; for any other, and where none is
// left, throws usage_error naming the file and the line.
std::vector<acceptance> read_acceptances(std::string_view text, const std::string& name,
                                         std::vector<std::string>& damage);

}  // namespace mgsync
