#include "barriers/peers/gpu_peers.hpp"

#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/round_loop/reduction_pass.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "barriers/peers/cas_mailbox.hpp"
#include "barriers/peers/counter_per_peer.hpp"
#include "barriers/peers/data_with_epoch.hpp"
#include "barriers/peers/dissemination.hpp"
#include "barriers/peers/flags_of_block_0.hpp"
#include "barriers/peers/flags_per_block.hpp"
#include "barriers/peers/multimem_pass.hpp"
#include "barriers/peers/pull.hpp"
#include "barriers/peers/sign_alternating.hpp"
#include "barriers/peers/sum_to_zero.hpp"
#include "barriers/peers/three_state.hpp"

namespace mgsync {

namespace {

using algorithm::ptx::scope;
using round_loop::flag_barrier_request;

// Of system scope also on one GPU, as theirs are.
template <class Form>
using pass = round_loop::stateless_pass<Form, scope::system>;

// One that orders less than the check needs, between fences of every thread: the check then says whether all
// have come.
template <class Pass>
class between_fences : public Pass {
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
struct less_ordered : Pass {
  using Pass::Pass;
  using checked_form = between_fences<Pass>;
};

template <class Pass>
creation make_pass(const flag_barrier_request& w, const char* name, const algorithm::flag_image& image) {
  return round_loop::make_flag_barrier<Pass>(w, name, image,
                                             [](const algorithm::cuda_lines& l) { return l; });
}

template <class Make>
creation make(const topology::group& group, const configuration& wanted, session& where, Make make_it) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  return make_it(round_loop::request_of(group, wanted, where, "peers"));
}

template <class Form, class Pass = pass<Form>>
creation make_form(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, [](const flag_barrier_request& w) {
    return make_pass<Pass>(w, Form::name,
                           peers::image_of<Form>(w.members(), w.blocks, algorithm::first_gpu_epoch));
  });
}

}  // namespace

// Compiled, so that they stay right, and never launched: mgsync binds no memory to a multicast object.
template __global__ void round_loop::timed_rounds<peers::multimem_pass>(
    const __grid_constant__ round_loop::device_run, const __grid_constant__ peers::multicast_lines);

support gpu_peers_can_run(const topology::machine& machine, const topology::group& group) {
  if (auto reason = why_no_peer_access(machine, group); !reason.empty()) return support::no(reason);
  return support::yes();
}

namespace gpu_peers {

creation flags_per_block(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::flags_per_block>(group, wanted, where);
}

creation equal_blocks(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, [](const flag_barrier_request& w) {
    const algorithm::flag_image image(std::size_t{2} * w.blocks * algorithm::words_of_line,
                                      algorithm::first_gpu_epoch);
    return make_pass<pass<peers::equal_blocks>>(w, peers::equal_blocks::name, image);
  });
}

creation flags_unordered(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::flags_unordered, less_ordered<pass<peers::flags_unordered>>>(group, wanted, where);
}

creation flags_of_block_0(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::flags_of_block_0>(group, wanted, where);
}

creation three_state(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::three_state>(group, wanted, where);
}

creation data_with_epoch(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, [](const flag_barrier_request& w) {
    using sums = round_loop::reduction_pass<peers::data_with_epoch, scope::system>;
    return make_pass<less_ordered<sums>>(w, peers::data_with_epoch::name,
                                         algorithm::reduction_image(w.members(), w.blocks));
  });
}

creation cas_mailbox(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::cas_mailbox>(group, wanted, where);
}

creation counter_per_peer(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::counter_per_peer>(group, wanted, where);
}

creation sum_to_zero(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::sum_to_zero>(group, wanted, where);
}

creation sign_alternating(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::sign_alternating>(group, wanted, where);
}

creation pull(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::pull>(group, wanted, where);
}

creation dissemination_2(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::dissemination<2>>(group, wanted, where);
}

creation dissemination_4(const topology::group& group, const configuration& wanted, session& where) {
  return make_form<peers::dissemination<4>>(group, wanted, where);
}

creation multimem(const topology::group&, const configuration&, session&) {
  return creation::none(peers::without_multicast);
}

}  // namespace gpu_peers

}  // namespace mgsync
