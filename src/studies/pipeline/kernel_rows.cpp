#include "src/studies/pipeline/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/models/pipeline/answer.hpp"
#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

namespace {

constexpr std::int64_t reserved_bytes = 1024;  // of shared memory, for the kernels' own barriers
constexpr std::uint64_t seed_of_sizes = 24;
constexpr int random_products = 40;  // per point
// Another one whenever the model changes, so that it never saw the sizes that judge it.
constexpr std::uint64_t seed_of_fresh_sizes = 20261201;
constexpr int width_step = 64, widest = 3072;       // widths of C at which the epilogue is calibrated
constexpr int many_elements = 132 * 8 * 128 * 128;  // of C, in products that leave the L2 cache: 69 MB

// The size of a product with `tiles` output tiles, in a rectangle as square as possible.
extent rectangle(int tiles, extent tile, int depth) {
  int rows = 1;
  for (int r = 1; r * r <= tiles; ++r)
    if (tiles % r == 0) rows = r;
  return {rows * tile.m, tiles / rows * tile.n, depth * tile.k};
}

// Collects the settings of one point in the order of measuring.
class product_list {
 public:
  product_list(const product_choice& of, const gpu_room& room)
      : of_(of), room_(room), most_(buffers_that_fit(of.compiled().tile, room)) {}

  int most() const { return most_; }
  int some() const { return std::min(4, most_); }
  int persistent_blocks(extent size) const {
    return static_cast<int>(std::min<std::int64_t>(output_tiles(size, of_.compiled().tile), room_.sms));
  }

  void add(const char* set, int buffers, int blocks, gemm_parts parts, extent size) {
    const gemm_instance& i = of_.compiled();
    rows_.push_back({std::string(of_.family->name), of_.instance, i.tile, i.consumers, i.math_warps, buffers,
                     of_.producers, blocks, size, parts.loads, parts.math, parts.epilogue, set});
  }
  // Whether the list already has a whole product of this size.
  bool is_calibrated(extent size) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const product_row& r) {
      return r.size == size && r.loads && r.math && r.epilogue;
    });
  }
  std::vector<product_row> take() { return std::move(rows_); }

 private:
  product_choice of_;
  gpu_room room_;
  int most_;
  std::vector<product_row> rows_;
};

constexpr gemm_parts none{false, false, false}, loads_alone{true, false, false},
    math_alone{false, true, false}, whole{}, stores_alone{false, false, true}, no_epilogue{true, true, false};

// Adds settings with C as wide as any product that is predicted, on as many SMs as its tiles need, since how
// fast memory takes stores depends on how far apart the rows of C are.
void add_widths(product_list& list, extent tile, int sms) {
  for (int n = width_step; n <= widest; n += width_step) {
    int before = 0;
    for (const int rows : {128, 512, 1024}) {
      const int fitting = static_cast<int>(sms / parts(n, tile.n)) * tile.m, m = std::min(rows, fitting);
      if (m == before || m < tile.m) break;
      list.add("store", list.some(), static_cast<int>(output_tiles({m, n, tile.k}, tile)), stores_alone,
               {m, n, tile.k});
      before = m;
      if (n > 1024 && rows == 512) break;
    }
  }
}

// Adds settings whose rows of A and B begin inside a line of the L2 cache, such whose A, B and C leave it,
// and tall ones, where no two SMs share rows of A. Settings of a kind differ by their number of stages alone,
// so that the slope is what a stage takes.
void add_row_starts(product_list& list, extent tile, int sms) {
  const auto begins_at = [](extent size, int bytes) {
    if (bytes < 128) size.k -= bytes / 2;
    return size;
  };
  for (const int bytes : {16, 32, 64})
    for (const int blocks : {1, sms / 2, sms})
      for (const int depth : {4, 16})
        list.add("start", list.most(), blocks, no_epilogue, begins_at(rectangle(blocks, tile, depth), bytes));
  const int many = std::max(4, many_elements / (sms * tile.m * tile.n));
  for (const int bytes : {16, 32, 64, 128})
    for (const int tiles : {many / 4, many})
      for (const int k : {1024, 2048})
        list.add("many", list.some(), sms, whole, begins_at(rectangle(sms * tiles, tile, k / tile.k), bytes));
  for (const int k : {512, 1024, 2048, 4096, 8192})
    list.add("tall", list.most(), sms, loads_alone, {sms * tile.m, tile.n, k});
  for (const int depth : {1, 2, 8})
    list.add("wide", list.some(), sms, whole, rectangle(sms * many * 2, tile, depth));
}

