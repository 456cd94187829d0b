// A barrier for all threads of the grids of several GPUs: what cooperative_groups::multi_grid_group was until
// CUDA 13.
//
//     __global__ void kernel(const __grid_constant__ mgsync::multi_grid_handle handle, float* data) {
//       auto grids = mgsync::this_multi_grid(handle);
//       ...
//       grids.sync();
//     }
//
// Launched by mgsync::multi_grid (multi_grid.hpp), on every GPU cooperatively. C++17 and later, compute
// capability 7.0 and later, no relocatable device code, nothing but CUDA's compiler: nvcc, NVRTC or clang. No
// shared memory is taken.
//
// The handle is to be a const __grid_constant__ parameter of the kernel: the group refers to it, and without
// that word the compiler copies it into every thread's local memory where a group is passed on to a function
// that is not inlined.
#pragma once

#if !defined(__CUDACC__)
#error                                                                                                       \
    "mgsync/multi_grid.cuh is device code: compile it with nvcc, NVRTC or clang; host code includes mgsync/multi_grid.hpp"
#endif

#include <mgsync/multi_grid_handle.hpp>

#include "barriers/library/multi_grid_policy.hpp"
#include "barriers/library/multi_grid_reduction.hpp"

namespace mgsync { inline namespace v1 {

// What a call of sync() orders. release: what the block's threads wrote before is there for those who acquire
// behind it; acquire: behind it they see what others released; acq_rel: both, a barrier of memory; none:
// all have come, and nothing is said of what they wrote. The release is what takes time between GPUs.
enum class order : unsigned { none, release, acquire, acq_rel };
// async: what is ordered includes the asynchronous proxy's accesses (bulk copies, TMA) to global memory that
// the calling threads have waited for before, or begin behind it.
enum class proxy : unsigned { generic, async };

// What barrier_try_wait() finds: somebody has not come yet; all have, as behind sync(); or given up.
enum class waited : unsigned { pending, passed, lost };

// Who takes part, of each block alike: all of its threads unless the group is made with one of these.
// One warp, that which makes the group.
struct one_warp {
  static constexpr unsigned threads = 32;
  __device__ __forceinline__ static unsigned thread() { return algorithm::ptx::lane(); }
  __device__ __forceinline__ static void sync() { __syncwarp(); }
  __device__ __forceinline__ static std::uint32_t sync_and_tell(std::uint32_t said) {
    const int any = __any_sync(0xffffffffu, said != 0);
    __syncwarp();  // a vote orders nothing
    return static_cast<std::uint32_t>(any);
  }
};
// The `Threads` threads from number `First` on, whole warps, which meet at the block's barrier number `Id`
// (1 to 15; 0 is that of __syncthreads()). The kernel uses that number for nothing else while the group
// lives.
template <unsigned Id, unsigned First, unsigned Threads>
struct some_warps {
  static_assert(Id >= 1 && Id <= 15, "a block's barriers have the numbers 0 to 15, and 0 is __syncthreads()");
  static_assert(First % 32 == 0 && Threads % 32 == 0 && Threads != 0, "whole warps take part");
  static constexpr unsigned threads = Threads;
  __device__ __forceinline__ static unsigned thread() {
    return algorithm::multi_grid_policy::thread() - First;
  }
  __device__ __forceinline__ static void sync() {
    asm volatile("barrier.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory");
  }
  __device__ __forceinline__ static std::uint32_t sync_and_tell(std::uint32_t said) {
    std::uint32_t any;
    asm volatile("{\n\t"
                 ".reg .pred in, out;\n\t"
                 "setp.ne.u32 in, %1, 0;\n\t"
                 "barrier.red.or.pred out, %2, %3, in;\n\t"
                 "selp.u32 %0, 1, 0, out;\n\t"
                 "}"
                 : "=r"(any)
                 : "r"(said), "n"(Id), "n"(Threads)
                 : "memory");
    return any;
  }
};

// All threads of the grids that one launch of mgsync::multi_grid started, one grid per GPU, alike in
// dimensions.
//
// Constructed by every thread of every block. Objects in one kernel may follow one another but must not
// overlap in time, and neither may kernels of one group on a GPU. An object that is constructed while another
// is in use does not take part: its sync() returns false at once, and multi_grid::check() reports it; the
// other stays a barrier until a long wait finds that the group was given up. The object holds the block's
// count of barriers, so it cannot be copied: pass it on by reference.
//
// Memory ordering of sync(), and of barrier_arrive() with barrier_wait(): all that any thread of any GPU of
// the group wrote before it arrived, to the memory of any of these GPUs or to mapped host memory, with
// ordinary stores or atomics of any scope, is visible to ordinary loads of every thread of every GPU after it
// left; and whoever saw such a write in turn is covered too. No fence of the user's is needed. Not covered:
// loads through the read-only path (__ldg, pointers declared const __restrict__, textures) of data that
// changes while the kernel runs; the asynchronous proxy (bulk copies, TMA), unless proxy::async is asked for.
// sync<order>() with another order than acq_rel covers less, as its name says.
//
// Every wait is bounded by the owner's time-out. Once a block gave up, or saw that another had, its sync()
// and barrier_wait() return false at once, in all its threads alike: the kernel should return, and
// multi_grid::wait() throws on the host, naming who did not arrive. What a barrier given up ordered is
// unknown. A kernel that begins after its group gave up, of whatever grid, passes no barrier: all its sync()
// return false at once, until the host's reset().
//
// Policy: how it waits and orders memory. Only the tests use another one than multi_grid_group below.
template <class Policy>
class multi_grid_group_over : private Policy::verdict {
 public:
  class arrival_token {
    friend class multi_grid_group_over;
    std::uint32_t epoch_ = 0, looks_ = 0;
  };

