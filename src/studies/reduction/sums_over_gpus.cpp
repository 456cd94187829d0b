#include "src/studies/reduction/sums_over_gpus.hpp"

#include <algorithm>
#include <stdexcept>

#include "barriers/parts/algorithm/flag_image.hpp"
#include "src/studies/reduction/sum_checker.hpp"
#include "src/studies/reduction/sum_launch.hpp"

namespace mgsync::reduction {

namespace {

using clock = std::chrono::steady_clock;

std::vector<std::uint32_t*> words_of(const symmetric_memory& memory, std::size_t members) {
  std::vector<std::uint32_t*> all;
  for (unsigned m = 0; m < members; ++m) all.push_back(reinterpret_cast<std::uint32_t*>(memory.part(m)));
  return all;
}

std::exception_ptr thrown_by(const auto& work) {
  try {
    work();
    return nullptr;
  } catch (...) { return std::current_exception(); }
}

}  // namespace

one_kernel_each::one_kernel_each(const several_sum& asked, several_parts parts)
    : asked_(asked),
      reading_(parts.how_to_read),
      kernel_{.kernel = sum_kernel(asked.type, reading_.how, asked.how->join),
              .blocks = parts.blocks,
              .threads = reading_.threads,
              .shared_bytes = shared_bytes_of(reading_.how),
              .as = asked.how->as},
      start_(std::move(parts.start)),
      line_(asked.group, words_of(*start_, asked.group.members.size())),
      team_(asked.group, asked.where->rank(), at_home + std::size_t{kernel_.blocks} * 16),
      pool_(std::vector<int>(team_.size(), -1), worker_pool::first_worker::caller),
      abort_(cuda::memory::on_host(128)) {
  for (const auto& g : team_.gpus()) {
    lane l{.local = static_cast<unsigned>(lanes_.size()), .member = g.member, .ordinal = g.ordinal};
    const cuda::device_scope scope(g.ordinal);
    places_ = places_of_sums(g.ordinal, asked.type, asked.bytes, asked.cold);
    l.numbers = gpu_numbers::on(g.ordinal, asked.type, places_.bytes());
    for (const auto* kernel : {kernel_.kernel, second_}) cuda::load(kernel, "loading a kernel that adds up");
    lanes_.push_back(std::move(l));
  }
}

seen one_kernel_each::run(const run_order& order) {
  const bool faulty = order.fault == leave_out_the_last;
  seen came{.done = order};
  std::string trouble = prepare(order.count);
  if (trouble.empty()) try {
      const cuda::device_scope scope(lanes_.front().ordinal);
      failed_ = false;
      pool_.run([&](unsigned local) { time(lanes_[local], order.count, faulty); });
    } catch (const std::exception& error) { trouble = error.what(); }
  double duration_us = 0, call_us = 0;
  for (const auto& l : lanes_) {
    duration_us = std::max(duration_us, l.duration_us);
    call_us = std::max(call_us, l.call_us);
  }
  came.values = {{"duration_us", {duration_us}},
                 {"call_us", {call_us}},
                 {"bytes", {static_cast<double>(asked_.bytes * gpus())}}};
  if (*abort_.as<volatile std::uint32_t>() != 0) {
    came.ended = ending::stuck;
    came.reason = "a barrier of several GPUs inside a sum was given up";
  } else if (!trouble.empty()) {
    came.ended = ending::died;
    came.reason = trouble;
  } else if (lanes_.front().member == 0) {
    compare(order.count, faulty, came);
  }
  return came;
}

void one_kernel_each::issue_one(lane& l, std::uint64_t turn, bool faulty) {
  auto given = arguments_of(l, turn, faulty);
  void* parameters[] = {&given, beside(l, turn)};
  launch_sum(kernel_, parameters, team_.stream(l.local));
  go_on(l, turn, given);
}

sum_arguments one_kernel_each::arguments_of(const lane& l, std::uint64_t turn, bool faulty) const {
  const auto where = asked_.how->where;
  std::byte* const home = team_.scratch(l.local);
  sum_arguments given;
  given.numbers = l.numbers->values() + places_.offset_of(turn);
  given.count = asked_.bytes / bytes_of(asked_.type) - (faulty && l.member + 1 == gpus() ? 1 : 0);
  given.in_chunks = reading_.in_chunks;
  given.result = where == stored::at_home && !asked_.how->along_a_tree ? home + 256 : result(l, turn);
  given.arrived = reinterpret_cast<unsigned long long*>(
      where == stored::at_home ? home : part(0, l) + lies_.arrived + turn * 8);
  given.partials = where == stored::at_home ? home + at_home : partials(l, turn);
  if (where == stored::at_a_share)
    given.partials = partials(l, turn) + std::size_t{l.member} * kernel_.blocks * bytes_of(asked_.type);
  return given;
}

shared_memory one_kernel_each::layout_for(std::size_t count, std::size_t flag_words) const {
  const auto rounded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  const auto& way = *asked_.how;
  shared_memory here;
  here.arrived = rounded(flag_words * sizeof(std::uint32_t));
  here.partials = here.arrived + rounded(count * 8);
  here.results = here.partials + rounded((way.kept == 0 ? count : way.kept) * sums_of_blocks() * 8);
  here.slots = here.results + rounded(count * 8);
  here.bytes = here.slots + (way.along_a_tree ? rounded(count * gpus() * 16) : 0);
  return here;
}

std::string one_kernel_each::prepare(std::size_t count) {
  if (count > capacity_) {
    memory_.reset();
    const auto image = algorithm::relay_image(kernel_.blocks, algorithm::relay_shape{});
    lies_ = layout_for(count, image.size());
    if (asked_.how->along_a_tree && one_process(asked_)) {
      for (auto& l : lanes_) l.box = cuda::memory::in_pool(l.ordinal, lies_.bytes);
    } else {
      auto made = allocate_group_memory(asked_.group, lies_.bytes, reach::group, "", *asked_.where);
      if (!made.memory) return made.reason;
      memory_ = std::move(made.memory);
    }
    capacity_ = count;
    epoch_ = algorithm::first_gpu_epoch;
    for (auto& l : lanes_) set_flags(l, image);
  }
  first_epoch_ = epoch_;
  epoch_ += static_cast<std::uint32_t>(count);
  if (lanes_.front().member != 0) return {};
  const cuda::device_scope scope(lanes_.front().ordinal);
  cuda::check(cudaMemset(part(0, lanes_.front()) + lies_.results, 0xff, count * 8), "clearing results");
  cuda::check(cudaMemset(part(0, lanes_.front()) + lies_.arrived, 0, count * 8), "clearing counters");
  cuda::check(cudaDeviceSynchronize(), "clearing results");
  return {};
}

void one_kernel_each::set_flags(lane& l, const std::vector<std::uint32_t>& image) {
  const cuda::device_scope scope(l.ordinal);
  cuda::check(cudaMemcpy(part(l.member, l), image.data(), image.size() * sizeof(std::uint32_t),
                         cudaMemcpyHostToDevice),
              "setting a barrier up");
  for (unsigned m = 0; m < gpus(); ++m) l.meeting.parts[m] = reinterpret_cast<std::uint32_t*>(part(m, l));
  l.meeting.run.member = l.member;
  l.meeting.run.members = gpus();
  l.meeting.run.blocks = kernel_.blocks;
  l.meeting.run.budget_ns = 2'000'000'000;
  l.meeting.run.abort = abort_.as<std::uint32_t>();
}

// A thread whose GPU failed still comes to the start and to the end.
void one_kernel_each::time(lane& l, std::uint64_t count, bool faulty) {
  l.duration_us = l.call_us = 0;
  const auto late = awake_clock::now() + asked_.where->timeout() / 2;
  const auto unready = thrown_by([&] {
    team_.select(l.local);
    if (asked_.cold) l.numbers->push_out_of_cache(team_.stream(l.local));
    warm_up(l);
    team_.wait(l.local, "emptying the cache");
  });
  if (unready) failed_ = true;
  const bool all_came = line_.meet(l.member, late);
  if (!all_came) failed_ = true;
  if (failed_) {
    line_.pass_by(l.member);
    if (unready) std::rethrow_exception(unready);
    if (!all_came) throw std::runtime_error("not every GPU's thread came to the start of a run");
    return;
  }
  const auto failure = thrown_by([&] {
    const auto began = clock::now();
    issue(l, count, faulty);
    const auto called = clock::now();
    team_.wait(l.local, "waiting for sums");
    l.duration_us = us_between(began, clock::now());
    l.call_us = us_between(began, called);
  });
  if (failure) comes_no_more();
  line_.meet(l.member, late);  // after this, what others stored into GPU 0's memory is there
  if (failure) std::rethrow_exception(failure);
}

void one_kernel_each::compare(std::uint64_t count, bool faulty, seen& came) {
  const bool reads = asked_.how->only_reads;
  const auto& l = lanes_.front();
  const std::size_t parts = reads ? sums_of_blocks() : 1, apart = reads ? parts * bytes_of(asked_.type) : 8;
  std::vector<std::byte> results(count * apart);
  const cuda::device_scope scope(l.ordinal);
  team_.read(results, reads ? partials(l, 0) : result(l, 0), "reading sums");
  tell_of_sums(count, places_.wrong(results, apart, parts, gpus()), faulty, came);
}

}  // namespace mgsync::reduction