void add_calibration(product_list& list, extent tile, int sms) {
  const int most = list.most(), some = list.some();
  for (const int blocks : {1, sms}) list.add("launch", most, blocks, none, rectangle(blocks, tile, 1));
  for (const int blocks : {1, sms / 4, sms / 2, sms * 3 / 4, sms})
    for (const int depth : {1, 2, 4, 16, 64}) {
      const extent size = rectangle(blocks, tile, depth);
      list.add("stage", 1, blocks, no_epilogue, size);
      if (most > 1) list.add("stage", most, blocks, no_epilogue, size);
      if (depth == 4 || depth == 16) list.add("stage", most, blocks, loads_alone, size);
      if ((depth == 4 || depth == 16) && (blocks == 1 || blocks == sms))
        list.add("stage", some, blocks, math_alone, size);
      // One output tile per block, with few SMs and with all of them storing at the same time.
      if (depth <= 2) list.add("epilogue", some, blocks, whole, size);
      if (depth == 1) list.add("epilogue", some, blocks, stores_alone, size);
    }
  for (const int waves : {1, 2, 4})
    for (const int blocks : {sms, sms * waves}) {
      for (const int depth : {1, 2, 8})
        list.add("wave", some, blocks, whole, rectangle(sms * waves, tile, depth));
      list.add("wave", some, blocks, stores_alone, rectangle(sms * waves, tile, 1));
      if (waves == 1) break;
    }
  add_widths(list, tile, sms);
  add_row_starts(list, tile, sms);
}

void add_held_out(product_list& list, const product_choice& of, const held_out_sizes& sizes,
                  const gpu_room& room) {
  const extent tile = of.compiled().tile;
  const auto persistent = [&](const char* set, int buffers, extent size) {
    list.add(set, buffers, list.persistent_blocks(size), whole, size);
  };
  const bool calibrated = of.family != &cublas_family;
  if (sizes.paper)
    for (int m = 128; m <= 1024; m += 128)
      for (int n = 128; n <= 1024; n += 128)
        for (int k = 128; k <= 1024; k += 128)
          persistent(list.is_calibrated({m, n, k}) ? "grid-known" : "grid", list.some(), {m, n, k});
  if (sizes.random && calibrated) {
    std::mt19937_64 random(seed_of_sizes + static_cast<std::uint64_t>(of.instance) * 16 +
                           static_cast<std::uint64_t>(of.producers));
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    for (int i = 0; i < random_products; ++i) {
      const int m = 64 * draw(1, 48), n = 64 * draw(1, 48), k = 64 * draw(1, 48),
                buffers = draw(1, list.most());
      const extent size{m, n, k};
      if (list.is_calibrated(size)) continue;
      const bool waves = draw(0, 1) == 1;
      list.add("random", buffers,
               waves ? static_cast<int>(output_tiles(size, tile)) : list.persistent_blocks(size), whole,
               size);
    }
  }
  if (sizes.large)
    for (const int side : {2048, 4096, 8192}) {
      if (calibrated) list.add("large", list.some(), room.sms, math_alone, {side, side, side});
      persistent("large", list.some(), {side, side, side});
    }
  if (sizes.fresh)
    for (const extent& size : fresh_sizes()) {
      const char* const set = list.is_calibrated(size) ? "fresh-known" : "fresh";
      persistent(set, list.some(), size);
      if (calibrated && list.most() != list.some()) persistent(set, list.most(), size);
    }
  for (const extent& size : sizes.asked)
    persistent(list.is_calibrated(size) ? "asked-known" : "asked", list.some(), size);
}

