#include "src/studies/reduction/several_gpus.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/parts/symmetric_memory/gpu_memory.hpp"
#include "src/base/cuda.hpp"
#include "src/base/worker_pool.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"
#include "src/studies/reduction/gpu_numbers.hpp"
#include "src/studies/reduction/nccl_sum.hpp"
#include "src/studies/reduction/places.hpp"
#include "src/studies/reduction/sum_prover.hpp"

namespace mgsync::reduction {
namespace {

using clock = std::chrono::steady_clock;
double us_between(clock::time_point from, clock::time_point to) { return std::chrono::duration<double, std::micro>(to - from).count(); }

reading reading_of(const several_sum& asked) {
  if (asked.asked) return *asked.asked;
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, asked.ordinals.front()), "asking what a GPU is");
  return asked.bytes >= least_bytes_for_bulk && major >= 9 ? reading{loads::bulk4, 256, 2} : reading{};
}

joining joining_of(several_way how) {
  switch (how) {
    case several_way::single: return joining::several;
    case several_way::last: return joining::last_of_several;
    case several_way::nccl: return joining::last;
    default: return joining::none;
  }
}

// What lies in every GPU's part of the memory that all of them address: a barrier's flags; on GPU 0 what the blocks of all
// GPUs found, by turn, how many came, and the sums.
struct shared_memory {
  std::size_t flags = 0, arrived = 0, partials = 0, results = 0, bytes = 0;
};

// One GPU, as its host thread uses it.
struct lane {
  int ordinal = 0;
  cuda::stream stream;
  std::shared_ptr<const gpu_numbers> numbers;
  cuda::memory own;  // a counter, partial sums and a result of its own
  relay_arguments meeting{};
  double duration_us = 0, call_us = 0;
  std::exception_ptr failure;
};

class several_sums final : public subject {
 public:
  several_sums(const several_sum& asked, unsigned blocks)
      : asked_(asked), reading_(reading_of(asked)), blocks_(blocks), places_(places_of(sums_in_turn{asked.bytes, asked.cold, asked.ordinals.front()})),
        stride_(stride_of(asked.bytes)), kernel_(sum_kernel(asked.type, reading_.how, joining_of(asked.how))),
        second_(joining_kernel(asked.type, false)), pool_(std::vector<int>(asked.ordinals.size(), -1)), meeting_(static_cast<std::ptrdiff_t>(asked.ordinals.size())) {
    for (const int ordinal : asked.ordinals) {
      const cuda::device_scope scope(ordinal);
      lanes_.push_back({});
      auto& l = lanes_.back();
      l.ordinal = ordinal;
      l.stream = cuda::make_stream();
      l.numbers = gpu_numbers::on(ordinal, asked.type, places_ * stride_);
      l.own = cuda::memory::in_pool(ordinal, 512 + std::size_t{blocks_} * 8);
      cuda::load(kernel_, "loading a kernel that adds up");
      cuda::load(second_, "loading a kernel that adds up");
    }
    abort_ = cuda::memory::on_host(128);
    if (asked.how == several_way::nccl) start_nccl(asked.ordinals);
  }

  seen run(const order& order) override {
    const bool faulty = order.fault == leave_out_the_last;
    prepare(order.count);
    pool_.run([&](unsigned g) { time(g, order.count, faulty); });
    for (const auto& l : lanes_)
      if (l.failure) std::rethrow_exception(l.failure);
    seen came{.done = order};
    const auto longest = [&](double lane::*value) {
      double most = 0;
      for (const auto& l : lanes_) most = std::max(most, l.*value);
      return most;
    };
    came.values = {{"duration_us", {longest(&lane::duration_us)}}, {"call_us", {longest(&lane::call_us)}}, {"bytes", {static_cast<double>(asked_.bytes * gpus())}}};
    if (*abort_.as<volatile std::uint32_t>() != 0) {
      came.ended = ending::stuck;
      came.reason = "a barrier of several GPUs inside a sum was given up";
      return came;
    }
    compare(order.count, faulty, came);
    return came;
  }

 private:
  unsigned gpus() const { return static_cast<unsigned>(lanes_.size()); }
  std::size_t sums_of_blocks() const { return std::size_t{blocks_} * gpus(); }
  // Of how many turns the blocks' sums are kept: all where they are the result, or where a GPU may run ahead.
  std::size_t turns_kept(std::size_t count) const { return asked_.how == several_way::single || asked_.how == several_way::host ? 2 : count; }

