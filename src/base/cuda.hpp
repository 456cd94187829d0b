// Thin owners and checks over the CUDA runtime. The driver is reached through the runtime only, so that
// nothing links libcuda and the program starts where there is none. For host code and .cu files, C++20.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/source_location.hpp"
#include "src/base/unique_handle.hpp"

namespace mgsync::cuda {

// Throws api_error naming the error, the action and the caller unless `status` is cudaSuccess.
void check(cudaError_t status, std::string_view action, source_location where = source_location::current());

// While it lives, `ordinal` is the calling thread's current GPU; then the context that was current before is
// current again. A thread that had chosen no GPU has chosen none afterwards, and no other GPU is initialized.
class device_scope {
 public:
  [[nodiscard]] explicit device_scope(int ordinal);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;
};

// A number that changes with cudaDeviceReset() on GPU `ordinal`, which destroys all its memory, streams and
// events.
unsigned long long life_of(int ordinal);

// While it lives, the calling thread may allocate although some stream of the process is being captured into
// a graph (cudaStreamCaptureModeRelaxed).
class outside_of_captures {
 public:
  [[nodiscard]] outside_of_captures();
  ~outside_of_captures();
  outside_of_captures(const outside_of_captures&) = delete;
  outside_of_captures& operator=(const outside_of_captures&) = delete;

 private:
  bool exchange();

  int before_ = cudaStreamCaptureModeRelaxed;
  bool changed_ = false;  // false where there is no driver
};

struct stream_traits {
  using type = cudaStream_t;
  static type none() { return nullptr; }
  static void close(type) noexcept;
};
using stream = unique_handle<stream_traits>;

struct event_traits {
  using type = cudaEvent_t;
  static type none() { return nullptr; }
  static void close(type) noexcept;
};
using event = unique_handle<event_traits>;

struct graph_traits {
  using type = cudaGraph_t;
  static type none() { return nullptr; }
  static void close(type) noexcept;
};
using graph = unique_handle<graph_traits>;

struct executable_traits {
  using type = cudaGraphExec_t;
  static type none() { return nullptr; }
  static void close(type) noexcept;
};
using executable = unique_handle<executable_traits>;  // an instantiated graph
executable instantiate(const graph&);

// On the calling thread's GPU. The stream does not wait for the default stream; the event takes no time
// stamps.
stream make_stream();
event make_event();

// Where memory lies: on a GPU, in a GPU's pool (what is given back stays with the process, so that the next
// allocation takes microseconds), or on the host, pinned and mapped into every GPU of the process.
enum class memory_kind { gpu, pool, host };

class memory {
 public:
  memory() = default;
  // All return zeroed memory, without waiting for other work on the GPU. Memory in a pool is accessible to
  // those GPUs of the process that have peer access to `ordinal`. on_host() zeroes by the calling thread's
  // GPU.
  static memory on_gpu(int ordinal, std::size_t bytes);
  static memory in_pool(int ordinal, std::size_t bytes);
  static memory on_host(std::size_t bytes);
  memory(memory&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)),
        bytes_(other.bytes_),
        where_(other.where_),
        ordinal_(other.ordinal_) {}
  memory& operator=(memory&& other) noexcept;
  ~memory();

  std::byte* get() const { return address_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  std::size_t bytes() const { return bytes_; }
  // Gives up ownership without freeing the memory, because others may still use it.
  void abandon() { address_ = nullptr; }

 private:
  memory(std::byte* address, std::size_t bytes, memory_kind where, int ordinal = 0)
      : address_(address), bytes_(bytes), where_(where), ordinal_(ordinal) {}
  void free() noexcept;

  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
  memory_kind where_ = memory_kind::gpu;
  int ordinal_ = 0;
};

// Why kernels that wait for each other must not run on `gpus` GPUs of this process: a setting or a tool that
// makes launches wait for one another. Nothing when they may.
std::optional<std::string> reason_not_to_spin(std::size_t gpus);

// The most blocks of `kernel` that one SM of the calling thread's GPU holds at once; 0 when it cannot run
// there.
int resident_blocks(const void* kernel, unsigned threads_per_block, std::size_t shared_bytes = 0);
int sm_count(int ordinal);

// Loads `kernel` on the calling thread's GPU now rather than at its first launch, which may wait for running
// kernels.
void load(const void* kernel, std::string_view what);

// What this program calls a kernel, the file that has its code, and the architecture of the machine code that
// runs on the calling thread's GPU (90: compute capability 9.0). Architecture 0: CUDA does not say (before
// 12.3), or the driver compiled it from PTX.
struct kernel_symbol {
  std::string name, file;
  unsigned architecture = 0;
};
kernel_symbol symbol_of(const void* kernel);

}  // namespace mgsync::cuda
