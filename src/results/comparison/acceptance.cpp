#include "src/results/comparison/acceptance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/strict_json.hpp"
#include "src/base/units.hpp"
#include "src/results/files/anonymous.hpp"

namespace mgsync {
namespace {

std::string part_of(const point& p) {
  const bool gpu = p.device == topology::device::gpu;
  if (!gpu) return fmt::format("all {}", counted(static_cast<std::uint64_t>(p.members), "host member"));
  if (p.group.size() == 1) return fmt::format("GPU {}", p.group[0]);
  if (p.group.size() == 2) return fmt::format("GPUs {} and {}", p.group[0], p.group[1]);
  return fmt::format("all {} GPUs", p.members);
}

// What tells planned points apart; the group is in the placement.
std::string key_of(point p) {
  p.group.clear();
  p.node.clear();
  return canonical_text(p);
}

// The doubts that may have made the value longer than it is.
std::vector<doubt> doubts_that_count(const result& r) {
  auto all = r.doubts;
  if (r.point.device == topology::device::gpu && r.facts && r.facts->driver == fact::driver::device)
    std::erase_if(all, is_of_the_host);
  return all;
}

// Why a point that seems slow is not taken for slow; empty: it is slow.
std::string why_unsure(const result& r, const acceptance_point& planned) {
  const auto& m = r.metrics.front();
  const auto beyond = fmt::format("is beyond its limit ({:.2f} times the reference, {:.2f} may be), ",
                                  m.median / planned.base_us, planned.limit);
  if (const auto doubts = doubts_that_count(r); may_be_too_long(doubts))
    return fmt::format("{}and means little: {}", beyond, words_of(doubts));
  if (m.confidence < 0.95 || m.of_one_batch()) return beyond + "in too few batches for an interval of 95 %";
  if (m.ci95_low <= planned.base_us) return beyond + "with an interval that reaches down to the reference";
  return {};
}

void take_number(judged_point& into, const result& r, const acceptance_point& planned) {
  const auto& m = r.metrics.front();
  if (m.median > 0) {  // else it is no time
    into.us = m.median;
    into.low = m.ci95_low;
    into.high = m.ci95_high;
    into.times = m.median / planned.base_us;
  }
  const auto last = r.environment.find("slowest_member");
  if (r.point.members > 2 && last != r.environment.end())
    into.reason = fmt::format("member {} is most often the last", last->second);
  const bool below_zero = std::ranges::count(r.doubts, doubt_kinds::negative, &doubt::kind) > 0;
  if (r.verdict.kind != verdict_kind::unchecked && !r.verdict.passed) {
    into.state = judged_state::broken;
    return;
  }
  std::string why;
  if (!std::isfinite(into.times) || into.times <= 0 || below_zero) why = "has samples below zero";
  else if (into.times > planned.limit) why = why_unsure(r, planned);
  else if (m.of_one_batch()) why = "has a single batch";
  into.state = !why.empty()                  ? judged_state::unsure
               : into.times <= planned.limit ? judged_state::ok
                                             : judged_state::slow;
  if (!why.empty()) into.reason = std::move(why);
}

judged_point judged(const acceptance_point& planned, const result* r) {
  judged_point one;
  one.part = part_of(planned.point);
  one.members = planned.point.device == topology::device::gpu ? planned.point.group : std::vector<int>{};
  one.together = planned.point.members;
  one.subject = subject_of(planned.point);
  one.shape = format_shape(planned.point);
  one.base_us = planned.base_us;
  one.limit = planned.limit;
  if (r == nullptr) one.reason = "it was not reached";
  else if (r->status == result_status::failed) one.state = judged_state::broken, one.reason = r->reason;
  else if (r->status != result_status::measured || !r->has_metrics()) one.reason = r->reason;
  else take_number(one, *r, planned);
  return one;
}

// Of host members the B of a shape BxT is threads per member, and T is ignored.
std::string command_for(const judged_point& p) {
  const bool host = p.members.empty();
  const auto where = host ? "" : fmt::format(" --placement list:{}", fmt::join(p.members, ","));
  return fmt::format("mgsync {} {}{} --backend {} --shape {}{} --max-time 5s",
                     host ? "--device host --members" : "--gpus", p.together, where, p.subject, p.shape,
                     p.shape.find('x') == std::string::npos ? "x1" : "");
}

// The slow points, gathered into what is to blame.
class blame {
 public:
  explicit blame(std::span<const judged_point> points) {
    for (const auto& p : points) {
      if (p.members.size() == 2) ++pairs_of_[p.members[0]], ++pairs_of_[p.members[1]];
      gpus_.insert(p.members.begin(), p.members.end());
      if (p.state == judged_state::slow) slow_.push_back(&p);
    }
  }

