#include "src/models/pipeline/measured_tile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/base/strict_json.hpp"
#include "src/models/pipeline/closed_form.hpp"
#include "src/models/pipeline/recurrences.hpp"

namespace mgsync::pipeline {

namespace {

constexpr int early_stages = 16;
constexpr int early_tiles = 4;  // of a block, in the rows that the times between output tiles come from
constexpr int warp_threads = 32,
              producer_threads = 128;  // producers are a warpgroup where registers are traded
constexpr int registers_of_an_sm = 65536;
constexpr int least_other_registers = 8;  // than C: addresses, the stage, what is waited for
constexpr int bytes_of_half = 2, bytes_of_sum = 4, whole_line = 128;
constexpr double ticks_of_profile_per_ns = 1000;

ticks to_profile_ticks(double ns) {
  return static_cast<ticks>(std::llround(std::max(0.0, ns) * ticks_of_profile_per_ns));
}

double to_thousandth(double ns) { return std::round(ns * 1000) / 1000; }

// The output tiles of the most loaded SM: the number of SMs that are busy in all waves but the last, and in
// that.
struct busy_sms {
  std::int64_t waves = 1;
  double most = 1, last = 1;
};
busy_sms busy_for(extent size, extent tile, int sms) {
  const std::int64_t all = output_tiles(size, tile), count = parts(all, sms);
  return {count, static_cast<double>(std::min<std::int64_t>(all, sms)),
          static_cast<double>(all - (count - 1) * sms)};
}

const by_active* store_at(const tile_profile& p, int width) {
  const auto found = std::ranges::find(p.store_by_width, width, &width_times::width);
  return found == p.store_by_width.end() ? nullptr : &found->ns;
}

bool stays(extent size, extent tile, const launch_form& form) {
  return form.blocks < output_tiles(size, tile);
}

// What the first load of a block takes less than later ones, which are slowed down by what is beside them.
double lone_load_gain(const tile_profile& p, const stage_times& t, double active) {
  return p.round.at(active) - static_cast<double>(t.a.latency + t.math) / ticks_of_profile_per_ns;
}

}  // namespace

nlohmann::ordered_json signed_told(double ns) { return ns; }
double signed_taken(const nlohmann::ordered_json& told, json_text& place) {
  if (!told.is_number()) place.expected("a number");
  return told.get<double>();
}

void by_active::add(double active, double ns) {
  const auto at = std::ranges::lower_bound(points_, active, {}, &measured_point::active);
  if (at != points_.end() && at->active == active) at->ns = ns;
  else points_.insert(at, {active, ns});
}

double by_active::at(double active) const {
  if (points_.empty()) return 0;
  const auto after = std::ranges::lower_bound(points_, active, {}, &measured_point::active);
  if (after == points_.end()) return points_.back().ns;
  if (after == points_.begin() || after->active == active) return after->ns;
  const auto before = after - 1;
  const double share = (active - before->active) / (after->active - before->active);
  return before->ns + share * (after->ns - before->ns);
}

by_active by_active::rounded() const {
  by_active all = *this;
  for (auto& point : all.points_) point.ns = to_thousandth(point.ns);
  return all;
}

tile_profile rounded(tile_profile p) {
  each_time([](const char*, by_active& times) { times = times.rounded(); }, p);
  for (auto& [_, times] : p.store_by_width) times = times.rounded();
  for (by_active* one : {&p.wide_tile, &p.unshared}) *one = one->rounded();
  for (auto& of : p.row_starts) of.stage = of.stage.rounded(), of.of_many = of.of_many.rounded();
  p.store_ns = to_thousandth(p.store_ns);
  return p;
}

int accumulators(const tile_profile& p) { return p.tile.m * p.tile.n / (p.math_warps * warp_threads); }

std::string lacks_registers(const tile_profile& p) {
  if (p.spilled_bytes > 0) return fmt::format("a thread spills {} bytes to memory", p.spilled_bytes);
  if (p.registers > 0 && accumulators(p) + least_other_registers > p.registers)
    return fmt::format(
        "C takes {} registers of a consumer's thread and the rest at least {}, of {} that it may use",
        accumulators(p), least_other_registers, p.registers);
  const int consumers = p.consumers * p.math_warps * warp_threads;
  const int all = consumers * p.registers + producer_threads * p.producer_registers;
  if (p.producer_registers > 0 && all > registers_of_an_sm)
    return fmt::format("after setmaxnreg, {} threads with {} registers and {} with {} need {} of an SM's {}",
                       consumers, p.registers, producer_threads, p.producer_registers, all,
                       registers_of_an_sm);
  return {};
}

launch_form staying(extent size, extent tile, int sms, int buffers) {
  return {buffers, std::min<std::int64_t>(output_tiles(size, tile), sms)};
}

double width_shift_ns(const tile_profile& p, int width, double active) {
  const by_active* const found = store_at(p, width);
  return found == nullptr || p.store_alone.empty() ? 0 : found->at(active) - p.store_alone.at(active);
}

double mean_stage_ns(const by_active& early, const by_active& late, double active, int stages) {
  if (late.empty() || stages <= early_stages) return early.at(active);
  return (early_stages * early.at(active) +
          (stages - early_stages) * std::max(early.at(active), late.at(active))) /
         stages;
}

int aligned_side(int side) { return (side + 7) / 8 * 8; }

int row_start_bytes(int k) { return std::gcd(aligned_side(k) * bytes_of_half, whole_line); }

double loaded_megabytes_of(extent size) {
  return (static_cast<double>(size.m) + size.n) * size.k * bytes_of_half * 1e-6;
}

double megabytes_of(extent size) {
  return loaded_megabytes_of(size) + static_cast<double>(size.m) * size.n * bytes_of_sum * 1e-6;
}

double stage_ns(const tile_profile& p, extent size, double active, int sms) {
  const int depth = stages(size, p.tile);
  // Everything is read at least once, and with more than the L2 cache takes from memory.
  const double reading = p.unshared.at(megabytes_of(size)) * loaded_megabytes_of(size) /
                         (static_cast<double>(waves(size, p.tile, sms)) * depth);
  const double lines = std::max(mean_stage_ns(p.both, p.late_both, active, depth), reading);
  const auto found = std::ranges::find(p.row_starts, row_start_bytes(size.k), &row_start_times::bytes);
  if (found == p.row_starts.end()) return lines;
  const bool many = output_tiles(size, p.tile) > sms;
  return std::max({lines, found->stage.at(active), many ? found->of_many.at(megabytes_of(size)) : 0.0});
}

stage_times times_of(const tile_profile& p, extent size, double active, int sms, int buffers) {
  stage_times t;
  const int depth = stages(size, p.tile);
  const double period = stage_ns(p, size, active, sms);
  const double slower = period - mean_stage_ns(p.both, p.late_both, active, depth);
  const double whole_round = mean_stage_ns(p.round, p.late_round, active, depth) + slower;
  t.epilogue = to_profile_ticks(p.epilogue.at(active));
  if (buffers == 1) {  // nothing overlaps: a round is a load and then a multiplication
    const double round = whole_round, math = std::min(p.math.at(active), round);
    t.a.issue = t.a.latency = to_profile_ticks(round - math);
    t.math = to_profile_ticks(math);
    return t;
  }
  // Loads alone may contend with each other more than they do beside multiplying, and loads and multiplying
  // slow each other down. So the period measured with both is what counts: a consumer takes it for a stage,
  // since what stays of an output tile's end is measured beyond such stages, and slow loads are not hidden
  // behind stores.
  double load = std::min(p.load.at(active) + slower, period);
  if (load > p.math.at(active)) load = period;
  t.a = {to_profile_ticks(load), to_profile_ticks(std::max(load, whole_round - period))};
  t.math = to_profile_ticks(period);
  return t;
}

double launch_ns(const tile_profile& p, extent size, int sms) {
  return p.launch.at(busy_for(size, p.tile, sms).most);
}

double stored_share(const tile_profile& p, extent size) {
  const auto share = [](int whole, int tile) { return whole < tile ? static_cast<double>(whole) / tile : 1; };
  return share(size.m, p.tile.m) * (store_at(p, size.n) != nullptr ? 1.0 : share(size.n, p.tile.n));
}

sm_work work_with(const tile_profile& p, extent size, const launch_form& form, int sms) {
  const auto busy = busy_for(size, p.tile, sms);
  const int depth = stages(size, p.tile);
  const bool stay = stays(size, p.tile, form);
  sm_work work{times_of(p, size, busy.most, sms, form.buffers),
               times_of(p, size, busy.last, sms, form.buffers), busy.waves, depth};
  work.first = work.each;
  const double alone = lone_load_gain(p, busy.waves > 1 ? work.each : work.last, busy.most);
  const auto between = [&](const by_active& next) {
    return to_profile_ticks(next.at(depth) + (stay ? 0 : alone) + width_shift_ns(p, size.n, busy.most));
  };
  work.first->epilogue = between(stay ? p.next_tile : p.next_wave);
  work.each.epilogue = between(stay ? p.later_tile : p.later_wave);
  if (stay && busy.waves > early_tiles && !p.wide_tile.empty()) {
    const auto late = static_cast<double>(busy.waves - early_tiles) / static_cast<double>(busy.waves - 2);
    work.each.epilogue += std::llround(
        late * static_cast<double>(std::max<ticks>(0, between(p.wide_tile) - work.each.epilogue)));
  }
  work.last.epilogue = to_profile_ticks((p.epilogue.at(busy.last) + width_shift_ns(p, size.n, busy.last)) *
                                        stored_share(p, size));
  return work;
}

product_time time_with(const tile_profile& p, extent size, const launch_form& form, int sms) {
  const auto busy = busy_for(size, p.tile, sms);
  const int depth = stages(size, p.tile);
  const bool stay = stays(size, p.tile, form);
  const sm_work work = work_with(p, size, form, sms);
  // One consumer, also of kernels with two: what one hides behind the other is in the times between output
  // tiles.
  const arrangement warps{1, 1, form.buffers, stay};
  const double run =
      static_cast<double>(stay ? persistent_time(work, warps).total : waves_time(work, warps)) /
      ticks_of_profile_per_ns;
  const double alone = lone_load_gain(p, busy.waves > 1 ? work.each : work.last, busy.most);
  // Stores are hidden behind the next output tile, but cannot be faster than memory takes them.
  const double stores = stay ? static_cast<double>(output_tiles(size, p.tile)) / sms * p.store_ns : 0;
  const double one_tile = p.round.at(busy.most) + (depth - 1) * p.both.at(busy.most);
  const bool one_stage = (stay ? depth * busy.waves : depth) == 1;
  const double cold = one_stage ? 0 : (form.buffers == 1 ? p.second_alone : p.second).at(busy.most);
  product_time time;
  time.launch = p.launch.at(busy.most);
  const double start = p.first.at(busy.most) + cold;
  time.total = time.launch + start + std::max(alone + run, one_tile + stores);
  const stage_times& t = busy.waves > 1 ? work.each : work.last;
  const auto period =
      static_cast<double>(form.buffers == 1 ? t.a.latency + t.math : std::max(t.a.issue, t.math)) /
      ticks_of_profile_per_ns;
  time.filling = start + p.round.at(busy.most) - (form.buffers == 1 ? p.round : p.both).at(busy.most);
  time.stages = static_cast<double>(busy.waves) * depth * period;
  time.ends = time.total - time.launch - time.filling - time.stages;
  return time;
}

}  // namespace mgsync::pipeline