  void prepare(std::size_t count) {
    const auto rounded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    if (count > capacity_) {
      memory_.reset();
      const auto image = algorithm::relay_image(blocks_, algorithm::relay_shape{});
      shared_memory here;
      here.arrived = rounded(image.size() * sizeof(std::uint32_t));
      here.partials = here.arrived + rounded(count * 8);
      here.results = here.partials + rounded(turns_kept(count) * sums_of_blocks() * 8);
      here.bytes = here.results + rounded(count * 8);
      gpu_members members;
      for (const int ordinal : asked_.ordinals) members.places.push_back({0, ordinal});
      auto made = allocate_gpu_memory(members, here.bytes, peer_memory::automatic);
      if (!made.memory) throw std::runtime_error(made.reason);
      memory_ = std::move(made.memory);
      lies_ = here;
      capacity_ = count;
      epoch_ = algorithm::first_gpu_epoch;
      for (unsigned g = 0; g < gpus(); ++g) {
        const cuda::device_scope scope(lanes_[g].ordinal);
        cuda::check(cudaMemcpy(memory_->part(g, g), image.data(), image.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice), "setting a barrier up");
        auto& meeting = lanes_[g].meeting;
        for (unsigned m = 0; m < gpus(); ++m) meeting.parts[m] = reinterpret_cast<std::uint32_t*>(memory_->part(m, g));
        meeting.run.member = g;
        meeting.run.members = gpus();
        meeting.run.blocks = blocks_;
        meeting.run.budget_ns = 2'000'000'000;
        meeting.run.abort = abort_.as<std::uint32_t>();
      }
    }
    first_epoch_ = epoch_;
    epoch_ += static_cast<std::uint32_t>(count);
    const cuda::device_scope scope(lanes_.front().ordinal);
    cuda::check(cudaMemset(memory_->part(0, 0) + lies_.results, 0xff, count * 8), "clearing results");
    cuda::check(cudaMemset(memory_->part(0, 0) + lies_.arrived, 0, count * 8), "clearing counters");
    cuda::check(cudaDeviceSynchronize(), "clearing results");
  }

  std::byte* on_first(unsigned g, std::size_t offset) const { return memory_->part(0, g) + offset; }
  std::byte* partials(unsigned g, std::size_t turn) const {
    return on_first(g, lies_.partials + turn % turns_kept(capacity_) * sums_of_blocks() * bytes_of(asked_.type));
  }
  std::byte* result(unsigned g, std::size_t turn) const { return on_first(g, lies_.results + turn * 8); }

  void time(unsigned g, std::uint64_t count, bool faulty) {
    auto& l = lanes_[g];
    try {
      cuda::check(cudaSetDevice(l.ordinal), "selecting a GPU");
      if (asked_.cold) l.numbers->push_out_of_cache(l.stream.get());
      if (asked_.how == several_way::nccl) issue(g, 0, faulty);  // all of them connected, and begun together
      cuda::check(cudaStreamSynchronize(l.stream.get()), "emptying the cache");
    } catch (...) {
      l.failure = std::current_exception();
    }
    meeting_.arrive_and_wait();
    if (std::any_of(lanes_.begin(), lanes_.end(), [](const lane& any) { return any.failure != nullptr; })) return;
    try {
      const auto began = clock::now();
      for (std::uint64_t i = 0; i < count; ++i) issue(g, i, faulty);
      const auto called = clock::now();
      cuda::check(cudaStreamSynchronize(l.stream.get()), "waiting for sums");
      l.duration_us = us_between(began, clock::now());
      l.call_us = us_between(began, called);
    } catch (...) {
      l.failure = std::current_exception();
      if (asked_.how == several_way::host) meeting_.arrive_and_drop();  // the others go on
    }
  }

  void issue(unsigned g, std::uint64_t turn, bool faulty) {
    auto& l = lanes_[g];
    sum_arguments given;
    given.numbers = l.numbers->values() + turn % places_ * stride_;
    given.count = asked_.bytes / bytes_of(asked_.type) - (faulty && g + 1 == gpus() ? 1 : 0);
    given.in_chunks = reading_.in_chunks;
    given.result = result(g, turn);
    given.partials = partials(g, turn);
    given.arrived = reinterpret_cast<unsigned long long*>(on_first(g, lies_.arrived + turn * 8));
    relay_arguments meeting = l.meeting;
    meeting.run.epoch = first_epoch_ + static_cast<std::uint32_t>(turn) + 1;
    if (joining_of(asked_.how) == joining::none) given.partials = partials(g, turn) + std::size_t{g} * blocks_ * bytes_of(asked_.type);
    if (asked_.how == several_way::nccl) {
      given.arrived = l.own.as<unsigned long long>();
      given.result = l.own.get() + 256;
      given.partials = l.own.get() + 512;
    }
    void* parameters[] = {&given, &meeting};
    launch(l, kernel_, blocks_, reading_.threads, parameters);
    if (asked_.how == several_way::nccl) nccl_reduce(g, asked_.type, given.result, result(g, turn), l.stream.get());
    if (asked_.how != several_way::host) return;
    cuda::check(cudaStreamSynchronize(l.stream.get()), "waiting for a GPU's part");
    meeting_.arrive_and_wait();
    if (g != 0) return;
    const void* all = partials(0, turn);
    std::size_t sums = sums_of_blocks();
    void* to = result(0, turn);
    void* to_join[] = {&all, &sums, &to};
    launch(l, second_, 1, static_cast<unsigned>(std::clamp<std::size_t>((sums + 31) / 32 * 32, 32, 512)), to_join);
  }

