#include <algorithm>

#include <fmt/format.h>

#include "barriers/user/host_trial.hpp"

namespace mgsync::user {

namespace {

using members = std::vector<unsigned>;

scenario of(std::string name, std::vector<unsigned> blocks, std::uint32_t rounds) {
  scenario s;
  s.name = std::move(name);
  s.blocks = std::move(blocks);
  s.epoch = 0xffffff00u;
  s.launches = std::max(1u, rounds / s.rounds);
  return s;
}

}  // namespace

std::vector<scenario> host_scenarios(std::uint32_t rounds) {
  std::vector<scenario> all;
  const auto share = [&](double part) { return static_cast<std::uint32_t>(part * rounds); };
  all.push_back(of("held-back", members(4, 1), share(0.4)));
  for (const unsigned n : {2u, 3u, 5u, 6u, 7u, 11u})
    all.push_back(of(fmt::format("members-{}", n), members(n, 1), share(0.025)));
  for (const unsigned n : {16u, 23u})
    all.push_back(of(fmt::format("members-{}", n), members(n, 1), share(0.0125)));
  all.push_back(of("blocks", members(3, 3), share(0.1)));
  all.push_back(of("unequal-grids", {1, 3, 2}, share(0.05)));
  for (const auto& [bits, epoch] :
       {std::pair(8u, 0xffu), std::pair(16u, 0xffffu), std::pair(31u, 0x7fffffffu)}) {
    all.push_back(of(fmt::format("wrap-{}", bits), members(3, 1), share(0.025)));
    all.back().epoch = epoch - all.back().launches * all.back().rounds / 2;
  }
  all.push_back(of("replay", members(3, 2), share(0.06)));
  all.back().launches *= 4;
  all.back().rounds /= 4;
  all.back().replayed = true;
  all.push_back(of("second-object", members(3, 1), share(0.05)));
  all.back().second_object = std::max(1u, all.back().launches / 2);
  all.push_back(of("two-streams", members(3, 1), share(0.05)));
  all.back().streams = 2;
  for (const unsigned blocks : {1u, 2u}) {
    all.push_back(of(blocks == 1 ? "ordinary-accesses" : "ordinary-blocks", members(2, blocks), share(0.02)));
    all.back().what = check::loop::ordinary;
  }
  all.push_back(of("one-absent", members(3, 1), 64));
  all.back().fault = round_loop::host_run::never_arrive;
  all.back().patience = std::chrono::milliseconds(500);
  // The positive control: if its early arrivals are not noticed, the other verdicts mean nothing.
  all.push_back(of("control", members(4, 1), 256));
  all.back().fault = round_loop::host_run::arrive_early;
  return all;
}

}  // namespace mgsync::user
