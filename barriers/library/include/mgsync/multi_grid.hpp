// A set of GPUs whose kernels meet at one barrier, of one process or of several on one host: sets it up, and
// launches a kernel on every GPU, as cudaLaunchCooperativeKernelMultiDevice did until CUDA 13.
//
//     mgsync::multi_grid grids({0, 1, 2, 3});
//     // kernel(const __grid_constant__ mgsync::multi_grid_handle, float*)
//     grids.launch(kernel, blocks_per_gpu, threads, 0, {}, data);
//     grids.wait();
//
// Errors are exceptions, all of them mgsync::error: usage_error (wrong use), unsupported_error (these GPUs
// cannot do it), timeout_error (a barrier was given up; who() did not arrive), aborted_error (somebody called
// abort()), api_error (a CUDA call failed, here or in another process; code() is its number). C++17. Link
// libmgsync and the CUDA runtime.
//
// Every function leaves the calling thread's current GPU as it was, and starts CUDA on no GPU outside the
// group. A function that does not throw also leaves the CUDA runtime's last error (cudaGetLastError) as it
// was, unless CUDA refuses the first way to share memory between processes and another is found. Freed memory
// goes back to the GPU at once, or as soon as the last process lets go of it. Only reset(), and destroying a
// group or its memory, wait for all work on the group's GPUs.
//
// "Collective" means: called by all processes of a group alike. Only these are: making a group; the first
// launch, prepare() or resize() with a number of blocks (with group_options::check_each_launch every launch
// and prepare()); make_team(); reset(); allocate(); and, where memory is shared by
// IPC because VMM does not work, destroying a group and the memory from allocate(). If one process throws in
// a collective call, for wrong use too, all throw: the others with a message that names the process and its
// reason, as usage_error or timeout_error if that is what it threw. A launch with a number of blocks that was
// used before is not collective, and throws in its own process alone; a grid of no blocks counts as a new
// number. A group of one process has no collective calls.
//
// A group that is destroyed by stack unwinding after an exception ends the waits of all kernels, in all
// processes, and waits for nobody; where memory is shared by IPC, this process's part of it stays until the
// process ends.
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

// How processes communicate while a group is set up: each gives some bytes and gets those of all, in the
// order of the processes' numbers. Called by all processes together. If a process does not come, it should
// throw after a while rather than wait for ever. mpi_exchange.hpp makes one from an MPI communicator.
using process_exchange = std::function<std::vector<std::string>(const std::string& mine)>;

// How processes share GPU memory: by VMM where that works and else by IPC, or by one of them alone.
enum class memory_sharing { automatic, vmm, ipc };

// Options of a new group.
struct group_options {
  // The longest that one wait at a barrier may take (not the whole kernel), to within a few milliseconds; 0:
  // for ever.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  // The same for the first barrier with each number of blocks, at which processes may arrive minutes apart,
  // because they load, compile and tune their kernels before it.
  std::chrono::nanoseconds first_timeout = std::chrono::minutes(5);
  // Processes that give the same text count as being on one node, whatever the system says (for a container
  // per process); empty: processes of one boot of one operating system do.
  std::string node{};
  memory_sharing sharing = memory_sharing::automatic;
  // Makes every launch() and prepare() collective: no kernel starts before all processes have found that they
  // launch the same kernel with the same grid (see launch()).
  bool check_each_launch = false;
  // One block speaks for each GPU, also where there is one GPU alone, which has a faster barrier otherwise.
  // What joins groups of several nodes needs it (multi_grid_nodes.hpp).
  bool one_block_speaks = false;
  // Keeps what kernels with a traced group (traced.cuh) note of their waits: for lateness() and
  // last_rounds(), and for `mgsync who` in a file of shared memory (in the folder of the environment's
  // MGSYNC_WHO, or /dev/shm), which stays if a barrier was given up.
  bool trace = false;

  group_options() = default;
  // The same time-out for all waits.
  template <class Count, class Period>
  group_options(std::chrono::duration<Count, Period> all) : timeout(all), first_timeout(all) {}
};

// The results of poll().
enum class group_status {
  done,     // no launched kernel runs
  at_work,  // one does
  lost      // a barrier was given up or aborted, or a kernel ran without it: check() says why
};

