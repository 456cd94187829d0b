#include "barriers/hop/gpu_hop.hpp"

#include "barriers/hop/hop_passes.hpp"
#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/parts/algorithm/grid_choice.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"

namespace mgsync {

namespace {

using algorithm::ptx::scope;

// All blocks of every GPU meet those of their own GPU, and nobody else's.
creation make_grid(const topology::group& group, const configuration& wanted, session& where) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const auto w = round_loop::request_of(group, wanted, where, "hop");
  using pass = round_loop::spread_counter_pass;
  const auto choice = algorithm::choose_grid(w.blocks, w.sms);
  if (!choice.counter) return creation::none("up to 10 blocks per SM: more take the relay");
  return round_loop::make_flag_barrier<pass>(w, "grid: each GPU by itself, " + choice.why,
                                             algorithm::spread_image(w.blocks, choice.spread),
                                             [&](const algorithm::cuda_lines& lines) {
                                               return pass::arguments{lines, choice.spread};
                                             });
}

template <class Pass>
creation make(const topology::group& group, const configuration& wanted, session& where, std::string what) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const round_loop::flag_image image(hop::words_per_line * hop::payload_line + hop::payload_words,
                                     round_loop::first_gpu_epoch);
  return round_loop::make_flag_barrier<Pass>(round_loop::request_of(group, wanted, where, "hop"),
                                             std::move(what), image,
                                             [](const algorithm::cuda_lines& l) { return l; });
}

}  // namespace

support gpu_hop_can_run(const topology::machine& machine, const topology::group& group) {
  if (auto reason = why_no_peer_access(machine, group); !reason.empty()) return support::no(reason);
  return support::yes();
}

namespace gpu_hop {

creation release_acquire(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop::hop_pass<true>>(group, wanted, where,
                                   "release-acquire: a store to the peer, a release, a flag, an acquire");
}

creation relaxed(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop::hop_pass<false>>(group, wanted, where, "relaxed: one flag, no order");
}

creation fence_system(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop::fence_pass<scope::system>>(group, wanted, where, "fence-system: after a store to a peer");
}

creation fence_gpu(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop::fence_pass<scope::gpu>>(group, wanted, where, "fence-gpu: after a store to a peer");
}

creation arrival(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop::arrival_pass>(
      group, wanted, where, "arrival: a store to a peer, a release to the own GPU, an addition that answers");
}

creation grid(const topology::group& group, const configuration& wanted, session& where) {
  return make_grid(group, wanted, where);
}

}  // namespace gpu_hop

}  // namespace mgsync