  void launch(const lane& l, const void* kernel, unsigned blocks, unsigned threads, void** parameters) const {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = kernel == kernel_ ? shared_bytes_of(reading_.how) : 0;
    config.stream = l.stream.get();
    cudaLaunchAttribute together{};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.attrs = &together;
    config.numAttrs = kernel == kernel_ && asked_.how == several_way::single ? 1 : 0;
    cuda::check(cudaLaunchKernelExC(&config, kernel, parameters), "launching a sum");
  }

  void compare(std::uint64_t count, bool faulty, seen& came) {
    const bool reads = asked_.how == several_way::read;
    const std::size_t each = bytes_of(asked_.type), wanted = reads ? sums_of_blocks() * each : 8;
    std::vector<std::byte> results(count * wanted);
    const cuda::device_scope scope(lanes_.front().ordinal);
    cuda::check(cudaMemcpy(results.data(), reads ? partials(0, 0) : result(0, 0), results.size(), cudaMemcpyDeviceToHost), "reading sums");
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = i % places_;
      if (place >= expected_.size()) expected_.push_back(static_cast<std::int64_t>(gpus()) * sum_of_numbers(place * stride_ / each, asked_.bytes / each));
      wrong += !is_sum(asked_.type, results.data() + i * wanted, reads ? sums_of_blocks() : 1, expected_[place]);
    }
    tell_of_sums(count, wrong, faulty, came);
  }

  several_sum asked_;
  reading reading_;
  unsigned blocks_;
  std::size_t places_, stride_;
  const void* kernel_;
  const void* second_;
  std::vector<lane> lanes_;
  std::unique_ptr<gpu_memory> memory_;
  shared_memory lies_;
  std::size_t capacity_ = 0;
  std::uint32_t epoch_ = 0, first_epoch_ = 0;
  cuda::memory abort_;
  std::vector<std::int64_t> expected_;  // by place
  worker_pool pool_;
  std::barrier<> meeting_;
};

std::string why_not(const several_sum& asked, const reading& r, const void* kernel, unsigned& blocks) {
  if (auto reason = cuda::reason_not_to_spin(asked.ordinals.size())) return *reason;
  if (asked.how == several_way::nccl && !has_nccl()) return "this mgsync was built without NCCL";
  if (kernel == nullptr) return fmt::format("there is no kernel that reads by {} like this", to_string(r));
  const auto tile = tile_bytes_of(r.how, r.threads, bytes_of(asked.type));
  blocks = static_cast<unsigned>(std::min<std::size_t>((asked.bytes + tile - 1) / tile, 65535));
  for (const int ordinal : asked.ordinals) {
    if (!asked.cold && asked.bytes > cache_bytes(ordinal) / 2) return fmt::format("{} bytes are more than half of the cache of {}", asked.bytes, cache_bytes(ordinal));
    for (const int other : asked.ordinals) {
      int possible = 1;
      if (other != ordinal) cuda::check(cudaDeviceCanAccessPeer(&possible, ordinal, other), "asking about peer access");
      if (possible == 0) return fmt::format("GPU {} cannot address the memory of GPU {}", ordinal, other);
    }
    const cuda::device_scope scope(ordinal);
    std::size_t free = 0, all = 0;
    cuda::check(cudaMemGetInfo(&free, &all), "asking for free memory");
    if (asked.bytes > all / 10 * 8) return fmt::format("{} bytes do not fit into GPU {}'s {}", asked.bytes, ordinal, all);
    if (is_bulk(r.how))
      cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes_of(r.how))), "asking for shared memory");
    const auto room = static_cast<unsigned>(cuda::resident_blocks(kernel, r.threads, shared_bytes_of(r.how)));
    if (room == 0) return fmt::format("a block of {} does not fit on an SM", to_string(r));
    const auto most = std::min(room, r.blocks_per_sm) * static_cast<unsigned>(cuda::sm_count(ordinal));
    blocks = r.blocks == how_many::one ? 1 : std::min(r.blocks == how_many::all ? 65535 : blocks, most);
  }
  return {};
}

}  // namespace

subject_creation make_several_sum(const several_sum& asked) {
  const auto r = reading_of(asked);
  unsigned blocks = 1;
  if (auto reason = why_not(asked, r, sum_kernel(asked.type, r.how, joining_of(asked.how)), blocks); !reason.empty()) return {nullptr, reason, {}};
  return {std::make_unique<several_sums>(asked, blocks), {}, {{"reading", to_string(r)}, {"blocks", fmt::format("{}", blocks)}}};
}

}  // namespace mgsync::reduction