// How often a GPU came last to a barrier, as the GPUs of this process saw it that waited for it alone, and by
// how much: the time from the last but one to it.
struct grid_lateness {
  unsigned grid_rank = 0;
  unsigned times = 0;  // added up over the GPUs that saw it
  std::chrono::nanoseconds worst{};
  unsigned worst_round = 0;          // from 1 on, since the group was made or reset
  std::vector<unsigned> by_power{};  // by_power[k]: by 2^k ns and more, less than 2^(k+1)
};
// One barrier: the GPUs that came last (several: at once, as far as was seen), and by how much.
struct late_barrier {
  unsigned round = 0;
  std::vector<unsigned> grid_ranks{};
  std::chrono::nanoseconds by{};
};

// Memory that the program made symmetric (torch's symmetric memory, NVSHMEM's heap, a mapping of its own):
// the address of the part on every GPU, by grid rank, aligned to 256 and valid on all of this process's GPUs;
// and the size of each part in bytes.
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
// Freed with the object, which is collective; kernels that use it must have ended by then.
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

// Every GPU's rank in the grid is its index in the list; with several processes, those of process 0 come
// first. One object is used by one thread at a time.
class multi_grid {
 public:
  // All GPUs in this process, by their CUDA ordinals. A time-out may be given in place of options.
  explicit multi_grid(const std::vector<int>& gpus, const group_options& = {});
  // This process, number `process`, brings `gpus`; others bring more. Collective.
  multi_grid(const std::vector<int>& gpus, int process, process_exchange exchange, const group_options& = {});
  // The same with flags in the program's own memory, which outlives the group and may hold anything before.
  // The group takes flag_bytes() of it for each number of blocks, and 256 bytes; where it is too small,
  // resize() and whatever calls it throw usage_error. Collective.
  static multi_grid over(const symmetric_parts&, const std::vector<int>& gpus, int process,
                         process_exchange exchange, const group_options& = {});
  // The most bytes of each part that so many blocks on so many GPUs take, whatever the GPUs are.
  static std::size_t flag_bytes(unsigned gpus, unsigned blocks_per_gpu);
  multi_grid(multi_grid&&) noexcept;
  multi_grid& operator=(multi_grid&&) noexcept;
  ~multi_grid();

  unsigned gpus() const;        // of all processes
  unsigned local_gpus() const;  // of this one
  unsigned grid_rank(unsigned local = 0) const;
  int ordinal(unsigned local = 0) const;
  std::string algorithm() const;  // the one chosen for the present number of blocks, and why

  // Launches `kernel` cooperatively on every GPU of this process: `blocks` x `threads` on each (at least 32
  // threads per block; all blocks resident at once, checked), with the handle as its first parameter and
  // `arguments` behind it. `streams`: one per GPU of this process, each of its GPU, or none for the group's
  // own. Does not wait for the kernels. Launches of one group follow one another on every GPU, also on
  // different streams. The grid is the same on all GPUs. The first launch with a number of blocks is
  // collective (see prepare), and refused in all processes where they differ in kernel, grid, block or
  // algorithm; after that kernels of different grids may alternate freely, unchecked unless
  // group_options::check_each_launch says otherwise. Once a kernel of
  // this process gave up a barrier it waits for the kernels and throws what wait() throws, until reset().
  // Kernels that were launched before that and begin after it pass no barrier: their sync() returns false at
  // once.
  //
  // May also go to streams that are being captured, once the kernel was prepared. The graph then has one
  // kernel of each GPU and nothing else. So the program must order replays and other launches of the group
  // (by one stream per GPU, or events), and all processes must replay equally often: one that replays once
  // more waits for the others until its time-out, whose error names them. check() reports kernels that
  // overlap all the same. wait() and poll() do not know of replays.
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
    given.reserve(local_gpus());  // so that the addresses of its elements do not change
    // launch_on() calls this inside its collective part, so that all processes learn of what arguments_of
    // throws.
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

