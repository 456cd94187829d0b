#include "tests/gpu/twins.hpp"

#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/round_loop/inner_rounds.hpp"

namespace mgsync::test {

namespace {

using algorithm::cuda_lines;
using algorithm::cuda_policy;
using algorithm::ptx::scope;
using round_loop::device_run;

constexpr scope wide = scope::system;

// A policy whose polls acquire nothing.
class relaxed_policy : public cuda_policy<wide> {
 public:
  using cuda_policy<wide>::cuda_policy;
  __device__ void fence_polled_system() const {}
};
// Policies whose flags go out behind a fence that reaches this GPU only, and behind none.
class narrow_policy : public cuda_policy<wide> {
 public:
  using cuda_policy<wide>::cuda_policy;
  __device__ void fence_release_system() const { algorithm::ptx::fence_release<scope::gpu>(); }
};
class unfenced_policy : public cuda_policy<wide> {
 public:
  using cuda_policy<wide>::cuda_policy;
  __device__ void fence_release_system() const {}
};

template <class Policy>
using relay_over = algorithm::relay<Policy, const cuda_lines>;

template <class Policy, twin Twin>
class relay_twin {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ relay_twin(const arguments& lines, const device_run& run)
      : relay_(Policy(round_loop::limits_of(run)), lines, position_of(run), {1, 1}),
        left_out_(left_out(run)) {}
  __device__ bool operator()(std::uint32_t epoch) {
    if (left_out_) return true;
    return relay_.arrive_and_wait(Twin == twin::one_flag_two_epochs ? epoch - epoch % 2 : epoch);
  }

 private:
  // The block with the highest number is not counted, and goes its own way.
  __device__ static bool left_out(const device_run& run) {
    return Twin == twin::arrival_left_out && blockIdx.x == run.blocks - 1;
  }
  __device__ static algorithm::position position_of(const device_run& run) {
    auto at = round_loop::position_in(run);
    if (Twin == twin::arrival_left_out) --at.blocks;
    return at;
  }

  relay_over<Policy> relay_;
  bool left_out_;
};

// Rounds that release and acquire nothing.
class quiet_twin {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ quiet_twin(const arguments& lines, const device_run& run)
      : policy_(round_loop::limits_of(run)),
        relay_(policy_, lines, round_loop::position_in(run), {1, 1}),
        counter_(&lines.word(run.member, algorithm::relay_layout{}.counter(0), 0)),
        blocks_(run.blocks) {}
  __device__ bool operator()(std::uint32_t epoch) {
    policy_.sync();
    unsigned ok = 1;
    if (policy_.in_team()) {
      const std::uint32_t count = epoch - algorithm::first_gpu_epoch;
      if (blocks_ == 1) relay_.tell_quietly(count);
      else
        relay_.go_on_quietly(
            epoch, algorithm::arrive_quietly(policy_, counter_, false, policy_.leader(), blocks_ * epoch),
            count);
      ok = relay_.await_quietly(epoch, count);
    }
    return policy_.sync_and(ok) != 0;
  }

 private:
  cuda_policy<wide> policy_;
  relay_over<cuda_policy<wide>> relay_;
  std::uint32_t* counter_;
  unsigned blocks_;
};

// A central counter on GPU 0 that its last block sets back at once: whoever polls late finds it empty, so
// blocks wait for "not full any more" instead, and a fast block's next arrival lets a slow one through early.
class reset_twin {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ reset_twin(const arguments& lines, const device_run& run)
      : policy_(round_loop::limits_of(run)), counter_(&lines.word(0, 0, 0)), all_(run.members * run.blocks) {}
  __device__ bool operator()(std::uint32_t) {
    __syncthreads();
    bool ok = true;
    if (threadIdx.x == 0) {
      algorithm::ptx::fence_acq_rel<wide>();
      const auto before = algorithm::ptx::fetch_add_relaxed<wide>(counter_, 1);
      // Broken: set back when half have come.
      if (before + 1 >= all_ / 2) algorithm::ptx::store_relaxed<wide>(counter_, 0);
      else ok = policy_.wait_until(0, [&] { return algorithm::ptx::load_acquire<wide>(counter_) <= before; });
      algorithm::ptx::fence_acq_rel<wide>();
    }
    return __syncthreads_and(ok) != 0;
  }

 private:
  cuda_policy<wide> policy_;
  std::uint32_t* counter_;
  std::uint32_t all_;
};

template <class Pass>
creation make(const round_loop::flag_barrier_request& w, const round_loop::flag_image& image) {
  return round_loop::make_flag_barrier<Pass>(w, "twin", image, [](const cuda_lines& l) { return l; });
}

struct nothing_inside {
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  struct arguments {
    unsigned unused = 0;
  };
  __device__ nothing_inside(const arguments&, const device_run&) {}
  __device__ bool operator()(std::uint32_t) { return true; }
};

}  // namespace

creation make_twin(twin which, const topology::group& group, const configuration& asked, session& where) {
  const auto w = round_loop::request_of(group, asked, where, "twin");
  const auto image = round_loop::relay_image(w.blocks, {1, 1});
  switch (which) {
  case twin::none: return make<relay_twin<cuda_policy<wide>, twin::none>>(w, image);
  case twin::arrival_left_out:
    return make<relay_twin<cuda_policy<wide>, twin::arrival_left_out>>(
        w, round_loop::relay_image(w.blocks - 1, {1, 1}));
  case twin::one_flag_two_epochs:
    return make<relay_twin<cuda_policy<wide>, twin::one_flag_two_epochs>>(w, image);
  case twin::early_reset: return make<reset_twin>(w, round_loop::flag_image(1024, 0));
  case twin::narrow_release: return make<relay_twin<narrow_policy, twin::narrow_release>>(w, image);
  case twin::no_release: return make<relay_twin<unfenced_policy, twin::no_release>>(w, image);
  case twin::quiet: return make<quiet_twin>(w, image);
  case twin::stale_acquire: return make<relay_twin<relaxed_policy, twin::stale_acquire>>(w, image);
  }
  return {};
}

creation make_nothing_inside(fact::scope which, const topology::group& group, const configuration& asked,
                             session& where) {
  const auto w = round_loop::request_of(group, asked, where, "twin");
  if (which == fact::scope::lanes) return round_loop::make_inner_barrier<nothing_inside, 1>(w, "nothing");
  return round_loop::make_inner_barrier<nothing_inside, 32>(w, "nothing");
}

}  // namespace mgsync::test
