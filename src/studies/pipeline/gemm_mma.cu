// The paper's kernel: one or two DMA warps copy input tiles into a circular buffer (cp.async), four MATH
// warps multiply them (mma.sync) and store the output tile. mbarriers are the semaphores.
#include <cuda_fp16.h>

#include <array>

#include "src/base/cuda.hpp"
#include "src/studies/pipeline/gemm_kernel.hpp"
#include "src/studies/pipeline/semaphores.cuh"
#include "src/studies/pipeline/tile_order.cuh"

namespace mgsync::pipeline {

namespace {

// skeleton >> kernel (what --skeleton prints: skeleton.cpp)
constexpr int math_warps = 4;
constexpr int most_producers = mma_family.most_producers;
constexpr int threads = 32 * (math_warps + most_producers);
constexpr std::size_t barrier_bytes = 1024;
constexpr int most_buffers = 16;
// More than half of what an SM has, so that a block has its SM to itself, as in the model.
constexpr std::size_t least_shared_bytes = 118 * 1024;

struct arguments {
  const __half* a;
  const __half* b;
  float* c;
  int m, n, k;
  int tiles_m, tiles_n, depth;
  unsigned buffers;
  int producers;
  gemm_parts parts;
};

// The layout of a tile in shared memory: rows of TK elements in chunks of 16 bytes, which are permuted within
// a row so that neither the copies nor the matrix loads of eight rows have bank conflicts.
template <int TK>
__device__ std::uint32_t chunk_address(std::uint32_t base, int row, int chunk) {
  return base + static_cast<std::uint32_t>(row * TK * 2 + ((chunk ^ (row & 7)) << 4));
}

__device__ inline void copy_16(std::uint32_t to, const void* from, bool inside) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
               : "memory");
#endif
}

// Copies rows x TK elements with one warp; elements outside the matrix become 0.
template <int Rows, int TK>
__device__ void load_tile(std::uint32_t to, const __half* from, int first_row, int rows, int first_k, int k,
                          int lane) {
  constexpr int chunks = TK / 8;
  constexpr int rows_at_once = 32 / chunks > 0 ? 32 / chunks : 1;
  const int chunk = lane % chunks;
  const int column = first_k + chunk * 8;
#pragma unroll 8
  for (int row = lane / chunks; row < Rows; row += rows_at_once) {
    const int global_row = first_row + row;
    const bool inside = global_row < rows && column < k;
    const __half* source = from + (inside ? static_cast<std::size_t>(global_row) * k + column : 0);
    copy_16(chunk_address<TK>(to, row, chunk), source, inside);
  }
}

