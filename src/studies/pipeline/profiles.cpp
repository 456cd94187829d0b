// What calibration measured of each kernel instance, as a profile of its tile.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "src/studies/pipeline/calibration.hpp"

namespace mgsync::pipeline {

namespace {

constexpr int early_stages = 16;
constexpr std::array<std::string_view, 9> calibration_sets = {"launch", "stage", "epilogue", "store", "wave",
                                                              "start",  "many",  "tall",     "wide"};

// The rows of one kernel instance, found by what they measured.
class rows_of_instance {
 public:
  explicit rows_of_instance(std::vector<const product_row*> rows) : rows_(std::move(rows)) {
    for (const product_row* r : rows_)
      most_buffers_ = std::max(most_buffers_, r->set == "stage" ? r->buffers : 0);
  }

  int most_buffers() const { return most_buffers_; }
  const product_row& any() const { return *rows_.front(); }

  // ns by depth of the "stage" rows
  std::map<int, double> stages(bool loads, bool math, int buffers, int blocks) const {
    std::map<int, double> found;
    for (const product_row* r : rows_)
      if (r->set == "stage" && r->loads == loads && r->math == math && r->buffers == buffers &&
          r->blocks == blocks)
        found[pipeline::stages(r->size, r->tile)] = r->median_ns;
    return found;
  }
  static double slope(const std::map<int, double>& of) {
    if (of.size() < 2) throw std::invalid_argument("a slope needs two depths");
    const auto& [first, early] = *of.begin();
    const auto& [last, late] = *of.rbegin();
    return (late - early) / (last - first);
  }
  // The slope over stages like those of the products to be predicted. The first stages are no steady state,
  // and with more than 16 the rows of A and B are so long that they leave the L2 cache, which changes the
  // loads.
  static double stage_slope(std::map<int, double> of) {
    std::erase_if(of, [](const auto& one) { return one.first < 4 || one.first > early_stages; });
    return slope(of);
  }
  static std::optional<double> late_slope(std::map<int, double> of) {
    std::erase_if(of, [](const auto& one) { return one.first < early_stages; });
    return of.size() < 2 ? std::nullopt : std::optional(slope(of));
  }
  // The numbers of blocks for which there are rows of loads alone.
  std::vector<int> block_counts() const {
    std::vector<int> counts;
    for (const product_row* r : rows_)
      if (r->set == "stage" && r->loads && !r->math && r->buffers == most_buffers_)
        counts.push_back(r->blocks);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
  }
  template <class Visit>
  void each(const char* set, Visit visit) const {
    for (const product_row* r : rows_)
      if (r->set == set) visit(*r);
  }

 private:
  std::vector<const product_row*> rows_;
  int most_buffers_ = 0;
};

// Slopes over pairs of rows that differ by their number of stages.
class stage_slopes {
 public:
  void add(double at, const product_row& r) {
    auto& [times, megabytes] = all_[at];
    times[stages(r.size, r.tile)] = r.median_ns;
    megabytes[stages(r.size, r.tile)] = megabytes_of(r.size);
  }
  // Visits what a stage took `at`, and the megabytes in the middle of the two rows.
  void each(const auto& visit) const {
    for (const auto& [at, of] : all_) {
      const auto& [times, megabytes] = of;
      if (times.size() > 1)
        visit(at, (megabytes.begin()->second + megabytes.rbegin()->second) / 2,
              rows_of_instance::slope(times));
    }
  }

