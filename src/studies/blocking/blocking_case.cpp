#include "src/studies/blocking/blocking_case.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"

namespace mgsync::blocking {
namespace {

using topology::device;

// A prediction follows from what a barrier counts: the threads that are alive (hardware), those that made it
// (a mask), or a number in memory, which no exit changes.
struct rule {
  std::string_view why;
  std::string_view on_exit = "hung", on_spin = "hung", on_spin_predicated{};
};
namespace rules {
constexpr rule number{"its count is a number in memory"},
    number_of_threads{"its count is a number in memory, unless a thread drops out"},
    number_of_lanes{"its count is a number in memory, unless a thread signs off"},
    operand{"its count is given with the instruction"},
    team{"the team is fixed; the end of its region is a barrier too"},
    communicator{"every rank of the communicator must call it"},
    another_kernel{"what spins on a GPU is ended by a trap of another kernel of its context"},
    flags{"flags in memory"}, flags_in_time{"flags in memory; its waits end in a time-out"},
    counter{"a counter in memory"}, counter_in_time{"a counter in memory; its waits end in a time-out"},
    counters{"counters in memory"}, counters_in_time{"counters in memory; its waits end in a time-out"},
    mask{"lanes of the mask; those that have exited do not count", "held"},
    makers{"members are those that were there when it was made", "held", "held"},
    alive{"exiting threads release it", "held"},
    alive_at_one_place{"exiting threads release it; the lanes of a warp are to come to it at one place",
                       "held", "hung", "passed"};
}  // namespace rules

enum trait : unsigned { plain = 0, ours = 1, any_place = 2, may_drop = 4, makers_only = 8, in_paper = 16 };

constexpr method made(device on, std::string_view level, std::string_view name, const rule& counts,
                      unsigned traits) {
  method m{.level = level, .name = name, .device = on};
  m.ours = (traits & ours) != 0;
  m.members_are_those_who_make_it = (traits & makers_only) != 0;
  m.any_place_counts = (traits & any_place) != 0;
  m.may_drop = (traits & may_drop) != 0;
  m.has_forms = on == device::gpu && level != "guard";
  m.on_exit = counts.on_exit;
  m.on_spin = counts.on_spin;
  m.on_spin_predicated = counts.on_spin_predicated;
  if ((traits & in_paper) != 0) m.paper = counts.on_exit == "hung" ? "deadlock" : "no deadlock";
  m.why = counts.why;
  return m;
}
constexpr method on_host(std::string_view level, std::string_view name, const rule& counts,
                         unsigned traits = plain) {
  return made(device::host, level, name, counts, traits);
}
constexpr method on_gpu(std::string_view level, std::string_view name, const rule& counts,
                        unsigned traits = plain) {
  return made(device::gpu, level, name, counts, traits);
}

// In the paper some of the threads, warps, blocks and GPUs were absent; it does not say what these did
// instead.
constexpr method every_method[] = {
    on_host("thread", "std-barrier", rules::number_of_threads, may_drop),
    on_host("thread", "pthread-barrier", rules::number),
    on_host("thread", "ours", rules::flags_in_time, ours),
    on_host("member", "openmp", rules::team, any_place),
    on_host("rank", "mpi-barrier", rules::communicator),
    on_host("rank", "ours", rules::flags_in_time, ours),
    on_gpu("guard", "trap", rules::another_kernel),
    on_gpu("lane", "syncwarp", rules::mask, in_paper),
    on_gpu("lane", "shuffle", rules::mask, in_paper),
    on_gpu("lane", "ballot", rules::mask),
    on_gpu("lane", "redux", rules::mask),
    on_gpu("lane", "tile", rules::mask, in_paper),
    on_gpu("lane", "coalesced", rules::makers, makers_only | in_paper),
    on_gpu("lane", "syncthreads", rules::alive_at_one_place, any_place | in_paper),
    on_gpu("lane", "named-barrier", rules::operand),
    on_gpu("lane", "mbarrier", rules::number_of_lanes, may_drop),
    on_gpu("warp", "syncthreads", rules::alive, any_place | in_paper),
    on_gpu("warp", "named-barrier", rules::operand),
    on_gpu("warp", "mbarrier", rules::number_of_threads, may_drop),
    on_gpu("cluster", "barrier-cluster", rules::alive),
    on_gpu("grid", "grid-sync", rules::counter, any_place | in_paper),
    on_gpu("grid", "ours", rules::counter_in_time, ours),
    on_gpu("multigrid-blocks", "ours", rules::counters_in_time, ours),
    on_gpu("multigrid-blocks", "vendor", rules::counters, any_place | in_paper),
    on_gpu("multigrid-gpus", "ours", rules::flags_in_time, ours),
    on_gpu("multigrid-gpus", "vendor", rules::flags, any_place | in_paper),
    on_gpu("multigrid-gpus", "nccl-device", rules::flags),
};

void add(participant& all, const participant& part) {
  if (part.arrived) all.arrived = part.arrived;
  if (part.left) all.left = part.left;
  if (part.acted) all.acted = part.acted;
}

void add(case_seen& all, const case_seen& part) {
  all.participants.resize(std::max(all.participants.size(), part.participants.size()));
  for (std::size_t i = 0; i < part.participants.size(); ++i) add(all.participants[i], part.participants[i]);
  all.named.insert(all.named.end(), part.named.begin(), part.named.end());
  if (!part.ended_by.empty() && all.ended_by != "time-out") all.ended_by = part.ended_by;
  if (part.held) all.held = part.held;
  all.waited_s += part.waited_s;
  for (const auto& [key, text] : part.found) all.found[key] = text;
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

blocking_case case_from(std::string_view json) {
  blocking_case c;
  read_json(json, "a case", c, {.knows_all_keys = true});
  if (find_method(c.level, c.method) == nullptr)
    throw usage_error(fmt::format("a case: no barrier '{}' of level '{}'", c.method, c.level));
  if (c.who != "first" && c.who != "last" && c.who != "half")
    throw usage_error(fmt::format("a case: who is '{}'; accepted: first, last, half", c.who));
  if (c.members < 2) throw usage_error("a case: it needs two participants at least");
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
    if (!line.starts_with('{')) continue;
    try {
      add(seen, from_json<case_seen>(line, "a part", {.to_the_letter = true}));
    } catch (const usage_error&) { continue; }
  }
  std::sort(seen.named.begin(), seen.named.end());
  seen.named.erase(std::unique(seen.named.begin(), seen.named.end()), seen.named.end());
  return seen;
}

std::optional<outcome> judge(const case_seen& seen, const blocking_case& c, const method& m) {
  const auto participants = static_cast<unsigned>(seen.participants.size());
  std::optional<std::int64_t> last_arrival, first_leaving;
  bool hung = false, asked = true;
  for (unsigned i = 0; i < participants; ++i) {
    const auto& p = seen.participants[i];
    if (is_absent(c, i, participants)) {
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
