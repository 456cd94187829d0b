// Dissemination, as NVSHMEM's barrier: in each step a member tells Radix - 1 others, at distances that grow
// by the radix. NVSHMEM shifts the distance of partner j by the step, j << step, where it is to be multiplied
// by the radix: with its default radix of 2 this is the same, with 4 and 11 members some pairs never meet.
// Here it is multiplied: our own algorithm, whose memory ordering it has.
#pragma once

#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/peers/form.hpp"

namespace mgsync::peers {

template <unsigned Radix>
struct dissemination : led_by_one<dissemination<Radix>> {
  static_assert(Radix == 2 || Radix == 4, "of which there are names");
  static constexpr const char* name = Radix == 2 ? "dissemination-2" : "dissemination-4";
  static constexpr unsigned lines =
      most_members + algorithm::max_dissemination_steps;  // as `layout` has them
  MGSYNC_HD static constexpr std::uint32_t first(unsigned, unsigned, unsigned, std::uint32_t start) {
    return start;
  }

  template <class P, class M>
  MGSYNC_HD static bool exchange(P& p, M& memory, const position& at, std::uint32_t epoch) {
    return algorithm::dissemination<Radix>::exchange(p, memory, at, epoch);
  }
};

}  // namespace mgsync::peers
