#include "src/studies/reduction/host_sums.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include <fmt/format.h>

#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "src/base/pinning.hpp"
#include "src/studies/reduction/host_numbers.hpp"
#include "src/studies/reduction/sum_checker.hpp"

namespace mgsync::reduction {
namespace {

using steady = std::chrono::steady_clock;

template <class T>
class sums final : public subject {
 public:
  explicit sums(const host_sum& asked)
      : asked_(asked),
        count_(asked.bytes / sizeof(T)),
        buffers_(std::max<std::size_t>(1, asked.working_set / asked.bytes)),
        numbers_(numbers<T>::of_at_least(buffers_ * asked.bytes)),
        before_(allowed_cpus()),
        parts_(asked.threads) {
    numbers_->make(0, buffers_ * count_, asked.threads);
    sum_of_numbers(0, buffers_ * count_);  // computes the exact sums, which are kept from here on
    in_parallel([](unsigned) {});
    start_flags();
  }
  ~sums() override {
    in_parallel([this](unsigned) { restrict_calling_thread(before_); });
  }
  sums(const sums&) = delete;
  sums& operator=(const sums&) = delete;

  bool has_its_team() const { return team_ == asked_.threads; }

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    const bool faulty = asked.fault == leave_out_the_last;
    const auto count = faulty ? count_ - 1 : count_;
    std::vector<T> results(asked.count);
    const auto first = next_;
    const auto begin = steady::now();
    if (asked_.how == way::read) read_all(results, first, count);
    else
      for (std::size_t i = 0; i < results.size(); ++i) results[i] = one_sum(buffer(first + i), count);
    came.values["duration_us"] = {std::chrono::duration<double, std::micro>(steady::now() - begin).count()};
    came.values["bytes"] = {static_cast<double>(asked_.bytes)};
    next_ = (first + results.size()) % buffers_;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < results.size(); ++i)
      wrong += results[i] != static_cast<T>(sum_of_numbers((first + i) % buffers_ * count_, count_));
    tell_of_sums(results.size(), wrong, faulty, came);
    return came;
  }

 private:
  const T* buffer(std::size_t turn) const { return numbers_->values() + turn % buffers_ * count_; }

