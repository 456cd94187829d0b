#include "barriers/peer_reduction/gpu_reduction.hpp"

#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/round_loop/reduction_pass.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"

namespace mgsync {

namespace {

using algorithm::ptx::scope;

template <class Algorithm>
creation make(const topology::group& group, const configuration& wanted, session& where) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const auto w = round_loop::request_of(group, wanted, where, "peer-reduction");
  const auto lines = [](const algorithm::cuda_lines& l) { return l; };
  const auto image = algorithm::reduction_image(w.members(), w.blocks);
  if (w.members() == 1)
    return round_loop::make_flag_barrier<round_loop::reduction_pass<Algorithm, scope::gpu>>(
        w, Algorithm::name, image, lines);
  return round_loop::make_flag_barrier<round_loop::reduction_pass<Algorithm, scope::system>>(
      w, Algorithm::name, image, lines);
}

}  // namespace

support gpu_reduction_can_run(const topology::machine& machine, const topology::group& group) {
  if (auto reason = why_no_peer_access(machine, group); !reason.empty()) return support::no(reason);
  return support::yes();
}

namespace gpu_reduction {

creation push(const topology::group& group, const configuration& wanted, session& where) {
  return make<algorithm::push>(group, wanted, where);
}

creation pull(const topology::group& group, const configuration& wanted, session& where) {
  return make<algorithm::pull>(group, wanted, where);
}

}  // namespace gpu_reduction

}  // namespace mgsync
