#include "src/studies/pipeline/product_check.hpp"

#include <cuda_fp16.h>

#include <cmath>
#include <vector>

namespace mgsync::pipeline {

namespace {

constexpr unsigned threads = 256;

// skeleton >> fill
// splitmix64: a well-mixed 64-bit word for each index.
__host__ __device__ inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

__global__ void fill(__half* to, std::size_t count, std::uint64_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = __float2half(static_cast<float>(mixed(seed ^ mixed(i)) >> 40) * 0x1p-23f - 1.0f);
}

// << skeleton
struct view {
  const __half* a;
  const __half* b;
  const float* c;
  int m, n, k;
};

// The error that rounding explains: products rounded to 24 bits or a little worse, and k/16 successive
// additions, whose errors add up as a random walk.
__device__ inline double allowed(int k, double sum_of_squares) {
  return 16.0 * (k / 16.0 + 16) * 0x1p-23 * sqrt(sum_of_squares);
}

__device__ inline double entry_error(const view& x, int row, int column) {
  double sum = 0, squares = 0;
  for (int i = 0; i < x.k; ++i) {
    const double product = static_cast<double>(__half2float(x.a[std::size_t(row) * x.k + i])) *
                           static_cast<double>(__half2float(x.b[std::size_t(column) * x.k + i]));
    sum += product;
    squares += product * product;
  }
  const double error =
      fabs(static_cast<double>(x.c[std::size_t(row) * x.n + column]) - sum) / allowed(x.k, squares);
  return error == error ? error : INFINITY;
}

// Atomic maximum. The values are not negative, so the bit patterns of doubles are in the same order as the
// values.
__device__ inline void keep_largest(unsigned long long* largest, double value) {
  atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(value)));
}

__global__ void all_entries(view x, unsigned long long* largest) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < std::size_t(x.m) * x.n)
    keep_largest(largest, entry_error(x, static_cast<int>(i % x.m), static_cast<int>(i / x.m)));
}

__global__ void some_entries(view x, std::uint64_t seed, int count, unsigned long long* largest) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const std::uint64_t at = mixed(seed + static_cast<std::uint64_t>(i)) % (std::uint64_t(x.m) * x.n);
  keep_largest(largest, entry_error(x, static_cast<int>(at % x.m), static_cast<int>(at / x.m)));
}

__device__ inline double sign_of(std::uint64_t seed, int i) {
  return (mixed(seed + static_cast<std::uint64_t>(i)) & 1) != 0 ? 1.0 : -1.0;
}

// u = B r, where r is a vector of random signs: k sums over n, one thread each; adjacent threads read
// adjacent elements.
__global__ void times_signs(view x, std::uint64_t seed, double* u) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= x.k) return;
  double sum = 0;
  for (int column = 0; column < x.n; ++column)
    sum += sign_of(seed, column) * __half2float(x.b[std::size_t(column) * x.k + i]);
  u[i] = sum;
}

// |C r - A u| of one row per block of one warp, relative to what rounding of n entries with random signs
// explains.
__global__ void compare_rows(view x, std::uint64_t seed, const double* u, unsigned long long* largest) {
  const int row = static_cast<int>(blockIdx.x);
  double difference = 0;
  for (int i = static_cast<int>(threadIdx.x); i < x.k; i += 32)
    difference += __half2float(x.a[std::size_t(row) * x.k + i]) * u[i];
  for (int i = static_cast<int>(threadIdx.x); i < x.n; i += 32)
    difference -= sign_of(seed, i) * static_cast<double>(x.c[std::size_t(row) * x.n + i]);
  for (int apart = 16; apart > 0; apart /= 2) difference += __shfl_xor_sync(0xffffffff, difference, apart);
  const double of_entry = allowed(x.k, x.k / 9.0) / 4;
  const double error = fabs(difference) / (4 * sqrt(static_cast<double>(x.n)) * of_entry);
  if (threadIdx.x == 0) keep_largest(largest, error == error ? error : INFINITY);
}

unsigned blocks_for(std::size_t items) { return static_cast<unsigned>((items + threads - 1) / threads); }

int current_gpu() {
  int device = 0;
  cuda::check(cudaGetDevice(&device), "asking for the current GPU");
  return device;
}

view view_of(const gemm_operands& on) {
  return {static_cast<const __half*>(on.a),
          static_cast<const __half*>(on.b),
          on.c,
          on.size.m,
          on.size.n,
          on.size.k};
}

template <class Launch>
double largest_of(Launch launch) {
  const cuda::memory room = cuda::memory::on_gpu(current_gpu(), sizeof(unsigned long long));
  launch(room.as<unsigned long long>());
  cuda::check(cudaGetLastError(), "checking a product");
  double largest = 0;
  cuda::check(cudaMemcpy(&largest, room.get(), sizeof largest, cudaMemcpyDeviceToHost), "checking a product");
  return largest;
}

}  // namespace

random_product::random_product(extent size, std::uint64_t seed)
    : size_(size),
      seed_(seed),
      a_(cuda::memory::on_gpu(current_gpu(), std::size_t(size.m) * size.k * sizeof(__half))),
      b_(cuda::memory::on_gpu(current_gpu(), std::size_t(size.n) * size.k * sizeof(__half))),
      c_(cuda::memory::on_gpu(current_gpu(), std::size_t(size.m) * size.n * sizeof(float))) {
  fill<<<1024, threads>>>(a_.as<__half>(), std::size_t(size.m) * size.k, mixed(seed));
  fill<<<1024, threads>>>(b_.as<__half>(), std::size_t(size.n) * size.k, mixed(seed + 1));
  cuda::check(cudaGetLastError(), "filling operands");
  forget_result();
}

gemm_operands random_product::operands() const { return {a_.get(), b_.get(), c_.as<float>(), size_}; }

void random_product::forget_result() {
  cuda::check(cudaMemset(c_.get(), 0xff, c_.bytes()), "filling a result with NaN");
  cuda::check(cudaDeviceSynchronize(), "filling a result with NaN");
}

double random_product::full_error() const {
  return largest_of([&](unsigned long long* largest) {
    all_entries<<<blocks_for(std::size_t(size_.m) * size_.n), threads>>>(view_of(operands()), largest);
  });
}

double random_product::sampled_error(int entries) const {
  return largest_of([&](unsigned long long* largest) {
    some_entries<<<blocks_for(static_cast<std::size_t>(entries)), threads>>>(view_of(operands()), seed_,
                                                                             entries, largest);
  });
}

double random_product::freivalds_error(int vectors) const {
  const cuda::memory u =
      cuda::memory::on_gpu(current_gpu(), static_cast<std::size_t>(size_.k) * sizeof(double));
  return largest_of([&](unsigned long long* largest) {
    for (int v = 0; v < vectors; ++v) {
      const std::uint64_t seed = mixed(seed_ ^ (0x1000u + static_cast<unsigned>(v)));
      times_signs<<<blocks_for(static_cast<std::size_t>(size_.k)), threads>>>(view_of(operands()), seed,
                                                                              u.as<double>());
      compare_rows<<<static_cast<unsigned>(size_.m), 32>>>(view_of(operands()), seed, u.as<double>(),
                                                           largest);
    }
  });
}

void random_product::spoil(int row, int column, float by) {
  float* const at = c_.as<float>() + static_cast<std::size_t>(row) * size_.n + column;
  float value = 0;
  cuda::check(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost), "reading an entry");
  value += by;
  cuda::check(cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice), "spoiling an entry");
}

}  // namespace mgsync::pipeline
