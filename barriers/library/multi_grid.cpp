#include "barriers/library/include/mgsync/multi_grid.hpp"

#include <cstdio>
#include <optional>

#include "barriers/library/barrier_flags.hpp"
#include "barriers/library/fitting_kernels.hpp"
#include "barriers/library/members.hpp"
#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace {

unsigned volume(const dim3& d) { return d.x * d.y * d.z; }

std::string written(const dim3& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  return filled("({}, {}, {})", d.x, d.y, d.z);
}

bool alike(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Throws where the kernel's first parameter cannot be a handle, as far as CUDA tells. Through the driver,
// whose refusals do not become the runtime's last error: that is the caller's.
void check_first_parameter([[maybe_unused]] const void* kernel) {
#if CUDART_VERSION >= 12040
  static const auto about =
      reinterpret_cast<decltype(&cuFuncGetParamInfo)>(cuda::find_driver_entry("cuFuncGetParamInfo", 12040));
  if (about == nullptr) return;
  cudaFunction_t function = nullptr;
  cuda::check(cudaGetFuncBySymbol(&function, kernel), "looking for the kernel");
  std::size_t offset = 0, size = 0;
  const auto status = about(reinterpret_cast<CUfunction>(function), 0, &offset, &size);
  if (status == CUDA_ERROR_INVALID_VALUE || (status == CUDA_SUCCESS && size != sizeof(multi_grid_handle)))
    throw usage_error(
        "the kernel's first parameter is not a mgsync::multi_grid_handle: without it the kernel cannot "
        "join the group");
#endif
}

// The SMs of the green context that the stream belongs to; nothing where it has all of its GPU's.
std::optional<unsigned> sms_of_green_context([[maybe_unused]] cudaStream_t stream) {
#if CUDART_VERSION >= 12050
  static const auto context_of =
      reinterpret_cast<decltype(&cuStreamGetGreenCtx)>(cuda::find_driver_entry("cuStreamGetGreenCtx", 12050));
  static const auto resource_of = reinterpret_cast<decltype(&cuGreenCtxGetDevResource)>(
      cuda::find_driver_entry("cuGreenCtxGetDevResource", 12050));
  CUgreenCtx context = nullptr;
  if (stream == nullptr || context_of == nullptr || resource_of == nullptr) return std::nullopt;
  if (context_of(stream, &context) != CUDA_SUCCESS || context == nullptr) return std::nullopt;
  CUdevResource resource{};
  if (resource_of(context, &resource, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS) return std::nullopt;
  return resource.sm.smCount;
#else
  return std::nullopt;
#endif
}

// Why a launch on GPU `ordinal`, the calling thread's, cannot go to `stream`. Through the driver, whose
// answers do not become the runtime's last error.
std::string why_not_on(cudaStream_t stream, int ordinal) {
  using device_function = CUresult (*)(CUstream, CUdevice*);
  static const auto capturing =
      reinterpret_cast<decltype(&cuStreamIsCapturing)>(cuda::find_driver_entry("cuStreamIsCapturing"));
  static const auto device_of =
      reinterpret_cast<device_function>(cuda::find_driver_entry("cuStreamGetDevice", 12080));
  // First: a question that is not about the capture may end it.
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto asked = capturing == nullptr ? CUDA_SUCCESS : capturing(stream, &status);
  if (asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || status != CU_STREAM_CAPTURE_STATUS_NONE)
    return filled(
        "the stream of the launch on GPU {} is being captured: a launch of a group cannot be captured",
        ordinal);
  CUdevice device = ordinal;
  const bool special =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;  // of any GPU
  if (!special && device_of != nullptr && device_of(stream, &device) == CUDA_SUCCESS && device != ordinal)
    return filled("the stream of the launch on GPU {} belongs to GPU {}: it takes one of GPU {}", ordinal,
                  device, ordinal);
  return {};
}

// Where the kernel may not use as much shared memory as the GPU would give it: how it may. On the calling
// thread's GPU.
std::string remedy_for_shared_memory(const launch_parameters& p, int ordinal) {
  cudaFuncAttributes about{};
  cuda::check(cudaFuncGetAttributes(&about, p.func), "asking about the kernel");
  int most = 0;
  cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
              filled("asking about GPU {}", ordinal));
  const auto allowed = static_cast<std::size_t>(about.maxDynamicSharedSizeBytes);
  if (p.sharedMem <= allowed || p.sharedMem + about.sharedSizeBytes > static_cast<std::size_t>(most))
    return {};
  return filled(". The kernel may use {} bytes: for more, set its "
                "cudaFuncAttributeMaxDynamicSharedMemorySize on every GPU",
                allowed);
}

std::string why_not_for(std::chrono::nanoseconds timeout) {
  return timeout.count() < 0 ? "a negative time-out: it takes 0 (for ever) or more" : "";
}

}  // namespace

