#include "barriers/multigrid/gpu_multigrid.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "barriers/library/choice.hpp"
#include "barriers/library/include/mgsync/multi_grid.cuh"
#include "barriers/library/include/mgsync/traced.cuh"
#include "barriers/multigrid/vendor.hpp"
#include "barriers/parts/algorithm/central.hpp"
#include "barriers/parts/algorithm/crowd.hpp"
#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/hub.hpp"
#include "barriers/parts/algorithm/inbox.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

using algorithm::cuda_lines;
using algorithm::ptx::scope;
using round_loop::flag_barrier_request;
using round_loop::make_flag_barrier;

template <class Algorithm>
creation make_plain(const flag_barrier_request& w) {
  const auto lines = [](const cuda_lines& l) { return l; };
  const auto image = round_loop::layout_image(w.members(), w.blocks);
  if (w.members() == 1)
    return make_flag_barrier<round_loop::stateless_pass<Algorithm, scope::gpu>>(w, Algorithm::name, image,
                                                                                lines);
  return make_flag_barrier<round_loop::stateless_pass<Algorithm, scope::system>>(w, Algorithm::name, image,
                                                                                 lines);
}

template <scope Widest>
creation make_relay_in(const flag_barrier_request& w, const algorithm::relay_shape& shape,
                       std::string chosen) {
  using pass = round_loop::relay_pass<Widest>;
  return make_flag_barrier<pass>(w, std::move(chosen), round_loop::relay_image(w.blocks, shape),
                                 [&](const cuda_lines& lines) {
                                   return typename pass::arguments{lines, shape};
                                 });
}

creation make_relay(const flag_barrier_request& w, const algorithm::relay_shape& shape, std::string chosen) {
  if (w.members() == 1) return make_relay_in<scope::gpu>(w, shape, std::move(chosen));
  return make_relay_in<scope::system>(w, shape, std::move(chosen));
}

creation make_auto(const flag_barrier_request& w) {
  using pass = round_loop::spread_counter_pass;
  const auto choice = choose_multigrid(w.members(), w.blocks, w.sms);
  if (!choice.counter) return make_relay(w, choice.relay, choice.why);
  return make_flag_barrier<pass>(w, choice.why, image_of(choice, w.blocks), [&](const cuda_lines& lines) {
    return pass::arguments{lines, choice.spread};
  });
}

// What a user's kernel does: sync<Order>() of the library's group. The blocks' records lie behind the flags.
template <order Order, class Group = multi_grid_group_with_word>
class group_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  static constexpr bool traces = std::is_same_v<Group, multi_grid_group_traced_with_word>;
  using arguments = multi_grid_handle;

  __device__ __forceinline__ group_pass(const arguments& handle, const round_loop::device_run& run)
      : grids_(bound(handle, run), word()) {
    if (threadIdx.x == 0) handle.records[blockIdx.x].watched = run.abort;
  }
  __device__ __forceinline__ bool operator()(std::uint32_t) { return grids_.template sync<Order>(); }

  // Stores the bounds of the waits, which are known only at the launch, in the block's record.
  __device__ __forceinline__ static const arguments& bound(const arguments& handle,
                                                           const round_loop::device_run& run) {
    if (threadIdx.x == 0) {
      multi_grid_block& mine = handle.records[blockIdx.x];
      mine.told = run.abort;
      // The group looks there as it is made, and 4,224 blocks that read a word of the host take 4.5 ms.
      mine.watched = nullptr;
      mine.patience = mine.first_patience = static_cast<std::uint32_t>(run.budget_ns >> 20) + 1;
    }
    return handle;  // the group's constructor has a barrier of those who take part after this
  }

 protected:
  __device__ __forceinline__ static std::uint32_t& word() {
    __shared__ std::uint32_t of_the_block;
    return of_the_block;
  }

  Group grids_;
};

// That counts who comes last.
struct traced_pass : group_pass<order::acq_rel, multi_grid_group_traced_with_word>,
                     round_loop::takes_registers {
  using group_pass::group_pass;
};

// In which blocks have orders of their own: none releases, one of all the GPUs' blocks in turn, or all.
enum class who_releases { none, one, all };
template <who_releases Who>
class mixed_pass : public group_pass<order::acq_rel> {
 public:
  __device__ __forceinline__ mixed_pass(const arguments& handle, const round_loop::device_run& run)
      : group_pass(handle, run),
        turn_(run.epoch % (run.members * run.blocks)),
        mine_(handle.rank * run.blocks + blockIdx.x),
        workers_(run.members * run.blocks) {}
  __device__ __forceinline__ bool operator()(std::uint32_t) {
    if (Who != who_releases::one)
      return grids_.sync_mixed(Who == who_releases::all ? order::acq_rel : order::acquire);
    turn_ = turn_ + 1 == workers_ ? 0 : turn_ + 1;
    return grids_.sync_mixed(turn_ == mine_ ? order::acq_rel : order::acquire);
  }

