#include "src/studies/reduction/several_gpus.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/parts/round_loop/start_line.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda.hpp"
#include "src/base/worker_pool.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"
#include "src/studies/reduction/gpu_numbers.hpp"
#include "src/studies/reduction/nccl_sum.hpp"
#include "src/studies/reduction/places.hpp"
#include "src/studies/reduction/sum_checker.hpp"
#include "src/studies/reduction/sum_exchange.hpp"
#include "src/studies/reduction/sum_launch.hpp"
#include "src/studies/reduction/vendor_sum.hpp"

namespace mgsync::reduction {
namespace {

using clock = std::chrono::steady_clock;
double us_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

reading reading_of(const several_sum& asked, int ordinal) {
  if (asked.asked) return *asked.asked;
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
              "asking what a GPU is");
  const bool bulk = asked.bytes >= least_bytes_for_bulk && major >= 9 && asked.how != several_way::vendor;
  return bulk ? reading{loads::bulk4, 256, 2} : reading{};
}

joining joining_of(several_way how) {
  switch (how) {
  case several_way::single: return joining::several;
  case several_way::last: return joining::last_of_several;
  case several_way::gather: return joining::gathered;
  case several_way::nccl: return joining::last;
  default: return joining::none;
  }
}

// The members that belong to this process, as indices in the group.
std::vector<unsigned> locals_of(const several_sum& asked) {
  std::vector<unsigned> all;
  for (unsigned m = 0; m < asked.group.members.size(); ++m)
    if (asked.group.members[m].rank == asked.where->rank()) all.push_back(m);
  return all;
}
bool one_process(const several_sum& asked) { return asked.where->ranks().size() == 1; }

// The layout of each GPU's part of the memory that other GPUs address, in bytes: a barrier's flags, and by
// turn the slots for what the GPUs below it in a tree send. On GPU 0 also, by turn, the sums of the blocks of
// all GPUs, a counter of blocks, and the whole sums.
struct shared_memory {
  std::size_t flags = 0, arrived = 0, partials = 0, results = 0, slots = 0, bytes = 0;
};

// A GPU of this process, with the host thread that uses it.
struct lane {
  unsigned member = 0;
  int ordinal = 0;
  cuda::stream stream;
  std::shared_ptr<const gpu_numbers> numbers;
  cuda::memory own;  // a counter, a result and partial sums of its own GPU
  cuda::memory box;  // a tree in one process: its part of the shared memory
  relay_arguments meeting{};
  double duration_us = 0, call_us = 0;
  std::string failure;
};

class several_sums final : public subject {
 public:
  several_sums(const several_sum& asked, const reading& r, unsigned blocks,
               std::unique_ptr<symmetric_memory> start, std::unique_ptr<vendor_sum> vendor)
      : asked_(asked),
        reading_(r),
        blocks_(blocks),
        kernel_(sum_kernel(asked.type, r.how, joining_of(asked.how))),
        second_(joining_kernel(asked.type, false)),
        start_(std::move(start)),
        vendor_(std::move(vendor)),
        line_(asked.group, words_of(*start_, asked.group.members.size())),
        pool_(std::vector<int>(locals_of(asked).size(), -1), worker_pool::first_worker::caller),
        meeting_(static_cast<std::ptrdiff_t>(locals_of(asked).size())),
        ranks_(asked.where->ranks().duplicate()) {
    for (const unsigned member : locals_of(asked)) {
      auto& l = lanes_.emplace_back();
      l.member = member;
      l.ordinal = asked.group.members[member].gpu;
      const cuda::device_scope scope(l.ordinal);
      places_ = places_of(sums_in_turn{asked.bytes, asked.cold, l.ordinal});
      l.stream = cuda::make_stream();
      l.numbers = gpu_numbers::on(l.ordinal, asked.type, places_ * stride());
      l.own = cuda::memory::in_pool(l.ordinal, 512 + std::size_t{blocks_} * 16);
      for (const auto* kernel : {kernel_, second_}) cuda::load(kernel, "loading a kernel that adds up");
    }
    abort_ = cuda::memory::on_host(128);
    if (asked.how == several_way::nccl) start_nccl(asked.group, *asked.where);
  }

