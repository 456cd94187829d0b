#include "src/base/cuda.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "src/base/attached_tool.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::cuda {

namespace {

// Reports a failed call on stderr, for destructors, which must not throw.
void report(cudaError_t status, const char* action) noexcept {
  // When the process ends, the runtime may be unloaded before the last owner is destroyed.
  if (status != cudaSuccess && status != cudaErrorCudartUnloading)
    std::fprintf(stderr, "mgsync: CUDA: %s: %s\n", action, cudaGetErrorString(status));
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace

void check(cudaError_t status, std::string_view action, source_location where) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next launch does not report it; a sticky one is
                       // returned again anyway
  throw api_error("CUDA", filled("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status)), action,
                  where, static_cast<int>(status));
}

namespace {

// A GPU's primary context, which the runtime uses too, retained for as long as the process lives. `again`
// retains it anew, after the program has reset the GPU.
CUcontext own_context(int ordinal, bool again = false) {
  static const auto start = driver_function<decltype(&cuInit)>("cuInit");
  static const auto retain = driver_function<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  static const CUresult started = start(0);
  check_driver(started, "starting CUDA");
  static std::mutex guard;
  static std::map<int, CUcontext> kept;
  const std::lock_guard lock(guard);
  CUcontext& context = kept[ordinal];
  if (context == nullptr || again)
    check_driver(retain(&context, ordinal), filled("starting CUDA on GPU {}", ordinal));
  return context;
}

}  // namespace

// Uses the driver's stack of contexts. Restoring by cudaSetDevice would initialize the caller's GPU even if
// the caller never uses it, and would replace a context of the caller's own (such as a green context) by the
// primary one.
device_scope::device_scope(int ordinal) {
  static const auto push = driver_function<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent");
  auto status = push(own_context(ordinal));
  if (status == CUDA_ERROR_CONTEXT_IS_DESTROYED || status == CUDA_ERROR_INVALID_CONTEXT)
    status = push(own_context(ordinal, true));
  check_driver(status, filled("selecting GPU {}", ordinal));
}

device_scope::~device_scope() {
  static const auto pop = reinterpret_cast<decltype(&cuCtxPopCurrent)>(find_driver_entry("cuCtxPopCurrent"));
  CUcontext left = nullptr;
  if (pop == nullptr || pop(&left) != CUDA_SUCCESS)
    std::fprintf(stderr, "mgsync: CUDA: the GPU before could not be selected again\n");
}

unsigned long long life_of(int ordinal) {
  static const auto ask = driver_function<decltype(&cuCtxGetId)>("cuCtxGetId");
  const device_scope scope(ordinal);
  unsigned long long number = 0;
  check_driver(ask(nullptr, &number), filled("asking for the context of GPU {}", ordinal));
  return number;
}

// Through the driver, because the runtime's function would initialize the thread's current GPU.
outside_of_captures::outside_of_captures() { changed_ = exchange(); }
outside_of_captures::~outside_of_captures() {
  if (changed_) exchange();
}
bool outside_of_captures::exchange() {
  static const auto call = reinterpret_cast<decltype(&cuThreadExchangeStreamCaptureMode)>(
      find_driver_entry("cuThreadExchangeStreamCaptureMode"));
  auto mode = static_cast<CUstreamCaptureMode>(before_);
  const bool done = call != nullptr && call(&mode) == CUDA_SUCCESS;
  before_ = static_cast<int>(mode);
  return done;
}

void stream_traits::close(type handle) noexcept { report(cudaStreamDestroy(handle), "destroying a stream"); }
void event_traits::close(type handle) noexcept { report(cudaEventDestroy(handle), "destroying an event"); }

void graph_traits::close(type handle) noexcept { report(cudaGraphDestroy(handle), "destroying a graph"); }
void executable_traits::close(type handle) noexcept {
  report(cudaGraphExecDestroy(handle), "destroying a graph");
}

executable instantiate(const graph& described) {
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiate(&made, described.get(), 0), "instantiating a graph");
  return executable(made);
}

stream make_stream() {
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "creating a stream");
  return stream(made);
}

event make_event() {
  cudaEvent_t made = nullptr;
  check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "creating an event");
  return event(made);
}

memory memory::on_gpu(int ordinal, std::size_t bytes) {
  const device_scope scope(ordinal);
  void* made = nullptr;
  check(cudaMalloc(&made, bytes), filled("allocating {} bytes on GPU {}", bytes, ordinal));
  memory owner(static_cast<std::byte*>(made), bytes, memory_kind::gpu, ordinal);
  const auto own = make_stream();
  check(cudaMemsetAsync(made, 0, bytes, own.get()), filled("zeroing memory of GPU {}", ordinal));
  check(cudaStreamSynchronize(own.get()), filled("zeroing memory of GPU {}", ordinal));
  return owner;
}