struct multi_grid::state {
  struct place {
    cuda::stream own;
    cuda::event done;  // behind the last launch
    bool launched = false;
    library::fitting_kernels fitting;
  };

  state(const std::vector<int>& gpus, int process, process_exchange exchange,
        std::chrono::nanoseconds timeout)
      : group(library::meet(gpus, process, std::move(exchange), why_not_for(timeout))),
        local(group.gpus.local()),
        limit(timeout),
        flags(group, timeout) {
    all_or_none(group.gpus, [&] {
      for (unsigned l = 0; l < local.size(); ++l) {
        const cuda::device_scope scope(ordinal(l));
        places.push_back({});
        places.back().own = cuda::make_stream();
        places.back().done = cuda::make_event();
      }
    });
  }
  ~state() {
    for (unsigned l = 0; l < places.size(); ++l) try {  // streams and events go where they belong
        const cuda::device_scope scope(ordinal(l));
        places[l] = {};
      } catch (const std::exception& error) { std::fprintf(stderr, "mgsync: %s\n", error.what()); }
  }

  int ordinal(unsigned l) const { return group.gpus.places[local[l]].ordinal; }
  std::string name(unsigned l) const { return filled("GPU {}", ordinal(l)); }

  void wait_for_kernels() const {
    for (unsigned l = 0; l < local.size(); ++l) {
      if (!places[l].launched) continue;
      const cuda::device_scope scope(ordinal(l));
      cuda::check(cudaEventSynchronize(places[l].done.get()),
                  filled("waiting for the kernel on {}", name(l)));
    }
  }

  bool kernels_ended() const {
    // Not the runtime's: that a kernel still runs would become the caller's last error.
    static const auto query = cuda::driver_function<decltype(&cuEventQuery)>("cuEventQuery");
    for (unsigned l = 0; l < local.size(); ++l) {
      const cuda::device_scope scope(ordinal(l));
      if (places[l].launched && query(places[l].done.get()) == CUDA_ERROR_NOT_READY) return false;
    }
    return true;
  }

  // Once kernels have ended. They may never have had to wait for the process that gave up, and then told
  // nothing; within one process, whose kernel it is tells all.
  void listen() {
    for (unsigned l = 0; l < local.size() && !group.gpus.one_process() && !flags.given_up(); ++l)
      flags.listen(l, places[l].own.get());
  }

  void check() const {
    if (!flags.given_up()) return;
    wait_for_kernels();
    const multi_grid_report& told = flags.report();
    constexpr const char* remedy = "reset() makes the group usable again";
    if (told.what == multi_grid_report::wrong_grid)
      throw usage_error(
          filled("the kernel on grid {} ran without the barrier: its grid has {} blocks, and its handle is "
                 "for {}. {}",
                 told.rank, told.launched, told.made_for, remedy));
    if (told.what == multi_grid_report::stale_handle)
      throw usage_error(
          filled("the kernel on grid {} ran without the barrier: its handle is from before a reset(). {}",
                 told.rank, remedy));
    if (told.what == multi_grid_report::two_groups)
      throw usage_error(filled("on grid {} a group was made while another was in use on the same blocks, and "
                               "ran without the barrier: "
                               "two groups of one kernel, or kernels of one group that overlap. {}",
                               told.rank, remedy));
    if (told.what == multi_grid_report::launch_failed)
      throw timeout_error(filled(
          "the launch on GPU {} (grid {}) failed, so that the kernels launched before were ended: they would "
          "have waited for it. {}",
          group.gpus.places[told.rank].ordinal, told.rank, remedy));
    if (told.what == multi_grid_report::none)
      throw timeout_error(filled(
          "a barrier was given up, and no kernel of this process was waiting at it: where one was, wait() "
          "or check() says who did not arrive. {}",
          remedy));
    const double seconds = std::chrono::duration<double>(limit).count();
    throw timeout_error(
        filled("a barrier was given up after {} s: {}. {}", seconds, flags.who_is_missing(), remedy));
  }

  // Ready for kernels of so many blocks. `may` throws where this process may not; where the number is new,
  // which is collective, all do.
  template <class F>
  void make_ready(unsigned blocks, F may) {
    if (flags.has(blocks)) {
      may();
    } else {
      all_or_none(group.gpus, may);
      agree_on(blocks, "blocks per GPU", "the grid");
      flags.add(blocks);
    }
    present = blocks;
  }

