#include "barriers/library/include/mgsync/multi_grid.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "barriers/library/launch_checks.hpp"
#include "barriers/library/multi_grid_state.hpp"
#include "barriers/library/team_ranks.hpp"

namespace mgsync {
namespace {

// Destroys what is left of it: nothing after a reset of its GPUs, or in a process that was forked.
template <class Owned>
void let_go(std::unique_ptr<Owned>& owned) {
  if (!owned) return;
  const cuda::outside_of_captures apart;
  if (owned->lives.can_destroy()) owned.reset();
  else static_cast<void>(owned.release());
}
template <class Owner, class Owned>
Owner& take(Owner& to, std::unique_ptr<Owned>& old, std::unique_ptr<Owned>& other) {
  if (&old == &other) return to;
  let_go(old);
  old = std::move(other);
  return to;
}

}  // namespace

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
// The most over all choices that GPUs with any number of SMs can lead to for so many blocks.
std::size_t multi_grid::flag_bytes(unsigned gpus, unsigned blocks_per_gpu) {
  std::size_t most = 0;
  for (const unsigned per_sm : {1u, 2u, 3u, 5u, 6u, 8u, 10u, 16u, 32u, 64u})
    most = std::max(most, library::memory_of_flags(gpus, blocks_per_gpu,
                                                   std::max(1u, (blocks_per_gpu + per_sm - 1) / per_sm)));
  return (most + library::part_alignment - 1) / library::part_alignment * library::part_alignment;
}
multi_grid::multi_grid(multi_grid&&) noexcept = default;
multi_grid& multi_grid::operator=(multi_grid&& other) noexcept { return take(*this, state_, other.state_); }
multi_grid::~multi_grid() { let_go(state_); }

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
  state_->launch_all(library::volume(blocks), [&] {
    std::vector<launch_parameters> launches;
    for (unsigned l = 0; l < local_gpus(); ++l)
      launches.push_back(
          {kernel, blocks, threads, arguments_of(l), shared_bytes, state_->stream_of(streams, l)});
    return launches;
  });
}

void multi_grid::prepare(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes,
                         const std::vector<cudaStream_t>& streams) {
  const auto launch_on_gpu = [&](unsigned l) {
    return launch_parameters{kernel, blocks, threads, nullptr, shared_bytes, state_->stream_of(streams, l)};
  };
  const auto may = [&] {
    for (unsigned l = 0; l < local_gpus(); ++l) {
      const cuda::device_scope scope(state_->ordinal(l));
      state_->check_kernel(launch_on_gpu(l), l);
    }
  };
  const auto all = library::volume(blocks);
  state_->make_ready(all, state_->check_each_launch, may,
                     [&] { return library::plan_of(launch_on_gpu(0), all, state_->ordinal(0)); });
}

void multi_grid::resize(unsigned blocks_per_gpu) {
  const auto may = [&] {
    if (blocks_per_gpu == 0) throw usage_error("a grid of no blocks");
  };
  state_->make_ready(blocks_per_gpu, false, may, [&] { return library::launch_plan{blocks_per_gpu}; });
}

const multi_grid_handle& multi_grid::handle_for(unsigned blocks_per_gpu, unsigned local) const {
  if (!state_->flags.has(blocks_per_gpu))
    throw usage_error(filled("no handle for {} blocks yet: resize() or prepare() first", blocks_per_gpu));
  return state_->flags.of(blocks_per_gpu).handles[state_->known(local)];
}

unsigned multi_grid::make_team(const std::vector<unsigned>& grid_ranks) {
  std::string list;
  all_or_none(state_->group.gpus, [&] {
    state_->lives.must_go_on();
    list = library::list_of_team(grid_ranks, gpus());
  });
  state_->agree_on(list, "as the grids of a team", "a team");
  const cuda::outside_of_captures apart;
  return state_->flags.add_team(grid_ranks);
}

const multi_grid_handle& multi_grid::team_handle(unsigned team, unsigned blocks_per_gpu,
                                                 unsigned local) const {
  library::must_be_a_team(team, state_->flags.teams());
  handle_for(blocks_per_gpu, local);  // throws where there is none
  return state_->flags.of(blocks_per_gpu, team).handles[local];
}

void multi_grid::set_timeout(std::chrono::nanoseconds timeout) { set_timeout(timeout, timeout); }
void multi_grid::set_timeout(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_timeout) {
  const cuda::outside_of_captures apart;
  const library::wait_bounds bounds{.of_a_wait = timeout, .of_the_first = first_timeout};
  if (const auto why = library::why_not_for(bounds); !why.empty()) throw usage_error(why);
  state_->flags.set_bounds(bounds);
  state_->bounds = bounds;
}

void multi_grid::abort(std::string_view why) noexcept {
  const cuda::outside_of_captures apart;
  state_->flags.abort(why);
}

group_status multi_grid::poll() const noexcept {
  if (state_->flags.given_up()) return group_status::lost;
  const cuda::outside_of_captures apart;
  try {
    if (state_->lives.reset_since()) return group_status::lost;
    return state_->kernels_ended() ? group_status::done : group_status::at_work;
  } catch (const std::exception&) { return group_status::lost; }  // check() throws the same again
}

void multi_grid::wait() {
  const cuda::outside_of_captures apart;
  state_->lives.must_go_on();
  state_->wait_for_kernels();
  state_->listen();
  state_->check();
}

void multi_grid::check() {
  const cuda::outside_of_captures apart;
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
  state_->agree_on(std::to_string(bytes), "bytes", "the memory's size");
  const cuda::outside_of_captures apart;
  auto made = state_->own(state_->group.gpus, bytes);
  return multi_grid_memory(
      std::make_unique<multi_grid_memory::owner>(multi_grid_memory::owner{std::move(made), state_->lives}));
}

multi_grid_memory::multi_grid_memory(std::unique_ptr<owner> given) : owner_(std::move(given)) {}
multi_grid_memory::multi_grid_memory(multi_grid_memory&&) noexcept = default;
multi_grid_memory& multi_grid_memory::operator=(multi_grid_memory&& other) noexcept {
  return take(*this, owner_, other.owner_);
}
multi_grid_memory::~multi_grid_memory() { let_go(owner_); }
void* multi_grid_memory::part(unsigned grid_rank, unsigned local) const {
  try {
    return owner_->memory->part_of(grid_rank, local);
  } catch (const std::out_of_range&) {
    throw usage_error(filled("no part of grid {} as GPU {} of this process addresses it", grid_rank, local));
  }
}

}  // namespace mgsync
