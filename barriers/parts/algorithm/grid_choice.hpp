// Which of mgsync's barriers is fastest for the blocks of a shape: pure, from measurements.
#pragma once

#include <string>
#include <string_view>

#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

struct grid_choice {
  bool counter = false;  // the spread counter (one GPU only), else the relay
  relay_shape relay;
  spread_shape spread;
  std::string why;  // "relay (8 counters, 8 inboxes): arrivals and polls spread"
};

grid_choice use_relay(unsigned counters, unsigned replicas, std::string_view why);
grid_choice use_counter(unsigned counters, unsigned copies, unsigned hold, std::string_view why);

// For `blocks` blocks on one GPU of `sms` SMs.
grid_choice choose_grid(unsigned blocks, unsigned sms);

}}}  // namespace mgsync::v1::algorithm