  // `place`: the word of shared memory that multi_grid_policy_with_word needs; none for multi_grid_policy.
  template <class... Place>
  __device__ __forceinline__ explicit multi_grid_group_over(const multi_grid_handle& handle, Place&... place)
      : Policy::verdict(place...), handle_(handle) {
    // Not 0: this is no handle, or one of a library with another ABI version, of which nothing may be read
    // but where to say so.
    const std::uint32_t unknown = Policy::why_unknown(handle);
    // A grid of more blocks than the handle's has no record for all of them.
    const auto record = [&]() -> multi_grid_block& {
      return handle.records[block() < handle.blocks ? block() : 0];
    };
    const auto fits = [&] { return handle.blocks == blocks() && handle.generation == record().generation; };
    // Whether the group gave up is read from a word in this GPU's memory, since reads of host memory would
    // delay system fences. A block that gives up writes this word on every GPU, its own GPU first. A kernel
    // that follows on the same GPU therefore sees it. A kernel on another GPU that starts before the word
    // gets there can pass at most the barrier that was given up, if its own arrival was the missing one:
    // blocks that gave up arrive nowhere any more, nor do the kernels after them. kept() makes the compiler
    // forget the thread's number after this test instead of holding it in a register.
    this->begin(thread() == 0);
    std::uint32_t why_not = 0;
    if (policy_type::kept(thread() | unknown) == 0) {
      const std::uint32_t* const stopped = record().watched;  // read beside the generation
      const bool fitting = fits();
      if (stopped != nullptr) why_not = algorithm::ptx::load_volatile(stopped);
      if (!fitting || atomicExch(&record().open, 1u) != 0) why_not = apart;
      else if (why_not != 0) record().open = 0;
    }
    if (Policy::verdict::sync_and_tell(unknown | why_not) != 0) {
      this->tell();
      // The kernel runs without the barrier, and multi_grid::check() reports why.
      if (why_not == apart)
        algorithm::report_and_stop(handle, record(),
                                   handle.blocks != blocks() ? multi_grid_report::wrong_grid
                                   : fits()                  ? multi_grid_report::two_groups
                                                             : multi_grid_report::stale_handle,
                                   blocks());
      else if (why_not != 0) *static_cast<volatile std::uint32_t*>(record().told) = 1;
      else if (thread() == 0) algorithm::refuse(handle);
      return;
    }
    state_ = policy_type::kept(Policy::addresses::state_of(handle, block(), thread()));
    words_ = typename Policy::addresses(handle, block(), thread() & 31u);
    epoch_ = handle.records[block()].epoch;
  }
  template <class... Place>
  multi_grid_group_over(const multi_grid_handle&&, Place&...) = delete;  // it would refer to what is gone
  multi_grid_group_over(const multi_grid_group_over&) =
      delete;  // two copies would count their barriers apart
  multi_grid_group_over& operator=(const multi_grid_group_over&) = delete;
  // The epoch is stored here, once per kernel, and not in every round: a release fence involves the home
  // memory of every line that the SM has written since the previous fence, so one more store in a round makes
  // it 0.1 us slower.
  __device__ __forceinline__ ~multi_grid_group_over() {
    if constexpr (Policy::observes) {
      if (policy().in_team()) policy().tell();
    }
    if ((state_ & flags::keeps) == 0) return;
    multi_grid_block& record = handle_.records[block()];
    // After a give-up: the epoch of the last barrier at which this block arrived in time.
    record.epoch = (state_ & flags::lost) == 0 ? epoch_ : record.looked_at - record.late;
    record.open = 0;
  }