  // Collective: the flags as new, once no kernel of any process uses them, and before any is launched.
  void renew() {
    all_or_none(group.gpus, [&] {
      for (unsigned l = 0; l < local.size(); ++l) {  // also kernels that the user launched
        const cuda::device_scope scope(ordinal(l));
        cuda::check(cudaDeviceSynchronize(), filled("waiting for {}", name(l)));
      }
    });
    all_or_none(group.gpus, [&] { flags.renew(); });
  }

  // Collective: throws in all processes where one wants another number of `things` than process 0.
  void agree_on(std::size_t number, const char* things, const char* what) const {
    if (group.gpus.one_process()) return;
    const auto wanted = group.gpus.exchange(std::to_string(number));
    for (std::size_t p = 0; p < wanted.size(); ++p)
      if (wanted[p] != wanted.front())
        throw usage_error(filled("process {} wants {} {} and process 0 wants {}: {} is the same on all GPUs",
                                 p, wanted[p], things, wanted.front(), what));
  }

  // `wrong_use`: of the caller's, found before, if any.
  void launch(const launch_parameters* launches, unsigned count, const std::string& wrong_use = {});
  void check_launches(const launch_parameters* launches, unsigned count);
  void check_launch(const launch_parameters& p, unsigned l);
  void start_kernel(const launch_parameters& p, unsigned l);

  library::group_members group;
  std::vector<unsigned> local;
  std::chrono::nanoseconds limit;
  library::barrier_flags flags;
  unsigned present = 0;  // the last number of blocks
  std::vector<place> places;
};

void multi_grid::state::launch(const launch_parameters* launches, unsigned count,
                               const std::string& wrong_use) {
  const unsigned blocks = launches == nullptr || count == 0 ? 0 : volume(launches[0].gridDim);
  make_ready(blocks, [&] {
    check();
    if (!wrong_use.empty()) throw usage_error(wrong_use);
    check_launches(launches, count);
  });
  for (unsigned l = 0; l < count; ++l) try {
      start_kernel(launches[l], l);
    } catch (...) {
      if (count > 1 || !group.gpus.one_process())
        flags.give_up(blocks, l);  // those launched would wait for one that never comes
      throw;
    }
}

void multi_grid::state::check_launches(const launch_parameters* launches, unsigned count) {
  if (count != local.size() || launches == nullptr)
    throw usage_error(
        filled("{} launches for the {} GPUs of this process: one for each", count, local.size()));
  for (unsigned l = 0; l < count; ++l) {
    const auto &p = launches[l], &first = launches[0];
    if (!alike(p.gridDim, first.gridDim) || !alike(p.blockDim, first.blockDim))
      throw usage_error(
          filled("{} blocks of {} threads on {}, and {} of {} on {}: the grid is the same on all GPUs",
                 written(p.gridDim), written(p.blockDim), name(l), written(first.gridDim),
                 written(first.blockDim), name(0)));
    check_launch(p, l);
  }
}

// Also loads the kernel: its first launch would wait for kernels that run.
void multi_grid::state::check_launch(const launch_parameters& p, unsigned l) {
  const unsigned threads = volume(p.blockDim), blocks = volume(p.gridDim);
  if (p.func == nullptr) throw usage_error("no kernel (func is null)");
  if (p.args == nullptr)
    throw usage_error("no arguments (args is null): args[0] has room for the kernel's handle");
  if (blocks == 0) throw usage_error("a grid of no blocks");
  if (threads < 32 || threads > 1024)
    throw usage_error(filled("blocks of {} threads: it takes 32 to 1024", threads));
  const cuda::device_scope scope(ordinal(l));
  if (const auto why = why_not_on(p.stream, ordinal(l)); !why.empty()) throw usage_error(why);
  place& at = places[l];
  const auto fewer = sms_of_green_context(p.stream);
  const library::kernel_shape shape{p.func, threads, p.sharedMem};
  const auto most = [&] {
    return at.fitting.per_sm(shape) * fewer.value_or(static_cast<unsigned>(cuda::sm_count(ordinal(l))));
  };
  if (blocks <= most()) return;
  cuda::load(p.func, "the kernel");
  check_first_parameter(p.func);
  at.fitting.keep(shape, static_cast<unsigned>(cuda::resident_blocks(p.func, threads, p.sharedMem)));
  if (blocks > most())
    throw usage_error(
        filled("{} blocks of {} threads with {} bytes of shared memory are not resident at once on {}{}: "
               "{} fit{}",
               blocks, threads, p.sharedMem, name(l),
               fewer ? filled(", whose stream is of a green context with {} SMs", *fewer) : "", most(),
               remedy_for_shared_memory(p, ordinal(l))));
}

