#include "barriers/nodes/speaker.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "src/base/pinning.hpp"

namespace mgsync::nodes {

using algorithm::host_lines;
using algorithm::host_policy;

// Whether the workers and proxies of this machine, or of this process, are more than its hardware threads.
bool are_too_many(const session& where, unsigned threads) {
  struct on_machine {
    char boot[64] = {};
    unsigned threads = 0;
  } mine;
  boot_id().copy(mine.boot, sizeof mine.boot - 1);
  mine.threads = threads;
  unsigned here = 0;
  for (const auto& other : where.ranks().all_gather_values(mine, "counting the threads of a machine"))
    if (std::string_view(other.boot) == mine.boot) here += other.threads;
  const bool crowded = threads > allowed_cpus().size() || here > sysconf(_SC_NPROCESSORS_ONLN);
  const auto all = where.ranks().all_gather_values(crowded, "agreeing on how to wait");
  return std::ranges::find(all, true) != all.end();
}

speaker::speaker(const node_place& place, unsigned proxy, communicator rail, std::uint32_t before)
    : place_(&place),
      home_(place.home_of(proxy)),
      end_(place.home_of(proxy + 1)),
      node_in_rail_(place.group.nodes.size()),
      seen_(std::size_t{place.members()} * place.blocks),
      epoch_(before) {
  const auto nodes = rail.all_gather_values(place.group.own, "gathering the nodes of a rail");
  for (unsigned n = 0; n < nodes.size(); ++n) node_in_rail_[nodes[n]] = n;
  node_of_rail_.assign(nodes.begin(), nodes.end());
  network_.emplace(std::move(rail));
  proxy_.emplace(host_lines{place.flags.data()},
                 algorithm::across_nodes::proxy_place{network_->node(), network_->nodes(), proxy,
                                                      place.proxies, place.members()},
                 before);
}

void speaker::serve(std::uint64_t rounds, const algorithm::host_limits& limits, bool checked,
                    std::string_view what) {
  try {
    pass_all(rounds, limits, checked, what);
  } catch (...) {
    std::uint32_t none = 0;
    std::atomic_ref<std::uint32_t>(*limits.abort)
        .compare_exchange_strong(none, algorithm::host_limits::timed_out);
    throw;
  }
}

void speaker::pass_all(std::uint64_t rounds, const algorithm::host_limits& limits, bool checked,
                       std::string_view what) {
  host_policy policy(limits);
  network_->begin(limits, checked, [&] {
    if (checked) pass_leaves_on();
  });
  const auto before = epoch_;
  for (const auto last = epoch_ + rounds; epoch_ != last;) {
    ++epoch_;
    const auto given = [&] { return checked ? word_of_node() : 0u; };
    const auto carry = [&](std::uint64_t word) {
      if (checked)
        place_->board().carried(home_, static_cast<std::uint32_t>(epoch_)) = static_cast<std::uint32_t>(word);
    };
    if (!proxy_->pass(policy, *network_, epoch_, given, carry)) return give_up(epoch_ - before, what);
  }
}

// Each worker that has left a round said so before it came to this one.
std::uint32_t speaker::word_of_node() {
  pass_leaves_on();
  std::uint32_t greatest = 0;
  for (unsigned m = 0; m < place_->members(); ++m)
    greatest = std::max(greatest, place_->board().given(m, static_cast<std::uint32_t>(epoch_)));
  return greatest;
}

void speaker::pass_leaves_on() {
  const auto board = place_->board();
  for (unsigned m = home_; m < end_; ++m)
    for (unsigned b = 0; b < place_->blocks; ++b)
      board.look(m, b, seen_[m * place_->blocks + b], [&](std::uint32_t round, unsigned node) {
        network_->tell(node_in_rail_[node], {round, place_->group.here().members[m]});
      });
  network_->take_leaves(
      [&](const leave& one) { board.note(home_, place_->group.node_of_member[one.member], one); });
}

void speaker::give_up(std::uint64_t round, std::string_view what) {
  const auto silent = network_->call_the_roll();
  if (silent.empty()) return;
  std::vector<std::string> names;
  for (const auto n : silent) names.push_back(place_->group.nodes[node_of_rail_[n]].in_words());
  throw rank_lost(fmt::format("{}: given up at round {} of a run; does not answer: {}", what, round,
                              fmt::join(names, ", ")));
}

}  // namespace mgsync::nodes