  // The barrier. Called by all threads of all blocks of all GPUs, in one round with one order: blocks that
  // release and blocks that do not wait for different words, so a round of both is given up where blocks wait
  // for a relay (sync_mixed() below is for such). At a counter, which is what one GPU has with up to 10
  // blocks per SM, such a round passes, each block with its own order, and nobody tells. Returns false once a
  // barrier was given up (see above), or if the object is not valid.
  template <order Order = order::acq_rel, proxy Proxy = proxy::generic>
  __device__ __forceinline__ bool sync() {
    if constexpr (Proxy == proxy::async) algorithm::ptx::fence_async_proxy();
    ++epoch_;
    const policy_type policy = this->policy();
    policy.sync();
    unsigned where = 0;
    if constexpr (releases(Order)) {
      if (come(policy)) await<acquires(Order)>(policy, epoch_);
      else where = this->asks_where();
    } else {
      if (come_quietly(policy)) await_quietly<acquires(Order)>(policy);
      else where = this->asks_where();
    }
    const bool passed = leave(where);
    if constexpr (Proxy == proxy::async) algorithm::ptx::fence_async_proxy();
    return passed;
  }

  // The barrier in which each block has an order of its own, `mine`, alike in its threads: behind it, blocks
  // that acquire see what blocks that release wrote before. Called by all threads of all blocks of all GPUs;
  // rounds of it and of the others may follow one another. A GPU of which no block releases has no system
  // fence that releases, and where nobody does there is none of any scope. A block that does not release
  // does not order its reads either: others may overwrite behind the barrier what it still reads before.
  __device__ __forceinline__ bool sync_mixed(order mine) {
    ++epoch_;
    const policy_type policy = this->policy();
    policy.sync();
    unsigned where = 0;
    if (come_quietly<true>(policy, releases(mine))) {
      await_quietly<false>(policy);
      const bool said = releases(mine) && (policy.state() & (flags::counted | flags::spread)) != 0;
      if (said && policy.leader() && (state_ & flags::lost) == 0)
        algorithm::unsay_release(policy, *words_.arrival_);
      if (acquires(mine)) acquire_quietly(policy);
    } else {
      where = this->asks_where();
    }
    return leave(where);
  }

  // The barrier in two calls, between which the kernel can do work that depends on neither side. Each is
  // called by all threads of all blocks, and no other call to this group may come between them.
  // barrier_arrive() waits only for the threads of its own block; barrier_wait() returns what sync() returns.
  __device__ __forceinline__ arrival_token barrier_arrive() {
    arrival_token token;
    ++epoch_;
    token.epoch_ = epoch_;
    const policy_type policy = this->policy();
    policy.sync();
    if (!policy.in_team()) return token;
    if ((policy.state() & flags::counter) != 0)
      counter_type(policy, {handle_, policy.state(), words_}).meet_later(epoch_);
    else relay_of(policy).meet_later(epoch_);
    return token;
  }
  __device__ __forceinline__ bool barrier_wait(arrival_token token) {
    const policy_type policy = this->policy();
    unsigned where = 0;
    if (policy.in_team()) await(policy, token.epoch_);
    else where = this->asks_where();
    return leave(where);
  }

