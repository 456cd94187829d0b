#include "barriers/library/include/mgsync/multi_grid.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "barriers/library/barrier_flags.hpp"
#include "barriers/library/fitting_kernels.hpp"
#include "barriers/library/gpu_lives.hpp"
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

// Whether the stream is being captured. Asked through the driver, whose answers do not become the runtime's
// last error, and before anything else: a question that is not about the capture may end it.
bool is_captured(cudaStream_t stream, int ordinal) {
  static const auto ask =
      reinterpret_cast<decltype(&cuStreamIsCapturing)>(cuda::find_driver_entry("cuStreamIsCapturing"));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto asked = ask == nullptr ? CUDA_SUCCESS : ask(stream, &status);
  if (asked == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    throw usage_error(
        filled("the launch on GPU {} is on the default stream while another stream is being captured: give "
               "it a stream of its own, or the one that is captured",
               ordinal));
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

// Why a launch on GPU `ordinal`, the calling thread's, cannot go to `stream`.
std::string why_not_on(cudaStream_t stream, int ordinal) {
  using device_function = CUresult (*)(CUstream, CUdevice*);
  static const auto device_of =
      reinterpret_cast<device_function>(cuda::find_driver_entry("cuStreamGetDevice", 12080));
  CUdevice device = ordinal;
  const bool special =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;  // of any GPU
  if (!special && device_of != nullptr && device_of(stream, &device) == CUDA_SUCCESS && device != ordinal)
    return filled("the stream of the launch on GPU {} belongs to GPU {}: it takes one of GPU {}", ordinal,
                  device, ordinal);
  return {};
}

// How many blocks of the kernel the calling thread's GPU holds at once, for one with clusters in whole
// clusters.
unsigned resident_at_once(const launch_parameters& p, unsigned threads, int ordinal) {
  cudaFuncAttributes about{};
  cuda::check(cudaFuncGetAttributes(&about, p.func), "asking about the kernel");
  if (about.clusterDimMustBeSet != 0 && about.requiredClusterWidth == 0)
    throw usage_error(
        "the kernel's clusters have no size of their own: declare it with __cluster_dims__(x, y, z), since a "
        "group's launch cannot name one");
  const auto cluster = static_cast<unsigned>(std::max(about.requiredClusterWidth, 1)) *
                       static_cast<unsigned>(std::max(about.requiredClusterHeight, 1)) *
                       static_cast<unsigned>(std::max(about.requiredClusterDepth, 1));
  if (cluster == 1)
    return static_cast<unsigned>(cuda::resident_blocks(p.func, threads, p.sharedMem) *
                                 cuda::sm_count(ordinal));
  cudaLaunchConfig_t asked{};
  asked.gridDim = p.gridDim;
  asked.blockDim = p.blockDim;
  asked.dynamicSmemBytes = p.sharedMem;
  int clusters = 0;
  cuda::check(cudaOccupancyMaxActiveClusters(&clusters, p.func, &asked), "asking how many clusters fit");
  return static_cast<unsigned>(clusters) * cluster;
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

std::string why_not_for(const library::wait_bounds& bounds) {
  return bounds.of_a_wait.count() < 0 || bounds.of_the_first.count() < 0
             ? "a negative time-out: it takes 0 (for ever) or more"
             : "";
}

peer_memory wanted_of(const group_options& o) {
  if (o.sharing == memory_sharing::vmm) return peer_memory::vmm;
  return o.sharing == memory_sharing::ipc ? peer_memory::ipc : peer_memory::automatic;
}

library::wait_bounds bounds_of(const group_options& o) {
  return {.of_a_wait = o.timeout, .of_the_first = o.first_timeout};
}

}  // namespace

struct multi_grid::state {
  struct place {
    cuda::stream own;
    cuda::event done;  // behind the last launch
    bool launched = false;
    library::fitting_kernels fitting;
  };

  state(const std::vector<int>& gpus, int process, process_exchange exchange, const group_options& options,
        library::memory_source for_flags = {})
      : bounds(bounds_of(options)),
        group(library::meet(gpus, process, std::move(exchange), options.node, why_not_for(bounds))),
        local(group.gpus.local()),
        own(library::own_memory(wanted_of(options))),
        flags(group, bounds, for_flags ? std::move(for_flags) : own) {
    all_or_none(group.gpus, [&] {
      for (unsigned l = 0; l < local.size(); ++l) {
        const cuda::device_scope scope(ordinal(l));
        places.push_back({});
        lives.add(ordinal(l));
        places.back().own = cuda::make_stream();
        places.back().done = cuda::make_event();
      }
    });
  }
  ~state() {
    // Kernels of other processes need not wait for those that will not be launched here.
    if (std::uncaught_exceptions() > exceptions_then) flags.abort("an exception ended the group");
    for (unsigned l = 0; l < places.size(); ++l) try {  // streams and events go where they belong
        const cuda::device_scope scope(ordinal(l));
        places[l] = {};
      } catch (const std::exception& error) { std::fprintf(stderr, "mgsync: %s\n", error.what()); }
  }

  int ordinal(unsigned l) const { return group.gpus.places[local[l]].ordinal; }
  // `l`, where this process has such a GPU.
  unsigned known(unsigned l) const {
    if (l >= local.size()) throw usage_error(filled("no GPU {} here: this process has {}", l, local.size()));
    return l;
  }
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
    const multi_grid_report told = flags.report();
    constexpr const char* remedy = "reset() makes the group usable again";
    if (told.what == multi_grid_report::aborted)
      throw aborted_error(filled("the group was aborted: {}. {}", flags.why_aborted(), remedy));
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
    auto missing = flags.who_is_missing();
    const auto limit = missing.first ? bounds.of_the_first : bounds.of_a_wait;
    throw timeout_error(filled("a barrier was given up after {} s: {}. {}",
                               std::chrono::duration<double>(limit).count(), missing.text, remedy),
                        std::move(missing.who));
  }

  // Ready for kernels of so many blocks. `may` throws where this process may not; where the number is new,
  // which is collective, all do.
  template <class F>
  void make_ready(unsigned blocks, F may) {
    const auto lives_and_may = [&] {
      lives.must_go_on();
      may();
    };
    if (flags.has(blocks)) {
      lives_and_may();
    } else {
      all_or_none(group.gpus, lives_and_may);
      agree_on(blocks, "blocks per GPU", "the grid");
      const cuda::outside_of_captures apart;
      flags.add(blocks);
    }
    present = blocks;
  }

  // Collective: the flags as new, once no kernel of any process uses them, and before any is launched.
  void renew() {
    all_or_none(group.gpus, [&] {
      lives.must_go_on();
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

  void launch(const launch_parameters* launches, unsigned count);
  // Starts what `all` gives, once `all`, which may throw, was asked: where the number of blocks is new, in
  // all processes.
  void launch_all(unsigned blocks, const std::function<std::vector<launch_parameters>()>& all);
  void check_launches(const launch_parameters* launches, unsigned count);
  void check_launch(const launch_parameters& p, unsigned l);
  void check_kernel(const launch_parameters& p, unsigned l);
  void start_kernel(const launch_parameters& p, unsigned l);

  int exceptions_then = std::uncaught_exceptions();
  library::wait_bounds bounds;
  library::group_members group;
  std::vector<unsigned> local;
  library::memory_source own;
  library::barrier_flags flags;
  unsigned present = 0;  // the last number of blocks
  std::vector<place> places;
  library::gpu_lives lives;
};

void multi_grid::state::launch(const launch_parameters* launches, unsigned count) {
  const unsigned blocks = launches == nullptr || count == 0 ? 0 : volume(launches[0].gridDim);
  launch_all(blocks, [&] {
    return launches == nullptr ? std::vector<launch_parameters>()
                               : std::vector<launch_parameters>(launches, launches + count);
  });
}

void multi_grid::state::launch_all(unsigned blocks,
                                   const std::function<std::vector<launch_parameters>()>& all) {
  std::vector<launch_parameters> launches;
  make_ready(blocks, [&] {
    check();
    launches = all();
    check_launches(launches.data(), static_cast<unsigned>(launches.size()));
  });
  for (unsigned l = 0; l < launches.size(); ++l) try {
      start_kernel(launches[l], l);
    } catch (...) {
      if (launches.size() > 1 || !group.gpus.one_process())
        flags.launch_failed(blocks, l);  // those launched would wait for one that never comes
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

void multi_grid::state::check_launch(const launch_parameters& p, unsigned l) {
  if (p.args == nullptr)
    throw usage_error("no arguments (args is null): args[0] has room for the kernel's handle");
  const cuda::device_scope scope(ordinal(l));
  if (is_captured(p.stream, ordinal(l))) {
    const unsigned blocks = volume(p.gridDim);
    if (!flags.has(blocks) || places[l].fitting.at_once({p.func, volume(p.blockDim), p.sharedMem}) < blocks)
      throw usage_error(
          filled("the stream of the launch on GPU {} is being captured: prepare() the kernel with "
                 "this grid before, outside of the capture",
                 ordinal(l)));
    return;
  }
  if (const auto why = why_not_on(p.stream, ordinal(l)); !why.empty()) throw usage_error(why);
  check_kernel(p, l);
}

// Also loads the kernel: its first launch would wait for kernels that run. On the calling thread's GPU.
void multi_grid::state::check_kernel(const launch_parameters& p, unsigned l) {
  const unsigned threads = volume(p.blockDim), blocks = volume(p.gridDim);
  if (p.func == nullptr) throw usage_error("no kernel (func is null)");
  if (blocks == 0) throw usage_error("a grid of no blocks");
  if (threads < 32 || threads > 1024)
    throw usage_error(filled("blocks of {} threads: it takes 32 to 1024", threads));
  auto& fitting = places[l].fitting;
  const auto fewer = sms_of_green_context(p.stream);
  const library::kernel_shape shape{p.func, threads, p.sharedMem};
  const auto sms = static_cast<unsigned>(cuda::sm_count(ordinal(l)));
  const auto most = [&] { return fewer ? fitting.at_once(shape) / sms * *fewer : fitting.at_once(shape); };
  if (blocks <= most()) return;
  cuda::load(p.func, "the kernel");
  check_first_parameter(p.func);
  fitting.keep(shape, resident_at_once(p, threads, ordinal(l)));
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
  // An event of before the capture is no part of it, and one of the graph would be recorded when it is
  // replayed: nobody could wait for that.
  const bool captured = is_captured(p.stream, ordinal(l));
  // Also on the stream of the last launch, as it seems: a stream's handle may come back for another, or mean
  // another to this thread.
  if (at.launched && !captured) cuda::check(cudaStreamWaitEvent(p.stream, at.done.get(), 0), action());
  multi_grid_handle handle = flags.of(volume(p.gridDim)).handles[l];
  p.args[0] = &handle;  // copied by the launch
  cuda::check(cudaLaunchCooperativeKernel(p.func, p.gridDim, p.blockDim, p.args, p.sharedMem, p.stream),
              action());
  if (captured) return;
  at.launched = true;
  cuda::check(cudaEventRecord(at.done.get(), p.stream), action());
}

multi_grid::multi_grid(const std::vector<int>& gpus, const group_options& options)
    : multi_grid(gpus, 0, {}, options) {}
multi_grid::multi_grid(const std::vector<int>& gpus, int process, process_exchange exchange,
                       const group_options& options) {
  const cuda::outside_of_captures apart;
  state_ = std::make_unique<state>(gpus, process, std::move(exchange), options);
}
multi_grid::multi_grid(whole, std::unique_ptr<state> made) : state_(std::move(made)) {}
multi_grid multi_grid::over(const symmetric_parts& theirs, const std::vector<int>& gpus, int process,
                            process_exchange exchange, const group_options& options) {
  const cuda::outside_of_captures apart;
  return multi_grid(whole{}, std::make_unique<state>(gpus, process, std::move(exchange), options,
                                                     library::memory_of_caller(theirs.parts, theirs.bytes)));
}
// Of every choice that some GPU has for so many blocks.
std::size_t multi_grid::flag_bytes(unsigned gpus, unsigned blocks_per_gpu) {
  std::size_t most = 0;
  for (const unsigned per_sm : {1u, 2u, 3u, 5u, 6u, 8u, 10u, 16u, 32u, 64u})
    most = std::max(most, library::memory_of_flags(gpus, blocks_per_gpu,
                                                   std::max(1u, (blocks_per_gpu + per_sm - 1) / per_sm)));
  return (most + library::part_alignment - 1) / library::part_alignment * library::part_alignment;
}
multi_grid::multi_grid(multi_grid&&) noexcept = default;
multi_grid& multi_grid::operator=(multi_grid&&) noexcept = default;
multi_grid::~multi_grid() {
  if (!state_) return;
  const cuda::outside_of_captures apart;
  if (state_->lives.can_destroy()) state_.reset();
  else static_cast<void>(state_.release());
}

unsigned multi_grid::gpus() const { return static_cast<unsigned>(state_->group.gpus.places.size()); }
unsigned multi_grid::local_gpus() const { return static_cast<unsigned>(state_->local.size()); }
unsigned multi_grid::grid_rank(unsigned local) const { return state_->local[state_->known(local)]; }
int multi_grid::ordinal(unsigned local) const { return state_->ordinal(state_->known(local)); }
std::string multi_grid::algorithm() const {
  return state_->present == 0 ? "" : state_->flags.of(state_->present).choice.why;
}

void multi_grid::launch(const launch_parameters* launches, unsigned count) {
  state_->launch(launches, count);
}

void multi_grid::launch_on(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes,
                           const std::vector<cudaStream_t>& streams,
                           const std::function<void**(unsigned local)>& arguments_of) {
  state_->launch_all(volume(blocks), [&] {
    if (!streams.empty() && streams.size() != local_gpus())
      throw usage_error(filled("{} streams for the {} GPUs of this process: one for each, or none",
                               streams.size(), local_gpus()));
    std::vector<launch_parameters> launches;
    for (unsigned l = 0; l < local_gpus(); ++l)
      launches.push_back({kernel, blocks, threads, arguments_of(l), shared_bytes,
                          streams.empty() ? state_->places[l].own.get() : streams[l]});
    return launches;
  });
}

void multi_grid::prepare(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes) {
  state_->make_ready(volume(blocks), [&] {
    for (unsigned l = 0; l < local_gpus(); ++l) {
      const cuda::device_scope scope(state_->ordinal(l));
      state_->check_kernel({kernel, blocks, threads, nullptr, shared_bytes, state_->places[l].own.get()}, l);
    }
  });
}

void multi_grid::resize(unsigned blocks_per_gpu) {
  state_->make_ready(blocks_per_gpu, [&] {
    if (blocks_per_gpu == 0) throw usage_error("a grid of no blocks");
  });
}

const multi_grid_handle& multi_grid::handle_for(unsigned blocks_per_gpu, unsigned local) const {
  if (!state_->flags.has(blocks_per_gpu))
    throw usage_error(filled("no handle for {} blocks yet: resize() or prepare() first", blocks_per_gpu));
  return state_->flags.of(blocks_per_gpu).handles[state_->known(local)];
}

void multi_grid::set_timeout(std::chrono::nanoseconds timeout) { set_timeout(timeout, timeout); }
void multi_grid::set_timeout(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_timeout) {
  const library::wait_bounds bounds{.of_a_wait = timeout, .of_the_first = first_timeout};
  if (const auto why = why_not_for(bounds); !why.empty()) throw usage_error(why);
  state_->flags.set_bounds(bounds);
  state_->bounds = bounds;
}

void multi_grid::abort(std::string_view why) noexcept { state_->flags.abort(why); }

group_status multi_grid::poll() const noexcept {
  if (state_->flags.given_up()) return group_status::lost;
  try {
    if (state_->lives.reset_since()) return group_status::lost;
    return state_->kernels_ended() ? group_status::done : group_status::at_work;
  } catch (const std::exception&) { return group_status::lost; }  // check() throws the same again
}

void multi_grid::wait() {
  state_->lives.must_go_on();
  state_->wait_for_kernels();
  state_->listen();
  state_->check();
}

void multi_grid::check() {
  state_->lives.must_go_on();
  if (state_->kernels_ended()) state_->listen();
  state_->check();
}

void multi_grid::reset() {
  const cuda::outside_of_captures apart;
  state_->renew();
}

struct multi_grid_memory::owner {
  std::unique_ptr<gpu_memory> memory;
  library::gpu_lives lives;
};

multi_grid_memory multi_grid::allocate(std::size_t bytes) {
  all_or_none(state_->group.gpus, [&] {
    state_->lives.must_go_on();
    if (bytes == 0) throw usage_error("memory of no bytes");
  });
  state_->agree_on(bytes, "bytes", "the memory's size");
  const cuda::outside_of_captures apart;
  auto made = state_->own(state_->group.gpus, bytes);
  return multi_grid_memory(
      std::make_unique<multi_grid_memory::owner>(multi_grid_memory::owner{std::move(made), state_->lives}));
}

multi_grid_memory::multi_grid_memory(std::unique_ptr<owner> given) : owner_(std::move(given)) {}
multi_grid_memory::multi_grid_memory(multi_grid_memory&&) noexcept = default;
multi_grid_memory& multi_grid_memory::operator=(multi_grid_memory&&) noexcept = default;
multi_grid_memory::~multi_grid_memory() {
  if (!owner_) return;
  const cuda::outside_of_captures apart;
  if (owner_->lives.can_destroy()) owner_.reset();
  else static_cast<void>(owner_.release());
}
void* multi_grid_memory::part(unsigned grid_rank, unsigned local) const {
  try {
    return owner_->memory->part_of(grid_rank, local);
  } catch (const std::out_of_range&) {
    throw usage_error(filled("no part of grid {} as GPU {} of this process addresses it", grid_rank, local));
  }
}

}  // namespace mgsync
