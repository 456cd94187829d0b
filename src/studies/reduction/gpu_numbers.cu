#include "src/studies/reduction/gpu_numbers.hpp"

#include <map>

namespace mgsync::reduction {
namespace {

template <class T>
__global__ void fill(T* numbers, std::size_t count) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    numbers[i] = static_cast<T>(number_at(static_cast<std::uint32_t>(i)));
}

// Reads `count` vectors, all of which are zero: nothing is ever stored, but the compiler cannot know this and
// keeps the reads.
__global__ void read(const uint4* memory, std::size_t count, std::uint32_t* unread) {
  std::uint32_t any = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const uint4 here = memory[i];
    any |= here.x | here.y | here.z | here.w;
  }
  if (any != 0) *unread = any;
}

constexpr unsigned blocks = 1024, threads = 256;

}  // namespace

std::size_t cache_bytes(int ordinal) {
  int bytes = 0;
  cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, ordinal),
              "asking for the size of the cache");
  return static_cast<std::size_t>(bytes);
}

std::shared_ptr<const gpu_numbers> gpu_numbers::on(int ordinal, value_type type, std::size_t bytes) {
  static std::map<int, std::shared_ptr<const gpu_numbers>> kept;
  auto& here = kept[ordinal];
  if (here && here->type_ == type && here->memory_.bytes() >= bytes) return here;
  here.reset();  // frees the old numbers before new ones are allocated
  here.reset(new gpu_numbers(ordinal, type, bytes));
  return here;
}

gpu_numbers::gpu_numbers(int ordinal, value_type type, std::size_t bytes)
    : type_(type),
      memory_(cuda::memory::on_gpu(ordinal, bytes)),
      other_(cuda::memory::on_gpu(ordinal, 2 * cache_bytes(ordinal))),
      unread_(cuda::memory::on_gpu(ordinal, 256)) {
  const cuda::device_scope scope(ordinal);
  switch (type) {
  case value_type::fp64: fill<<<blocks, threads>>>(memory_.as<double>(), bytes / 8); break;
  case value_type::fp32: fill<<<blocks, threads>>>(memory_.as<float>(), bytes / 4); break;
  case value_type::int32: fill<<<blocks, threads>>>(memory_.as<std::uint32_t>(), bytes / 4); break;
  }
  cuda::check(cudaGetLastError(), "filling memory with numbers");
  cuda::check(cudaDeviceSynchronize(), "filling memory with numbers");
}

void gpu_numbers::push_out_of_cache(cudaStream_t stream) const {
  read<<<blocks, threads, 0, stream>>>(other_.as<uint4>(), other_.bytes() / sizeof(uint4),
                                       unread_.as<std::uint32_t>());
  cuda::check(cudaGetLastError(), "emptying the cache");
}

}  // namespace mgsync::reduction
