// A set of GPUs whose kernels meet at one barrier, of one process or of several on one host: sets it up, and
// launches a kernel on every GPU, as cudaLaunchCooperativeKernelMultiDevice did until CUDA 13.
//
//     mgsync::multi_grid grids({0, 1, 2, 3});
//     grids.launch(kernel, blocks_per_gpu, threads, 0, {}, data);   // kernel(const __grid_constant__
//     mgsync::multi_grid_handle, float*) grids.wait();
//
// Errors are exceptions, all of them mgsync::error: usage_error (wrong use), unsupported_error (these GPUs
// cannot do it), timeout_error (a barrier was given up; who() did not arrive), aborted_error (somebody called
// abort()), api_error (a CUDA call failed, here or in another process; code() is its number). C++17. Link
// libmgsync and the CUDA runtime.
//
// Every function leaves the calling thread's current GPU as it was, and starts CUDA on no GPU that the group
// does not have. One that throws nothing also leaves an error that the caller has not yet looked at
// (cudaGetLastError), unless CUDA refuses the first way to share memory between processes and another is
// found. Memory that is freed goes back to the GPU at once, or as soon as the last process lets go of it.
// Only reset(), and destroying a group or its memory, wait for all that runs on the group's GPUs.
//
// "Collective" means: called by all processes of a group alike. These are, and nothing else: making a group,
// the first launch, prepare() or resize() with a number of blocks, reset(), allocate(); and, where memory is
// shared by IPC because VMM does not work, destroying a group and what allocate() gave. What one process
// throws in them all throw, wrong use too: the others a sentence that names the process and its reason, as
// usage_error or timeout_error where it threw one. A launch whose number of blocks was there before is not
// collective, and throws alone; a grid of no blocks is of a new number. A group of one process has no
// collective calls.
//
// A group that goes because an exception is on its way ends the waits of all kernels, in all processes, and
// waits for nobody; where memory is shared by IPC, this process's part of it stays until the process ends.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <mgsync/multi_grid_handle.hpp>

#include "src/base/errors.hpp"

#pragma GCC visibility push(default)

namespace mgsync { inline namespace v1 {

// The message says which GPU or process cannot, and why.
class unsupported_error : public error {
 public:
  using error::error;
};

// The group was aborted; the message has the reason that abort() was given in this process.
class aborted_error : public error {
 public:
  using error::error;
};

// How processes talk while a group is set up: each gives some bytes and gets those of all, in the order of
// their numbers. Called by all processes together. One that does not come should make it throw after a while
// rather than wait for ever. mpi_exchange.hpp makes one from an MPI communicator.
using process_exchange = std::function<std::vector<std::string>(const std::string& mine)>;

// How processes share GPU memory: by VMM where that works and else by IPC, or by one of them alone.
enum class memory_sharing { automatic, vmm, ipc };

// What a group may be told as it is made.
struct group_options {
  // Of every wait at a barrier (not the kernel's whole run), to within a few milliseconds; 0: for ever.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  // The same of the first barrier with each number of blocks, to which processes may come minutes apart: they
  // load, compile and tune their kernels before it.
  std::chrono::nanoseconds first_timeout = std::chrono::minutes(5);
  // Processes that give the same word are on one node, whatever the system says (a container for each
  // process); empty: those whose system was started by one boot.
  std::string node{};
  memory_sharing sharing = memory_sharing::automatic;