 private:
  struct pair_of_rows {
    std::map<int, double> times, megabytes;
  };
  std::map<double, pair_of_rows> all_;
};

// What a stage takes whose rows begin inside a line, or with more of A, B and C than the L2 cache takes.
std::vector<row_start_times> row_starts_of(const rows_of_instance& rows, const tile_profile& p, int sms) {
  std::map<int, stage_slopes> alone, many;
  std::map<int, double> least_megabytes;
  rows.each("start", [&](const product_row& r) {
    alone[row_start_bytes(r.size.k)].add(r.blocks, r);
    if (r.blocks == sms) least_megabytes[row_start_bytes(r.size.k)] = megabytes_of(r.size);
  });
  rows.each("many", [&](const product_row& r) {
    many[row_start_bytes(r.size.k)].add(waves(r.size, r.tile, sms), r);
  });
  std::vector<row_start_times> found;
  for (const auto& [bytes, slopes] : many) {
    row_start_times of{bytes, {}, {}};
    alone[bytes].each([&of](double blocks, double, double ns) { of.stage.add(blocks, ns); });
    const double least = least_megabytes.empty() ? 0 : least_megabytes.begin()->second;
    of.of_many.add(least, std::max(p.both.at(sms), of.stage.at(sms)));
    slopes.each([&of](double tiles_of_an_sm, double megabytes, double ns) {
      of.of_many.add(megabytes, ns / tiles_of_an_sm);
    });
    found.push_back(std::move(of));
  }
  return found;
}

// What a megabyte takes that no other SM reads, between each two successive depths.
by_active unshared_of(const rows_of_instance& rows) {
  std::map<double, const product_row*> by_megabytes;
  rows.each("tall", [&](const product_row& r) { by_megabytes[megabytes_of(r.size)] = &r; });
  by_active found;
  const product_row* before = nullptr;
  for (const auto& [megabytes, row] : by_megabytes) {
    if (before != nullptr)
      found.add((megabytes + megabytes_of(before->size)) / 2,
                std::max(0.0, row->median_ns - before->median_ns) /
                    (loaded_megabytes_of(row->size) - loaded_megabytes_of(before->size)));
    before = row;
  }
  return found;
}

// What an output tile of a persistent block takes beyond its stages, the fourth and those after it.
by_active wide_tiles_of(const rows_of_instance& rows, const tile_profile& p, int sms) {
  std::map<int, std::map<double, double>> beyond_stages;  // by stages, and by output tiles of an SM
  const auto add = [&](const product_row& r) {
    if (!r.loads || r.blocks != sms) return;
    const int depth = stages(r.size, r.tile), count = waves(r.size, r.tile, sms);
    beyond_stages[depth][count] = r.median_ns - count * depth * stage_ns(p, r.size, sms, sms);
  };
  rows.each("wave", [&](const product_row& r) {
    if (waves(r.size, r.tile, sms) == 4) add(r);
  });
  rows.each("wide", add);
  by_active found;
  for (const auto& [depth, of] : beyond_stages)
    if (of.size() == 2)
      found.add(depth, (of.rbegin()->second - of.begin()->second) / (of.rbegin()->first - of.begin()->first));
  return found;
}

tile_profile profile_of(const rows_of_instance& rows, int sms) {
  const product_row& any = rows.any();
  tile_profile p;
  p.family = any.family;
  p.instance = any.instance;
  p.producers = any.producers;
  p.tile = any.tile;
  p.consumers = any.consumers;
  p.math_warps = any.math_warps;
  p.spilled_bytes = any.spilled_bytes;
  const int most = rows.most_buffers(), some = std::min(4, most);
  rows.each("launch", [&](const product_row& r) { p.launch.add(r.blocks, r.median_ns); });
  for (const int blocks : rows.block_counts())
    p.load.add(blocks, rows.stage_slope(rows.stages(true, false, most, blocks)));
  for (const int blocks : {1, sms})
    p.math.add(blocks, rows.stage_slope(rows.stages(false, true, some, blocks)));
  for (const int blocks : rows.block_counts()) {
    const auto whole = rows.stages(true, true, most, blocks);
    if (whole.empty()) continue;
    const auto alone = rows.stages(true, true, 1, blocks);
    const double period = rows.stage_slope(whole), round = rows.stage_slope(alone);
    p.both.add(blocks, period);
    p.round.add(blocks, round);
    if (const auto late = rows.late_slope(whole)) p.late_both.add(blocks, *late);
    if (const auto late = rows.late_slope(alone)) p.late_round.add(blocks, *late);
    const auto& [depth, ns] = *whole.begin();
    p.first.add(blocks, ns - p.launch.at(blocks) - (depth - 1) * period - round);
    if (alone.contains(1) && alone.contains(2)) p.second_alone.add(blocks, alone.at(2) - alone.at(1) - round);
  }
  // The epilogue: what products with one output tile per block take beyond their stages. Taken from those
  // with the fewest stages, where an error in a stage's time weighs least. The second stage is found as the
  // time by which a product of two stages takes longer than one of a single stage.
  std::map<int, std::map<int, double>> wholes;
  rows.each("epilogue", [&](const product_row& r) {
    if (r.loads && r.math && r.epilogue) wholes[r.blocks][stages(r.size, r.tile)] = r.median_ns;
  });
  for (const auto& [blocks, of] : wholes) {
    const auto& [depth, ns] = *of.begin();
    const double active = blocks;
    if (depth == 1 && of.contains(2)) p.second.add(active, of.at(2) - ns - p.both.at(active));
    p.epilogue.add(active, std::max(0.0, ns - p.launch.at(active) - p.first.at(active) -
                                             (depth > 1 ? p.second.at(active) : 0) - p.round.at(active) -
                                             (depth - 1) * p.both.at(active)));
  }
  const auto stores_only = [](const product_row& r) {
    return !r.loads && !r.math && r.epilogue && r.blocks == output_tiles(r.size, r.tile);
  };
  rows.each("epilogue", [&](const product_row& r) {
    if (stores_only(r)) p.store_alone.add(r.blocks, r.median_ns);
  });
  std::map<int, by_active> widths;
  rows.each("store", [&](const product_row& r) {
    if (stores_only(r)) widths[r.size.n].add(r.blocks, r.median_ns);
  });
  for (auto& [width, ns] : widths) p.store_by_width.push_back({width, std::move(ns)});
  p.row_starts = row_starts_of(rows, p, sms);
  p.unshared = unshared_of(rows);
  // Products with one output tile per SM, and with several, less their stages.
  std::map<int, std::map<bool, std::map<int, double>>>
      waves_of;  // by stages, and by whether each output tile has its own block
  rows.each("wave", [&](const product_row& r) {
    if (!r.loads) return;
    const int count = waves(r.size, r.tile, sms);
    const int depth = stages(r.size, r.tile);
    const double all_stages = count * depth * stage_ns(p, r.size, sms, sms);
    auto& of = waves_of[depth];
    if (count == 1 || r.blocks == sms) of[false][count] = r.median_ns - all_stages;
    if (count == 1 || r.blocks != sms) of[true][count] = r.median_ns - all_stages;
  });
  for (auto& [depth, of] : waves_of) {
    // The time of the second tile is the slope from one tile to two, that of later ones the slope from two to
    // four; with only two measured numbers both are the same slope.
    const auto steps = [&](std::map<int, double> times) {
      auto first = times, later = times;
      if (times.size() > 2) {
        first.erase(std::prev(first.end()));
        later.erase(later.begin());
      }
      return std::pair{rows.slope(first), rows.slope(later)};
    };
    const auto tile = steps(of[false]), wave = steps(of[true]);
    const double of_first_stage = p.round.at(sms) - p.both.at(sms);
    p.next_tile.add(depth, tile.first);
    p.later_tile.add(depth, tile.second);
    p.next_wave.add(depth, wave.first - of_first_stage);
    p.later_wave.add(depth, wave.second - of_first_stage);
  }
  p.wide_tile = wide_tiles_of(rows, p, sms);
  // Launches that only store, one output tile after the other.
  std::map<int, double> stores;
  rows.each("wave", [&](const product_row& r) {
    if (!r.loads && !r.math && r.epilogue && (r.blocks == sms))
      stores[waves(r.size, r.tile, sms)] = r.median_ns;
  });
  if (stores.size() > 1) p.store_ns = rows.slope(stores);
  return p;
}

}  // namespace

std::map<profile_key, tile_profile> profiles_of(std::span<const product_row> all, int sms) {
  std::map<profile_key, std::vector<const product_row*>> by_key;
  for (const product_row& r : all)
    if (std::ranges::find(calibration_sets, r.set) != calibration_sets.end())
      by_key[{r.family, r.instance, r.producers}].push_back(&r);
  std::map<profile_key, tile_profile> profiles;
  for (auto& [key, rows] : by_key) profiles.emplace(key, profile_of(rows_of_instance(std::move(rows)), sms));
  return profiles;
}

}  // namespace mgsync::pipeline
