#include "barriers/parts/algorithm/grid_choice.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

grid_choice use_relay(unsigned counters, unsigned replicas, std::string_view why) {
  grid_choice c;
  c.relay.counters = counters;
  c.relay.replicas = replicas;
  c.why = "relay (" + std::to_string(counters) + (counters == 1 ? " counter, " : " counters, ") +
          std::to_string(replicas) + (replicas == 1 ? " inbox): " : " inboxes): ") + std::string(why);
  return c;
}

grid_choice use_counter(unsigned counters, unsigned copies, unsigned hold, std::string_view why) {
  grid_choice c;
  c.counter = true;
  c.spread = {counters, copies, hold};
  c.why = "counter (" + std::to_string(copies) + " x " + std::to_string(counters) + "): " + std::string(why);
  return c;
}

// The borders lie between measured shapes: 1, 4, 8, 16 and 32 blocks per SM (docs/gpu-budget.md).
grid_choice choose_grid(unsigned blocks, unsigned sms) {
  const unsigned per_sm = (blocks + sms - 1) / sms;
  if (per_sm <= 2) return use_counter(1, 1, 200, "one hop inside the GPU, few blocks");
  if (per_sm <= 10) return use_counter(16, 8, 250, "one hop inside the GPU, spread over addresses");
  return use_relay(32, 64, "many blocks on one GPU");
}

}}}  // namespace mgsync::v1::algorithm
