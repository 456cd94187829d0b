#include "src/studies/pipeline/measurements.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/studies/pipeline/launch_timer.hpp"
#include "src/studies/pipeline/product_check.hpp"
#include "src/studies/pipeline/synthetic_kernel.hpp"

namespace mgsync::pipeline {

namespace {

constexpr int samples = 3;
constexpr std::size_t reserved_bytes = 1024;  // of shared memory, by the kernels' own barriers

int current_gpu() {
  int device = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  return device;
}

int shared_limit() {
  int bytes = 0;
  cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, current_gpu()), "asking for shared memory");
  return bytes;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int buffers_that_fit(extent tile) {
  const std::size_t stage = static_cast<std::size_t>(tile.m + tile.n) * static_cast<std::size_t>(tile.k) * 2;
  return static_cast<int>(std::min<std::size_t>(8, (static_cast<std::size_t>(shared_limit()) - reserved_bytes) / stage));
}

// So many output tiles, in a rectangle as square as can be.
extent rectangle(int tiles, extent tile, int depth) {
  int rows = 1;
  for (int r = 1; r * r <= tiles; ++r)
    if (tiles % r == 0) rows = r;
  return {rows * tile.m, tiles / rows * tile.n, depth * tile.k};
}

// One family's rows. The operands are one allocation large enough for every size.
class product_rows {
 public:
  product_rows(std::FILE* out, const gemm_kernel& family, std::int64_t largest_operand, std::int64_t largest_result)
      : out_(out), family_(family), store_({static_cast<int>(largest_result >> 12), 1 << 12, 8}, 1),
        inputs_({static_cast<int>(largest_operand >> 12), static_cast<int>(largest_operand >> 12), 1 << 12}, 2),
        sms_(cuda::sm_count(current_gpu())) {
    fmt::print(out_, "family,instance,tm,tn,tk,consumers,math_warps,buffers,producers,blocks,m,n,k,loads,math,epilogue,set,"
                     "launches,median_ns,min_ns\n");
  }

  int sms() const { return sms_; }

  void measure(const char* set, const gemm_launch& how, extent size) {
    const gemm_instance& i = family_.instances[static_cast<std::size_t>(how.instance)];
    const double work = 2.0 * size.m * size.n * size.k;
    const int launches = work > 1e11 ? 4 : 16;
    gemm_operands on = inputs_.operands();
    on.c = store_.operands().c;
    on.size = size;
    const auto ns = timer_.time_ns([&](cudaStream_t stream) { family_.launch(how, on, stream); }, launches, samples);
    fmt::print(out_, "{},{},{},{},{},{},{},{},{},{},{},{},{},{:d},{:d},{:d},{},{},{:.1f},{:.1f}\n", family_.name, how.instance, i.tile.m,
               i.tile.n, i.tile.k, i.consumers, i.math_warps, how.buffers, how.producers, how.blocks, size.m, size.n, size.k,
               how.parts.loads, how.parts.math, how.parts.epilogue, set, launches, median_of(ns), *std::min_element(ns.begin(), ns.end()));
  }

  int persistent_blocks(extent size, extent tile) const {
    return static_cast<int>(std::min<std::int64_t>(output_tiles(size, tile), sms_));
  }