void multi_grid::state::start_kernel(const launch_parameters& p, unsigned l) {
  place& at = places[l];
  const cuda::device_scope scope(ordinal(l));
  const auto action = [&] { return filled("launching on {}", name(l)); };
  // Also on the stream of the last launch, as it seems: a stream's handle may come back for another, or mean
  // another to this thread.
  if (at.launched) cuda::check(cudaStreamWaitEvent(p.stream, at.done.get(), 0), action());
  multi_grid_handle handle = flags.of(volume(p.gridDim)).handles[l];
  p.args[0] = &handle;  // copied by the launch
  cuda::check(cudaLaunchCooperativeKernel(p.func, p.gridDim, p.blockDim, p.args, p.sharedMem, p.stream),
              action());
  at.launched = true;
  cuda::check(cudaEventRecord(at.done.get(), p.stream), action());
}

multi_grid::multi_grid(const std::vector<int>& gpus, std::chrono::nanoseconds timeout)
    : multi_grid(gpus, 0, {}, timeout) {}
multi_grid::multi_grid(const std::vector<int>& gpus, int process, process_exchange exchange,
                       std::chrono::nanoseconds timeout)
    : state_(std::make_unique<state>(gpus, process, std::move(exchange), timeout)) {}
multi_grid::multi_grid(multi_grid&&) noexcept = default;
multi_grid& multi_grid::operator=(multi_grid&&) noexcept = default;
multi_grid::~multi_grid() = default;

unsigned multi_grid::gpus() const { return static_cast<unsigned>(state_->group.gpus.places.size()); }
unsigned multi_grid::local_gpus() const { return static_cast<unsigned>(state_->local.size()); }
unsigned multi_grid::grid_rank(unsigned local) const { return state_->local.at(local); }
int multi_grid::ordinal(unsigned local) const {
  return state_->group.gpus.places[state_->local.at(local)].ordinal;
}
std::string multi_grid::algorithm() const {
  return state_->present == 0 ? "" : state_->flags.of(state_->present).choice.why;
}

void multi_grid::launch(const launch_parameters* launches, unsigned count) {
  state_->launch(launches, count);
}

void multi_grid::launch_on(const std::vector<cudaStream_t>& streams,
                           std::vector<launch_parameters>& launches) {
  std::string wrong_use;
  if (!streams.empty() && streams.size() != launches.size())
    wrong_use = filled("{} streams for the {} GPUs of this process: one for each, or none", streams.size(),
                       launches.size());
  for (unsigned l = 0; l < launches.size() && wrong_use.empty(); ++l)
    launches[l].stream = streams.empty() ? state_->places[l].own.get() : streams[l];
  state_->launch(launches.data(), static_cast<unsigned>(launches.size()), wrong_use);
}

void multi_grid::resize(unsigned blocks_per_gpu) {
  state_->make_ready(blocks_per_gpu, [&] {
    if (blocks_per_gpu == 0) throw usage_error("a grid of no blocks");
  });
}

const multi_grid_handle& multi_grid::handle(unsigned local) const {
  if (state_->present == 0) throw usage_error("the number of blocks is not known yet: resize() first");
  if (local >= local_gpus())
    throw usage_error(filled("no GPU {} here: this process has {}", local, local_gpus()));
  return state_->flags.of(state_->present).handles[local];
}

void multi_grid::wait() {
  state_->wait_for_kernels();
  state_->listen();
  state_->check();
}

void multi_grid::check() {
  if (state_->kernels_ended()) state_->listen();
  state_->check();
}

void multi_grid::reset() { state_->renew(); }

struct multi_grid_memory::owner {
  std::unique_ptr<gpu_memory> memory;
};

multi_grid_memory multi_grid::allocate(std::size_t bytes) {
  all_or_none(state_->group.gpus, [&] {
    if (bytes == 0) throw usage_error("memory of no bytes");
  });
  state_->agree_on(bytes, "bytes", "the memory's size");
  auto made = allocate_gpu_memory(state_->group.gpus, bytes, peer_memory::automatic, given_back::at_once);
  if (!made.memory) throw unsupported_error(made.reason);
  return multi_grid_memory(
      std::make_unique<multi_grid_memory::owner>(multi_grid_memory::owner{std::move(made.memory)}));
}

multi_grid_memory::multi_grid_memory(std::unique_ptr<owner> given) : owner_(std::move(given)) {}
multi_grid_memory::multi_grid_memory(multi_grid_memory&&) noexcept = default;
multi_grid_memory& multi_grid_memory::operator=(multi_grid_memory&&) noexcept = default;
multi_grid_memory::~multi_grid_memory() = default;
void* multi_grid_memory::part(unsigned grid_rank, unsigned local) const {
  return owner_->memory->part(grid_rank, local);
}

}  // namespace mgsync
