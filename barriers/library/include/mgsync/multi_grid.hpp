// A set of GPUs whose kernels meet at one barrier, of one process or of several on one host: sets it up, and
// launches a kernel on every GPU, as cudaLaunchCooperativeKernelMultiDevice did until CUDA 13.
//
//     mgsync::multi_grid grids({0, 1, 2, 3});
//     grids.launch(kernel, blocks_per_gpu, threads, 0, {}, data);   // kernel(const __grid_constant__
//     mgsync::multi_grid_handle, float*) grids.wait();
//
// Errors are exceptions: usage_error (wrong use), unsupported_error (these GPUs cannot do it), timeout_error
// (a barrier was given up), api_error (a CUDA call failed, here or in another process). C++17. Link libmgsync
// and the CUDA runtime.
//
// Every function leaves the calling thread's current GPU as it was. One that throws nothing also leaves an
// error that the caller has not yet looked at (cudaGetLastError), unless CUDA refuses the first way to share
// memory between processes and another is found. Memory that is freed goes back to the GPU at once.
//
// "Collective" means: called by all processes of a group alike. These are, and nothing else: making a group
// and destroying it, the first launch or resize() with a number of blocks, reset(), allocate(), and freeing
// what it gave. What one process throws in them all throw, wrong use too: the others a sentence that names
// the process and its reason, as usage_error or timeout_error where it threw one. A launch whose number of
// blocks was there before is not collective, and throws alone; a grid of no blocks is of a new number. A
// group of one process has no collective calls.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <mgsync/multi_grid_handle.hpp>

#include "src/base/errors.hpp"

#pragma GCC visibility push(default)

namespace mgsync { inline namespace v1 {

// The message says which GPU or process cannot, and why.
class unsupported_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How processes talk while a group is set up: each gives some bytes and gets those of all, in the order of
// their numbers. Called by all processes together. mpi_exchange.hpp makes one from an MPI communicator.
using process_exchange = std::function<std::vector<std::string>(const std::string& mine)>;

// One GPU's launch. The names are those of cudaLaunchParams, so that old code compiles with one word changed.
struct launch_parameters {
  const void* func = nullptr;
  dim3 gridDim;
  dim3 blockDim;
  void** args = nullptr;  // args[0] is the kernel's multi_grid_handle: set by launch(), whatever stands there
  std::size_t sharedMem = 0;
  cudaStream_t stream = nullptr;
};

// Memory in parts, one on every GPU of a group, each addressable by all its GPUs and aligned to 256 bytes.
// Freed when the object goes: by then kernels that use it have ended; collective.
class multi_grid_memory {
 public:
  multi_grid_memory(multi_grid_memory&&) noexcept;
  multi_grid_memory& operator=(multi_grid_memory&&) noexcept;
  ~multi_grid_memory();

  // The part of GPU `grid_rank`, as the calling process's GPU number `local` addresses it.
  void* part(unsigned grid_rank, unsigned local = 0) const;
  template <class T>
  T* part_as(unsigned grid_rank, unsigned local = 0) const {
    return static_cast<T*>(part(grid_rank, local));
  }

 private:
  friend class multi_grid;
  struct __attribute__((visibility("hidden"))) owner;
  explicit multi_grid_memory(std::unique_ptr<owner>);
  std::unique_ptr<owner> owner_;
};

// Every GPU's rank in the grid is its place in the list; with several processes, those of process 0 come
// first. One object is used by one thread at a time.
class multi_grid {
 public:
  static constexpr std::chrono::nanoseconds default_timeout = std::chrono::seconds(30);

  // All GPUs in this process, by their CUDA ordinals. `timeout` bounds every wait at a barrier (not the
  // kernel's whole run) to within a few milliseconds; 0: for ever.
  explicit multi_grid(const std::vector<int>& gpus, std::chrono::nanoseconds timeout = default_timeout);
  // This process, number `process`, brings `gpus`; others bring more. Collective, as is the destructor.
  multi_grid(const std::vector<int>& gpus, int process, process_exchange exchange,
             std::chrono::nanoseconds timeout = default_timeout);
  multi_grid(multi_grid&&) noexcept;
  multi_grid& operator=(multi_grid&&) noexcept;
  ~multi_grid();

  unsigned gpus() const;        // of all processes
  unsigned local_gpus() const;  // of this one
  unsigned grid_rank(unsigned local = 0) const;
  int ordinal(unsigned local = 0) const;
  std::string algorithm() const;  // what the present number of blocks made it choose, and why

