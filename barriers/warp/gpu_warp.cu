#include "barriers/warp/gpu_warp.hpp"

#include <cooperative_groups.h>

#include "barriers/parts/round_loop/inner_rounds.hpp"
#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

namespace cg = cooperative_groups;

// The hardware's barrier instruction cannot be given a time-out, so a wait here may never end.
struct warp_pass {
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  struct arguments {
    unsigned all_lanes = 0xffffffffu;
  };
};

struct syncwarp_pass : warp_pass {
  __device__ syncwarp_pass(const arguments&, const round_loop::device_run&) {}
  __device__ bool operator()(std::uint32_t) {
    __syncwarp();
    return true;
  }
};

// Each half of the warp comes to a barrier instruction in a branch of its own; the mask of lanes that take
// part is known only at run time.
struct apart_pass : warp_pass {
  unsigned mask;
  bool upper;
  __device__ apart_pass(const arguments& given, const round_loop::device_run&)
      : mask(given.all_lanes), upper(threadIdx.x >= 16) {}
  __device__ bool operator()(std::uint32_t) {
    if (upper) asm volatile("bar.warp.sync %0; // the upper half" ::"r"(mask) : "memory");
    else asm volatile("bar.warp.sync %0; // the lower half" ::"r"(mask) : "memory");
    return true;
  }
};

struct tile_pass : warp_pass {
  cg::thread_block_tile<32> tile;
  __device__ tile_pass(const arguments&, const round_loop::device_run&)
      : tile(cg::tiled_partition<32>(cg::this_thread_block())) {}
  __device__ bool operator()(std::uint32_t) {
    tile.sync();
    return true;
  }
};

struct coalesced_pass : warp_pass {
  cg::coalesced_group group;
  __device__ coalesced_pass(const arguments&, const round_loop::device_run&)
      : group(cg::coalesced_threads()) {}
  __device__ bool operator()(std::uint32_t) {
    group.sync();
    return true;
  }
};

constexpr const char* together = ": no instruction where lanes are together, as they are when timed";

template <class Pass>
creation make(const topology::group& group, const configuration& wanted, session& where, std::string what) {
  const auto w = round_loop::request_of(group, wanted, where, "warp");
  return round_loop::make_inner_barrier<Pass, 1>(w, std::move(what));
}

}  // namespace

namespace gpu_warp {

creation syncwarp(const topology::group& group, const configuration& wanted, session& where) {
  return make<syncwarp_pass>(group, wanted, where, std::string("__syncwarp") + together);
}

creation apart(const topology::group& group, const configuration& wanted, session& where) {
  return make<apart_pass>(group, wanted, where, "__syncwarp, from two branches");
}

creation tile(const topology::group& group, const configuration& wanted, session& where) {
  return make<tile_pass>(group, wanted, where, std::string("tile<32>.sync") + together);
}

creation coalesced(const topology::group& group, const configuration& wanted, session& where) {
  return make<coalesced_pass>(group, wanted, where, std::string("coalesced_group.sync") + together);
}

}  // namespace gpu_warp

}  // namespace mgsync