  std::vector<suspect> suspects() {
    name_each([](const judged_point& p) { return p.members.size() == 1; });
    if (gpus_.size() > 2) name_links();
    name_each([](const judged_point& p) { return p.members.size() == 2; });
    if (found_.empty()) name_each([](const judged_point&) { return true; });
    return std::move(found_);
  }

 private:
  bool is_explained(const judged_point& p) const {
    return std::ranges::any_of(p.members, [&](int g) { return blamed_.contains(g); });
  }

  void name(const judged_point& p, std::string part, const std::vector<int>& members) {
    const auto at = std::ranges::find(found_, part, &suspect::part);
    const double over = p.times / p.limit;
    if (at == found_.end()) found_.push_back({std::move(part), members, p.times, p.limit, command_for(p)});
    else if (over > at->times / at->limit)
      at->times = p.times, at->limit = p.limit, at->command = command_for(p);
  }

  template <class Which>
  void name_each(Which which) {
    std::set<int> here;
    for (const auto* p : slow_)
      if (which(*p) && !is_explained(*p)) {
        name(*p, p->part, p->members);
        if (p->members.size() == 1) here.insert(p->members[0]);
      }
    blamed_.insert(here.begin(), here.end());
  }

  // A GPU all of whose pairs are slow, while alone it is not. Where that is so of every GPU, none is to
  // blame.
  void name_links() {
    std::map<int, std::vector<const judged_point*>> slow_pairs;
    for (const auto* p : slow_)
      if (p->members.size() == 2 && !is_explained(*p))
        for (const int g : p->members) slow_pairs[g].push_back(p);
    std::set<int> here;
    for (const auto& [g, slow] : slow_pairs)
      if (slow.size() >= 2 && slow.size() + explained_pairs(g) == pairs_of_[g]) here.insert(g);
    if (here.size() > 1 && here.size() + 1 >= gpus_.size()) return;
    for (const int g : here)
      for (const auto* p : slow_pairs[g]) name(*p, fmt::format("GPU {} with every other GPU", g), {g});
    blamed_.insert(here.begin(), here.end());
  }

  std::size_t explained_pairs(int g) const {
    return static_cast<std::size_t>(std::ranges::count_if(slow_, [&](const auto* p) {
      return p->members.size() == 2 && is_explained(*p) && std::ranges::count(p->members, g) > 0;
    }));
  }