 private:
  std::uint32_t turn_, mine_, workers_;
};

// One that orders less than the check needs, between fences of every thread: the check then says whether all
// have come.
template <class Pass>
class fenced_pass : public Pass {
 public:
  using Pass::Pass;
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    __syncthreads();
    algorithm::ptx::fence_acq_rel<scope::system>();
    const bool passed = Pass::operator()(epoch);
    algorithm::ptx::fence_acq_rel<scope::system>();
    return passed;
  }
};
template <class Pass>
struct less_ordered_pass : Pass {
  using Pass::Pass;
  using checked_form = fenced_pass<Pass>;
};

// In two calls, and work between them.
class split_pass : public group_pass<order::acq_rel> {
 public:
  using group_pass::group_pass;
  __device__ __forceinline__ bool operator()(std::uint32_t) {
    return grids_.barrier_wait(grids_.barrier_arrive());
  }
  template <class Work>
  __device__ __forceinline__ bool operator()(std::uint32_t, Work work) {
    const auto token = grids_.barrier_arrive();
    if (threadIdx.x < 32) work();
    return grids_.barrier_wait(token);
  }
};
// That carries a value of every thread, whose sum is known in every round.
class reduce_pass : public group_pass<order::acq_rel>, public round_loop::takes_registers {
 public:
  static constexpr bool carries_sum = true;

  __device__ __forceinline__ reduce_pass(const arguments& handle, const round_loop::device_run& run)
      : group_pass(handle, run), first_(handle.rank * run.blocks + blockIdx.x), run_(run) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    const auto found = grids_.sync_reduce(first_ + 3 * epoch, by_sum{});
    total_ = found.value;
    return found.passed;
  }
  __device__ bool wrong_sum(std::uint32_t epoch, std::uint32_t& expected, std::uint32_t& seen) const {
    const std::uint32_t workers = run_.members * run_.blocks;
    const auto of_workers = static_cast<std::uint32_t>(std::uint64_t{workers} * (workers - 1) / 2);
    expected = blockDim.x * (of_workers + 3 * epoch * workers);
    seen = total_;
    return seen != expected;
  }

 private:
  std::uint32_t first_, total_ = 0;
  const round_loop::device_run& run_;
};
// By one warp of each block. The others, if there are any, wait for it at the block's barrier; the second
// warp does the work before it waits there.
class one_warp_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  static constexpr bool traces = false;
  using arguments = multi_grid_handle;

  __device__ __forceinline__ one_warp_pass(const arguments& handle, const round_loop::device_run& run) {
    if (threadIdx.x < 32) new (&grids_) group(group_pass<order::acq_rel>::bound(handle, run));
    if (threadIdx.x == 0) handle.records[blockIdx.x].watched = run.abort;
  }
  one_warp_pass(const one_warp_pass&) = delete;
  one_warp_pass& operator=(const one_warp_pass&) = delete;
  __device__ __forceinline__ ~one_warp_pass() {
    if (threadIdx.x < 32) grids_.~group();
  }
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return operator()(epoch, [] {});
  }
  template <class Work>
  __device__ __forceinline__ bool operator()(std::uint32_t, Work work) {
    if (blockDim.x == 32) {
      work();
      return grids_.sync();
    }
    __syncthreads();
    if (threadIdx.x / 32 == 1) work();
    const bool passed = threadIdx.x >= 32 || grids_.sync();
    return __syncthreads_and(passed) != 0;
  }

 private:
  using group = multi_grid_group_of<one_warp>;
  union {
    group grids_;  // in the first warp only
  };
};

// The memory of a traced group: its trace, a note of each block, and what it tells others of each member.
std::size_t words_of_trace(unsigned members, unsigned blocks) {
  return (sizeof(wait_trace) + blocks * sizeof(wait_note) + members * sizeof(late_member)) /
         sizeof(std::uint32_t);
}
void put_trace(std::uint32_t* words, const multi_grid_handle& handle) {
  wait_trace trace{};
  auto* const at = reinterpret_cast<wait_trace*>(words);
  trace.notes = reinterpret_cast<wait_note*>(at + 1);
  trace.told = reinterpret_cast<late_member*>(trace.notes + handle.blocks);
  trace.members = handle.gpus;
  constexpr const char* action = "telling a GPU where it notes its waits";
  cuda::check(cudaMemcpy(at, &trace, sizeof trace, cudaMemcpyDefault), action);
  const std::vector<wait_trace*> of_each(handle.blocks, at);
  cuda::check(cudaMemcpy2D(&handle.records->trace, sizeof *handle.records, of_each.data(), sizeof at,
                           sizeof at, handle.blocks, cudaMemcpyDefault),
              action);
}

