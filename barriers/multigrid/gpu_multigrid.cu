#include "barriers/multigrid/gpu_multigrid.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "barriers/library/choice.hpp"
#include "barriers/multigrid/vendor.hpp"
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"

namespace mgsync {

namespace {

using algorithm::cuda_lines;
using algorithm::ptx::scope;
using round_loop::flag_barrier_request;
using round_loop::make_flag_barrier;

template <class Algorithm>
creation make_plain(const flag_barrier_request& w) {
  const auto lines = [](const cuda_lines& l) { return l; };
  const auto image = round_loop::layout_image(w.members(), w.blocks);
  if (w.members() == 1)
    return make_flag_barrier<round_loop::stateless_pass<Algorithm, scope::gpu>>(w, Algorithm::name, image,
                                                                                lines);
  return make_flag_barrier<round_loop::stateless_pass<Algorithm, scope::system>>(w, Algorithm::name, image,
                                                                                 lines);
}

template <scope Widest>
creation make_relay_in(const flag_barrier_request& w, const algorithm::relay_shape& shape,
                       std::string chosen) {
  using pass = round_loop::relay_pass<Widest>;
  return make_flag_barrier<pass>(w, std::move(chosen), round_loop::relay_image(w.blocks, shape),
                                 [&](const cuda_lines& lines) {
                                   return typename pass::arguments{lines, shape};
                                 });
}

creation make_relay(const flag_barrier_request& w, const algorithm::relay_shape& shape, std::string chosen) {
  if (w.members() == 1) return make_relay_in<scope::gpu>(w, shape, std::move(chosen));
  return make_relay_in<scope::system>(w, shape, std::move(chosen));
}

creation make_auto(const flag_barrier_request& w) {
  using pass = round_loop::spread_counter_pass;
  const auto choice = choose_multigrid(w.members(), w.blocks, w.sms);
  if (!choice.counter) return make_relay(w, choice.relay, choice.why);
  return make_flag_barrier<pass>(w, choice.why, image_of(choice, w.blocks), [&](const cuda_lines& lines) {
    return pass::arguments{lines, choice.spread};
  });
}

// NVIDIA's advice in place of multi_grid: flags in pinned host memory, exchanged by one block per GPU.
creation make_host_flags(const flag_barrier_request& w) {
  using pass = round_loop::host_flags_pass<algorithm::hub>;
  const auto image = round_loop::layout_image(w.members(), w.blocks);
  auto pinned = allocate_pinned_parts(w.group, image.size() * sizeof(std::uint32_t), w.where);
  if (!pinned.memory) return {nullptr, pinned.reason, {}, {}};
  const std::shared_ptr<pinned_parts> host(std::move(pinned.memory));
  cuda_lines on_host{};
  for (unsigned m = 0; m < w.members(); ++m)
    on_host.parts[m] = reinterpret_cast<std::uint32_t*>(host->part(m));
  for (const auto& g : w.gpus) std::copy(image.begin(), image.end(), on_host.parts[g.member]);
  return make_flag_barrier<pass>(
      w, "host-flags", image,
      [&](const cuda_lines& lines) {
        return round_loop::host_flag_lines{lines, on_host};
      },
      host);
}

constexpr const char* without_vendor = "CUDA 13 removed multi_grid.sync; build with "
                                       "-DMGSYNC_LEGACY_NVCC=<nvcc 11 or 12> or bring its kernels along with "
                                       "-DMGSYNC_VENDOR_CUBIN=<file>";

}  // namespace

support gpu_multigrid_can_run(const topology::machine& machine, const topology::group& group) {
  if (auto reason = why_no_peer_access(machine, group); !reason.empty()) return support::no(reason);
  return support::yes();
}

support gpu_multigrid_vendor_can_run(const topology::group& group) {
  if constexpr (MGSYNC_WITH_VENDOR) return vendor_can_run(group);
  else return support::no(without_vendor);
}

namespace gpu_multigrid {

creation make(const topology::group& group, const configuration& wanted, session& where,
              creation (*make_it)(const flag_barrier_request&)) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  return make_it(round_loop::request_of(group, wanted, where, "multigrid"));
}

creation automatic(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_auto);
}

creation inbox(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::inbox>);
}

creation hub(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::hub>);
}

creation relay(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, [](const flag_barrier_request& w) {
    const auto replicas = std::min(32u, std::bit_floor(algorithm::relay_shape::most_words / w.members()));
    return make_relay(w, {32, replicas}, "relay (32 counters)");
  });
}

creation dissemination(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::dissemination<2>>);
}

creation central(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::central>);
}

creation crowd(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::crowd>);
}

creation host_flags(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_host_flags);
}

creation vendor(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_VENDOR) return make(group, wanted, where, create_vendor);
  else return creation::none(without_vendor);
}

}  // namespace gpu_multigrid

}  // namespace mgsync
