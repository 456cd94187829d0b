#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/models/ptx/block_run.hpp"
#include "src/models/ptx/launch.hpp"

namespace mgsync::ptx {

namespace {

using memory_order::condition;
using memory_order::event_kind;

condition all_of(std::vector<condition> parts) {
  return {.what = condition::kind::all_of, .parts = std::move(parts)};
}
condition any_of(std::vector<condition> parts) {
  return {.what = condition::kind::any_of, .parts = std::move(parts)};
}
condition not_of(condition one) { return {.what = condition::kind::negation, .parts = {std::move(one)}}; }

// Selects the recorded events and converts them to the events of the program to check.
class assembly {
 public:
  assembly(const launch& of, const history& all) : launch_(of), history_(all), steps_(all.steps()) {}

  recording made(std::size_t ways) {
    place_threads();
    keep_events();
    for (std::size_t s = 0; s < steps_.size(); ++s)
      if (kept_[s] >= 0) translate(s);
    for (const refusal& one : history_.refusals()) refuse(one);
    recording_.unexplored = unexplored();
    recording_.ways = ways;
    return std::move(recording_);
  }

 private:
  static bool is_memory(const step& one) {
    return one.event.kind == event_kind::read || one.event.kind == event_kind::write;
  }
  void place_threads() {
    for (unsigned g = 0; g < launch_.gpus; ++g)
      for (unsigned b = 0; b < launch_.blocks; ++b)
        recording_.program.threads.insert(recording_.program.threads.end(), launch_.threads,
                                          {static_cast<int>(g), static_cast<int>(b)});
  }

  // Keeps every event except accesses to words that only one block uses and whose values its barriers
  // determine.
  void keep_events() {
    struct use {
      std::set<int> blocks;
      bool decides = false;
    };
    std::map<std::uint64_t, use> uses;
    for (const step& one : steps_) {
      if (!is_memory(one)) continue;
      use& of = uses[one.address];
      of.blocks.insert(one.block);
      if (one.event.kind == event_kind::read && one.candidates.size() > 1) of.decides = true;
    }
    int next = 0;
    kept_.assign(steps_.size(), -1);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const step& one = steps_[s];
      if (!launch_.whole && is_memory(one) && uses[one.address].blocks.size() == 1 &&
          !uses[one.address].decides)
        continue;
      kept_[s] = next++;
    }
  }

  int address_of(const step& one) {
    auto& words = recording_.word_of;
    const auto found = std::find(words.begin(), words.end(), one.address);
    if (found != words.end()) return static_cast<int>(found - words.begin());
    words.push_back(one.address);
    memory_order::program& program = recording_.program;
    program.addresses.push_back(
        {launch_.name_of ? launch_.name_of(one.address) : fmt::format("{:#x}", one.address),
         static_cast<int>(program.start.size())});
    program.start.push_back(history_.at_first({one.address, one.bytes, true}));
    return static_cast<int>(words.size()) - 1;
  }
  int kept(int read) const { return read < 0 ? read : kept_[static_cast<std::size_t>(read)]; }

  void translate(std::size_t s) {
    memory_order::event made = steps_[s].event;
    if (is_memory(steps_[s])) made.address = address_of(steps_[s]);
    made.value.read = kept(made.value.read);
    made.of_atomic = kept(made.of_atomic);
    for (const decision& one : steps_[s].decided) guard_by(one, made.guards);
    for (const int read : steps_[s].depends) made.depends.push_back(kept(read));
    recording_.program.events.push_back(std::move(made));
    recording_.lines.push_back(steps_[s].line);
  }
  // One value that it is, or all those that it is not.
  void guard_by(const decision& one, std::vector<memory_order::guard>& guards) const {
    const auto& candidates = steps_[static_cast<std::size_t>(one.read)].candidates;
    std::vector<memory_order::guard> is, is_not;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool got = (one.got >> i & 1) != 0;
      (got ? is : is_not)
          .push_back({kept(one.read), got ? memory_order::compared::equal : memory_order::compared::unequal,
                      candidates[i]});
    }
    const auto& said = is.size() == 1 ? is : is_not;
    guards.insert(guards.end(), said.begin(), said.end());
  }

  condition got(int read, choice values) const {
    const auto& candidates = steps_[static_cast<std::size_t>(read)].candidates;
    std::vector<condition> parts;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if ((values >> i & 1) != 0)
        parts.push_back({.what = condition::kind::read_is, .index = kept(read), .value = candidates[i]});
    return any_of(std::move(parts));
  }
  void refuse(const refusal& one) {
    std::vector<condition> parts{got(one.read, one.values)};
    for (const decision& under : one.under) parts.push_back(got(under.read, under.got));
    recording_.program.given.push_back(not_of(all_of(std::move(parts))));
  }
  condition unexplored() const {
    std::vector<condition> escapes;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (kept_[s] < 0 || steps_[s].event.kind != event_kind::read) continue;
      std::vector<condition> parts{not_of(got(static_cast<int>(s), ~choice{0}))};
      for (const decision& under : steps_[s].decided) parts.push_back(got(under.read, under.got));
      escapes.push_back(all_of(std::move(parts)));
    }
    return any_of(std::move(escapes));
  }

  const launch& launch_;
  const history& history_;
  const std::vector<step>& steps_;
  std::vector<int> kept_;  // the number of each step's event; -1: none
  recording recording_;
};

}  // namespace

recording record(const launch& of) {
  constexpr int most_turns = 64;  // iterations until the candidate values of reads no longer grow
  if (of.kernel == nullptr || of.threads == 0 || of.warp == 0)
    throw usage_error("a recording takes a kernel, threads and lanes");
  const kernel_facts facts(*of.kernel);
  history all(of);
  for (int turn = 0; turn < most_turns; ++turn) {
    std::size_t ways = 0;
    bool all_end = true;
    for (unsigned g = 0; g < of.gpus; ++g)
      for (unsigned b = 0; b < of.blocks; ++b) {
        const std::size_t ends = block_run(of, facts, all, g, b).run_all();
        all_end = all_end && ends != 0;
        ways += ends;
      }
    if (all.settled()) {
      if (!all.in_vain().empty()) throw usage_error(all.in_vain());
      if (!all_end) throw usage_error(fmt::format("no way leads a block to the end of {}", of.kernel->name));
      return assembly(of, all).made(ways);
    }
    all.next_turn();
  }
  throw usage_error(fmt::format("what {} writes does not settle in {} turns", of.kernel->name, most_turns));
}

}  // namespace mgsync::ptx
