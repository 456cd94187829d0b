// The barriers of other projects, of barriers/peers, as files for `mgsync check`: on host threads and on
// GPUs, where members may share one. Include <mgsync/check.hpp> or <mgsync/check.cuh> first, of the source
// tree.
#pragma once

#include <cstring>

#include "barriers/peers/cas_mailbox.hpp"
#include "barriers/peers/counter_per_peer.hpp"
#include "barriers/peers/data_with_epoch.hpp"
#include "barriers/peers/dissemination.hpp"
#include "barriers/peers/flags_of_block_0.hpp"
#include "barriers/peers/flags_per_block.hpp"
#include "barriers/peers/pull.hpp"
#include "barriers/peers/sign_alternating.hpp"
#include "barriers/peers/sum_to_zero.hpp"
#include "barriers/peers/three_state.hpp"
#if defined(__CUDACC__)
#include "barriers/parts/algorithm/cuda_operations.hpp"
#define MGSYNC_WORKER __device__
#else
#include "barriers/parts/algorithm/host_policy.hpp"
#define MGSYNC_WORKER
#endif

namespace mgsync::check_peers {

using check::position;
using check::shape;
using flag = std::uint32_t;

// Waits ask the check whether to go on.
#if defined(__CUDACC__)
class policy : public algorithm::cuda_operations<algorithm::ptx::scope::system> {
 public:
  __device__ explicit policy(const position& at) : at_(at) {}
  __device__ void sync() const { __syncthreads(); }
  __device__ bool sync_and(bool ok) const { return __syncthreads_and(ok) != 0; }
  __device__ bool in_team() const { return threadIdx.x < lanes; }
#else
class policy : public algorithm::host_policy {
 public:
  explicit policy(const position& at) : at_(at) {}
#endif
  template <class Condition>
  MGSYNC_WORKER bool wait_lane(Condition holds) const {
    while (!holds())
      if (!at_.go_on()) return false;
    return true;
  }
  MGSYNC_WORKER bool wait_local(flag& w, flag epoch) const {
    return wait_lane([&] { return algorithm::reached(load_acquire_local(w), epoch); });
  }
  MGSYNC_WORKER bool wait_system(flag& w, flag epoch) const {
    return wait_lane([&] { return algorithm::reached(load_acquire_system(w), epoch); });
  }

 private:
  const position& at_;
};

struct memory {
  const position& at;

  MGSYNC_WORKER flag& line(unsigned member, unsigned index) const { return word(member, index, 0); }
  MGSYNC_WORKER flag& word(unsigned member, unsigned index, unsigned offset) const {
    return at.part<flag>(member)[index * peers::most_members + offset];
  }
  MGSYNC_WORKER std::uint64_t& pair_line(unsigned member, unsigned index) const {
    return *reinterpret_cast<std::uint64_t*>(&line(member, index));
  }
};

// What each of them has: the lines of the form, and behind them each block's own count of rounds, which lasts
// from launch to launch.
class counted {
 protected:
  MGSYNC_WORKER counted(const position& where, unsigned lines) : at(where), first_count_(lines) {}
  MGSYNC_WORKER flag next() {
#if defined(__CUDACC__)
    if (threadIdx.x == 0) count() += 1;
    __syncthreads();
    return count();
#else
    return count() += 1;
#endif
  }
  MGSYNC_WORKER algorithm::position place() const { return {at.member, at.members, at.block, at.blocks}; }

  static std::size_t bytes_of(unsigned lines, const shape& s) {
    return (std::size_t{lines} + s.blocks) * algorithm::line_bytes;
  }
  static void start_counts(void* part, unsigned lines, const shape& s) {
    for (unsigned b = 0; b < s.blocks; ++b)
      static_cast<flag*>(part)[(lines + b) * peers::most_members] = s.epoch;
  }

  position at;

 private:
  MGSYNC_WORKER flag& count() const { return memory{at}.line(at.member, first_count_ + at.block); }

