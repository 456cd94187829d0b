// What is measured of each kernel: settings for calibration and held-out ones, as rows without times; and the
// metrics that follow from one batch of times. Pure; which kernel a point times is a value too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/values/metric.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {

// Sizes that a calibration never sees, by words: "paper" (multiples of 128 to 1024, 512 of them),
// "random" (to 3072 and with any number of buffers), "large" (2048, 4096 and 8192 cubed), "fresh" (below), or
// MxNxK. usage_error names what is accepted.
struct held_out_sizes {
  bool paper = false, random = false, large = false, fresh = false;
  std::vector<extent> asked{};
};
held_out_sizes read_sizes(std::span<const std::string> words);
inline constexpr std::string_view accepted_sizes =
    "paper, random, large, fresh, or MxNxK up to 16384 with N and K multiples of 8";

// 200 sizes with sides of 64 to 8192, log-uniform, the same for every kernel: of a third of them the largest
// side is above 4096, of a ninth all are; of half of them no tile divides any side.
std::vector<extent> fresh_sizes();

// One compiled product with its number of producers, and the GPU it runs on.
struct product_choice {
  const gemm_family* family = &mma_family;
  int instance = 0;
  int producers = 1;
  const gemm_instance& compiled() const { return family->instances[static_cast<std::size_t>(instance)]; }
};
struct gpu_room {
  int sms = 1;
  std::int64_t shared_bytes = 49152;  // what a block may use
};
int buffers_that_fit(extent tile, const gpu_room&);

// The settings for calibration (sets "launch", "stage", "epilogue", "store", "wave", "start", "many", "tall",
// "wide"), then the held-out products ("grid", "random", "large", "fresh", "asked"); the same in every run of
// the program. Sizes of the paper's grid that calibration measures too are in the set "grid-known": the
// choice of the best tile needs them, but they do not count in the errors.
std::vector<product_row> product_settings(const product_choice&, const gpu_room&, const held_out_sizes&);
// A product that is checked, in full up to 1024 cubed. The first ones cover every number of buffers and
// schedule.
struct product_check_setting {
  int buffers = 1;
  int blocks = 1;
  extent size;
};
std::vector<product_check_setting> product_checks(const product_choice&, const gpu_room&);

// Calibration and `held_out` random settings of 200 to 20,000 cycles; and those that are recorded.
std::vector<synthetic_row> synthetic_settings(std::string_view semaphore, int most_buffers, int held_out,
                                              std::uint64_t seed);
std::vector<synthetic_row> recorded_settings(std::string_view semaphore);

// The names of the metrics that one batch gives. Errors are those of held-out rows, with the launch
// subtracted.
std::span<const metric_name> product_columns();
std::vector<named_value> product_figures(std::span<const product_row>, int sms);
std::span<const metric_name> synthetic_columns();
std::vector<named_value> synthetic_figures(std::span<const synthetic_row>);

}  // namespace mgsync::pipeline
