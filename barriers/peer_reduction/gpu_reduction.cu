#include "barriers/peer_reduction/gpu_reduction.hpp"

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"

namespace mgsync {

namespace {

using algorithm::cuda_lines;
using algorithm::ptx::scope;
using round_loop::device_run;

// Every block contributes its number plus three times the epoch, so the total is known and fresh in every
// round.
template <class Algorithm, scope Widest>
class reduction_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = true;
  using arguments = cuda_lines;

  __device__ reduction_pass(const arguments& lines, const device_run& run)
      : policy_(round_loop::limits_of(run)), lines_(lines), at_(round_loop::position_in(run)) {}
  __device__ bool operator()(std::uint32_t epoch) {
    const std::uint32_t mine = at_.member * at_.blocks + at_.block + 3 * epoch;
    return Algorithm::all_reduce(policy_, lines_, at_, epoch, mine, total_);
  }
  // The total is known to the team.
  __device__ bool wrong_sum(std::uint32_t epoch, std::uint32_t& expected, std::uint32_t& seen) const {
    const std::uint32_t workers = at_.members * at_.blocks;
    expected = static_cast<std::uint32_t>(std::uint64_t{workers} * (workers - 1) / 2) + 3 * epoch * workers;
    seen = total_;
    return threadIdx.x < 32 && seen != expected;
  }

 private:
  algorithm::cuda_policy<Widest> policy_;
  const arguments& lines_;
  algorithm::position at_;
  std::uint32_t total_ = 0;
};

round_loop::flag_image image_of(unsigned members, unsigned blocks) {
  constexpr unsigned words = algorithm::line_bytes / sizeof(std::uint32_t);
  const algorithm::reduction_layout lines{members};
  round_loop::flag_image image(std::size_t{lines.lines()} * words, 0);
  for (unsigned l = 0; l < lines.lines(); ++l) image[std::size_t{l} * words] = round_loop::first_gpu_epoch;
  image[std::size_t{lines.arrivals()} * words] = blocks * round_loop::first_gpu_epoch;
  image[std::size_t{lines.running_sum()} * words] = 0;
  image[std::size_t{lines.sum_before()} * words] = 0;
  return image;
}

template <class Algorithm>
creation make(const topology::group& group, const configuration& wanted, session& where) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const auto w = round_loop::request_of(group, wanted, where, "peer-reduction");
  const auto lines = [](const cuda_lines& l) { return l; };
  const auto image = image_of(w.members(), w.blocks);
  if (w.members() == 1)
    return round_loop::make_flag_barrier<reduction_pass<Algorithm, scope::gpu>>(w, Algorithm::name, image,
                                                                                lines);
  return round_loop::make_flag_barrier<reduction_pass<Algorithm, scope::system>>(w, Algorithm::name, image,
                                                                                 lines);
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