  // Every thread reads its shares of all sums, without waiting for another until the end. The partial sums
  // are combined afterwards, for the check only.
  void read_all(std::vector<T>& results, std::size_t first, std::size_t count) {
    std::vector<std::vector<T>> parts(asked_.threads, std::vector<T>(results.size()));
#pragma omp parallel num_threads(static_cast <int>(asked_.threads))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      for (std::size_t i = 0; i < results.size(); ++i) parts[me][i] = part_of(me, buffer(first + i), count);
    }
    for (const auto& of_thread : parts)
      for (std::size_t i = 0; i < results.size(); ++i) results[i] += of_thread[i];
  }

  // Shares begin at cache lines.
  std::size_t first_of(unsigned member) const {
    return first_of_part(count_, member, asked_.threads, asked_.all_first);
  }

  template <class Work>
  void in_parallel(const Work& work) {
#pragma omp parallel num_threads(static_cast <int>(asked_.threads))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      if (me == 0) team_ = static_cast<unsigned>(omp_get_num_threads());
      if (me < asked_.cpus.size()) pin_calling_thread(asked_.cpus[me]);
      if (me < asked_.threads) work(me);
    }
  }

  T part_of(unsigned me, const T* values, std::size_t count) const {
    const auto begin = std::min(first_of(me), count),
               end = me + 1 == asked_.threads ? count : std::min(first_of(me + 1), count);
    return sum_of(values + begin, end - begin);
  }
  T sum_of_parts() const {
    T all = 0;
    for (const auto& one : parts_) all += one.value;
    return all;
  }

  T one_sum(const T* values, std::size_t count) {
    switch (asked_.how) {
    case way::serial: return sum_of(values, count);
    case way::read:
    case way::implicit: return implicit_sum(values, count);
    case way::explicit_: return explicit_sum(values, count);
    case way::ours: return our_sum(values, count);
    case way::last: return last_sum(values, count);
    case way::clause: return clause_sum(values, count);
    }
    return 0;
  }

  T implicit_sum(const T* values, std::size_t count) {
#pragma omp parallel num_threads(static_cast <int>(asked_.threads))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      parts_[me].value = part_of(me, values, count);
    }
    return sum_of_parts();
  }
  T explicit_sum(const T* values, std::size_t count) {
    T all = 0;
#pragma omp parallel num_threads(static_cast <int>(asked_.threads))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      parts_[me].value = part_of(me, values, count);
#pragma omp barrier
      if (me == 0) all = sum_of_parts();
#pragma omp barrier
    }
    return all;
  }
  T our_sum(const T* values, std::size_t count) {
    T all = 0;
    const auto epoch = epoch_ + 1;
    epoch_ += 2;
#pragma omp parallel num_threads(static_cast <int>(asked_.threads))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      parts_[me].value = part_of(me, values, count);
      pass(me, epoch);
      if (me == 0) all = sum_of_parts();
      pass(me, epoch + 1);
    }
    return all;
  }
  T last_sum(const T* values, std::size_t count) {
    T all = 0;
    arrived_.store(0, std::memory_order_relaxed);
#pragma omp parallel num_threads(static_cast <int>(asked_.threads))
    {
      const auto me = static_cast<unsigned>(omp_get_thread_num());
      parts_[me].value = part_of(me, values, count);
      if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == asked_.threads) all = sum_of_parts();
    }
    return all;
  }
  T clause_sum(const T* values, std::size_t count) {
    T all = 0;
#pragma omp parallel num_threads(static_cast <int>(asked_.threads)) reduction(+ : all)
    all += part_of(static_cast<unsigned>(omp_get_thread_num()), values, count);
    return all;
  }

  void start_flags() {
    const algorithm::layout lines{asked_.threads};
    constexpr auto words_per_line = algorithm::line_bytes / sizeof(std::uint32_t);
    flags_.assign(std::size_t{asked_.threads} * lines.lines() * words_per_line, 0);
    for (unsigned m = 0; m < asked_.threads; ++m)
      flag_parts_.push_back(flags_.data() + std::size_t{m} * lines.lines() * words_per_line);
  }
  void pass(unsigned me, std::uint32_t epoch) {
    algorithm::host_policy policy(
        algorithm::host_limits{std::chrono::seconds(10), &abort_, asked_.cpus.empty(), nullptr});
    algorithm::host_lines lines{flag_parts_.data()};
    algorithm::dissemination<2>::arrive_and_wait(policy, lines, algorithm::position{me, asked_.threads, 0, 1},
                                                 epoch);
  }

  struct alignas(128) part {
    T value;
  };

  host_sum asked_;
  std::size_t count_, buffers_;
  std::shared_ptr<numbers<T>> numbers_;
  std::vector<int> before_;
  std::vector<part> parts_;
  std::size_t next_ = 0;
  unsigned team_ = 0;
  std::atomic<unsigned> arrived_{0};
  std::vector<std::uint32_t> flags_;
  std::vector<std::uint32_t*> flag_parts_;
  std::uint32_t abort_ = 0, epoch_ = 0;
};

template <class T>
subject_creation make(const host_sum& asked) {
  auto made = std::make_unique<sums<T>>(asked);
  if (!made->has_its_team())
    return {
        nullptr, fmt::format("OpenMP gave no team of {} (OMP_THREAD_LIMIT, OMP_DYNAMIC)", asked.threads), {}};
  return {std::move(made), {}, {}};
}

}  // namespace

subject_creation make_host_sum(const host_sum& asked) {
  switch (asked.type) {
  case value_type::fp64: return make<double>(asked);
  case value_type::fp32: return make<float>(asked);
  case value_type::int32: return make<std::uint32_t>(asked);
  }
  return {};
}

std::size_t last_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<std::size_t>(bytes);
  return 0;
}

}  // namespace mgsync::reduction
