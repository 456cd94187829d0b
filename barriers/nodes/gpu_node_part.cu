#include <algorithm>

#include "barriers/nodes/gpu_node_part.hpp"
#include "barriers/parts/algorithm/across_nodes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"

namespace mgsync::nodes {

namespace {

using algorithm::cuda_lines;
using round_loop::device_run;
namespace across = algorithm::across_nodes;
namespace ptx = algorithm::ptx;

// Lines that proxies read or write in host memory, the others in GPU memory.
struct node_lines {
  cuda_lines gpu, host;

  __device__ __forceinline__ std::uint32_t& line(unsigned member, unsigned index) const {
    return index >= across::lines{0}.let_go() ? host.line(member, index) : gpu.line(member, index);
  }
};

struct node_arguments {
  node_lines lines;
  unsigned proxies;
  // Of checked runs.
  cuda_lines leaves;
  leave_layout board;
  unsigned node, members, members_in_all, seen_line;
  std::uint32_t number_of[round_loop::most_gpus];
};

class node_pass {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = node_arguments;

  __device__ __forceinline__ node_pass(const arguments& given, const device_run& run)
      : policy_(round_loop::limits_of(run)), given_(given), at_(round_loop::position_in(run)) {}
  __device__ __forceinline__ bool operator()(std::uint32_t epoch) {
    return across::arrive_and_wait(policy_, given_.lines, at_, given_.proxies, epoch);
  }

 protected:
  algorithm::cuda_policy<ptx::scope::system> policy_;
  const arguments& given_;
  algorithm::position at_;
};

// Also checks what a node sees of the others: the first thread of each block looks, before it comes, whether
// somebody has left already, and some blocks say that they have left. A member's first block gives the word
// that the proxies carry.
class checked_node_pass : public node_pass {
 public:
  static constexpr unsigned blocks_that_speak = 4;  // in a round, in turn: each message takes a proxy's time
  static constexpr std::uint64_t patience_ns = 200'000;  // several times the latency of a message

  __device__ __forceinline__ checked_node_pass(const arguments& given, const device_run& run)
      : node_pass(given, run), run_(run) {}
  checked_node_pass(const checked_node_pass&) = delete;
  checked_node_pass& operator=(const checked_node_pass&) = delete;
  __device__ ~checked_node_pass() {
    if (threadIdx.x == 0)
      *reinterpret_cast<seen_across*>(&given_.leaves.line(at_.member, given_.seen_line + at_.block)) = found_;
  }

  __device__ bool operator()(std::uint32_t epoch) {
    const std::uint32_t round = epoch - run_.epoch - 1, in_life = run_.rounds_done + round;
    const round_loop::block_team team;
    const bool early =
        round_loop::is_faulty(run_, round_loop::fault_early, team) && round_loop::arrives_early(in_life);
    if (threadIdx.x == 0) {
      if (at_.block == 0)
        *static_cast<volatile std::uint32_t*>(&given_.leaves.line(at_.member, given_.board.given(epoch))) =
            word_of(epoch, given_.number_of[at_.member]);
      if (!early) listen(epoch, is_long_awaited(in_life));
    }
    if (!node_pass::operator()(epoch)) return false;
    if (threadIdx.x != 0) return true;
    if ((at_.block + epoch) % at_.blocks < blocks_that_speak) {
      compare_carried(epoch);
      say_left(epoch);
    }
    if (early) {
      round_loop::hold_ns(round_loop::long_hold_ns);
      listen(epoch, true);
    }
    return true;
  }

 private:
  __device__ bool is_long_awaited(std::uint32_t in_life) const {
    const unsigned workers = at_.members * at_.blocks;
    return round_loop::holds_long(in_life) &&
           round_loop::late_worker(run_.seed, in_life, workers) == at_.member * at_.blocks + at_.block;
  }
  __device__ std::uint64_t& pair_of(unsigned member, unsigned line) const {
    return given_.leaves.pair_line(member, line);
  }

  // Whether another node said that one of its members has left this round; `patient`: waits a while for it.
  __device__ void listen(std::uint32_t epoch, bool patient) {
    ++found_.observations;
    const std::uint64_t begin = ptx::global_time_ns();
    do {
      for (unsigned proxy = 0; proxy < given_.proxies; ++proxy)
        for (unsigned n = 0; n < given_.board.nodes; ++n) {
          const auto told = ptx::load_acquire<ptx::scope::system>(
              &pair_of(across::first_member_of(proxy, given_.proxies, at_.members), given_.board.heard(n)));
          if (!algorithm::reached(static_cast<std::uint32_t>(told), epoch)) continue;
          return note(seen_across::arrival, epoch, static_cast<std::uint32_t>(told >> 32), epoch, epoch - 1);
        }
    } while (patient && ptx::global_time_ns() - begin < patience_ns);
  }
  __device__ void say_left(std::uint32_t epoch) const {
    const unsigned others = given_.board.nodes - 1;
    const unsigned to = (given_.node + 1 + (epoch + at_.block) % others) % given_.board.nodes;
    ptx::store_relaxed<ptx::scope::system>(&pair_of(at_.member, given_.board.said(at_.block)),
                                           std::uint64_t{to + 1} << 32 | epoch);
  }
  __device__ void compare_carried(std::uint32_t epoch) {
    ++found_.observations;
    std::uint32_t expected = 0;
    for (unsigned m = 0; m < given_.members_in_all; ++m) expected = max(expected, word_of(epoch, m));
    unsigned proxy = 0;
    while (proxy + 1 < given_.proxies &&
           across::first_member_of(proxy + 1, given_.proxies, at_.members) <= at_.member)
      ++proxy;
    const unsigned home = across::first_member_of(proxy, given_.proxies, at_.members);
    const auto seen = round_loop::plain_load(&given_.leaves.line(home, given_.board.carried(epoch)));
    if (seen != expected) note(seen_across::sum, epoch, 0, expected, seen);
  }
  __device__ void note(std::uint32_t what, std::uint32_t epoch, std::uint32_t left, std::uint32_t expected,
                       std::uint32_t seen) {
    if (found_.violations++ != 0) return;
    found_ = {found_.observations, 1, what, epoch - run_.epoch - 1, left, expected, seen};
  }

  const device_run& run_;
  seen_across found_{};
};

struct node_pass_and_check : node_pass {
  using node_pass::node_pass;
  using checked_form = checked_node_pass;
};

cuda_lines lines_at(const std::vector<std::uint32_t*>& parts) {
  cuda_lines all{};
  std::ranges::copy(parts, all.parts);
  return all;
}

}  // namespace

creation make_node_part(const round_loop::flag_barrier_request& w, std::string chosen, const node_part& of) {
  const auto image = round_loop::layout_image(w.members(), w.blocks);
  return round_loop::make_flag_barrier<node_pass_and_check>(
      w, std::move(chosen), image, [&](const cuda_lines& lines) {
        node_arguments given{{lines, lines_at(of.flags)},
                             of.proxies,
                             lines_at(of.leaves),
                             of.board,
                             of.node,
                             w.members(),
                             of.members_in_all,
                             of.seen_line(0),
                             {}};
        std::ranges::copy(of.members, given.number_of);
        return given;
      });
}

}  // namespace mgsync::nodes
