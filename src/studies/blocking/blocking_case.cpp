#include "src/studies/blocking/blocking_case.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mgsync::blocking {
namespace {

using topology::device;

// A prediction follows from what a barrier counts: the threads that are alive (hardware), those that made it
// (a mask), or a number in memory, which no exit changes. In the paper some of the threads, warps, blocks and
// GPUs were absent; it does not say what these did instead.
constexpr method every_method[] = {
    {.level = "thread",
     .name = "std-barrier",
     .device = device::host,
     .may_drop = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "its count is a number in memory, unless a thread drops out"},
    {.level = "thread",
     .name = "pthread-barrier",
     .device = device::host,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "its count is a number in memory"},
    {.level = "thread",
     .name = "ours",
     .device = device::host,
     .ours = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "flags in memory; its waits end in a time-out"},
    {.level = "member",
     .name = "openmp",
     .device = device::host,
     .any_place_counts = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "the team is fixed; the end of its region is a barrier too"},
    {.level = "rank",
     .name = "mpi-barrier",
     .device = device::host,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "every rank of the communicator must call it"},
    {.level = "rank",
     .name = "ours",
     .device = device::host,
     .ours = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "flags in memory; its waits end in a time-out"},
    {.level = "guard",
     .name = "trap",
     .device = device::gpu,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "what spins on a GPU is ended by a trap of another kernel of its context"},
    {.level = "lane",
     .name = "syncwarp",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .paper = "no deadlock",
     .why = "lanes of the mask; those that have exited do not count"},
    {.level = "lane",
     .name = "shuffle",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .paper = "no deadlock",
     .why = "lanes of the mask; those that have exited do not count"},
    {.level = "lane",
     .name = "ballot",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .paper = "no deadlock",
     .why = "lanes of the mask; those that have exited do not count"},
    {.level = "lane",
     .name = "redux",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .paper = "no deadlock",
     .why = "lanes of the mask; those that have exited do not count"},
    {.level = "lane",
     .name = "tile",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .paper = "no deadlock",
     .why = "lanes of the mask; those that have exited do not count"},
    {.level = "lane",
     .name = "coalesced",
     .device = device::gpu,
     .members_are_those_who_make_it = true,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "held",
     .paper = "no deadlock",
     .why = "members are those that were there when it was made"},
    {.level = "lane",
     .name = "syncthreads",
     .device = device::gpu,
     .any_place_counts = true,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .on_spin_predicated = "passed",
     .paper = "no deadlock",
     .why = "exiting threads release it; the lanes of a warp are to come to it at one place"},
    {.level = "lane",
     .name = "named-barrier",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "its count is given with the instruction"},
    {.level = "lane",
     .name = "mbarrier",
     .device = device::gpu,
     .may_drop = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "its count is a number in memory, unless a thread signs off"},
    {.level = "warp",
     .name = "syncthreads",
     .device = device::gpu,
     .any_place_counts = true,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .paper = "no deadlock",
     .why = "exiting threads release it"},
    {.level = "warp",
     .name = "named-barrier",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "its count is given with the instruction"},
    {.level = "warp",
     .name = "mbarrier",
     .device = device::gpu,
     .may_drop = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "its count is a number in memory, unless a thread drops out"},
    {.level = "cluster",
     .name = "barrier-cluster",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "held",
     .on_spin = "hung",
     .why = "exiting threads release it"},
    {.level = "grid",
     .name = "grid-sync",
     .device = device::gpu,
     .any_place_counts = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .paper = "deadlock",
     .why = "a counter in memory"},
    {.level = "grid",
     .name = "ours",
     .device = device::gpu,
     .ours = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .paper = "deadlock",
     .why = "a counter in memory; its waits end in a time-out"},
    {.level = "multigrid-blocks",
     .name = "ours",
     .device = device::gpu,
     .ours = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .paper = "deadlock",
     .why = "counters in memory; its waits end in a time-out"},
    {.level = "multigrid-blocks",
     .name = "vendor",
     .device = device::gpu,
     .any_place_counts = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .paper = "deadlock",
     .why = "counters in memory"},
    {.level = "multigrid-gpus",
     .name = "ours",
     .device = device::gpu,
     .ours = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .paper = "deadlock",
     .why = "flags in memory; its waits end in a time-out"},
    {.level = "multigrid-gpus",
     .name = "vendor",
     .device = device::gpu,
     .any_place_counts = true,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .paper = "deadlock",
     .why = "flags in memory"},
    {.level = "multigrid-gpus",
     .name = "nccl-device",
     .device = device::gpu,
     .has_forms = true,
     .on_exit = "hung",
     .on_spin = "hung",
     .why = "flags in memory"},
};

template <class Number>
Number number_of(std::string_view word, std::string_view key) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    throw std::invalid_argument(fmt::format("'{}' is no number for {} of a case", word, key));
  return value;
}