  std::vector<const judged_point*> slow_;
  std::map<int, std::size_t> pairs_of_;
  std::set<int> gpus_, blamed_;
  std::vector<suspect> found_;
};

std::size_t count_of(std::span<const judged_point> points, judged_state state) {
  return static_cast<std::size_t>(std::ranges::count(points, state, &judged_point::state));
}

std::string further(const std::vector<suspect>& suspects) {
  std::vector<std::string> words;
  for (const auto& s : suspects)
    words.push_back(fmt::format("{} ({:.2f} times the reference, {:.2f} may be)", s.part, s.times, s.limit));
  return fmt::format("{}", fmt::join(words, ", "));
}

const judged_point& worst_of(std::span<const judged_point> points) {
  return *std::ranges::max_element(points, {}, [](const judged_point& p) { return p.times / p.limit; });
}

// What else used the machine meanwhile, as a sentence; empty: nothing was seen.
std::string beside(const json_document& measured) {
  std::vector<doubt> seen;
  for (const auto& r : measured.results)
    for (const auto& one : r.doubts)
      if (is_of_the_host(one) || one.kind == doubt_kinds::gpu_processes) add_doubt(seen, one);
  return seen.empty() ? "" : fmt::format(" The machine was busy meanwhile: {}.", words_of(seen));
}

const judged_point& first_of(std::span<const judged_point> points, judged_state state) {
  return *std::ranges::find(points, state, &judged_point::state);
}

void conclude(acceptance& a, node_verdict_kind what, exit_code code, std::string sentence) {
  a.verdict = what;
  a.exit_code = static_cast<int>(code);
  a.sentence = std::move(sentence);
}

}  // namespace

std::vector<suspect> suspects_of(std::span<const judged_point> points) { return blame(points).suspects(); }

void judge(acceptance& a, std::span<const acceptance_point> planned, const json_document& measured,
           const std::string& why_short) {
  std::map<std::string, const result*> by_key;
  for (const auto& r : measured.results) by_key[key_of(r.point)] = &r;
  a.points.clear();
  for (const auto& p : planned) {
    const auto found = by_key.find(key_of(p.point));
    a.points.push_back(judged(p, found == by_key.end() ? nullptr : found->second));
  }
  if (const auto summary = summary_of(measured.results); !summary.empty()) a.notes.push_back(summary);
  a.suspects = suspects_of(a.points);
  const auto broken = count_of(a.points, judged_state::broken), ok = count_of(a.points, judged_state::ok);
  if (broken > 0) {
    const auto& p = first_of(a.points, judged_state::broken);
    const auto why = p.reason.empty() ? "its check was not passed" : p.reason;
    return conclude(a, node_verdict_kind::broken, exit_code::barrier_failed,
                    fmt::format("This node is not normal: {} of {} failed: {}{}{}", p.subject, p.part, why,
                                why.ends_with('.') ? "" : ".", beside(measured)));
  }
  if (!a.suspects.empty()) {
    const auto& first = a.suspects.front();
    return conclude(a, node_verdict_kind::slow, exit_code::gate_shut,
                    fmt::format("This node is not normal: slow: {}. Look further: {}", further(a.suspects),
                                first.command));
  }
  if (ok < a.points.size() || a.points.empty() || !why_short.empty()) {
    const auto open =
        std::ranges::find_if(a.points, [](const judged_point& p) { return p.state != judged_state::ok; });
    const auto why =
        !why_short.empty() ? why_short
        : open == a.points.end()
            ? "the reference has no point for it"
            : fmt::format("{} of {} {}{}", open->subject, open->part,
                          open->state == judged_state::unsure ? "" : "has no number: ", open->reason);
    return conclude(a, node_verdict_kind::cannot_be_told, exit_code::all_waived,
                    fmt::format("Whether this node is normal cannot be told: {} of {} cannot be judged: {}. "
                                "Measure again while nothing else runs here, and longer (--within).",
                                a.points.size() - ok, counted(a.points.size(), "point"), why));
  }
  const auto& worst = worst_of(a.points);
  conclude(
      a, node_verdict_kind::normal, exit_code::success,
      fmt::format("This node is normal: {}, none beyond its limit; nearest to it is {} of {}, {:.2f} times "
                  "the reference where {:.2f} may be.{}",
                  counted(a.points.size(), "point"), worst.subject, worst.part, worst.times, worst.limit,
                  beside(measured)));
}

void judge_unmeasured(acceptance& a, bool is_of_node) {
  std::vector<std::string> words;
  for (const auto& f : a.findings) words.push_back(f.what);
  const auto all = fmt::format("{}", fmt::join(words, " "));
  const auto& change = a.findings.front().change;
  if (is_of_node)
    conclude(a, node_verdict_kind::wrong, exit_code::gate_shut,
             fmt::format("This node is not normal, and was not measured: {} Look further: {}.", all, change));
  else
    conclude(a, node_verdict_kind::cannot_be_told, exit_code::all_waived,
             fmt::format("Whether this node is normal cannot be told: it was not measured. {} To change: {}.",
                         all, change));
}

void make_anonymous(acceptance& a) {
  const auto told = [hosts = std::set{a.node}](std::string& text) { text = without_names(text, hosts); };
  told(a.sentence);
  for (auto& f : a.findings) told(f.what), told(f.change);
  for (auto& s : a.suspects) told(s.command);
  for (auto& note : a.notes) told(note);
  for (auto& p : a.points) told(p.reason);
  a.node = pseudonym_of(a.node);
  for (auto& uuid : a.gpus) uuid = pseudonym_of_gpu(uuid);
}

std::string to_line(const acceptance& a) { return dumped(to_json(a)); }

bool is_acceptance(std::string_view text) {
  if (text.find(acceptance_schema) == std::string_view::npos) return false;
  if (text.starts_with(fmt::format("{{\"schema\":\"{}\"", acceptance_schema))) return true;  // even cut short
  try {
    return text_under("schema", text, "") == acceptance_schema;
  } catch (const usage_error&) { return false; }
}

std::vector<acceptance> read_acceptances(std::string_view text, const std::string& name,
                                         std::vector<std::string>& damage) {
  std::vector<acceptance> all;
  std::vector<std::string> here;
  for (std::size_t number = 1, next = 1; !text.empty(); number = next) {
    auto one = text.substr(0, text.find('\n'));
    const auto last = one.find_last_not_of(" \t\r");
    // One that does not end on its line ends before the next one.
    if (last != std::string_view::npos && one[last] != '}') one = text.substr(0, text.find("\n{"));
    next += static_cast<std::size_t>(std::ranges::count(one, '\n')) + 1;
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (last == std::string_view::npos) continue;
    const auto place = fmt::format("{}, line {}", name, number);
    if (!nlohmann::json::accept(one)) {
      here.push_back(place + ": no whole JSON, as of a line that was cut short: it is left out");
      continue;
    }
    if (text_under("schema", one, place) != acceptance_schema)
      throw usage_error(
          fmt::format("{}: no line of an acceptance; accepted: what mgsync accept --line writes", place));
    all.push_back(from_json<acceptance>(one, place));
  }
  if (all.empty() && !here.empty()) throw usage_error(here.front() + ", and there is no other");
  std::ranges::move(here, std::back_inserter(damage));
  return all;
}

}  // namespace mgsync