  // A look in place of barrier_wait(): waits for the threads of its own block only. Called by all of them, of
  // the same token, until it is not pending; work between looks delays nobody else.
  __device__ __forceinline__ waited barrier_try_wait(arrival_token& token) {
    constexpr std::uint32_t looks_per_question = 64;  // whether the wait is to end
    const policy_type policy = this->policy();
    token.looks_ = policy_type::kept(token.looks_ + 1);  // or the compiler unrolls a loop of looks 64 times
    const bool asks = token.looks_ % looks_per_question == 0;
    std::uint32_t passed = 0;
    if (policy.in_team()) {
      const auto word = [&](unsigned i) {
        return algorithm::polled_word<std::uint32_t>{words_.polled(handle_, i), words_.share_ * token.epoch_};
      };
      if (algorithm::look_and_acquire<Policy::words_of_lane>(policy, word)) passed = 1;
      else if (asks && policy.ends_waiting(token.epoch_)) lose();
    } else if ((state_ & flags::lost) == 0 && handle_.blocks * handle_.gpus == 1) {
      passed = 1;
    }
    if (Policy::verdict::sync_and_tell(passed) != 0) return waited::passed;
    if (!asks && (state_ & flags::lost) == 0) return waited::pending;
    if (Policy::verdict::sync_and_tell(state_ & flags::lost) == 0) return waited::pending;
    state_ |= flags::lost;
    return waited::lost;
  }

  // A barrier as sync() is, whose arrivals carry a value of every thread: each learns what `op` makes of all
  // of them (by_sum, by_min, by_max, by_and, by_or). T: an integer or floating-point number of 32 or 64 bits.
  // The order of operations depends on the numbers of threads, blocks and GPUs alone (carrier.hpp): a sum of
  // floating-point numbers is the same to the bit in every thread, on every GPU and in every run. A kernel
  // that calls it for more than a warp of each block takes 264 bytes of shared memory, of which one group of
  // a block makes use at a time. All threads give one type and one `op`: blocks whose types differ in size
  // wait in vain, and nobody tells of another difference.
  template <class T, class Op>
  __device__ __forceinline__ reduced<T> sync_reduce(T mine, Op op) {
    static_assert(Policy::words_of_lane == 1,
                  "values ride on the barrier of up to 16 GPUs, not of many_gpus.cuh");
    ++epoch_;
    const policy_type policy = this->policy();
    T value = algorithm::meet_and_combine(policy, mine, op);
    unsigned where = 0;
    if (policy.in_team()) carry(policy, value, op);
    else where = this->asks_where();
    if (threads() > 32 && thread() == 0) algorithm::place_of_result<T>() = value;
    const bool passed = leave(where);
    if (threads() > 32) value = algorithm::place_of_result<T>();
    return {passed, value};
  }
  // The same of a yes or no: bit g of the value says whether a thread of the grid with rank g said yes.
  __device__ __forceinline__ reduced<std::uint64_t> sync_ballot(bool yes) {
    return sync_reduce(static_cast<std::uint64_t>(yes) << grid_rank() % 64, by_or{});
  }

  // Whether the kernel was launched with the handle of its GPU and its number of blocks, and no barrier was
  // given up.
  __device__ __forceinline__ bool is_valid() const { return (state_ & flags::lost) == 0; }

  __device__ __forceinline__ unsigned num_grids() const { return handle_.gpus; }
  __device__ __forceinline__ unsigned grid_rank() const { return handle_.rank; }
  // Threads of all grids, and the caller's number among them: by grid, then block, then thread.
  __device__ __forceinline__ unsigned long long size() const {
    return static_cast<unsigned long long>(handle_.gpus) * blocks() * threads();
  }
  __device__ __forceinline__ unsigned long long num_threads() const { return size(); }
  __device__ __forceinline__ unsigned long long thread_rank() const {
    return (static_cast<unsigned long long>(handle_.rank) * blocks() + block()) * threads() + thread();
  }

 private:
  using policy_type = Policy;
  using relay_type = algorithm::relay<policy_type, const multi_grid_handle, typename Policy::relay_addresses>;
  using counter_type = algorithm::spread_counter<policy_type, const multi_grid_handle,
                                                 algorithm::multi_grid_counter_addresses>;
  struct flags : algorithm::multi_grid_state {};
  static constexpr std::uint32_t apart =
      ~0u;  // `why_not` where the handle does not fit or is in use; other numbers: the group gave up before

  __host__ __device__ static constexpr bool releases(order asked) {
    return asked == order::release || asked == order::acq_rel;
  }
  __host__ __device__ static constexpr bool acquires(order asked) {
    return asked == order::acquire || asked == order::acq_rel;
  }

  // kept() hides the state's value from the compiler in every round, so that it does not hold values derived
  // from it in registers during the kernel's own work.
  __device__ __forceinline__ policy_type policy() {
    if constexpr (Policy::observes) return {policy_type::kept(state_), handle_, words_};
    else return {policy_type::kept(state_), handle_};
  }

