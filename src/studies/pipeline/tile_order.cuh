// In which order a kernel computes its output tiles.
#pragma once

namespace mgsync::pipeline {

// skeleton >> order
struct tile_position {
  int m = 0;
  int n = 0;
};

// Output tiles are computed in groups of 8 rows of tiles, column by column within a group, so that the tiles
// that run at the same time share their inputs in the L2 cache.
__host__ __device__ inline tile_position position_of(int tile, int tiles_m, int tiles_n) {
  constexpr int group = 8;
  const int of_group = group * tiles_n;
  const int first = tile / of_group * group;
  const int rows = tiles_m - first < group ? tiles_m - first : group;
  const int within = tile % of_group;
  return {first + within % rows, within / rows};
}
// << skeleton

}  // namespace mgsync::pipeline