namespace {

// One pool per GPU, for as long as the process lives; nothing where the GPU has none.
cudaMemPool_t pool_of(int ordinal) {
  static std::mutex guard;
  static std::map<int, cudaMemPool_t> pools;
  const std::lock_guard lock(guard);
  if (const auto found = pools.find(ordinal); found != pools.end()) return found->second;
  int supported = 0, count = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, ordinal),
        "asking for memory pools");
  if (supported == 0) return pools[ordinal] = nullptr;
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location = {cudaMemLocationTypeDevice, ordinal};
  cudaMemPool_t made = nullptr;
  check(cudaMemPoolCreate(&made, &wanted), filled("creating a memory pool on GPU {}", ordinal));
  std::uint64_t keep = UINT64_MAX;
  check(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
  check(cudaGetDeviceCount(&count), "counting GPUs");
  for (int other = 0; other < count; ++other) {
    int possible = 0;
    if (other != ordinal)
      check(cudaDeviceCanAccessPeer(&possible, other, ordinal), "asking about peer access");
    if (possible == 0) continue;
    const cudaMemAccessDesc open{{cudaMemLocationTypeDevice, other}, cudaMemAccessFlagsProtReadWrite};
    check(cudaMemPoolSetAccess(made, &open, 1), filled("opening a memory pool to GPU {}", other));
  }
  return pools[ordinal] = made;
}

}  // namespace

memory memory::in_pool(int ordinal, std::size_t bytes) {
  const device_scope scope(ordinal);
  const cudaMemPool_t pool = pool_of(ordinal);
  if (pool == nullptr) return on_gpu(ordinal, bytes);
  void* made = nullptr;
  check(cudaMallocFromPoolAsync(&made, bytes, pool, nullptr),
        filled("allocating {} bytes on GPU {}", bytes, ordinal));
  memory owner(static_cast<std::byte*>(made), bytes, memory_kind::pool, ordinal);
  check(cudaMemsetAsync(made, 0, bytes, nullptr), filled("zeroing memory of GPU {}", ordinal));
  check(cudaStreamSynchronize(nullptr), filled("zeroing memory of GPU {}", ordinal));
  return owner;
}

memory memory::on_host(std::size_t bytes) {
  void* made = nullptr;
  check(cudaHostAlloc(&made, bytes, cudaHostAllocMapped | cudaHostAllocPortable),
        "allocating pinned host memory");
  std::memset(made, 0, bytes);
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "asking for the current GPU");
  return {static_cast<std::byte*>(made), bytes, memory_kind::host, ordinal};
}

memory& memory::operator=(memory&& other) noexcept {
  if (this != &other) {
    free();
    address_ = std::exchange(other.address_, nullptr);
    bytes_ = other.bytes_;
    where_ = other.where_;
    ordinal_ = other.ordinal_;
  }
  return *this;
}

memory::~memory() { free(); }

void memory::free() noexcept {
  if (address_ == nullptr) return;
  try {
    const device_scope scope(ordinal_);
    if (where_ == memory_kind::gpu) report(cudaFree(address_), "freeing GPU memory");
    else if (where_ == memory_kind::pool) report(cudaFreeAsync(address_, nullptr), "giving GPU memory back");
    else report(cudaFreeHost(address_), "freeing pinned host memory");
  } catch (const std::exception& failed) {
    // When the process ends, the driver may be unloaded before the last owner is destroyed.
    if (cudaFree(nullptr) != cudaErrorCudartUnloading) std::fprintf(stderr, "mgsync: %s\n", failed.what());
  }
  address_ = nullptr;
}

std::optional<std::string> reason_not_to_spin(std::size_t gpus) {
  if (gpus < 2) return std::nullopt;
  if (is_set("CUDA_LAUNCH_BLOCKING"))
    return "CUDA_LAUNCH_BLOCKING makes every launch wait for its kernel, so kernels that wait for each other "
           "never end; unset it, or give each process one GPU";
  if (const auto tool = attached_tool_here(); tool && tool->one_by_one)
    return filled(
        "a tool that may run kernels one after the other is attached ({} is set), so kernels that wait "
        "for each other may never end; run without it, or give each process one GPU",
        tool->variable);
  return std::nullopt;
}

int resident_blocks(const void* kernel, unsigned threads_per_block, std::size_t shared_bytes) {
  int blocks = 0;
  const auto status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, static_cast<int>(threads_per_block), shared_bytes);
  if (status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration) {
    cudaGetLastError();
    return 0;
  }
  check(status, "asking how many blocks fit on an SM");
  return blocks;
}

int sm_count(int ordinal) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, ordinal),
        filled("counting the SMs of GPU {}", ordinal));
  return count;
}

void load(const void* kernel, std::string_view what) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), filled("loading {}", what));
}

kernel_symbol symbol_of(const void* kernel) {
  kernel_symbol found;
#if CUDART_VERSION >= 12030
  cudaFuncAttributes attributes{};
  const char* name = nullptr;
  Dl_info where{};
  if (cudaFuncGetName(&name, kernel) != cudaSuccess || dladdr(kernel, &where) == 0 ||
      cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
    cudaGetLastError();
    return found;
  }
  found.name = name;
  // The main program is called as it was started.
  Dl_info here{};
  const bool of_main =
      dladdr(reinterpret_cast<const void*>(&symbol_of), &here) != 0 && here.dli_fbase == where.dli_fbase;
  found.file = of_main ? "/proc/self/exe" : where.dli_fname;
  found.architecture = static_cast<unsigned>(attributes.binaryVersion);
#else
  static_cast<void>(kernel);
#endif
  return found;
}

}  // namespace mgsync::cuda
