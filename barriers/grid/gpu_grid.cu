#include "barriers/grid/gpu_grid.hpp"

#include "barriers/grid/grid_sync_pass.hpp"
#include "barriers/parts/algorithm/grid_choice.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"

namespace mgsync {

namespace {

using algorithm::ptx::scope;
using round_loop::flag_barrier_request;

creation make_grid_sync(const flag_barrier_request& w) {
  const auto nothing = [](const algorithm::cuda_lines&) { return grid_sync_pass::arguments{0}; };
  return round_loop::make_flag_barrier<grid_sync_pass>(w, "grid.sync", {}, nothing);
}

creation make_counter(const flag_barrier_request& w, const algorithm::spread_shape& shape,
                      std::string chosen) {
  using pass = round_loop::spread_counter_pass;
  return round_loop::make_flag_barrier<pass>(w, std::move(chosen), round_loop::spread_image(w.blocks, shape),
                                             [&](const algorithm::cuda_lines& lines) {
                                               return pass::arguments{lines, shape};
                                             });
}

creation make_relay(const flag_barrier_request& w, const algorithm::relay_shape& shape, std::string chosen) {
  using pass = round_loop::relay_pass<scope::gpu>;
  return round_loop::make_flag_barrier<pass>(w, std::move(chosen), round_loop::relay_image(w.blocks, shape),
                                             [&](const algorithm::cuda_lines& lines) {
                                               return pass::arguments{lines, shape};
                                             });
}

creation make_hub(const flag_barrier_request& w) {
  using pass = round_loop::stateless_pass<algorithm::hub, scope::gpu>;
  return round_loop::make_flag_barrier<pass>(w, "hub", round_loop::layout_image(1, w.blocks),
                                             [](const algorithm::cuda_lines& lines) { return lines; });
}

flag_barrier_request request(const topology::group& group, const configuration& wanted, session& where) {
  return round_loop::request_of(group, wanted, where, "grid");
}

}  // namespace

namespace gpu_grid {

creation automatic(const topology::group& group, const configuration& wanted, session& where) {
  const auto w = request(group, wanted, where);
  const auto choice = algorithm::choose_grid(w.blocks, w.sms);
  return choice.counter ? make_counter(w, choice.spread, choice.why)
                        : make_relay(w, choice.relay, choice.why);
}

creation counter(const topology::group& group, const configuration& wanted, session& where) {
  return make_counter(request(group, wanted, where), {1, 1, 0}, "counter");
}

creation hub(const topology::group& group, const configuration& wanted, session& where) {
  return make_hub(request(group, wanted, where));
}

creation relay(const topology::group& group, const configuration& wanted, session& where) {
  return make_relay(request(group, wanted, where), {32, 32}, "relay (32 counters, 32 inboxes)");
}

creation cooperative_groups(const topology::group& group, const configuration& wanted, session& where) {
  return make_grid_sync(request(group, wanted, where));
}

}  // namespace gpu_grid

}  // namespace mgsync
