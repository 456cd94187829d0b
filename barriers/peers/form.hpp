// What the barriers of other projects have in common here. Each is re-implemented from its description, as an
// exchange between members by one team of each; around it stands our local part, so that it spans whole
// grids: the blocks of a member arrive at a counter, the last one exchanges, and it lets the others go. Where
// a member has one block nothing but the exchange is left.
// What is a flag in another project's memory is a word here; the words that one member's peers write lie in
// one line, as theirs do. A round's number is the epoch that the caller counts in a register, where theirs is
// read from memory as a kernel starts. Besides policy.hpp, the policy supplies:
//   load_relaxed_system(word&), load_pair_relaxed_system(pair&)
//   swap_fenced_system(word&, from, to)   compares and swaps, ordered behind fence_release_system(); whether
//                                         it did
//   swap_acquire_system(word&, from, to)
//   wait_lane(holds)                      polls until holds(), each lane by itself; false: given up
// and the memory word(member, index, offset): a word of that line.
// C++17.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <vector>
#endif

#include "barriers/parts/algorithm/local_arrival.hpp"

namespace mgsync::peers {

using algorithm::layout;
using algorithm::position;

inline constexpr unsigned most_members = algorithm::line_bytes / sizeof(std::uint32_t);  // words of a line

// A Form supplies:
//   name
//   lines                                     how many lines a member has for it
//   static first(line, from, members, start)  what word `from` of such a line holds before the first round,
//                                             whose epoch is start + 1
//   static exchange(p, memory, at, epoch)     by one team of each member; false: given up
template <class Form>
struct led_by_one {
  // Which line of a member's part is the k-th of the form's own, behind those of its local part.
  MGSYNC_HD static constexpr unsigned own(unsigned k) { return layout{0}.inbox(k); }

  template <class P, class M>
  MGSYNC_HD static bool arrive_and_wait(P& p, M& memory, const position& at, std::uint32_t epoch) {
    p.sync();
    bool ok = true;
    if (p.in_team()) {
      const bool last = algorithm::arrive_locally(p, memory, at, epoch);
      if (last) ok = Form::exchange(p, memory, at, epoch);
      if (ok) ok = algorithm::release_locally(p, memory, at, epoch, last);
    }
    return p.sync_and(ok);
  }

  MGSYNC_HD static constexpr unsigned all_lines() { return own(Form::lines); }
  // What any word of a member's part holds before the first round.
  MGSYNC_HD static constexpr std::uint32_t first_value(unsigned line, unsigned offset, unsigned members,
                                                       unsigned blocks, std::uint32_t start) {
    if (line >= own(0)) return Form::first(line - own(0), offset, members, start);
    return line == layout{members}.arrivals() ? algorithm::counter_start(blocks, start) : start;
  }
};

#if !defined(__CUDACC_RTC__)
// A member's part before the first round.
template <class Form>
std::vector<std::uint32_t> image_of(unsigned members, unsigned blocks, std::uint32_t start) {
  std::vector<std::uint32_t> image(std::size_t{Form::all_lines()} * most_members);
  for (unsigned i = 0; i < image.size(); ++i)
    image[i] = Form::first_value(i / most_members, i % most_members, members, blocks, start);
  return image;
}
#endif

// f(i) for every member, the own one first, spread over the team: no two begin with the same one.
template <class P, class F>
MGSYNC_HD void each_member(P& p, const position& at, F f) {
  p.for_each(at.members, [&](unsigned i) { f((at.member + i) % at.members); });
}
// f(i) for every other member.
template <class P, class F>
MGSYNC_HD void each_other(P& p, const position& at, F f) {
  p.for_each(at.members - 1, [&](unsigned i) { f((at.member + i + 1) % at.members); });
}

}  // namespace mgsync::peers