  // Launches `kernel` cooperatively on every GPU of this process: `blocks` x `threads` on each (at least 32
  // threads per block; all blocks resident at once, checked), with the handle as its first parameter and
  // `arguments` behind it. `streams`: one per GPU of this process, each of its GPU and none that is being
  // captured, or none for the group's own. Does not wait for the kernels. Launches of one group follow one
  // another on every GPU, also on different streams. The grid is the same on all GPUs. The first launch with
  // a number of blocks is collective (see resize); after that kernels of different grids may alternate
  // freely. Once a kernel of this process gave up a barrier it waits for the kernels and throws what wait()
  // throws, until reset(). Kernels that were launched before that and begin after it pass no barrier: their
  // sync() returns false at once.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(multi_grid_handle, Parameters...), dim3 blocks, dim3 threads,
              std::size_t shared_bytes, const std::vector<cudaStream_t>& streams,
              const Arguments&... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "as many arguments as the kernel takes behind its handle");
    launch_each(kernel, blocks, threads, shared_bytes, streams,
                [&](unsigned) { return std::tie(arguments...); });
  }

  // The same with arguments that differ: `arguments_of(local)` is a std::tuple of what GPU `local` of this
  // process gets.
  template <class... Parameters, class ArgumentsOf>
  void launch_each(void (*kernel)(multi_grid_handle, Parameters...), dim3 blocks, dim3 threads,
                   std::size_t shared_bytes, const std::vector<cudaStream_t>& streams,
                   ArgumentsOf arguments_of) {
    using values = std::tuple<std::remove_cv_t<Parameters>...>;
    std::vector<values> given;
    for (unsigned local = 0; local < local_gpus(); ++local) given.push_back(values(arguments_of(local)));
    std::vector<std::vector<void*>> addresses;
    std::vector<launch_parameters> launches;
    for (values& v : given) {
      addresses.push_back({nullptr});
      std::apply([&](auto&... value) { (addresses.back().push_back(&value), ...); }, v);
    }
    for (unsigned local = 0; local < local_gpus(); ++local)
      launches.push_back({reinterpret_cast<const void*>(kernel), blocks, threads, addresses[local].data(),
                          shared_bytes, nullptr});
    launch_on(streams, launches);
  }

  template <class... Parameters, class... Rest>
  void launch(void (*)(Parameters...), dim3, dim3, std::size_t, const std::vector<cudaStream_t>&,
              const Rest&...) {
    static_assert(sizeof...(Parameters) == ~std::size_t{0},
                  "the kernel's first parameter must be mgsync::multi_grid_handle");
  }

  // The form of cudaLaunchCooperativeKernelMultiDevice: `count` launches, one per GPU of this process in
  // their order.
  void launch(const launch_parameters* launches, unsigned count);

  // Makes the barrier ready for `blocks_per_gpu`, and handle() that of so many; launch() does so by itself.
  // What is made (1 to 5 MB on each GPU) is kept for every number of blocks. Collective where the number is
  // new.
  void resize(unsigned blocks_per_gpu);
  // For launches of the user's own (all GPUs, cooperative, this many blocks, each after the kernel before on
  // its GPU has ended): what the kernel on GPU `local` is passed. Good until reset(). A kernel whose grid it
  // does not fit, or that got it before a reset(), runs without the barrier: its sync() returns false at
  // once, and check() throws.
  const multi_grid_handle& handle(unsigned local = 0) const;

  // Until the launched kernels of this process have ended; then check().
  void wait();
  // Throws timeout_error where a barrier was given up, naming the GPUs and blocks, or the process, that did
  // not arrive; and usage_error where a kernel ran with a handle that does not fit it, or two groups of a
  // kernel, or kernels of the group, were at work at once on a GPU. After a launch of the user's own: once
  // that ended. After a launch() that failed on one GPU of several, timeout_error: the kernels on the others
  // were ended. Where another process gave up at which no kernel of this one was waiting, it throws
  // timeout_error too, once the launched kernels have ended: a word of each GPU of this process tells, which
  // is copied on a stream of the group's own (none with one process).
  void check();
  // After either of them in any process: as new. Waits for the GPUs. Collective.
  void reset();

  // Memory of `bytes` on every GPU, zeroed, addressable by all of them: halos, results, flags of the user's
  // own. Collective, with the same number in all processes: usage_error in all of them where they differ.
  multi_grid_memory allocate(std::size_t bytes);

 private:
  void launch_on(const std::vector<cudaStream_t>& streams, std::vector<launch_parameters>& launches);

  struct __attribute__((visibility("hidden"))) state;
  std::unique_ptr<state> state_;
};

}}  // namespace mgsync::v1

#pragma GCC visibility pop