double rate_tflops(const product_row& r) { return 2.0 * r.size.m * r.size.n * r.size.k / r.median_ns * 1e-3; }

}  // namespace

held_out_sizes read_sizes(std::span<const std::string> words) {
  held_out_sizes found;
  for (const std::string& word : words) {
    if (word == "paper") found.paper = true;
    else if (word == "random") found.random = true;
    else if (word == "large") found.large = true;
    else if (word == "fresh") found.fresh = true;
    else {
      const extent size = read_extent(word, "size", accepted_sizes);
      if (size.n % 8 != 0 || size.k % 8 != 0 || std::max({size.m, size.n, size.k}) > 16384)
        throw usage_error(fmt::format("--size is '{}'; accepted: {}", word, accepted_sizes));
      found.asked.push_back(size);
    }
  }
  return found;
}

std::vector<extent> fresh_sizes() {
  std::mt19937_64 random(seed_of_fresh_sizes);
  const auto side = [&](int low, int step) {
    const double share = static_cast<double>(random() % 1'000'000) / 1e6;
    const int drawn = static_cast<int>(low * std::pow(8192.0 / low, share));
    const int rounded = std::max(drawn / step, 1) * step;
    return step == 8 && rounded % 64 == 0 ? rounded - 8 : rounded;  // no tile divides it
  };
  std::vector<extent> all;
  for (int i = 0; i < 200; ++i) {
    const int step = i % 2 == 0 ? 64 : 8;
    const bool large = i % 3 == 0, huge = i % 9 == 0;
    int sides[3];
    do {
      for (int& one : sides) one = side(huge ? 4096 : 64, step);
      if (large && !huge) sides[random() % 3] = side(4096, step);
    } while ((*std::ranges::max_element(sides) > 4096) != large ||
             (huge && *std::ranges::min_element(sides) <= 4096));
    all.push_back({step == 8 ? sides[0] - 3 : sides[0], sides[1], sides[2]});
  }
  return all;
}

int buffers_that_fit(extent tile, const gpu_room& room) {
  const std::int64_t stage = static_cast<std::int64_t>(tile.m + tile.n) * tile.k * 2;
  return static_cast<int>(std::min<std::int64_t>(8, (room.shared_bytes - reserved_bytes) / stage));
}

std::vector<product_row> product_settings(const product_choice& of, const gpu_room& room,
                                          const held_out_sizes& sizes) {
  product_list list(of, room);
  if (list.most() < 1) return {};
  if (of.family != &cublas_family) add_calibration(list, of.compiled().tile, room.sms);
  add_held_out(list, of, sizes, room);
  return list.take();
}

std::vector<product_check_setting> product_checks(const product_choice& of, const gpu_room& room) {
  const extent tile = of.compiled().tile;
  const int most = buffers_that_fit(tile, room);
  std::vector<product_check_setting> all;
  for (const int buffers : {1, 2, most}) {
    if (buffers > most) continue;
    for (const extent size : {extent{1024, 1024, 1024}, {512, 384, 640}, {136, 200, 264}, {72, 8, 24}}) {
      const auto tiles = output_tiles(size, tile);
      all.push_back({buffers, static_cast<int>(std::min<std::int64_t>(room.sms, tiles)), size});
      all.push_back({buffers, static_cast<int>(tiles), size});
    }
  }
  const extent big{4096, 3072, 2048};
  all.push_back(
      {std::min(4, most), static_cast<int>(std::min<std::int64_t>(room.sms, output_tiles(big, tile))), big});
  return all;
}

