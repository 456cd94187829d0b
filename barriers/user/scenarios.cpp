#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/user/host_trial.hpp"

namespace mgsync::user {

namespace {

using members = std::vector<unsigned>;

constexpr std::size_t most_named = 6;  // workers of a sentence

scenario of(std::string name, std::string about, std::vector<unsigned> blocks, std::uint32_t rounds) {
  scenario s;
  s.name = std::move(name);
  s.about = std::move(about);
  s.blocks = std::move(blocks);
  s.epoch = 0xffffff00u;
  s.launches = std::max(1u, rounds / s.rounds);
  return s;
}

// A graph is launched again and again with the arguments that it was made with.
scenario replayed(std::string name, std::string_view of_whom, std::vector<unsigned> blocks,
                  std::uint32_t rounds) {
  constexpr std::uint32_t replays = 1000;
  auto s = of(std::move(name), {}, std::move(blocks), rounds);
  s.launches = std::clamp(rounds, 4u, replays);
  s.rounds = std::max(2u, rounds / s.launches);
  s.about = fmt::format("{} launches{} that repeat their arguments, as a graph does", s.launches, of_whom);
  s.replayed = true;
  return s;
}

}  // namespace

std::vector<scenario> host_scenarios(std::uint32_t rounds) {
  std::vector<scenario> all;
  const auto share = [&](double part) { return static_cast<std::uint32_t>(part * rounds); };
  const auto add = [&](auto&&... given) -> scenario& {
    return all.emplace_back(of(std::forward<decltype(given)>(given)...));
  };
  add("held-back", "4 members, in every round another one of them late", members(4, 1), share(0.4));
  for (const unsigned n : {2u, 3u, 5u, 6u, 7u, 11u, 16u, 23u})
    add(fmt::format("members-{}", n), fmt::format("{} members", n), members(n, 1),
        share(n < 16 ? 0.025 : 0.0125));
  add("blocks", "3 members of 3 workers each, some of which begin late", members(3, 3), share(0.1));
  add("alone", "one member of 4 workers", members{4}, share(0.02));
  add("unequal-grids", "members of 1, 3 and 2 workers", members{1, 3, 2}, share(0.05));
  for (const auto& [bits, epoch] :
       {std::pair(8u, 0xffu), std::pair(16u, 0xffffu), std::pair(31u, 0x7fffffffu)}) {
    auto& s = add(fmt::format("wrap-{}", bits), fmt::format("counters that cross 2^{}", bits), members(3, 1),
                  share(0.025));
    s.crosses_its_own = true;
    s.epoch = epoch - s.launches * s.rounds / 2;
  }
  all.push_back(replayed("replay", "", members(3, 2), share(0.2)));
  all.push_back(replayed("replay-alone", " of one member", {4}, share(0.2)));
  auto& second =
      add("second-object", "a second object on the memory of the first", members(3, 1), share(0.05));
  second.second_object = std::max(1u, second.launches / 2);
  add("two-streams", "two launches at once on the same memory", members(3, 1), share(0.05)).streams = 2;
  for (const unsigned blocks : {1u, 2u})
    add(blocks == 1 ? "ordinary-accesses" : "ordinary-blocks",
        "ordinary loads and stores around the barrier, which a compiler may move", members(2, blocks),
        share(0.02))
        .what = check::loop::ordinary;
  // Where one member lets the others go, it is mostly the first: one that does not wait long enough for
  // another shows only where the other is absent.
  for (const unsigned member : {0u, 2u}) {
    auto& absent = add(member == 0 ? "first-absent" : "last-absent",
                       fmt::format("member {} of 3 stops arriving: nobody may go on without it", member),
                       members(3, 1), 64u);
    absent.fault = round_loop::host_run::never_arrive;
    absent.fault_member = member;
    absent.patience = std::chrono::milliseconds(500);
  }
  // The positive control: if its early arrivals are not noticed, the other verdicts mean nothing.
  add("control", "a member that arrives before it writes, on purpose: this check must see it", members(4, 1),
      256u)
      .fault = round_loop::host_run::arrive_early;
  return all;
}

check::shape shape_of(const check::barrier_table& of, const scenario& s) {
  return {static_cast<std::uint32_t>(s.blocks.size()), *std::max_element(s.blocks.begin(), s.blocks.end()),
          std::accumulate(s.blocks.begin(), s.blocks.end(), 0u), s.streams, of.has_start != 0 ? s.epoch : 0};
}

tried stuck_at(const std::vector<std::pair<std::string, std::uint64_t>>& workers) {
  std::map<std::uint64_t, std::vector<std::string>> in_round;
  for (const auto& [name, arrived] : workers) in_round[arrived].push_back(name);
  std::vector<std::string> where;
  for (auto& [round, who] : in_round) {
    const std::size_t all = who.size();
    if (in_round.size() == 1) {
      who = {fmt::format("all {} workers", all)};
    } else if (all > most_named) {
      who.resize(most_named);
      who.push_back(fmt::format("{} more", all - most_named));
    }
    where.push_back(fmt::format("{} in round {}", fmt::join(who, ", "), round));
  }
  return {ending::stuck, in_round.rbegin()->first, fmt::format("nobody goes on: {}", fmt::join(where, "; "))};
}

std::string why_not_for(const check::barrier_table& of, const scenario& s) {
  const auto shape = shape_of(of, s);
  if (s.streams > of.streams)
    return fmt::format("it does not say that it takes {} launches at once (streams)", s.streams);
  if (s.crosses_its_own && of.has_start == 0)
    return "it has no start(), which could bring its counters near this";
  return of.takes(&shape) != 0
             ? ""
             : "it does not say, by takes(), that it takes such numbers of members and workers";
}

}  // namespace mgsync::user