  seen run(const order& order) override {
    const bool faulty = order.fault == leave_out_the_last;
    seen came{.done = order};
    const int before = lanes_.front().ordinal;
    auto trouble = prepare(order.count);
    if (trouble.empty()) {
      const cuda::device_scope scope(before);
      pool_.run([&](unsigned l) { time(lanes_[l], order.count, faulty); });
    }
    for (const auto& l : lanes_) {
      if (trouble.empty()) trouble = l.failure;
      came.values["duration_us"] = {std::max(l.duration_us, value_so_far(came, "duration_us"))};
      came.values["call_us"] = {std::max(l.call_us, value_so_far(came, "call_us"))};
    }
    came.values["bytes"] = {static_cast<double>(asked_.bytes * gpus())};
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
  seen put_together(seen mine) override { return put_sums_together(asked_.where->ranks(), std::move(mine)); }

 private:
  static std::vector<std::uint32_t*> words_of(const symmetric_memory& memory, std::size_t members) {
    std::vector<std::uint32_t*> all;
    for (unsigned m = 0; m < members; ++m) all.push_back(reinterpret_cast<std::uint32_t*>(memory.part(m)));
    return all;
  }
  static double value_so_far(const seen& came, const char* name) {
    return came.values.contains(name) ? came.values.at(name).front() : 0;
  }

  unsigned gpus() const { return static_cast<unsigned>(asked_.group.members.size()); }
  std::size_t stride() const { return stride_of(asked_.bytes); }
  std::size_t sums_of_blocks() const { return std::size_t{blocks_} * gpus(); }
  bool is_boxed() const { return asked_.how == several_way::gather && one_process(asked_); }
  // For how many turns the blocks' sums are kept: for all turns where they are the result, or where one GPU
  // may be turns ahead of another.
  std::size_t turns_kept(std::size_t count) const {
    switch (asked_.how) {
    case several_way::single:
    case several_way::vendor:
    case several_way::host: return 2;
    case several_way::gather: return 0;
    default: return count;
    }
  }
  std::byte* part(unsigned member, const lane& seen_by) const {
    return is_boxed() ? lanes_[member].box.get()
                      : memory_->part(member, static_cast<unsigned>(&seen_by - lanes_.data()));
  }

  shared_memory layout_for(std::size_t count, std::size_t flag_words) const {
    const auto rounded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    shared_memory here;
    here.arrived = rounded(flag_words * sizeof(std::uint32_t));
    here.partials = here.arrived + rounded(count * 8);
    here.results = here.partials + rounded(turns_kept(count) * sums_of_blocks() * 8);
    here.slots = here.results + rounded(count * 8);
    here.bytes = here.slots + (asked_.how == several_way::gather ? rounded(count * gpus() * 16) : 0);
    return here;
  }

  // Allocates and clears the memory for a run of `count` sums. Returns why that failed, or nothing.
  // Collective over the ranks.
  std::string prepare(std::size_t count) {
    if (count > capacity_) {
      memory_.reset();
      const auto image = algorithm::relay_image(blocks_, algorithm::relay_shape{});
      lies_ = layout_for(count, image.size());
      if (is_boxed()) {
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

  void set_flags(lane& l, const std::vector<std::uint32_t>& image) {
    const cuda::device_scope scope(l.ordinal);
    cuda::check(cudaMemcpy(part(l.member, l), image.data(), image.size() * sizeof(std::uint32_t),
                           cudaMemcpyHostToDevice),
                "setting a barrier up");
    for (unsigned m = 0; m < gpus(); ++m) l.meeting.parts[m] = reinterpret_cast<std::uint32_t*>(part(m, l));
    l.meeting.run.member = l.member;
    l.meeting.run.members = gpus();
    l.meeting.run.blocks = blocks_;
    l.meeting.run.budget_ns = 2'000'000'000;
    l.meeting.run.abort = abort_.as<std::uint32_t>();
  }

  std::byte* partials(const lane& l, std::size_t turn) const {
    return part(0, l) + lies_.partials +
           turn % std::max<std::size_t>(turns_kept(capacity_), 1) * sums_of_blocks() * bytes_of(asked_.type);
  }
  std::byte* result(const lane& l, std::size_t turn) const { return part(0, l) + lies_.results + turn * 8; }
  std::byte* slot(unsigned member, std::size_t turn, const lane& l) const {
    return part(member, l) + lies_.slots + turn * gpus() * 16;
  }

  void time(lane& l, std::uint64_t count, bool faulty) {
    l.failure.clear();
    l.duration_us = l.call_us = 0;
    const auto late = awake_clock::now() + asked_.where->timeout() / 2;
    try {
      cuda::check(cudaSetDevice(l.ordinal), "selecting a GPU");
      if (asked_.cold) l.numbers->push_out_of_cache(l.stream.get());
      if (asked_.how == several_way::nccl) issue(l, 0, faulty);  // connects all GPUs
      cuda::check(cudaStreamSynchronize(l.stream.get()), "emptying the cache");
    } catch (const std::exception& error) { l.failure = error.what(); }
    const bool all_came = line_.meet(l.member, late);
    if (!all_came && l.failure.empty()) l.failure = "not every GPU's thread came to the start of a run";
    if (std::any_of(lanes_.begin(), lanes_.end(), [](const lane& any) { return !any.failure.empty(); }))
      return line_.pass_by(l.member);
    try {
      const auto began = clock::now();
      if (vendor_) issue_vendor(l, count, faulty);
      else
        for (std::uint64_t i = 0; i < count; ++i) issue(l, i, faulty);
      const auto called = clock::now();
      cuda::check(cudaStreamSynchronize(l.stream.get()), "waiting for sums");
      l.duration_us = us_between(began, clock::now());
      l.call_us = us_between(began, called);
    } catch (const std::exception& error) {
      l.failure = error.what();
      if (asked_.how == several_way::host && one_process(asked_))
        meeting_.arrive_and_drop();  // so that the others do not wait for this thread
    }
    line_.meet(l.member, late);  // after this, what others stored into GPU 0's memory is there
  }

  sum_arguments arguments_of(const lane& l, std::uint64_t turn, bool faulty) const {
    sum_arguments given;
    given.numbers = l.numbers->values() + turn % places_ * stride();
    given.count = asked_.bytes / bytes_of(asked_.type) - (faulty && l.member + 1 == gpus() ? 1 : 0);
    given.in_chunks = reading_.in_chunks;
    given.result = result(l, turn);
    given.partials = partials(l, turn);
    given.arrived = reinterpret_cast<unsigned long long*>(part(0, l) + lies_.arrived + turn * 8);
    if (asked_.how == several_way::read || asked_.how == several_way::host)
      given.partials = partials(l, turn) + std::size_t{l.member} * blocks_ * bytes_of(asked_.type);
    if (asked_.how == several_way::nccl) given.result = l.own.get() + 256;
    if (asked_.how == several_way::nccl) given.arrived = l.own.as<unsigned long long>();
    if (asked_.how == several_way::nccl || asked_.how == several_way::gather)
      given.partials = l.own.get() + 512;
    return given;
  }
  gather_arguments tree_of(const lane& l, std::uint64_t turn) const {
    const auto& tree = asked_.tree;
    gather_arguments given;
    given.from = slot(l.member, turn, l);
    given.children = static_cast<unsigned>(tree.children_of(l.member).size());
    if (const int parent = tree.parents[l.member]; parent >= 0) {
      const auto siblings = tree.children_of(static_cast<unsigned>(parent));
      given.to = slot(static_cast<unsigned>(parent), turn, l) +
                 (std::find(siblings.begin(), siblings.end(), l.member) - siblings.begin()) * 16;
    }
    return given;
  }

  void issue(lane& l, std::uint64_t turn, bool faulty) {
    auto given = arguments_of(l, turn, faulty);
    relay_arguments meeting = l.meeting;
    meeting.run.epoch = first_epoch_ + static_cast<std::uint32_t>(turn) + 1;
    gather_arguments tree;
    if (asked_.how == several_way::gather) tree = tree_of(l, turn);
    void* parameters[] = {&given, asked_.how == several_way::gather ? static_cast<void*>(&tree) : &meeting};
    sum_launch what{kernel_, blocks_, reading_.threads, shared_bytes_of(reading_.how)};
    if (asked_.how == several_way::single) what.special = cudaLaunchAttributeCooperative;
    launch(what, parameters, l.stream.get());
    if (asked_.how == several_way::nccl)
      nccl_reduce(static_cast<unsigned>(&l - lanes_.data()), asked_.type, given.result, result(l, turn),
                  l.stream.get());
    if (asked_.how != several_way::host) return;
    cuda::check(cudaStreamSynchronize(l.stream.get()), "waiting for a GPU's part");
    if (one_process(asked_)) meeting_.arrive_and_wait();
    else meet_by_mpi(ranks_);
    if (l.member == 0)
      launch_joining(second_, partials(l, turn), sums_of_blocks(), result(l, turn), false, l.stream.get());
  }

  // One call of the driver launches on all GPUs: the first lane makes it, and the others only wait for their
  // streams.
  void issue_vendor(const lane& l, std::uint64_t count, bool faulty) {
    if (&l == &lanes_.front()) {
      std::vector<cudaStream_t> streams;
      for (const auto& each : lanes_) streams.push_back(each.stream.get());
      for (std::uint64_t i = 0; i < count; ++i) {
        std::vector<sum_arguments> given;
        for (const auto& each : lanes_) given.push_back(arguments_of(each, i, faulty));
        vendor_->launch(blocks_, reading_.threads, given, streams);
      }
    }
    meeting_.arrive_and_wait();
  }

  void compare(std::uint64_t count, bool faulty, seen& came) {
    const bool reads = asked_.how == several_way::read;
    const auto& l = lanes_.front();
    const std::size_t each = bytes_of(asked_.type), wanted = reads ? sums_of_blocks() * each : 8;
    std::vector<std::byte> results(count * wanted);
    const cuda::device_scope scope(l.ordinal);
    cuda::check(cudaMemcpy(results.data(), reads ? partials(l, 0) : result(l, 0), results.size(),
                           cudaMemcpyDeviceToHost),
                "reading sums");
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = i % places_;
      if (place >= expected_.size())
        expected_.push_back(static_cast<std::int64_t>(gpus()) *
                            sum_of_numbers(place * stride() / each, asked_.bytes / each));
      wrong +=
          !is_sum(asked_.type, results.data() + i * wanted, reads ? sums_of_blocks() : 1, expected_[place]);
    }
    tell_of_sums(count, wrong, faulty, came);
  }

  several_sum asked_;
  reading reading_;
  unsigned blocks_;
  std::size_t places_ = 1;
  const void* kernel_;
  const void* second_;
  std::unique_ptr<symmetric_memory> start_;
  std::unique_ptr<vendor_sum> vendor_;
  round_loop::start_line line_;
  std::vector<lane> lanes_;
  std::unique_ptr<group_memory> memory_;
  shared_memory lies_;
  std::size_t capacity_ = 0;
  std::uint32_t epoch_ = 0, first_epoch_ = 0;
  cuda::memory abort_;
  std::vector<std::int64_t> expected_;  // the exact sum at each place
  worker_pool pool_;
  std::barrier<> meeting_;
  communicator ranks_;
};

std::vector<int> ordinals_of(const several_sum& asked) {
  std::vector<int> all;
  for (const unsigned m : locals_of(asked)) all.push_back(asked.group.members[m].gpu);
  return all;
}

std::string why_not_together(const several_sum& asked, const std::vector<int>& ordinals) {
  if (auto reason = cuda::reason_not_to_spin(ordinals.size())) return *reason;
  if (asked.how == several_way::nccl && !has_nccl()) return "this mgsync was built without NCCL";
  if (asked.how == several_way::gather) return asked.tree.reason;
  if (asked.how == several_way::vendor && !one_process(asked))
    return "NVIDIA's barrier is launched by one call for all GPUs, and these belong to several processes";
  for (const int ordinal : ordinals)
    for (const int other : ordinals) {
      int possible = 1;
      if (other != ordinal)
        cuda::check(cudaDeviceCanAccessPeer(&possible, ordinal, other), "asking about peer access");
      if (possible == 0) return fmt::format("GPU {} cannot address the memory of GPU {}", ordinal, other);
    }
  return {};
}

// Why this process's GPUs cannot run these sums; otherwise empty, and `blocks` is how many blocks each GPU
// takes.
std::string why_not(const several_sum& asked, const reading& r, const vendor_sum* vendor, unsigned& blocks) {
  const auto ordinals = ordinals_of(asked);
  if (auto reason = why_not_together(asked, ordinals); !reason.empty()) return reason;
  const auto* kernel = sum_kernel(asked.type, r.how, joining_of(asked.how));
  if (kernel == nullptr || (vendor != nullptr && r.how != loads::vector4))
    return fmt::format("there is no kernel that reads by {} like this", to_string(r));
  const auto tile = tile_bytes_of(r.how, r.threads, bytes_of(asked.type));
  blocks = static_cast<unsigned>(std::min<std::size_t>((asked.bytes + tile - 1) / tile, 65535));
  for (unsigned i = 0; i < ordinals.size(); ++i) {
    const int ordinal = ordinals[i];
    if (!asked.cold && asked.bytes > cache_bytes(ordinal) / 2)
      return fmt::format("{} bytes are more than half of the cache of {}", asked.bytes, cache_bytes(ordinal));
    const cuda::device_scope scope(ordinal);
    std::size_t free = 0, all = 0;
    cuda::check(cudaMemGetInfo(&free, &all), "asking for free memory");
    if (asked.bytes > all / 10 * 8)
      return fmt::format("{} bytes do not fit into GPU {}'s {}", asked.bytes, ordinal, all);
    allow_shared_memory(kernel, r.how);
    const auto room =
        vendor != nullptr
            ? vendor->resident_blocks(i, r.threads)
            : static_cast<unsigned>(cuda::resident_blocks(kernel, r.threads, shared_bytes_of(r.how)));
    if (room == 0) return fmt::format("a block of {} does not fit on an SM", to_string(r));
    const auto most = std::min(room, r.blocks_per_sm) * static_cast<unsigned>(cuda::sm_count(ordinal));
    blocks = r.blocks == how_many::one ? 1 : std::min(r.blocks == how_many::all ? 65535 : blocks, most);
  }
  return {};
}

}  // namespace

subject_creation make_several_sum(const several_sum& asked) {
  const auto r = reading_of(asked, ordinals_of(asked).front());
  unsigned blocks = 1;
  std::string reason;
  std::unique_ptr<vendor_sum> vendor;
  if (asked.how == several_way::vendor && one_process(asked))
    vendor = vendor_sum::load(asked.type, ordinals_of(asked), reason);
  if (reason.empty()) reason = why_not(asked, r, vendor.get(), blocks);
  if (reason = first_complaint(*asked.where, reason); !reason.empty()) return {nullptr, reason, {}};
  blocks =
      std::ranges::min(asked.where->ranks().all_gather_values(blocks, "agreeing on how many blocks add up"));
  auto start = allocate_host_memory(asked.group, 128, reach::group, *asked.where);
  if (!start.memory) return {nullptr, start.reason, {}};
  std::map<std::string, std::string> found{{"reading", to_string(r)}};
  if (asked.how == several_way::gather) found["tree"] = to_string(asked.tree);
  if (asked.how == several_way::host) found["host_barrier"] = one_process(asked) ? "threads" : "MPI_Barrier";
  return {std::make_unique<several_sums>(asked, r, blocks, std::move(start.memory), std::move(vendor)),
          {},
          std::move(found),
          {{"blocks", {"", {static_cast<double>(blocks)}}}}};
}

}  // namespace mgsync::reduction