  __device__ __forceinline__ relay_type relay_of(const policy_type& policy) const {
    return {policy, {handle_, policy.state(), words_}};
  }

  // The first half of sync(). Returns false in threads that are not of the block's team (policy.hpp). The
  // tests are ordered so that the block that all others wait for goes through the fewest of them before its
  // fence.
  __device__ __forceinline__ bool come(const policy_type& policy) const {
    if ((policy.state() & flags::arrives) == 0) {
      if (!policy.in_team()) return false;
      relay_of({policy.state() & ~flags::alone, handle_}).tell(epoch_);  // several GPUs of one block each
      return true;
    }
    const std::uint32_t before =
        algorithm::arrive_released(policy, words_.arrival_, (policy.state() & flags::tells) != 0,
                                   (policy.state() & flags::asks) != 0, handle_.blocks * epoch_);
    if ((policy.state() & flags::counter) != 0) policy.hold(handle_.sync_hold);
    else relay_of(policy).go_on(epoch_, before);
    return true;
  }
  // The same of a round in which nobody releases, or, where it is Mixed, those blocks do of which `release`
  // says so (relay.hpp). At the counter every block releases for itself.
  template <bool Mixed = false>
  __device__ __forceinline__ bool come_quietly(const policy_type& policy, bool release = false) {
    if (!policy.in_team()) return false;
    count_quietly(policy);
    if ((policy.state() & flags::arrives) == 0) {
      if constexpr (Mixed) relay_of(policy).tell_mixed(release, words_.quiet_);
      else relay_of(policy).tell_quietly(words_.quiet_);
      return true;
    }
    const auto has = [&](unsigned flag) { return (policy.state() & flag) != 0; };
    if constexpr (Mixed) {
      if (has(flags::counter)) {
        if (release) policy.fence_release_local();
        algorithm::arrive_quietly(policy, words_.arrival_, has(flags::tells), false, 0);
        policy.hold(handle_.sync_hold);
        return true;
      }
      const std::uint32_t before = algorithm::arrive_mixed(
          policy, words_.arrival_, has(flags::tells), has(flags::asks), handle_.blocks * epoch_, release);
      relay_of(policy).go_on_mixed(epoch_, before, words_.quiet_);
    } else {
      const std::uint32_t before = algorithm::arrive_quietly(policy, words_.arrival_, has(flags::tells),
                                                             has(flags::asks), handle_.blocks * epoch_);
      if (has(flags::counter)) policy.hold(handle_.sync_hold);
      else relay_of(policy).go_on_quietly(epoch_, before, words_.quiet_);
    }
    return true;
  }
  __device__ __forceinline__ void count_quietly(const policy_type& policy) {
    if ((state_ & (flags::counts_quiet | flags::counter)) == 0) {
      words_.quiet_ = Policy::addresses::quiet_rounds(handle_, block());
      policy.sync_team();  // before another lane speaks, which adds to what this one reads
      state_ |= flags::counts_quiet;
    }
    ++words_.quiet_;
  }

  // The round of sync_reduce() after the block's own barrier. What other rounds go by goes on too: the
  // counters of arrivals, and the words by which GPUs tell their epochs.
  template <class T, class Op>
  __device__ __forceinline__ void carry(const policy_type& policy, T& value, Op op) {
    // kept(), as in policy(): nothing that follows from these is to be held in registers between rounds.
    const unsigned number = policy_type::kept(block()), blocks = policy_type::kept(handle_.blocks);
    const algorithm::multi_grid_carrier_memory memory{handle_, policy.state(), words_, number};
    algorithm::carrier<policy_type, const algorithm::multi_grid_carrier_memory> carrier(
        policy, memory, {blocks}, {handle_.rank, handle_.gpus, number, blocks});
    if ((state_ & flags::carries) == 0) {
      state_ |= flags::carries | (carrier.last_turn() != 0 ? flags::second_turn : 0);
      policy.sync_team();  // before the leader arrives
    }
    state_ ^= flags::second_turn;
    const auto arrived = [&] {
      if ((policy.state() & flags::arrives) != 0 && policy.leader())
        policy.add_relaxed_local(*words_.arrival_, 1);
    };
    const auto spoken = [&] {
      if ((policy.state() & flags::counter) == 0) relay_of(policy).say(epoch_);
    };
    const unsigned turn = (state_ & flags::second_turn) != 0 ? 1 : 0;
    if (carrier.carry(epoch_, turn, value, op, arrived, spoken) == 0) lose();
  }

