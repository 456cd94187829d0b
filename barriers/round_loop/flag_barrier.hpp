// Builds the in-kernel barrier of one Pass over flags in GPU memory: what the .cu files of the backends share.
#pragma once

#include <string>
#include <utility>

#include "barriers/round_loop/cuda_passes.hpp"
#include "barriers/round_loop/device_rounds.hpp"
#include "barriers/round_loop/kernel_barrier.hpp"

namespace mgsync::round_loop {

// The barrier, or why it cannot be had: its blocks are not all resident, a GPU cannot address another.
// `image` empty: no flags. `arguments(lines, parts)` makes what the kernels take, and may add memory to the parts.
template <class Pass, class F>
creation make_flag_barrier(const flag_barrier_request& w, std::string chosen, const flag_image& image, F arguments) {
  const round_kernels kernels{reinterpret_cast<const void*>(timed_rounds<Pass>),
                              reinterpret_cast<const void*>(checked_rounds<Pass>)};
  if (auto reason = why_not_resident(kernels, w.blocks, w.threads, gpus_of(w.group, w.where.rank())); !reason.empty())
    return {nullptr, reason, {}, {}};
  if (w.load == load::streaming && room_for_load(kernels.timed, w.blocks, w.threads, gpus_of(w.group, w.where.rank())) == 0)
    return {nullptr, "this shape leaves no room for blocks that make load", {}, {}};
  kernel_barrier_parts parts;
  parts.load = w.load;
  algorithm::cuda_lines lines{};
  if (!image.empty()) {
    auto flags = allocate_flags(w.group, image);
    if (!flags.memory) return {nullptr, flags.reason, {}, {}};
    for (unsigned m = 0; m < w.members(); ++m) lines.parts[m] = reinterpret_cast<std::uint32_t*>(flags.memory->part(m));
    parts.flags = std::move(flags.memory);
  }
  parts.what = w.backend + " (" + chosen.substr(0, chosen.find(':')) + ")";
  parts.algorithm = std::move(chosen);
  parts.kernels = kernels;
  parts.bounded = Pass::bounded;
  parts.arguments = bytes_of<typename Pass::arguments>(arguments(std::as_const(lines), parts));
  return make_kernel_barrier(w.group, w.blocks, w.threads, w.where, std::move(parts));
}

}  // namespace mgsync::round_loop
