#include "barriers/library/multi_grid_state.hpp"

#include <cstdio>
#include <utility>

#include "barriers/library/launch_checks.hpp"
#include "src/base/cuda_driver.hpp"

namespace mgsync {

namespace library {

std::string why_not_for(const wait_bounds& bounds) {
  return bounds.of_a_wait.count() < 0 || bounds.of_the_first.count() < 0
             ? "a negative time-out: it takes 0 (for ever) or more"
             : "";
}

}  // namespace library

namespace {

using library::alike;
using library::is_captured;
using library::volume;
using library::written;

peer_memory wanted_of(const group_options& o) {
  if (o.sharing == memory_sharing::vmm) return peer_memory::vmm;
  return o.sharing == memory_sharing::ipc ? peer_memory::ipc : peer_memory::automatic;
}

library::wait_bounds bounds_of(const group_options& o) {
  return {.of_a_wait = o.timeout, .of_the_first = o.first_timeout};
}

}  // namespace

multi_grid::state::state(const std::vector<int>& gpus, int process, process_exchange exchange,
                         const group_options& options, library::memory_source for_flags)
    : bounds(bounds_of(options)),
      check_each_launch(options.check_each_launch),
      group(library::meet(gpus, process, std::move(exchange), options.node, library::why_not_for(bounds))),
      local(group.gpus.local()),
      own(library::own_memory(wanted_of(options))),
      flags(group, bounds, for_flags ? std::move(for_flags) : own,
            {.traced = options.trace, .one_block_speaks = options.one_block_speaks}) {
  all_or_none(group.gpus, [&] {
    for (unsigned l = 0; l < local.size(); ++l) {
      const cuda::device_scope scope(ordinal(l));
      states.push_back({});
      lives.add(ordinal(l));
      states.back().own = cuda::make_stream();
      states.back().done = cuda::make_event();
    }
  });
}

multi_grid::state::~state() {
  // The group is destroyed by stack unwinding: kernels of other processes must not wait for kernels that will
  // never be launched here.
  if (std::uncaught_exceptions() > exceptions_then) flags.abort("an exception ended the group");
  for (unsigned l = 0; l < states.size(); ++l) try {  // streams and events are destroyed where they belong
      const cuda::device_scope scope(ordinal(l));
      states[l] = {};
    } catch (const std::exception& error) { std::fprintf(stderr, "mgsync: %s\n", error.what()); }
}

void multi_grid::state::wait_for_kernels() const {
  for (unsigned l = 0; l < local.size(); ++l) {
    if (!states[l].launched) continue;
    const cuda::device_scope scope(ordinal(l));
    cuda::check(cudaEventSynchronize(states[l].done.get()), filled("waiting for the kernel on {}", name(l)));
  }
}

bool multi_grid::state::kernels_ended() const {
  // The driver's query, because the runtime's would make "not ready" the caller's last error.
  static const auto query = cuda::driver_function<decltype(&cuEventQuery)>("cuEventQuery");
  for (unsigned l = 0; l < local.size(); ++l) {
    const cuda::device_scope scope(ordinal(l));
    if (states[l].launched && query(states[l].done.get()) == CUDA_ERROR_NOT_READY) return false;
  }
  return true;
}

void multi_grid::state::listen() {
  for (unsigned l = 0; l < local.size() && !group.gpus.one_process() && !flags.given_up(); ++l)
    flags.listen(l, states[l].own.get());
}

void multi_grid::state::check() const {
  if (!flags.given_up()) return;
  wait_for_kernels();
  const multi_grid_report told = flags.report();
  constexpr const char* remedy = "reset() makes the group usable again";
  if (told.what == multi_grid_report::aborted)
    throw aborted_error(filled("the group was aborted: {}. {}", flags.why_aborted(), remedy));
  if (told.what == multi_grid_report::other_version)
    throw usage_error(
        told.launched == multi_grid_handle::this_version &&
                group.gpus.places.size() > multi_grid_handle::most_gpus
            ? filled("a kernel ran without the barrier: it is of mgsync/multi_grid.cuh, and its group has {} "
                     "GPUs: those of more than {} take mgsync/many_gpus.cuh. {}",
                     group.gpus.places.size(), multi_grid_handle::most_gpus, remedy)
            : filled("a kernel ran without the barrier: it was compiled with headers of mgsync of version {} "
                     "of the handle, and this library's is {}: compile it with the library's own headers. {}",
                     told.launched & 0xffff, MGSYNC_ABI_VERSION, remedy));
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

void multi_grid::state::renew() {
  all_or_none(group.gpus, [&] {
    lives.must_go_on();
    for (unsigned l = 0; l < local.size(); ++l) {  // waits also for kernels that the user launched
      const cuda::device_scope scope(ordinal(l));
      cuda::check(cudaDeviceSynchronize(), filled("waiting for {}", name(l)));
    }
  });
  all_or_none(group.gpus, [&] { flags.renew(); });
}

void multi_grid::state::agree_on(const std::string& mine, const char* things, const char* what) const {
  if (group.gpus.one_process()) return;
  const auto wanted = group.gpus.exchange(mine);
  for (std::size_t p = 0; p < wanted.size(); ++p)
    if (wanted[p] != wanted.front())
      throw usage_error(filled("process {} wants {} {} and process 0 wants {}: {} is the same on all GPUs", p,
                               wanted[p], things, wanted.front(), what));
}

void multi_grid::state::agree_on_launch(library::launch_plan mine) const {
  if (group.gpus.one_process()) return;
  mine.algorithm = flags.chosen_for(mine.blocks).why;
  std::vector<library::launch_plan> all;
  for (const auto& theirs : group.gpus.exchange(mine.bytes()))
    all.push_back(library::launch_plan::of_bytes(theirs));
  if (const auto why = library::why_not_one_launch(all); !why.empty()) throw usage_error(why);
}

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
  const auto may = [&] {
    check();
    launches = all();
    check_launches(launches.data(), static_cast<unsigned>(launches.size()));
  };
  make_ready(blocks, check_each_launch, may,
             [&] { return library::plan_of(launches.front(), blocks, ordinal(0)); });
  for (unsigned l = 0; l < launches.size(); ++l) try {
      start_kernel(launches[l], l);
    } catch (...) {
      if (launches.size() > 1 || !group.gpus.one_process())
        flags.launch_failed(blocks, l);  // the kernels already launched would wait for it in vain
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
    if (p.func != first.func)
      throw usage_error(
          filled("one kernel on {} and another on {}: the kernel is the same on all GPUs", name(l), name(0)));
    check_launch(p, l);
  }
}

void multi_grid::state::check_launch(const launch_parameters& p, unsigned l) {
  if (p.args == nullptr)
    throw usage_error("no arguments (args is null): args[0] has room for the kernel's handle");
  const cuda::device_scope scope(ordinal(l));
  if (is_captured(p.stream, ordinal(l))) {
    const unsigned blocks = volume(p.gridDim);
    if (!flags.has(blocks) || states[l].fitting.at_once({p.func, volume(p.blockDim), p.sharedMem}) < blocks)
      throw usage_error(
          filled("the stream of the launch on GPU {} is being captured: prepare() the kernel with "
                 "this grid before, outside of the capture",
                 ordinal(l)));
    return;
  }
  if (const auto why = library::why_not_on(p.stream, ordinal(l)); !why.empty()) throw usage_error(why);
  check_kernel(p, l);
}

// Also loads the kernel now, since lazy loading at its first launch would wait for running kernels. Asks the
// calling thread's current GPU.
void multi_grid::state::check_kernel(const launch_parameters& p, unsigned l) {
  const unsigned threads = volume(p.blockDim), blocks = volume(p.gridDim);
  if (p.func == nullptr) throw usage_error("no kernel (func is null)");
  if (blocks == 0) throw usage_error("a grid of no blocks");
  if (threads < 32 || threads > 1024)
    throw usage_error(filled("blocks of {} threads: it takes 32 to 1024", threads));
  auto& fitting = states[l].fitting;
  const auto fewer = library::sms_of_green_context(p.stream);
  const library::kernel_shape shape{p.func, threads, p.sharedMem};
  const auto sms = static_cast<unsigned>(cuda::sm_count(ordinal(l)));
  const auto most = [&] {
    return fewer ? library::fit_on_part(fitting.at_once(shape), *fewer, sms) : fitting.at_once(shape);
  };
  if (blocks <= most()) return;
  cuda::load(p.func, "the kernel");
  library::check_first_parameter(p.func);
  fitting.keep(shape, library::resident_at_once(p, threads, ordinal(l)));
  if (blocks > most())
    throw usage_error(
        filled("{} blocks of {} threads with {} bytes of shared memory are not resident at once on {}{}: "
               "{} fit{}",
               blocks, threads, p.sharedMem, name(l),
               fewer ? filled(", whose stream is of a green context with {} SMs", *fewer) : "", most(),
               library::remedy_for_shared_memory(p, ordinal(l))));
}

void multi_grid::state::start_kernel(const launch_parameters& p, unsigned l) {
  gpu_state& at = states[l];
  const cuda::device_scope scope(ordinal(l));
  const auto action = [&] { return filled("launching on {}", name(l)); };
  // During a capture neither wait for the event nor record it: an event recorded before the capture is not
  // part of it, and one recorded in the graph could not be waited for.
  const bool captured = is_captured(p.stream, ordinal(l));
  // Waits even if this looks like the stream of the last launch: the handle of a destroyed stream may be used
  // again, and cudaStreamPerThread is another stream in every thread.
  if (at.launched && !captured) cuda::check(cudaStreamWaitEvent(p.stream, at.done.get(), 0), action());
  multi_grid_handle handle = flags.of(volume(p.gridDim)).handles[l];
  p.args[0] = &handle;  // copied by the launch
  cuda::check(cudaLaunchCooperativeKernel(p.func, p.gridDim, p.blockDim, p.args, p.sharedMem, p.stream),
              action());
  if (captured) return;
  at.launched = true;
  cuda::check(cudaEventRecord(at.done.get(), p.stream), action());
}

}  // namespace mgsync