 private:
  std::FILE* out_;
  const gemm_kernel& family_;
  launch_timer timer_;
  random_product store_;
  random_product inputs_;
  int sms_;
};

void warm_up(const gemm_kernel& family) {
  random_product some({2048, 2048, 2048}, 3);
  launch_timer timer;
  for (int i = 0; i < 5; ++i)
    timer.time_ns([&](cudaStream_t stream) { family.launch({0, 2, 1, cuda::sm_count(current_gpu()), {}}, some.operands(), stream); }, 300, 1);
}

void calibrate(product_rows& rows, const gemm_kernel& family, int instance, int producers) {
  const extent tile = family.instances[static_cast<std::size_t>(instance)].tile;
  const int all = rows.sms(), most = buffers_that_fit(tile);
  const auto launch = [&](int buffers, int blocks, gemm_parts parts) { return gemm_launch{instance, buffers, producers, blocks, parts}; };
  constexpr gemm_parts none{false, false, false}, loads{true, false, false}, math{false, true, false}, whole{},
      epilogue{false, false, true}, no_epilogue{true, true, false};
  for (const int blocks : {1, all}) rows.measure("launch", launch(most, blocks, none), rectangle(blocks, tile, 1));
  for (const int depth : {4, 16, 64}) {
    for (const int blocks : {1, all / 4, all / 2, all * 3 / 4, all}) {
      const extent size = rectangle(blocks, tile, depth);
      rows.measure("stage", launch(most, blocks, loads), size);
      if (blocks == 1 || blocks == all) continue;
      for (const int buffers : {1, most}) rows.measure("stage", launch(buffers, blocks, no_epilogue), size);
    }
    for (const int blocks : {1, all}) {
      const extent size = rectangle(blocks, tile, depth);
      rows.measure("stage", launch(1, blocks, loads), size);
      rows.measure("stage", launch(std::min(4, most), blocks, math), size);
      for (const int buffers : {1, 2, most}) rows.measure("stage", launch(buffers, blocks, none), size);
      for (int buffers = 1; buffers <= most; ++buffers) rows.measure("stage", launch(buffers, blocks, no_epilogue), size);
    }
  }
  for (const int depth : {1, 2, 3, 8, 32})
    for (const int blocks : {1, 8, all / 4, all / 2, all * 3 / 4, all}) {
      const extent size = rectangle(blocks, tile, depth);
      for (const int buffers : {1, 2, most}) rows.measure("edge", launch(buffers, blocks, no_epilogue), size);
      rows.measure("edge", launch(most, blocks, loads), size);
      rows.measure("edge", launch(std::min(4, most), blocks, math), size);
      if (depth != 2 && depth != 8) rows.measure("edge", launch(std::min(4, most), blocks, whole), size);
    }
  for (int n = tile.n; n <= 1024; n += 64)
    for (const int m : {128, 256, 512, 768, 1024})
      rows.measure("store", launch(std::min(4, most), rows.persistent_blocks({m, n, tile.k}, tile), epilogue), {m, n, tile.k});
  for (int n = 1088; n <= 3072; n += 64)
    for (const int m : {128, 512}) rows.measure("store", launch(std::min(4, most), rows.persistent_blocks({m, n, tile.k}, tile), epilogue), {m, n, tile.k});
  // One output tile to a block, with few and with all SMs storing at the same time.
  for (const int blocks : {1, all / 4, all / 2, all * 3 / 4, all}) {
    for (const gemm_parts parts : {none, epilogue}) rows.measure("epilogue", launch(std::min(4, most), blocks, parts), rectangle(blocks, tile, 1));
    for (const int depth : {2, 8}) rows.measure("epilogue", launch(std::min(4, most), blocks, whole), rectangle(blocks, tile, depth));
  }
  for (const int waves : {1, 2, 4})
    for (const gemm_parts parts : {none, epilogue, whole}) {
      const extent size = rectangle(all * waves, tile, parts == whole ? 8 : 1);
      rows.measure("wave", launch(std::min(4, most), all, parts), size);
      rows.measure("wave", launch(std::min(4, most), all * waves, parts), size);
    }
}

}  // namespace

void print_machine(std::FILE* out) {
  cudaDeviceProp gpu{};
  int driver = 0, runtime = 0, khz = 0;
  cuda::check(cudaGetDeviceProperties(&gpu, current_gpu()), "asking about the GPU");
  cuda::check(cudaDriverGetVersion(&driver), "asking for the driver");
  cuda::check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
  cuda::check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, current_gpu()), "asking for the clock");
  fmt::print(out, "# name={}\n# sms={}\n# shared_bytes={}\n# driver={}\n# runtime={}\n# highest_clock_mhz={}\n", gpu.name,
             gpu.multiProcessorCount, gpu.sharedMemPerBlockOptin, driver, runtime, khz / 1000);
}

void print_synthetic(std::FILE* out, int random_settings, std::uint64_t seed) {
  fmt::print(out, "semaphore,producers,buffers,stages,load_a_cycles,load_b_cycles,math_cycles,set,median_cycles,min_cycles\n");
  const cuda::stream stream = cuda::make_stream();
  const auto measure = [&](const char* set, const synthetic_setting& s) {
    std::vector<double> cycles;
    for (int i = 0; i < 5; ++i) cycles.push_back(static_cast<double>(run_synthetic(s, false, stream.get()).cycles));
    fmt::print(out, "{},{},{},{},{},{},{},{},{:.0f},{:.0f}\n", name_of(s.kind), s.producers, s.buffers, s.stages, s.load_a_cycles,
               s.load_b_cycles, s.math_cycles, set, median_of(cycles), *std::min_element(cycles.begin(), cycles.end()));
  };
  std::mt19937_64 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (const semaphore kind : all_semaphores) {
    measure("calibration", {kind, 1, 1, 1, 0, 0, 0});
    for (const int producers : {1, 2})
      for (const int buffers : {1, 2, 4})
        for (const int stages : {8, 64})
          for (const auto& [load, math] : {std::pair{0, 0}, {300, 4000}, {4000, 300}, {1000, 1000}})
            measure("calibration", {kind, producers, buffers, stages, load, load, math});
  }
  for (int i = 0; i < random_settings; ++i) {
    const semaphore kind = all_semaphores[static_cast<std::size_t>(i) % all_semaphores.size()];
    // Even over the orders of magnitude: short waits are where synchronization shows.
    const auto cycles = [&] { return static_cast<int>(200 * std::pow(100.0, draw(0, 1000) / 1000.0)); };
    measure("held-out", {kind, draw(1, 2), draw(1, most_buffers(kind)), draw(1, 64), cycles(), cycles(), cycles()});
  }
}

