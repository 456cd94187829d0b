// The kernel for Hopper: one thread loads input tiles by tensor copies into a circular buffer, warpgroups
// multiply them with wgmma and store the output tile. Cooperative: all warpgroups share an output tile.
// Ping-pong: output tiles alternate between two warpgroups, one multiplies at a time, and the other's
// epilogue is hidden behind that. Compiled for sm_90a only.
#include <cuda.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "barriers/library/include/mgsync/timeline.cuh"

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/studies/pipeline/gemm_kernel.hpp"
#include "src/studies/pipeline/semaphores.cuh"
#include "src/studies/pipeline/tile_order.cuh"
#include "src/studies/pipeline/wgmma.cuh"

namespace mgsync::pipeline {

namespace {

// skeleton >> kernel (what --skeleton prints: skeleton.cpp)
constexpr int group_threads = 128;
constexpr int group_warps = 4;
constexpr int strip = 64;  // elements of k in a swizzled row of 128 bytes
constexpr std::size_t barrier_bytes = 1024;
constexpr int most_buffers = 16;
constexpr std::size_t least_shared_bytes = 118 * 1024;  // so that a block has an SM to itself

struct arguments {
  float* c;
  int m, n;
  int tiles_m, tiles_n, depth;
  unsigned buffers;
  gemm_parts parts;
};

struct barriers {
  std::uint64_t full[most_buffers];
  std::uint64_t empty[most_buffers];
  std::uint64_t turn[2];
};

__device__ inline void expect_bytes(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// Copies a box of 64 elements of k by the map's number of rows; elements outside the matrix become 0.
__device__ inline void copy_box(std::uint32_t to, const CUtensorMap& map, int k, int row,
                                std::uint64_t* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
               "{%2, %3}], [%4];" ::"r"(to),
               "l"(&map), "r"(k), "r"(row), "r"(shared_address(barrier))
               : "memory");
}

template <int Registers>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

// << skeleton
// Kernels that are timed have recorders that are off, which leave no code.
enum recorded_id : std::uint32_t { copy_asked, copy_arrived, multiplying, storing };
using not_recorded = event_buffer<1, 1, false, false>;
constexpr unsigned most_stamps = 128;  // of a warp
using recorded = event_buffer<12, most_stamps>;

// Says when each copy has arrived: a thread that does nothing but wait for it.
template <class Recorder>
__device__ void watch_copies(const arguments& x, barriers* at_block, Recorder& notes) {
  ring_position at;
  for (int tile = blockIdx.x; tile < x.tiles_m * x.tiles_n; tile += gridDim.x)
    for (int stage = 0; stage < x.depth; ++stage) {
      mbarrier_wait(&at_block->full[at.slot], at.parity);
      notes.stamp(copy_arrived);
      at.advance(x.buffers);
    }
}

// skeleton >> warps
template <int TM, int TN, int TK, class Recorder>
__device__ void produce(const arguments& x, const CUtensorMap& a, const CUtensorMap& b, std::uint32_t buffer,
                        barriers* at_block, Recorder& notes) {
  constexpr unsigned stage_bytes = (TM + TN) * TK * 2;
  ring_position at;
  unsigned filled = 0;
  for (int tile = blockIdx.x; tile < x.tiles_m * x.tiles_n; tile += gridDim.x) {
    const tile_position place = position_of(tile, x.tiles_m, x.tiles_n);
    for (int stage = 0; stage < x.depth; ++stage) {
      std::uint64_t* const full = &at_block->full[at.slot];
      mbarrier_wait(&at_block->empty[at.slot], at.parity ^ 1);
      notes.stamp(copy_asked);
      if (x.parts.loads || (x.parts.math && filled < x.buffers)) {
        ++filled;
        const std::uint32_t to = buffer + at.slot * stage_bytes;
        expect_bytes(full, stage_bytes);
#pragma unroll
        for (int s = 0; s < TK / strip; ++s) {
          copy_box(to + s * TM * strip * 2, a, stage * TK + s * strip, place.m * TM, full);
          copy_box(to + TM * TK * 2 + s * TN * strip * 2, b, stage * TK + s * strip, place.n * TN, full);
        }
      } else {
        mbarrier_arrive(full);
      }
      at.advance(x.buffers);
    }
  }
}

template <int TN>
__device__ void store(const float (&sum)[TN / 2], const arguments& x, int first_row, int first_column,
                      int warp, int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + warp * 16 + lane / 4 + half * 8;
#pragma unroll
    for (int j = 0; j < TN / 8; ++j) {
      const int column = first_column + j * 8 + (lane % 4) * 2;
      if (row < x.m && column < x.n)
        *reinterpret_cast<float2*>(x.c + static_cast<std::size_t>(row) * x.n + column) =
            make_float2(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
    }
  }
}

template <int TM, int TN, int TK, bool PingPong, class Recorder>
__device__ void consume(const arguments& x, std::uint32_t buffer, barriers* at_block, int group, int warp,
                        int lane, Recorder& notes) {
  constexpr unsigned stage_bytes = (TM + TN) * TK * 2;
  const int row_in_tile = PingPong ? 0 : group * 64;
  ring_position at;
  int mine = 0;  // output tiles of this consumer so far
  int of_block = 0;
  for (int tile = blockIdx.x; tile < x.tiles_m * x.tiles_n; tile += gridDim.x, ++of_block) {
    if (PingPong && of_block % 2 != group) {
      const unsigned end = at.slot + static_cast<unsigned>(x.depth);
      at.parity ^= end / x.buffers & 1;
      at.slot = end % x.buffers;
      continue;
    }
    if (PingPong) mbarrier_wait(&at_block->turn[group], static_cast<unsigned>(mine + 1 - group) & 1);
    ++mine;
    float sum[TN / 2];
#pragma unroll
    for (float& s : sum) s = 0;
    for (int stage = 0; stage < x.depth; ++stage) {
      mbarrier_wait(&at_block->full[at.slot], at.parity);
      if (x.parts.math) {
        const std::uint32_t from = buffer + at.slot * stage_bytes;
        notes.begin(multiplying);
        multiplying_begins();
#pragma unroll
        for (int s = 0; s < TK / strip; ++s) {
          const std::uint64_t a = operand_at(from + (s * TM + row_in_tile) * strip * 2);
          const std::uint64_t b = operand_at(from + TM * TK * 2 + s * TN * strip * 2);
#pragma unroll
          for (int k = 0; k < strip / 16; ++k) multiply_16(sum, a + 2 * k, b + 2 * k);
        }
        multiplying_ends();
        notes.end(multiplying);
      }
      if (lane == 0) mbarrier_arrive(&at_block->empty[at.slot]);
      at.advance(x.buffers);
    }
    if (PingPong && lane == 0) mbarrier_arrive(&at_block->turn[1 - group]);
    const tile_position place = position_of(tile, x.tiles_m, x.tiles_n);
    notes.begin(storing);
    if (x.parts.epilogue) store<TN>(sum, x, place.m * TM + row_in_tile, place.n * TN, warp, lane);
    notes.end(storing);
  }
}

template <int TM, int TN, int TK, int Groups, bool PingPong, class Buffer>
__device__ __forceinline__ void multiply(const arguments& x, const CUtensorMap& a, const CUtensorMap& b,
                                         event_recorder<Buffer>& notes) {
  static_assert(TM == (PingPong ? 64 : 64 * Groups) && TK % strip == 0);
  extern __shared__ __align__(1024) unsigned char shared[];
  auto* const at_block = reinterpret_cast<barriers*>(shared);
  const std::uint32_t buffer = shared_address(shared) + barrier_bytes;
  if (threadIdx.x == 0) {
    for (unsigned q = 0; q < x.buffers; ++q) {
      mbarrier_init(&at_block->full[q], 1);
      mbarrier_init(&at_block->empty[q], group_warps * (PingPong ? 1 : Groups));
    }
    mbarrier_init(&at_block->turn[0], group_warps);
    mbarrier_init(&at_block->turn[1], group_warps);
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  // 168 registers per thread of three warpgroups; with one consumer there are enough for both.
  constexpr bool trades = Groups == 2 && !Buffer::on;  // producers of a recorded kernel go on with its end
  if (warp < group_warps) {
    if constexpr (trades) give_registers<traded_producer_registers>();
    if (threadIdx.x == 0) produce<TM, TN, TK>(x, a, b, buffer, at_block, notes);
    if (Buffer::on && threadIdx.x == 32) watch_copies(x, at_block, notes);
  } else {
    if constexpr (trades) take_registers<traded_consumer_registers>();
    consume<TM, TN, TK, PingPong>(x, buffer, at_block, warp / group_warps - 1, warp % group_warps, lane,
                                  notes);
  }
}

template <int TM, int TN, int TK, int Groups, bool PingPong>
__global__ void __launch_bounds__(group_threads*(1 + Groups), 1)
    multiply_kernel(const arguments x, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b) {
  not_recorded nothing;
  event_recorder notes(nothing);
  multiply<TM, TN, TK, Groups, PingPong>(x, a, b, notes);
}
// << skeleton

template <int TM, int TN, int TK, int Groups, bool PingPong>
__global__ void __launch_bounds__(group_threads*(1 + Groups), 1)
    recorded_kernel(const arguments x, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b, recorded::events* out) {
  __shared__ recorded ring;
  event_recorder notes(ring);
  multiply<TM, TN, TK, Groups, PingPong>(x, a, b, notes);
  __syncwarp();
  __syncthreads();
  if (blockIdx.x == 0) notes.flush(out);
}

using kernel = void (*)(arguments, CUtensorMap, CUtensorMap);
struct compiled {
  kernel code;
  int groups;
};
const std::array<compiled, 12> kernels = {{{multiply_kernel<64, 64, 64, 1, false>, 1},
                                           {multiply_kernel<64, 128, 64, 1, false>, 1},
                                           {multiply_kernel<64, 256, 64, 1, false>, 1},
                                           {multiply_kernel<64, 64, 128, 1, false>, 1},
                                           {multiply_kernel<64, 128, 128, 1, false>, 1},
                                           {multiply_kernel<128, 64, 64, 2, false>, 2},
                                           {multiply_kernel<128, 128, 64, 2, false>, 2},
                                           {multiply_kernel<128, 256, 64, 2, false>, 2},
                                           {multiply_kernel<128, 64, 128, 2, false>, 2},
                                           {multiply_kernel<128, 128, 128, 2, false>, 2},
                                           {multiply_kernel<64, 128, 64, 2, true>, 2},
                                           {multiply_kernel<64, 256, 64, 2, true>, 2}}};

std::size_t shared_bytes(const gemm_launch& launch) {
  const extent tile = wgmma_instances[static_cast<std::size_t>(launch.instance)].tile;
  const std::size_t needed =
      barrier_bytes + static_cast<std::size_t>(launch.buffers) * (tile.m + tile.n) * tile.k * 2;
  return needed < least_shared_bytes ? least_shared_bytes : needed;
}

kernel_needs needs(int instance) {
  cudaFuncAttributes seen{};
  cuda::check(cudaFuncGetAttributes(
                  &seen, reinterpret_cast<const void*>(kernels[static_cast<std::size_t>(instance)].code)),
              "asking for a kernel's registers");
  return {seen.numRegs, static_cast<int>(seen.localSizeBytes)};
}

std::optional<std::string> cannot_run() {
  int device = 0, major = 0, minor = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
              "asking for the compute capability");
  cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
              "asking for the compute capability");
  if (major != 9 || minor != 0) return "wgmma exists on compute capability 9.0 only";
  return std::nullopt;
}

// skeleton >> map
// A tensor map of a matrix with `rows` rows of k halves, for copies of boxes of 64 x box_rows elements.
CUtensorMap map_of(const void* matrix, int rows, int k, int box_rows) {
  static const auto encode =
      cuda::driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  CUtensorMap map{};
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(k) * sizeof(__half)};
  const cuuint32_t box[] = {strip, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  cuda::check_driver(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<void*>(matrix), sizes,
                            strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                     "describing a matrix to the copy engine");
  return map;
}
// << skeleton

void launch_code(const void* code, const gemm_launch& how, const gemm_operands& on, cudaStream_t stream,
                 recorded::events* out) {
  const auto which = static_cast<std::size_t>(how.instance);
  const extent tile = wgmma_instances[which].tile;
  const std::size_t shared = shared_bytes(how);
  cuda::check(
      cudaFuncSetAttribute(code, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
      "asking for shared memory");
  arguments x{on.c,
              on.size.m,
              on.size.n,
              static_cast<int>(parts(on.size.m, tile.m)),
              static_cast<int>(parts(on.size.n, tile.n)),
              stages(on.size, tile),
              static_cast<unsigned>(how.buffers),
              how.parts};
  CUtensorMap a = map_of(on.a, on.size.m, on.size.k, tile.m), b = map_of(on.b, on.size.n, on.size.k, tile.n);
  void* pointers[] = {&x, &a, &b, &out};  // the last is of the recorded kernel alone
  cuda::check(cudaLaunchKernel(code, dim3(static_cast<unsigned>(how.blocks)),
                               dim3(static_cast<unsigned>(group_threads * (1 + kernels[which].groups))),
                               pointers, shared, stream),
              "launching a product of wgmma");
}

void launch(const gemm_launch& how, const gemm_operands& on, cudaStream_t stream) {
  const auto* const code =
      reinterpret_cast<const void*>(kernels[static_cast<std::size_t>(how.instance)].code);
  launch_code(code, how, on, stream, nullptr);
}

constexpr int recorded_instance = 6;

// A warp's stamps, with their ids in the order of recording.
std::vector<std::pair<std::uint32_t, double>> stamps_of(const recorded::events& warp) {
  std::vector<std::pair<std::uint32_t, double>> all;
  for (std::uint32_t i = 0; i < warp.kept(); ++i)
    all.emplace_back(warp[i].id, static_cast<double>(warp[i].clock));
  return all;
}

// The rows of one block from its three warps that stamp: who loads, who watches, and the first that
// multiplies.
std::vector<recorded_row> rows_of(const std::vector<recorded::events>& warps, recorded_row like, int depth) {
  const auto asked = stamps_of(warps[0]), arrived = stamps_of(warps[1]),
             multiplied = stamps_of(warps[group_warps]);
  const double zero = asked.empty() ? 0 : asked.front().second;
  std::vector<recorded_row> all;
  const auto add = [&](const char* what, int stage, double begin, double end) {
    like.what = what, like.stage = stage, like.output_tile = stage / depth;
    like.begin = begin - zero, like.end = end - zero;
    all.push_back(like);
  };
  for (std::size_t i = 0; i < std::min(asked.size(), arrived.size()); ++i)
    add("load", static_cast<int>(i), asked[i].second, arrived[i].second);
  int stage = 0;
  for (std::size_t i = 0; i + 1 < multiplied.size(); i += 2) {
    const bool stores = (multiplied[i].first & ~range_begins) == storing;
    add(stores ? "store" : "multiply", stores ? stage - 1 : stage, multiplied[i].second,
        multiplied[i + 1].second);
    if (!stores) ++stage;
  }
  return all;
}

std::vector<recorded_row> record(const gemm_operands& on) {
  int device = 0, sms = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  cuda::check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "asking for SMs");
  const extent tile = wgmma_instances[recorded_instance].tile;
  const int blocks = static_cast<int>(std::min<std::int64_t>(sms, output_tiles(on.size, tile)));
  const gemm_launch how{recorded_instance, 4, 1, blocks, {}};
  std::vector<recorded::events> warps(recorded::warps);
  const auto bytes = warps.size() * sizeof(recorded::events);
  const cuda::memory room = cuda::memory::on_gpu(device, bytes);
  const auto* const code = reinterpret_cast<const void*>(recorded_kernel<128, 128, 64, 2, false>);
  for (int i = 0; i < 2; ++i)  // the first finds cold caches
    launch_code(code, how, on, nullptr, room.as<recorded::events>());
  cuda::check(cudaDeviceSynchronize(), "recording a product");
  cuda::check(cudaMemcpy(warps.data(), room.as<recorded::events>(), bytes, cudaMemcpyDeviceToHost),
              "reading stamps");
  recorded_row like;
  like.family = wgmma_family.name;
  like.instance = recorded_instance;
  like.tile = tile;
  like.buffers = how.buffers;
  like.blocks = blocks;
  like.size = on.size;
  return rows_of(warps, like, stages(on.size, tile));
}

}  // namespace

const gemm_kernel& wgmma_kernel() {
  static const gemm_kernel kernel_of_hopper{wgmma_family, cannot_run, shared_bytes, launch,
                                            needs,        false,      record,       recorded_instance};
  return kernel_of_hopper;
}

}  // namespace mgsync::pipeline
