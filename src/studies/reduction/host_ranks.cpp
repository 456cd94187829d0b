#include "src/studies/reduction/host_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "barriers/parts/round_loop/start_line.hpp"
#include "barriers/parts/symmetric_memory/symmetric_memory.hpp"
#include "src/base/mpi_native.hpp"
#include "src/base/pinning.hpp"
#include "src/studies/reduction/host_numbers.hpp"
#include "src/studies/reduction/sum_checker.hpp"
#include "src/studies/reduction/sum_exchange.hpp"

namespace mgsync::reduction {
namespace {

using steady = std::chrono::steady_clock;

// The layout of each rank's part of the shared memory, in lines of 128 bytes: the start line, the barrier's
// flags, and for each turn of a run a word for the rank's partial sum. On rank 0 also a counter and the whole
// sum for each turn.
struct rank_memory {
  explicit rank_memory(unsigned ranks)
      : flags(1),
        parts(flags + algorithm::layout{ranks}.lines()),
        counters(parts + words),
        results(counters + words),
        lines(results + words) {}
  static constexpr std::size_t words = sums_in_a_run * 8 / algorithm::line_bytes;
  std::size_t flags, parts, counters, results, lines;
};

template <class T>
MPI_Datatype mpi_type() {
  if constexpr (sizeof(T) == 8) return MPI_DOUBLE;
  else return T(1) / T(2) == T(0) ? MPI_UINT32_T : MPI_FLOAT;
}

template <class T>
class rank_sums final : public subject {
 public:
  rank_sums(const host_sum& asked, rank_way how, const topology::group& group, const session& where,
            std::unique_ptr<symmetric_memory> memory)
      : asked_(asked),
        how_(how),
        where_(&where),
        count_(asked.bytes / sizeof(T)),
        buffers_(std::max<std::size_t>(1, asked.working_set / asked.bytes)),
        numbers_(numbers<T>::of_at_least(buffers_ * asked.bytes)),
        lies_(asked.threads),
        memory_(std::move(memory)),
        comm_(where.ranks().duplicate()),
        line_(group, words_of_start(*memory_, asked.threads)),
        before_(allowed_cpus()),
        yields_(group.oversubscribed) {
    while (group.members[me_].rank != where.rank()) ++me_;
    for (unsigned m = 0; m < asked.threads; ++m) flag_parts_.push_back(words(m, lies_.flags));
    for (std::size_t i = 0; i < buffers_; ++i)
      numbers_->make(i * count_ + first_of(me_), i * count_ + end_of(me_), 1);
    if (me_ == 0) sum_of_numbers(0, buffers_ * count_);  // computes the exact sums, which are then kept
    if (const auto& cpus = group.members[me_].cpus; !cpus.empty()) pin_calling_thread(cpus.front());
  }
  ~rank_sums() override { restrict_calling_thread(before_); }
  rank_sums(const rank_sums&) = delete;
  rank_sums& operator=(const rank_sums&) = delete;

  seen run(const run_order& asked) override {
    if (asked.count > sums_in_a_run) throw std::invalid_argument("too many sums in one run of ranks");
    seen came{.done = asked};
    const bool faulty = asked.fault == leave_out_the_last;
    const auto first = next_;
    for (std::size_t i = 0; i < asked.count; ++i) *word(0, lies_.counters, i) = 0;
    const auto late = awake_clock::now() + where_->timeout() / 2;
    if (!line_.meet(me_, late)) return given_up(std::move(came), "a rank did not come to the start of a run");
    const auto begin = steady::now();
    for (std::size_t i = 0; i < asked.count && !stuck_; ++i)
      one_sum(i, numbers_->values() + (first + i) % buffers_ * count_, faulty);
    came.values["duration_us"] = {std::chrono::duration<double, std::micro>(steady::now() - begin).count()};
    came.values["bytes"] = {static_cast<double>(asked_.bytes)};
    next_ = (first + asked.count) % buffers_;
    if (stuck_ || !line_.meet(me_, late))
      return given_up(std::move(came), "a barrier inside a sum was given up");
    compare(first, asked.count, faulty, came);
    return came;
  }
  seen put_together(seen mine) override { return put_sums_together(where_->ranks(), std::move(mine)); }