std::vector<std::string> words_of_line(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

void set(blocking_case& c, std::string_view key, std::string_view value) {
  if (key == "level") c.level = value;
  else if (key == "method") c.method = value;
  else if (key == "who") c.who = value;
  else if (key == "form") c.form = value;
  else if (key == "members") c.members = number_of<unsigned>(value, key);
  else if (key == "bound_ms") c.bound_ms = number_of<unsigned>(value, key);
  else if (key == "rounds") c.rounds = number_of<unsigned>(value, key);
  else if (key == "seed") c.seed = number_of<std::uint64_t>(value, key);
  else if (key == "gpu") c.gpus.push_back(number_of<int>(value, key));
  else if (key == "how") {
    const auto known = from_word<absence>(value);
    if (!known)
      throw std::invalid_argument(
          fmt::format("'{}' is nothing that the absent do; accepted: {}", value, accepted_words<absence>()));
    c.how = *known;
  } else {
    throw std::invalid_argument(fmt::format("a case has no '{}'", key));
  }
}

void add_stamp(std::map<unsigned, participant>& all, const std::vector<std::string>& w) {
  auto& p = all[number_of<unsigned>(w[1], "an event")];
  const auto ns = number_of<std::int64_t>(w[3], "an event");
  (w[2] == "arrived" ? p.arrived : w[2] == "left" ? p.left : p.acted) = ns;
}

void add_holding(holding& h, const std::vector<std::string>& w) {
  if (w[0] == "holds" && w.size() == 6) {
    std::uint64_t* const into[] = {&h.rounds, &h.violations, &h.wrong_data, &h.control_rounds,
                                   &h.control_violations};
    for (std::size_t i = 0; i < 5; ++i) *into[i] = number_of<std::uint64_t>(w[i + 1], "rounds");
  } else if (w[0] == "stair" && w.size() == 4) {
    const bool control = w[1] == "control";
    (control ? h.control_begin : h.begin).push_back(number_of<double>(w[2], "a stamp"));
    (control ? h.control_end : h.end).push_back(number_of<double>(w[3], "a stamp"));
  } else if (w[0] == "hung-in" && w.size() == 2) {
    h.hung_in = number_of<std::uint64_t>(w[1], "a round");
  } else if (w[0] == "stair-unit" && w.size() == 2) {
    h.unit = w[1];
  }
}

}  // namespace

std::span<const method> methods() { return every_method; }

const method* find_method(std::string_view level, std::string_view name) {
  const auto found = std::find_if(std::begin(every_method), std::end(every_method),
                                  [&](const method& m) { return m.level == level && m.name == name; });
  return found == std::end(every_method) ? nullptr : &*found;
}

std::string_view predicted(const method& m, absence how, std::string_view form) {
  switch (how) {
  case absence::nobody:
  case absence::late: return "held";
  case absence::drop: return m.may_drop ? "held" : "";
  case absence::exit_before:
  case absence::exit_late: return m.on_exit;
  case absence::elsewhere:
    if (m.any_place_counts && m.device == device::host) return "held";  // waiting elsewhere is an arrival too
    [[fallthrough]];
  case absence::spin:
    return form == "predicated" && !m.on_spin_predicated.empty() ? m.on_spin_predicated : m.on_spin;
  }
  return {};
}

std::vector<std::string> words_of(const blocking_case& c) {
  std::vector<std::string> all{"level=" + c.level,
                               "method=" + c.method,
                               fmt::format("how={}", to_string(c.how)),
                               "who=" + c.who,
                               fmt::format("members={}", c.members),
                               fmt::format("bound_ms={}", c.bound_ms),
                               fmt::format("rounds={}", c.rounds),
                               fmt::format("seed={}", c.seed)};
  if (!c.form.empty()) all.push_back("form=" + c.form);
  for (const int gpu : c.gpus) all.push_back(fmt::format("gpu={}", gpu));
  return all;
}