  unsigned first_count_;
};

template <class Form>
class of_form : counted {
 public:
  static constexpr const char* name = Form::name;
  static std::size_t bytes(const shape& s) { return bytes_of(Form::all_lines(), s); }
  static void start(void* part, unsigned, const shape& s) {
    const auto image = peers::image_of<Form>(s.members, s.blocks, s.epoch);
    std::memcpy(part, image.data(), image.size() * sizeof image[0]);
    start_counts(part, Form::all_lines(), s);
  }

  MGSYNC_WORKER explicit of_form(const position& where) : counted(where, Form::all_lines()) {}
  MGSYNC_WORKER bool arrive_and_wait() {
    policy p(at);
    memory lines{at};
    return Form::arrive_and_wait(p, lines, place(), next());
  }
};

// Block b meets the others' block b only.
class equal_blocks : counted {
 public:
  static constexpr const char* name = peers::equal_blocks::name;
  static constexpr auto orders = check::extent::equal_blocks;
  static std::size_t bytes(const shape& s) { return bytes_of(2 * s.blocks, s); }
  static void start(void* part, unsigned, const shape& s) {
    for (std::size_t i = 0; i < bytes(s) / sizeof(flag); ++i) static_cast<flag*>(part)[i] = s.epoch;
  }

  MGSYNC_WORKER explicit equal_blocks(const position& where) : counted(where, 2 * where.blocks) {}
  MGSYNC_WORKER bool arrive_and_wait() {
    policy p(at);
    memory lines{at};
    return peers::equal_blocks::arrive_and_wait(p, lines, place(), next());
  }
};

// Its member's word is brought by block 0.
class data_with_epoch : counted {
 public:
  static constexpr const char* name = peers::data_with_epoch::name;
  static std::size_t bytes(const shape& s) { return bytes_of(lines_for(s.members), s); }
  static void start(void* part, unsigned, const shape& s) {
    const algorithm::reduction_layout lines{s.members};
    std::memset(part, 0, bytes(s));
    for (unsigned l = 0; l < lines.lines(); ++l)
      static_cast<flag*>(part)[l * peers::most_members] =
          l == lines.arrivals()                                 ? algorithm::counter_start(s.blocks, s.epoch)
          : l == lines.running_sum() || l == lines.sum_before() ? 0
                                                                : s.epoch;
    start_counts(part, lines_for(s.members), s);
  }

  MGSYNC_WORKER explicit data_with_epoch(const position& where) : counted(where, lines_for(where.members)) {}
  MGSYNC_WORKER std::uint32_t exchange(std::uint32_t mine, unsigned from) {
#if defined(__CUDACC__)
    __shared__ flag wanted;
#else
    flag wanted = 0;
#endif
    policy p(at);
    memory lines{at};
    const auto here = place();
    const flag epoch = next();
    if (p.in_team())
      peers::data_with_epoch::gather(p, lines, here, epoch, at.block == 0 ? mine : 0,
                                     [&](unsigned member, flag brought) {
                                       if (member == from) wanted = brought;
                                     });
    p.sync();
    return wanted;
  }

 private:
  MGSYNC_HD static unsigned lines_for(unsigned members) {
    return algorithm::reduction_layout{members}.lines();
  }
};

}  // namespace mgsync::check_peers

using namespace mgsync::check_peers;
MGSYNC_CHECK_BARRIER(of_form<mgsync::peers::flags_per_block>, equal_blocks,
                     of_form<mgsync::peers::flags_unordered>, of_form<mgsync::peers::flags_of_block_0>,
                     of_form<mgsync::peers::three_state>, data_with_epoch,
                     of_form<mgsync::peers::cas_mailbox>, of_form<mgsync::peers::counter_per_peer>,
                     of_form<mgsync::peers::sum_to_zero>, of_form<mgsync::peers::sign_alternating>,
                     of_form<mgsync::peers::pull>, of_form<mgsync::peers::dissemination<2>>,
                     of_form<mgsync::peers::dissemination<4>>)