  group_options() = default;
  // One time-out for all of them.
  template <class Count, class Period>
  group_options(std::chrono::duration<Count, Period> all) : timeout(all), first_timeout(all) {}
};

// What poll() sees.
enum class group_status {
  done,     // no launched kernel runs
  at_work,  // one does
  lost      // a barrier was given up or aborted, or a kernel ran without it: check() says why
};

// Memory that somebody else made symmetric (torch's symmetric memory, NVSHMEM's heap, a mapping of your own):
// a part of `bytes` on every GPU, by grid rank, at the addresses by which all of this process's GPUs reach
// it, aligned to 256.
struct symmetric_parts {
  std::vector<void*> parts;
  std::size_t bytes = 0;
};

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
  // All GPUs in this process, by their CUDA ordinals. In place of options a time-out of every wait will do.
  explicit multi_grid(const std::vector<int>& gpus, const group_options& = {});
  // This process, number `process`, brings `gpus`; others bring more. Collective.
  multi_grid(const std::vector<int>& gpus, int process, process_exchange exchange, const group_options& = {});
  // The same with flags in memory of the program's own, which outlives the group and holds whatever it likes
  // until then. Takes flag_bytes() for each number of blocks, and 256 bytes; where that is not there,
  // resize() and what calls it throw usage_error. Collective.
  static multi_grid over(const symmetric_parts&, const std::vector<int>& gpus, int process,
                         process_exchange exchange, const group_options& = {});
  // How many bytes of each part so many blocks on so many GPUs take at most, whatever the GPUs are.
  static std::size_t flag_bytes(unsigned gpus, unsigned blocks_per_gpu);
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
  // `arguments` behind it. `streams`: one per GPU of this process, each of its GPU, or none for the group's
  // own. Does not wait for the kernels. Launches of one group follow one another on every GPU, also on
  // different streams. The grid is the same on all GPUs. The first launch with a number of blocks is
  // collective (see prepare); after that kernels of different grids may alternate freely. Once a kernel of
  // this process gave up a barrier it waits for the kernels and throws what wait() throws, until reset().
  // Kernels that were launched before that and begin after it pass no barrier: their sync() returns false at
  // once.
  //
  // Into streams that are being captured once the kernel was prepared: the graph has a kernel of each GPU and
  // nothing else, so it is the program that orders replays with launches of the group (by one stream a GPU,
  // or events), and all processes replay alike: one that replays once more waits for the others, which its
  // time-out then names. Kernels that overlap all the same are told of by check(). wait() and poll() do not
  // know of replays.
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
    std::vector<std::vector<void*>> addresses(local_gpus());
    given.reserve(local_gpus());  // whose elements stay where they are
    // Asked once all processes are sure to hear of what it throws.
    launch_on(reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes, streams,
              [&](unsigned local) {
                given.push_back(values(arguments_of(local)));
                addresses[local].push_back(nullptr);
                std::apply([&](auto&... value) { (addresses[local].push_back(&value), ...); }, given.back());
                return addresses[local].data();
              });
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

  // Does all that the first launch of this kernel with this grid would do beside launching it: loads the
  // kernel on every GPU, makes the flags for the number of blocks (1 to 5 MB on each GPU, kept for every
  // number), and finds out whether it fits. Afterwards its launches wait for nothing, allocate nothing and
  // can be captured. Throws what the launch would. Collective where the number of blocks is new.
  template <class... Parameters>
  void prepare(void (*kernel)(multi_grid_handle, Parameters...), dim3 blocks, dim3 threads,
               std::size_t shared_bytes = 0) {
    prepare(reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes);
  }
  void prepare(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes = 0);
  // The same for a number of blocks alone, for kernels that the program launches itself. Collective where the
  // number is new.
  void resize(unsigned blocks_per_gpu);
  // For launches of the user's own (all GPUs, cooperative, this many blocks, each after the kernel before on
  // its GPU has ended; graphs too): what the kernel on GPU `local` is passed. It stays the same until
  // reset(). A kernel whose grid it does not fit, or that got it before a reset(), runs without the barrier:
  // its sync() returns false at once, and check() throws. Throws usage_error for a number of blocks that is
  // not ready.
  const multi_grid_handle& handle_for(unsigned blocks_per_gpu, unsigned local = 0) const;

  // From now on, in this process and for kernels that run too; as group_options have them.
  void set_timeout(std::chrono::nanoseconds timeout);
  void set_timeout(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_timeout);

  // Ends the waits of all kernels of the group, in all processes: their sync() returns false. Then wait(),
  // check() and launch() throw aborted_error with `why` in this process, timeout_error in others, until
  // reset(). From any thread, at any time while the group lives; waits for nothing.
  void abort(std::string_view why) noexcept;
  // How the launched kernels are, without waiting for them.
  group_status poll() const noexcept;

  // Until the launched kernels of this process have ended; then check().
  void wait();
  // Throws timeout_error where a barrier was given up, naming the GPUs and blocks, or the process, that did
  // not arrive; aborted_error where this process aborted the group; and usage_error where a kernel ran with a
  // handle that does not fit it, or two groups of a
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
  void launch_on(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes,
                 const std::vector<cudaStream_t>& streams,
                 const std::function<void**(unsigned local)>& arguments_of);

  struct __attribute__((visibility("hidden"))) state;
  struct whole {};
  multi_grid(whole, std::unique_ptr<state>);
  std::unique_ptr<state> state_;
};

}}  // namespace mgsync::v1

#pragma GCC visibility pop
