// Builds the in-kernel barrier of one Pass over flags in GPU memory: what the .cu files of the backends
// share.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"
#include "barriers/parts/round_loop/recorded_pass.hpp"

namespace mgsync::round_loop {

template <class Pass>
const void* timed_kernel() {
  if constexpr (std::is_base_of_v<has_grid_sync, Pass> || std::is_base_of_v<takes_registers, Pass>)
    return reinterpret_cast<const void*>(timed_rounds_without_bounds<Pass>);
  else return reinterpret_cast<const void*>(timed_rounds<Pass>);
}

// A pass as checked runs have it: Pass::checked_form where there is one, for what orders less than the check
// needs (its own fences then stand around it, and whether all have come is what is checked).
template <class Pass, class = void>
struct checked_form {
  using type = Pass;
};
template <class Pass>
struct checked_form<Pass, std::void_t<typename Pass::checked_form>> {
  using type = typename Pass::checked_form;
};

// Makes the barrier, or says why it cannot: its blocks are not all resident at once, or a GPU cannot address
// another. An empty `image` means no flags. `arguments(lines)` returns the arguments of the kernels on one
// local GPU, given the flags' addresses on that GPU. Collective over the session's ranks.
template <class Pass, class F>
creation make_flag_barrier(const flag_barrier_request& w, std::string chosen, const flag_image& image,
                           F arguments, std::shared_ptr<void> keep = {}) {
  gpu_team::round_kernels kernels{
      timed_kernel<Pass>(), reinterpret_cast<const void*>(checked_rounds<typename checked_form<Pass>::type>),
      reinterpret_cast<const void*>(recorded_rounds<typename recorded_form<Pass>::type>)};
  auto no_room = why_no_room(w, kernels);
  if constexpr (std::is_base_of_v<takes_registers, Pass>) {
    if (!no_room.empty()) {
      kernels.timed = reinterpret_cast<const void*>(timed_rounds<Pass>);
      // Ahead of the colon, behind which tables do not show it.
      chosen.insert(std::min(chosen.find(':'), chosen.size()), ", registers kept in memory");
      no_room = why_no_room(w, kernels);
    }
  }
  if (!no_room.empty()) return {nullptr, no_room, {}, {}};
  kernel_barrier_parts parts;
  if (!image.empty()) {
    auto flags = allocate_flags(w.group, image, w.peer_memory, w.where);
    if (!flags.memory) return {nullptr, flags.reason, {}, {}};
    parts.flags = std::move(flags.memory);
  }
  for (unsigned l = 0; l < w.gpus.size(); ++l) {
    algorithm::cuda_lines lines{};
    for (unsigned m = 0; m < w.members() && parts.flags; ++m)
      lines.parts[m] = reinterpret_cast<std::uint32_t*>(parts.flags->part(m, l));
    parts.arguments.push_back(bytes_of<typename Pass::arguments>(arguments(std::as_const(lines))));
  }
  parts.what = w.backend + " (" + chosen.substr(0, chosen.find(':')) + ")";
  parts.algorithm = std::move(chosen);
  parts.kernels = kernels;
  parts.bounded = Pass::bounded;
  parts.keep = std::move(keep);
  return make_kernel_barrier(w, std::move(parts));
}

}  // namespace mgsync::round_loop