  // Does everything that the first launch of this kernel with this grid would do except the launch itself:
  // loads the kernel on every GPU, makes the flags for the number of blocks (1 to 5 MB on each GPU, kept for
  // every number), and finds out whether the grid fits. Afterwards its launches wait for nothing, allocate
  // nothing and can be captured. Throws what the launch would. Collective where the number of blocks is new.
  // `streams`: as for launch(); a stream of a green context has fewer SMs.
  template <class... Parameters>
  void prepare(void (*kernel)(multi_grid_handle, Parameters...), dim3 blocks, dim3 threads,
               std::size_t shared_bytes = 0, const std::vector<cudaStream_t>& streams = {}) {
    prepare(reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes, streams);
  }
  void prepare(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes = 0,
               const std::vector<cudaStream_t>& streams = {});
  // The same for a number of blocks alone, for kernels that the program launches itself. Collective where the
  // number is new.
  void resize(unsigned blocks_per_gpu);
  // The handle to pass to the kernel on GPU `local` where the program launches it itself, graphs included: on
  // all GPUs, cooperatively, with this many blocks, and each after the previous kernel on its GPU has ended.
  // It stays the same until reset(). A kernel with another grid, or with a handle from before a reset(), runs
  // without the barrier: its sync() returns false at once, and check() throws. Throws usage_error for a
  // number of blocks that was not prepared.
  const multi_grid_handle& handle_for(unsigned blocks_per_gpu, unsigned local = 0) const;

  // A team: some GPUs of the group, by grid rank, which meet at barriers of their own inside the group's
  // kernels. Returns its number, from 1 on. Collective over the whole group. A GPU may be of any number of
  // teams, and one kernel may use several: each is passed by its handle, behind the kernel's own,
  //
  //     // kernel(const __grid_constant__ multi_grid_handle, const __grid_constant__ multi_grid_handle pair)
  //     if (pair.gpus != 0) {                       // this GPU is of the team
  //       auto two = mgsync::this_multi_grid(pair);
  //       two.sync();                               // grid_rank(), size(): of the team
  //     }
  //     grids.launch_each(kernel, blocks, threads, 0, {}, [&](unsigned local) {
  //       return std::tuple(grids.team_handle(team, blocks, local));
  //     });
  //
  // Teams that overlap must be synchronized by all their GPUs in one order: of two teams with GPUs in common,
  // those pass them in the same turns. Otherwise they wait for each other until the time-out, which ends all
  // waits of the group, names the teams, and needs reset(). Each team takes the memory of a group of its
  // size.
  unsigned make_team(const std::vector<unsigned>& grid_ranks);
  // The handle of team `team`, for a number of blocks that was prepared; on a GPU that is not of the team an
  // empty one, whose `gpus` is 0.
  const multi_grid_handle& team_handle(unsigned team, unsigned blocks_per_gpu, unsigned local = 0) const;

  // Changes the time-outs of group_options in this process, also for kernels that are running.
  void set_timeout(std::chrono::nanoseconds timeout);
  void set_timeout(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_timeout);

  // Ends the waits of all kernels of the group, in all processes: their sync() returns false. Then wait(),
  // check() and launch() throw aborted_error with `why` in this process, timeout_error in others, until
  // reset(). From any thread, at any time while the group lives; waits for nothing.
  void abort(std::string_view why) noexcept;
  // The state of the launched kernels, without waiting for them.
  group_status poll() const noexcept;

  // Waits until the launched kernels of this process have ended, then does what check() does.
  void wait();
  // Throws timeout_error where a barrier was given up, naming the GPUs and blocks, or the process, that did
  // not arrive; aborted_error where this process aborted the group; and usage_error where a kernel ran with a
  // handle that does not fit it, or where two groups of a kernel, or two kernels of the group, were in use at
  // once on a GPU. For kernels that the program launched itself, call it after they have ended. After a
  // launch() that failed on one of several GPUs it throws timeout_error: the kernels on the others were
  // ended. It throws timeout_error too where another process gave up at a barrier at which no kernel of this
  // process was waiting, but only once the launched kernels have ended: it then reads a word of each GPU of
  // this process on a stream of the group's own (not with one process).
  void check();
  // Of traced groups (group_options::trace) and kernels (traced.cuh) with so many blocks: how late each GPU
  // came so far, by rank, and what GPU `local` saw of the last 1024 rounds that it waited for, oldest first.
  // Both may be asked while kernels run, without up to 31 rounds that a warp still holds, and after a
  // time-out, until reset(). Throw usage_error where there is no trace.
  std::vector<grid_lateness> lateness(unsigned blocks_per_gpu) const;
  std::vector<late_barrier> last_rounds(unsigned blocks_per_gpu, unsigned local = 0) const;

  // Makes the group usable again after wait() or check() threw in any process. Waits for the GPUs.
  // Collective.
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