  // Both algorithms poll words of the same form, so one loop serves both.
  template <bool Acquires = true>
  __device__ __forceinline__ void await(const policy_type& policy, std::uint32_t epoch) {
    if (policy.await(words_.polled_, words_.share_ * epoch, epoch) != 0) lose();
    if constexpr (Acquires) policy.fence_polled_system();
  }
  template <bool Acquires>
  __device__ __forceinline__ void await_quietly(const policy_type& policy) {
    const bool counter = (policy.state() & flags::counter) != 0;
    std::uint32_t* const polled = counter ? words_.polled_ : &policy_type::behind(*words_.polled_);
    const std::uint32_t target = counter ? words_.share_ * epoch_ : words_.quiet_;
    if (policy.template await_by<algorithm::polling::quiet>(polled, target, epoch_) != 0) lose();
    if constexpr (Acquires) acquire_quietly(policy);
  }
  __device__ __forceinline__ static void acquire_quietly(const policy_type& policy) {
    if constexpr (algorithm::ptx::one_sided_fences) policy.fence_polled_system();
    else algorithm::ptx::fence_acq_rel<algorithm::ptx::scope::system>();
  }
  __device__ __forceinline__ void lose() {
    state_ = (state_ & flags::keeps) | flags::lost;
    this->tell();
  }

  // The block's closing barrier, which tells the team's verdict to all its threads.
  __device__ __forceinline__ bool leave(unsigned where) {
    if (this->sync_and_ask(where, state_ & flags::lost) == 0) return true;
    state_ |= flags::lost;
    return false;
  }

  __device__ __forceinline__ static unsigned threads() { return policy_type::threads(); }
  __device__ __forceinline__ static unsigned thread() { return policy_type::thread(); }
  __device__ __forceinline__ static unsigned blocks() { return policy_type::blocks(); }
  __device__ __forceinline__ static unsigned block() { return policy_type::block(); }

  const multi_grid_handle& handle_;  // refers to the kernel's parameter, which takes no register
  std::uint32_t state_ = flags::lost;
  std::uint32_t epoch_ = 0;
  typename Policy::addresses words_;
};

class multi_grid_group : public multi_grid_group_over<algorithm::multi_grid_policy> {
 public:
  using multi_grid_group_over::multi_grid_group_over;
};

// The same, some ns faster for blocks of several warps. It needs a word of the block's shared memory, which
// nothing else may use while the object lives.
class multi_grid_group_with_word : public multi_grid_group_over<algorithm::multi_grid_policy_with_word> {
 public:
  using multi_grid_group_over::multi_grid_group_over;
};

// The same for some of each block's threads, one_warp or some_warps, which alone make it and call it; thread
// ranks and sizes count them alone. What the block's other threads wrote is covered if it was handed to these
// by a barrier of the block, and what these have seen is handed to the others likewise.
template <class Who>
class multi_grid_group_of : public multi_grid_group_over<algorithm::multi_grid_policy_of<Who>> {
 public:
  using multi_grid_group_over<algorithm::multi_grid_policy_of<Who>>::multi_grid_group_over;
};

// The group of the calling kernel's launch, from the handle that the kernel was passed. Called by every
// thread.
__device__ __forceinline__ multi_grid_group this_multi_grid(const multi_grid_handle& handle) {
  return multi_grid_group(handle);
}
__device__ __forceinline__ multi_grid_group_with_word this_multi_grid(const multi_grid_handle& handle,
                                                                      std::uint32_t& shared_word) {
  return multi_grid_group_with_word(handle, shared_word);
}
template <class Who, unsigned Threads = Who::threads>
__device__ __forceinline__ multi_grid_group_of<Who> this_multi_grid(const multi_grid_handle& handle, Who) {
  return multi_grid_group_of<Who>(handle);
}
__device__ multi_grid_group this_multi_grid(const multi_grid_handle&&) = delete;  // of a temporary
template <class Who, unsigned Threads = Who::threads>
__device__ multi_grid_group_of<Who> this_multi_grid(const multi_grid_handle&&, Who) = delete;
__device__ multi_grid_group_with_word this_multi_grid(const multi_grid_handle&&, std::uint32_t&) = delete;

}}  // namespace mgsync::v1