std::vector<synthetic_row> synthetic_settings(std::string_view semaphore, int most_buffers, int held_out,
                                              std::uint64_t seed) {
  std::vector<synthetic_row> all;
  const auto add = [&](const char* set, int producers, int buffers, int stages, int a, int b, int math) {
    all.push_back({std::string(semaphore), producers, buffers, stages, 1.0 * a, 1.0 * b, 1.0 * math, set});
  };
  add("calibration", 1, 1, 1, 0, 0, 0);
  for (const int producers : {1, 2})
    for (const int buffers : {1, 2, 4})
      for (const int stages : {8, 64})
        for (const auto& [load, math] : {std::pair{0, 0}, {300, 4000}, {4000, 300}, {1000, 1000}})
          add("calibration", producers, buffers, stages, load, load, math);
  std::mt19937_64 random(seed);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int i = 0; i < held_out; ++i) {
    // Log-uniform over the orders of magnitude: the cost of synchronization shows in short waits.
    const auto cycles = [&] { return static_cast<int>(200 * std::pow(100.0, draw(0, 1000) / 1000.0)); };
    const int producers = draw(1, 2), buffers = draw(1, most_buffers), stages = draw(1, 64), a = cycles(),
              b = cycles(), math = cycles();
    add("held-out", producers, buffers, stages, a, b, math);
  }
  return all;
}

std::vector<synthetic_row> recorded_settings(std::string_view semaphore) {
  const std::string name(semaphore);
  return {{name, 1, 2, 12, 500, 400, 1500, "recorded"},
          {name, 2, 3, 12, 600, 500, 1500, "recorded"},
          {name, 2, 3, 12, 1500, 900, 600, "recorded"}};
}

std::span<const metric_name> product_columns() {
  static const std::vector<metric_name> columns = {{"rate", "TFLOP/s", better::more},
                                                   {"mean_error", "percent"},
                                                   {"max_error", "percent"},
                                                   {"load", "ns"},
                                                   {"math", "ns"},
                                                   {"launch", "ns"}};
  return columns;
}

std::vector<named_value> product_figures(std::span<const product_row> rows, int sms) {
  double rate = 0, work = 0;
  for (const product_row& r : rows) {
    const double flops = 1.0 * r.size.m * r.size.n * r.size.k;
    if (is_held_out(r) && (flops > work || (flops == work && rate_tflops(r) > rate)))
      work = flops, rate = rate_tflops(r);
  }
  const auto profiles = profiles_of(rows, sms);
  if (profiles.size() != 1)
    return work > 0 ? std::vector<named_value>{{"rate", rate}} : std::vector<named_value>{};
  const tile_profile& p = profiles.begin()->second;
  std::vector<std::pair<double, double>> pairs;
  for (const product_row& r : rows) {
    if (!is_held_out(r)) continue;
    const double launch = launch_ns(p, r.size, sms);
    pairs.emplace_back(simulated_ns(r, p, sms) - launch, r.median_ns - launch);
  }
  std::vector<named_value> all;
  if (!pairs.empty()) {
    const error_summary s = summarize_errors(pairs);
    all = {{"rate", rate}, {"mean_error", s.mean_percent}, {"max_error", s.max_percent}};
  }
  all.insert(all.end(), {{"load", p.load.at(sms)}, {"math", p.math.at(sms)}, {"launch", p.launch.at(sms)}});
  return all;
}

std::span<const metric_name> synthetic_columns() {
  static const std::vector<metric_name> columns = {{"handover", "cycles"},
                                                   {"query", "cycles"},
                                                   {"start", "cycles"},
                                                   {"mean_error", "percent"},
                                                   {"max_error", "percent"}};
  return columns;
}

std::vector<named_value> synthetic_figures(std::span<const synthetic_row> rows) {
  for (const synthetic_summary& s : evaluate_synthetic(rows))
    if (s.semaphore != "all")
      return {{"handover", s.costs.handover},
              {"query", s.costs.query},
              {"start", s.costs.start},
              {"mean_error", s.held_out.mean_percent},
              {"max_error", s.held_out.max_percent}};
  return {};
}

}  // namespace mgsync::pipeline