template <class Pass>
creation make_library(const flag_barrier_request& w) {
  const auto choice = choose_multigrid(w.members(), w.blocks, w.sms);
  auto image = image_of(choice, w.blocks);
  const auto records_at = image.size();
  const auto record = fresh_block();
  std::uint32_t words[sizeof record / sizeof(std::uint32_t)];
  std::memcpy(words, &record, sizeof record);
  for (unsigned b = 0; b < w.blocks; ++b) image.insert(image.end(), std::begin(words), std::end(words));
  const auto table_at = image.size();
  const bool needs_table = w.members() > multi_grid_handle::gpus_inside;
  if (needs_table) image.resize(table_at + w.members() * sizeof(std::uint32_t*) / sizeof(std::uint32_t));
  const auto trace_at = image.size();
  if (Pass::traces) image.resize(trace_at + words_of_trace(w.members(), w.blocks));
  std::size_t local = 0;
  return make_flag_barrier<Pass>(w, choice.why, image, [&](const cuda_lines& lines) {
    const unsigned rank = w.gpus.at(local++).member;
    multi_grid_handle handle = describe(choice, lines.parts, rank, w.members(), w.blocks);
    handle.records = reinterpret_cast<multi_grid_block*>(handle.own + records_at);
    if (needs_table) {
      cuda::check(cudaMemcpy(handle.own + table_at, lines.parts, w.members() * sizeof lines.parts[0],
                             cudaMemcpyDefault),
                  "telling a GPU where all flags are");
      handle.table = reinterpret_cast<std::uint32_t* const*>(handle.own + table_at);
    }
    if (Pass::traces) put_trace(handle.own + trace_at, handle);
    return handle;
  });
}

// NVIDIA's advice in place of multi_grid: flags in pinned host memory, exchanged by one block per GPU.
creation make_host_flags(const flag_barrier_request& w) {
  using pass = round_loop::host_flags_pass<algorithm::hub>;
  const auto image = round_loop::layout_image(w.members(), w.blocks);
  auto pinned = allocate_pinned_parts(w.group, image.size() * sizeof(std::uint32_t), w.where);
  if (!pinned.memory) return {nullptr, pinned.reason, {}, {}};
  const std::shared_ptr<pinned_parts> host(std::move(pinned.memory));
  cuda_lines on_host{};
  for (unsigned m = 0; m < w.members(); ++m)
    on_host.parts[m] = reinterpret_cast<std::uint32_t*>(host->part(m));
  for (const auto& g : w.gpus) std::copy(image.begin(), image.end(), on_host.parts[g.member]);
  return make_flag_barrier<pass>(
      w, "host-flags", image,
      [&](const cuda_lines& lines) {
        return round_loop::host_flag_lines{lines, on_host};
      },
      host);
}

constexpr const char* without_vendor = "CUDA 13 removed multi_grid.sync; build with "
                                       "-DMGSYNC_LEGACY_NVCC=<nvcc 11 or 12> or bring its kernels along with "
                                       "-DMGSYNC_VENDOR_CUBIN=<file>";

template <class Make>
creation make(const topology::group& group, const configuration& wanted, session& where, Make make_it) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  return make_it(round_loop::request_of(group, wanted, where, "multigrid"));
}

}  // namespace

support gpu_multigrid_can_run(const topology::machine& machine, const topology::group& group) {
  if (auto reason = why_no_peer_access(machine, group); !reason.empty()) return support::no(reason);
  return support::yes();
}

support gpu_multigrid_vendor_can_run(const topology::group& group) {
  if constexpr (MGSYNC_WITH_VENDOR) return vendor_can_run(group);
  else return support::no(without_vendor);
}

namespace gpu_multigrid {

creation automatic(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_auto);
}

creation inbox(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::inbox>);
}

creation hub(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::hub>);
}

creation relay(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, [](const flag_barrier_request& w) {
    const auto replicas = std::min(32u, std::bit_floor(algorithm::relay_shape::most_words / w.members()));
    return make_relay(w, {32, replicas}, "relay (32 counters)");
  });
}

creation dissemination(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::dissemination<2>>);
}

creation central(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::central>);
}

creation crowd(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_plain<algorithm::crowd>);
}

creation host_flags(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_host_flags);
}

creation library(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<group_pass<order::acq_rel>>);
}

creation library_split(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<split_pass>);
}

creation library_traced(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<traced_pass>);
}

creation library_one_warp(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<one_warp_pass>);
}

creation library_reduce(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<reduce_pass>);
}

creation library_none(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<group_pass<order::none>>>);
}

creation library_acquire(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<group_pass<order::acquire>>>);
}

creation library_release(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<group_pass<order::release>>>);
}

creation library_mixed_none(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<mixed_pass<who_releases::none>>>);
}

creation library_mixed_one(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<less_ordered_pass<mixed_pass<who_releases::one>>>);
}

creation library_mixed_all(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, make_library<mixed_pass<who_releases::all>>);
}

creation vendor(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_VENDOR) return make(group, wanted, where, create_vendor);
  else return creation::none(without_vendor);
}

}  // namespace gpu_multigrid

}  // namespace mgsync