template <int TM, int TN, int TK>
__device__ void produce(const arguments& x, std::uint32_t buffer, std::uint64_t* full, std::uint64_t* empty,
                        int producer, int lane) {
  ring_position at;
  unsigned filled = 0;
  const bool loads_a = producer == 0, loads_b = producer == x.producers - 1;
  for (int tile = blockIdx.x; tile < x.tiles_m * x.tiles_n; tile += gridDim.x) {
    const tile_position place = position_of(tile, x.tiles_m, x.tiles_n);
    for (int stage = 0; stage < x.depth; ++stage) {
      mbarrier_wait(&empty[at.slot], at.parity ^ 1);
      if (x.parts.loads || (x.parts.math && filled < x.buffers)) {
        ++filled;
        const std::uint32_t to = buffer + at.slot * (TM + TN) * TK * 2;
        if (loads_a) load_tile<TM, TK>(to, x.a, place.m * TM, x.m, stage * TK, x.k, lane);
        if (loads_b) load_tile<TN, TK>(to + TM * TK * 2, x.b, place.n * TN, x.n, stage * TK, x.k, lane);
#if __CUDA_ARCH__ >= 800
        asm volatile(
            "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[at.slot]))
            : "memory");
#endif
      } else {
        mbarrier_arrive(&full[at.slot]);
      }
      at.advance(x.buffers);
    }
  }
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

__device__ inline void load_matrices(unsigned (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
               "%9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// One warp's quarter of a stage's tile: TM/2 x TN/2.
template <int TM, int TN, int TK>
__device__ void multiply_stage(float (&sum)[TM / 32][TN / 16][4], std::uint32_t a, std::uint32_t b, int warp,
                               int lane) {
  const int row_a = (warp / 2) * (TM / 2) + (lane & 15);
  const int row_b = (warp % 2) * (TN / 2) + (lane & 7) + ((lane >> 4) << 3);
#pragma unroll
  for (int k = 0; k < TK / 16; ++k) {
    unsigned fragment_a[TM / 32][4];
#pragma unroll
    for (int i = 0; i < TM / 32; ++i)
      load_matrices(fragment_a[i], chunk_address<TK>(a, row_a + i * 16, 2 * k + (lane >> 4)));
#pragma unroll
    for (int j = 0; j < TN / 32; ++j) {
      unsigned fragment_b[4];
      load_matrices(fragment_b, chunk_address<TK>(b, row_b + j * 16, 2 * k + ((lane >> 3) & 1)));
#pragma unroll
      for (int i = 0; i < TM / 32; ++i) {
        multiply(sum[i][2 * j], fragment_a[i], fragment_b[0], fragment_b[1]);
        multiply(sum[i][2 * j + 1], fragment_a[i], fragment_b[2], fragment_b[3]);
      }
    }
  }
}

template <int TM, int TN>
__device__ void store(const float (&sum)[TM / 32][TN / 16][4], const arguments& x, tile_position place,
                      int warp, int lane) {
  const int first_row = place.m * TM + (warp / 2) * (TM / 2) + lane / 4;
  const int first_column = place.n * TN + (warp % 2) * (TN / 2) + (lane % 4) * 2;
#pragma unroll
  for (int i = 0; i < TM / 32; ++i)
#pragma unroll
    for (int j = 0; j < TN / 16; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first_row + i * 16 + half * 8, column = first_column + j * 8;
        if (row < x.m && column < x.n)
          *reinterpret_cast<float2*>(x.c + static_cast<std::size_t>(row) * x.n + column) =
              make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
      }
}

template <int TM, int TN, int TK>
__device__ void consume(const arguments& x, std::uint32_t buffer, std::uint64_t* full, std::uint64_t* empty,
                        int warp, int lane) {
  ring_position at;
  for (int tile = blockIdx.x; tile < x.tiles_m * x.tiles_n; tile += gridDim.x) {
    float sum[TM / 32][TN / 16][4] = {};
    for (int stage = 0; stage < x.depth; ++stage) {
      mbarrier_wait(&full[at.slot], at.parity);
      const std::uint32_t from = buffer + at.slot * (TM + TN) * TK * 2;
      if (x.parts.math) multiply_stage<TM, TN, TK>(sum, from, from + TM * TK * 2, warp, lane);
      __syncwarp();
      if (lane == 0) mbarrier_arrive(&empty[at.slot]);
      at.advance(x.buffers);
    }
    if (x.parts.epilogue) store<TM, TN>(sum, x, position_of(tile, x.tiles_m, x.tiles_n), warp, lane);
  }
}

template <int TM, int TN, int TK>
__global__ void __launch_bounds__(threads, 1) multiply_kernel(const arguments x) {
  extern __shared__ __align__(1024) unsigned char shared[];
  auto* const full = reinterpret_cast<std::uint64_t*>(shared);
  auto* const empty = full + most_buffers;
  const std::uint32_t buffer = shared_address(shared) + barrier_bytes;
  if (threadIdx.x == 0)
    for (unsigned q = 0; q < x.buffers; ++q) {
      mbarrier_init(&full[q], 32u * static_cast<unsigned>(x.producers));
      mbarrier_init(&empty[q], math_warps);
    }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (warp < math_warps) consume<TM, TN, TK>(x, buffer, full, empty, warp, lane);
  else if (warp - math_warps < x.producers)
    produce<TM, TN, TK>(x, buffer, full, empty, warp - math_warps, lane);
}
// << skeleton

using kernel = void (*)(arguments);
template <int TM, int TN, int TK>
constexpr kernel instance = multiply_kernel<TM, TN, TK>;

const std::array<kernel, 8> kernels = {instance<64, 64, 64>,   instance<64, 64, 128>,  instance<64, 128, 64>,
                                       instance<64, 128, 128>, instance<128, 64, 64>,  instance<128, 64, 128>,
                                       instance<128, 128, 64>, instance<128, 128, 128>};

std::size_t shared_bytes(const gemm_launch& launch) {
  const extent tile = mma_instances[static_cast<std::size_t>(launch.instance)].tile;
  const std::size_t needed =
      barrier_bytes + static_cast<std::size_t>(launch.buffers) * (tile.m + tile.n) * tile.k * 2;
  return needed < least_shared_bytes ? least_shared_bytes : needed;
}

kernel_needs needs(int instance) {
  cudaFuncAttributes seen{};
  cuda::check(cudaFuncGetAttributes(
                  &seen, reinterpret_cast<const void*>(kernels[static_cast<std::size_t>(instance)])),
              "asking for a kernel's registers");
  return {seen.numRegs, static_cast<int>(seen.localSizeBytes)};
}

std::optional<std::string> cannot_run() {
  int device = 0, major = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
              "asking for the compute capability");
  if (major < 8) return "asynchronous copies need compute capability 8.0";
  return std::nullopt;
}

void launch(const gemm_launch& how, const gemm_operands& on, cudaStream_t stream) {
  const auto which = static_cast<std::size_t>(how.instance);
  const extent tile = mma_instances[which].tile;
  const std::size_t shared = shared_bytes(how);
  cuda::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernels[which]),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
              "asking for shared memory");
  arguments x{static_cast<const __half*>(on.a),
              static_cast<const __half*>(on.b),
              on.c,
              on.size.m,
              on.size.n,
              on.size.k,
              static_cast<int>(parts(on.size.m, tile.m)),
              static_cast<int>(parts(on.size.n, tile.n)),
              stages(on.size, tile),
              static_cast<unsigned>(how.buffers),
              how.producers,
              how.parts};
  void* pointers[] = {&x};
  cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernels[which]),
                               dim3(static_cast<unsigned>(how.blocks)), dim3(threads), pointers, shared,
                               stream),
              "launching a product of mma.sync");
}

}  // namespace

const gemm_kernel& mma_kernel() {
  static const gemm_kernel kernel_of_paper{mma_family, cannot_run, shared_bytes, launch, needs};
  return kernel_of_paper;
}

}  // namespace mgsync::pipeline
