// A barrier of host members over flags in symmetric memory: owns the flags, the threads and their passes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::round_loop {

// What Pass has besides what host_crew asks of it:
//   Pass(std::uint32_t* const* parts, const algorithm::position&)
//       one worker's passage over the members' parts
//   static unsigned lines(unsigned members)
//       how many lines of flags a member's part has
//   static void start(const algorithm::host_lines&, unsigned member, unsigned members, unsigned blocks)
//       writes a member's part before the first round
template <class Pass>
class host_barrier final : public barrier {
 public:
  host_barrier(const topology::group& group, unsigned blocks, session& where,
               std::unique_ptr<symmetric_memory> flags, std::unique_ptr<symmetric_memory> board, bool bounded,
               std::string what)
      : flags_(std::move(flags)),
        crew_(group, blocks, where, std::move(board), bounded, std::move(what)),
        pool_(crew_.cpus()) {
    const auto members = static_cast<unsigned>(group.members.size());
    for (unsigned m = 0; m < members; ++m)
      parts_.push_back(reinterpret_cast<std::uint32_t*>(flags_->part(m)));
    for (const auto& w : crew_.workers())
      passes_.emplace_back(parts_.data(), algorithm::position{w.member, members, w.block, blocks});
    // The worker that polls a part writes it first, so that its pages are placed in memory near that worker.
    pool_.run([&](unsigned i) {
      const auto& w = crew_.workers()[i];
      if (w.block == 0) Pass::start(algorithm::host_lines{parts_.data()}, w.member, members, blocks);
    });
    where.ranks().barrier("writing the first flags of a barrier");
  }

  trial run(const run_request& request) override {
    return crew_.run(request, passes_, [this](const auto& work) { pool_.run(work); });
  }

 private:
  std::unique_ptr<symmetric_memory> flags_;
  std::vector<std::uint32_t*> parts_;
  host_crew crew_;
  worker_pool pool_;
  std::vector<Pass> passes_;
};

// Collective over the session's ranks. `what` is the name in the watchdog's messages, `algorithm` that in
// results.
template <class Pass>
creation make_host_barrier(const topology::group& group, unsigned blocks, session& where, std::string what,
                           std::string algorithm, bool bounded = true) {
  const std::size_t bytes = Pass::lines(static_cast<unsigned>(group.members.size())) * algorithm::line_bytes;
  auto flags = allocate_host_memory(group, bytes, reach::group, where);
  if (!flags.memory) return {nullptr, flags.reason, {}, {}};
  auto board = allocate_host_memory(group, host_crew::board_bytes(blocks), reach::group, where);
  std::string provider(flags.memory->provider());
  return {std::make_unique<host_barrier<Pass>>(group, blocks, where, std::move(flags.memory),
                                               std::move(board.memory), bounded, std::move(what)),
          {},
          std::move(algorithm),
          std::move(provider)};
}

// The first flags of the barriers in barriers/parts/algorithm that use `layout`.
inline void start_flags(const algorithm::host_lines& memory, unsigned member, unsigned members,
                        unsigned blocks) {
  const algorithm::layout lines{members};
  for (unsigned l = 0; l < lines.lines(); ++l) memory.line(member, l) = first_epoch;
  memory.line(member, lines.arrivals()) = algorithm::counter_start(blocks, first_epoch);
  memory.line(member, lines.center()) = algorithm::counter_start(members, first_epoch);
  memory.line(member, lines.crowd()) = algorithm::counter_start(members * blocks, first_epoch);
}

}  // namespace mgsync::round_loop