void print_synthetic_timelines(std::FILE* out) {
  fmt::print(out, "timeline,semaphore,producers,buffers,stages,load_a_cycles,load_b_cycles,math_cycles,agent,what,stage,begin,end\n");
  const cuda::stream stream = cuda::make_stream();
  int index = 0;
  for (const semaphore kind : all_semaphores)
    for (const synthetic_setting& s : {synthetic_setting{kind, 1, 2, 12, 500, 400, 1500}, synthetic_setting{kind, 2, 3, 12, 1500, 900, 600}}) {
      run_synthetic(s, true, stream.get());
      for (const activity_cycles& a : run_synthetic(s, true, stream.get()).activities)
        fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", index, name_of(s.kind), s.producers, s.buffers, s.stages, s.load_a_cycles,
                   s.load_b_cycles, s.math_cycles, a.agent, a.what, a.stage, a.begin, a.end);
      ++index;
    }
}

void print_products(std::FILE* out, const gemm_kernel& family, int random_sizes, std::uint64_t seed) {
  warm_up(family);
  product_rows rows(out, family, std::int64_t{1} << 25, std::int64_t{1} << 25);
  const int instances = static_cast<int>(family.instances.size());
  for (int i = 0; i < instances; ++i)
    for (int producers = 1; producers <= family.most_producers; ++producers) calibrate(rows, family, i, producers);
  std::mt19937_64 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < instances; ++i) {
    const extent tile = family.instances[static_cast<std::size_t>(i)].tile;
    const int buffers = std::min(4, buffers_that_fit(tile));
    for (int producers = 1; producers <= family.most_producers; ++producers)
      for (int m = 128; m <= 1024; m += 128)
        for (int n = 128; n <= 1024; n += 128)
          for (int k = 128; k <= 1024; k += 128)
            rows.measure("grid", {i, buffers, producers, rows.persistent_blocks({m, n, k}, tile), {}}, {m, n, k});
  }
  for (int r = 0; r < random_sizes; ++r) {
    const int i = draw(0, instances - 1);
    const extent tile = family.instances[static_cast<std::size_t>(i)].tile;
    const extent size{64 * draw(1, 48), 64 * draw(1, 48), 64 * draw(1, 48)};
    const int blocks = draw(0, 1) == 0 ? rows.persistent_blocks(size, tile) : static_cast<int>(output_tiles(size, tile));
    rows.measure("random", {i, draw(1, buffers_that_fit(tile)), draw(1, family.most_producers), blocks, {}}, size);
  }
}

void print_large_products(std::FILE* out, const gemm_kernel& family) {
  product_rows rows(out, family, std::int64_t{1} << 26, std::int64_t{1} << 26);
  for (int i = 0; i < static_cast<int>(family.instances.size()); ++i) {
    const extent tile = family.instances[static_cast<std::size_t>(i)].tile;
    for (const int side : {2048, 4096, 8192}) {
      const extent size{side, side, side};
      for (const bool whole : {false, true})
        rows.measure("large", {i, std::min(4, buffers_that_fit(tile)), family.most_producers, rows.persistent_blocks(size, tile), {whole, true, whole}}, size);
    }
  }
}

bool print_product_checks(std::FILE* out, const gemm_kernel& family) {
  fmt::print(out, "family,instance,tm,tn,tk,buffers,producers,blocks,m,n,k,method,error,error_of_wrong,verdict\n");
  bool all_good = true;
  const auto check = [&](const gemm_launch& how, extent size) {
    random_product product(size, 17);
    family.launch(how, product.operands(), nullptr);
    cuda::check(cudaDeviceSynchronize(), "multiplying");
    const bool small = std::int64_t{size.m} * size.n * size.k <= (std::int64_t{1} << 30);
    const auto error = [&] { return small ? product.full_error() : std::max(product.freivalds_error(3), product.sampled_error(4096)); };
    const double right = error();
    product.spoil(size.m / 2, size.n / 3, 2.0f);
    const double wrong = error();
    const bool good = right <= 1 && wrong > 1;
    all_good = all_good && good;
    const extent tile = family.instances[static_cast<std::size_t>(how.instance)].tile;
    fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{:.4f},{:.4f},{}\n", family.name, how.instance, tile.m, tile.n, tile.k, how.buffers,
               how.producers, how.blocks, size.m, size.n, size.k, small ? "full" : "freivalds", right, wrong, good ? "passed" : "failed");
  };
  const int sms = cuda::sm_count(current_gpu());
  for (int i = 0; i < static_cast<int>(family.instances.size()); ++i) {
    const extent tile = family.instances[static_cast<std::size_t>(i)].tile;
    const int most = buffers_that_fit(tile);
    for (int producers = 1; producers <= family.most_producers; ++producers) {
      for (const int buffers : {1, 2, most})
        for (const extent size : {extent{1024, 1024, 1024}, {512, 384, 640}, {136, 200, 264}, {72, 8, 24}}) {
          check({i, buffers, producers, static_cast<int>(std::min<std::int64_t>(sms, output_tiles(size, tile))), {}}, size);
          check({i, buffers, producers, static_cast<int>(output_tiles(size, tile)), {}}, size);
        }
      check({i, std::min(4, most), producers, sms, {}}, {4096, 3072, 2048});
    }
  }
  return all_good;
}

}  // namespace mgsync::pipeline
