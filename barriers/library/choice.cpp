#include "barriers/library/choice.hpp"

#include <algorithm>
#include <bit>

namespace mgsync {

// The borders lie between measured shapes: 1, 4, 8, 16 and 32 blocks per SM (docs/gpu-budget.md).
algorithm::grid_choice choose_multigrid(unsigned members, unsigned blocks, unsigned sms) {
  using algorithm::use_relay;
  if (members == 1) return algorithm::choose_grid(blocks, sms);
  const unsigned per_sm = (blocks + sms - 1) / sms;
  // Powers of two: a kernel finds its replica by a mask.
  const auto replicas = [&](unsigned wanted) {
    if (members > multi_grid_handle::most_gpus) return 1u;  // many_gpus.cuh has no replicas
    return std::min(wanted, std::bit_floor(algorithm::relay_shape::most_words / members));
  };
  if (blocks == 1) return use_relay(1, 1, "one block per GPU, one hop");
  if (per_sm <= 2) return use_relay(1, 1, "few blocks: the last to arrive speaks");
  if (per_sm <= 5) return use_relay(1, replicas(8), "polls spread over inboxes");
  if (per_sm <= 10) return use_relay(8, replicas(8), "arrivals and polls spread");
  return use_relay(32, replicas(32), "many blocks: arrivals and polls spread");
}

multi_grid_handle describe(const algorithm::grid_choice& choice, std::uint32_t* const* parts, unsigned rank,
                           unsigned gpus, unsigned blocks) {
  multi_grid_handle handle;
  const bool many = gpus > multi_grid_handle::most_gpus;
  if (gpus <= multi_grid_handle::gpus_inside) std::copy_n(parts, gpus, handle.parts);
  handle.own = parts[rank];
  handle.rank = rank;
  handle.gpus = gpus;
  handle.blocks = blocks;
  handle.algorithm = choice.counter ? multi_grid_handle::counter : multi_grid_handle::relay;
  handle.counters = choice.counter ? choice.spread.counters : choice.relay.counters;
  handle.counter_bits = static_cast<std::uint32_t>(std::countr_zero(handle.counters));
  const unsigned copies = choice.counter ? choice.spread.copies : choice.relay.replicas;
  const unsigned hold = choice.counter ? choice.spread.hold : 0;
  handle.copies = static_cast<std::uint8_t>(copies);
  // Measured on an H200. Where all blocks arrive at one counter, a hold 60 cycles shorter is best (1x32: 1 %
  // slower than the algorithm alone, and 6 % with the full hold); with several counters, the full hold
  // (4x256: 10 % faster than the algorithm alone, and 1 % with 60 cycles less).
  handle.sync_hold =
      handle.counters == 1 ? hold - std::min<unsigned>(hold, handle.hold_less_at_one_counter) : hold;
  handle.version = many ? multi_grid_handle::many_version : multi_grid_handle::this_version;
  handle.gpus_inverse = static_cast<std::uint16_t>((4096 + gpus - 1) / gpus);
  // Step: a warp writes one word per GPU in 32 / gpus replicas at once.
  handle.out_step = static_cast<std::uint32_t>(32 / gpus * algorithm::relay_layout::stride *
                                               (algorithm::line_bytes / sizeof(std::uint32_t)));
  return handle;
}

algorithm::flag_image image_of(const algorithm::grid_choice& choice, unsigned blocks) {
  auto image = choice.counter ? algorithm::spread_image(blocks, choice.spread)
                              : algorithm::relay_image(blocks, choice.relay);
  algorithm::append_carried_values(image, {blocks});
  return image;
}

}  // namespace mgsync