blocking_case case_from(std::span<const std::string> words) {
  blocking_case c;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument(fmt::format("'{}' is not KEY=VALUE", word));
    set(c, std::string_view(word).substr(0, equals), std::string_view(word).substr(equals + 1));
  }
  if (find_method(c.level, c.method) == nullptr)
    throw std::invalid_argument(fmt::format("no barrier '{}' of level '{}'", c.method, c.level));
  if (c.who != "first" && c.who != "last" && c.who != "half")
    throw std::invalid_argument(fmt::format("who is '{}'; accepted: first, last, half", c.who));
  if (c.members < 2) throw std::invalid_argument("a case needs two participants at least");
  return c;
}

bool is_absent(const blocking_case& c, unsigned participant, unsigned participants) {
  if (c.how == absence::nobody) return false;
  if (c.who == "first") return participant == 0;
  if (c.who == "half") return participant % 2 == 1;
  return participant + 1 == participants;
}

std::vector<unsigned> absentees(const blocking_case& c, unsigned participants) {
  std::vector<unsigned> all;
  for (unsigned i = 0; i < participants; ++i)
    if (is_absent(c, i, participants)) all.push_back(i);
  return all;
}

case_seen case_seen_from(std::string_view output) {
  case_seen seen;
  std::istringstream in{std::string(output)};
  for (std::string line; std::getline(in, line);) {
    const auto w = words_of_line(line);
    if (w.empty()) continue;
    if (w[0] == "participants" && w.size() == 2)
      for (unsigned i = number_of<unsigned>(w[1], "participants"); i > 0; --i) seen.participants[i - 1];
    else if (w[0] == "event" && w.size() == 4) add_stamp(seen.participants, w);
    else if (w[0] == "named" && w.size() == 2)
      seen.named.push_back(number_of<unsigned>(w[1], "who is named"));
    else if (w[0] == "ended" && w.size() == 2 && seen.ended_by != "time-out") seen.ended_by = w[1];
    else if (w[0] == "found" && w.size() > 2)
      seen.found[w[1]] = line.substr(line.find(w[1]) + w[1].size() + 1);
    else if (w[0] == "holds" || w[0] == "stair" || w[0] == "stair-unit" || w[0] == "hung-in")
      add_holding(seen.held ? *seen.held : seen.held.emplace(), w);
  }
  std::sort(seen.named.begin(), seen.named.end());
  seen.named.erase(std::unique(seen.named.begin(), seen.named.end()), seen.named.end());
  return seen;
}

std::optional<outcome> judge(const case_seen& seen, const blocking_case& c, const method& m) {
  const auto participants = static_cast<unsigned>(seen.participants.size());
  std::optional<std::int64_t> last_arrival, first_leaving;
  bool hung = false, asked = true;
  for (const auto& [index, p] : seen.participants) {
    if (is_absent(c, index, participants)) {
      asked = asked && (p.acted || c.how == absence::late);
      const bool must_come = c.how == absence::late || (c.how == absence::elsewhere && m.any_place_counts);
      if (must_come && !m.members_are_those_who_make_it && p.arrived)
        last_arrival = std::max(last_arrival.value_or(*p.arrived), *p.arrived);
      if (c.how == absence::late && !p.left) hung = true;
      continue;
    }
    if (!p.arrived) asked = false;
    if (!p.arrived || !p.left) {
      hung = true;
      continue;
    }
    last_arrival = std::max(last_arrival.value_or(*p.arrived), *p.arrived);
    first_leaving = std::min(first_leaving.value_or(*p.left), *p.left);
  }
  // A launcher that ends the job when one rank exits may do so before the others have arrived.
  const bool ended_from_outside = seen.ended_by.empty() && !seen.participants.empty();
  if (!asked && !(hung && ended_from_outside)) return std::nullopt;
  if (hung) return outcome::hung;
  if (!first_leaving) return std::nullopt;
  const bool released_without_members =
      (c.how == absence::spin || (c.how == absence::elsewhere && !m.any_place_counts)) &&
      !m.members_are_those_who_make_it;
  if (released_without_members) return outcome::passed;
  return *last_arrival <= *first_leaving ? outcome::held : outcome::passed;
}

}  // namespace mgsync::blocking