 private:
  static std::vector<std::uint32_t*> words_of_start(const symmetric_memory& memory, unsigned ranks) {
    std::vector<std::uint32_t*> all;
    for (unsigned m = 0; m < ranks; ++m) all.push_back(reinterpret_cast<std::uint32_t*>(memory.part(m)));
    return all;
  }
  static seen given_up(seen came, const char* reason) {
    came.ended = ending::stuck;
    came.reason = reason;
    return came;
  }
  std::uint32_t* words(unsigned member, std::size_t line) const {
    return reinterpret_cast<std::uint32_t*>(memory_->part(member) + line * algorithm::line_bytes);
  }
  std::uint64_t* word(unsigned member, std::size_t line, std::size_t turn) const {
    return reinterpret_cast<std::uint64_t*>(words(member, line)) + turn;
  }
  T* part(unsigned member, std::size_t turn) const {
    return reinterpret_cast<T*>(word(member, lies_.parts, turn));
  }
  T* result(std::size_t turn) const { return reinterpret_cast<T*>(word(0, lies_.results, turn)); }

  std::size_t first_of(unsigned member) const {
    return first_of_part(count_, member, asked_.threads, asked_.all_first || how_ == rank_way::serial);
  }
  std::size_t end_of(unsigned member) const {
    return member + 1 == asked_.threads ? count_ : first_of(member + 1);
  }
  T sum_of_parts(std::size_t turn) const {
    T all = 0;
    for (unsigned m = 0; m < asked_.threads; ++m) all += *part(m, turn);
    return all;
  }

  void one_sum(std::size_t turn, const T* values, bool faulty) {
    const auto begin = first_of(me_),
               end = end_of(me_) - (faulty && end_of(me_) == count_ && end_of(me_) > begin ? 1 : 0);
    T mine = sum_of(values + begin, end - begin);
    *part(me_, turn) = mine;
    switch (how_) {
    case rank_way::read:
    case rank_way::serial: return;
    case rank_way::mpi_barrier:
      check_mpi(MPI_Barrier(comm_.native_handle()->comm), "meeting between sums");
      break;
    case rank_way::mpi_reduce:
      check_mpi(MPI_Reduce(&mine, result(turn), 1, mpi_type<T>(), MPI_SUM, 0, comm_.native_handle()->comm),
                "reducing the ranks' parts");
      return;
    case rank_way::ours: stuck_ = !pass(); break;
    case rank_way::last:
      if (std::atomic_ref<std::uint64_t>(*word(0, lies_.counters, turn))
                  .fetch_add(1, std::memory_order_acq_rel) +
              1 ==
          asked_.threads)
        *result(turn) = sum_of_parts(turn);
      return;
    }
    if (me_ == 0) *result(turn) = sum_of_parts(turn);
  }

  bool pass() {
    algorithm::host_policy policy(
        algorithm::host_limits{where_->timeout() / 3, &abort_, yields_, nullptr, awake_clock::ticks});
    algorithm::host_lines lines{flag_parts_.data()};
    return algorithm::dissemination<2>::arrive_and_wait(
        policy, lines, algorithm::position{me_, asked_.threads, 0, 1}, ++epoch_);
  }

  // Compares the sums on rank 0. Where the way itself does not combine the partial sums, they are added up
  // here.
  void compare(std::size_t first, std::size_t sums, bool faulty, seen& came) {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; me_ == 0 && i < sums; ++i) {
      const T got = how_ == rank_way::read || how_ == rank_way::serial ? sum_of_parts(i) : *result(i);
      wrong += got != static_cast<T>(sum_of_numbers((first + i) % buffers_ * count_, count_));
    }
    tell_of_sums(sums, wrong, faulty, came);
  }

  host_sum asked_;
  rank_way how_;
  const session* where_;
  std::size_t count_, buffers_;
  std::shared_ptr<numbers<T>> numbers_;
  rank_memory lies_;
  std::unique_ptr<symmetric_memory> memory_;
  communicator comm_;
  round_loop::start_line line_;
  std::vector<int> before_;
  bool yields_;
  unsigned me_ = 0;
  std::vector<std::uint32_t*> flag_parts_;
  std::size_t next_ = 0;
  bool stuck_ = false;
  std::uint32_t abort_ = 0, epoch_ = 0;
};

template <class T>
subject_creation make(const host_sum& sum, rank_way how, const topology::group& group, const session& where) {
  auto board = allocate_host_memory(group, rank_memory(sum.threads).lines * algorithm::line_bytes,
                                    reach::group, where);
  if (!board.memory) return {nullptr, std::move(board.reason), {}};
  return {std::make_unique<rank_sums<T>>(sum, how, group, where, std::move(board.memory)), {}, {}};
}

}  // namespace

subject_creation make_rank_sum(const host_sum& sum, rank_way how, const topology::group& group,
                               const session& where) {
  switch (sum.type) {
  case value_type::fp64: return make<double>(sum, how, group, where);
  case value_type::fp32: return make<float>(sum, how, group, where);
  case value_type::int32: return make<std::uint32_t>(sum, how, group, where);
  }
  return {};
}

}  // namespace mgsync::reduction
