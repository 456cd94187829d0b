#include "src/studies/reduction/gpu_sums.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "barriers/parts/algorithm/flag_image.hpp"
#include "src/studies/reduction/cub_sum.hpp"
#include "src/studies/reduction/gpu_kernels.hpp"
#include "src/studies/reduction/gpu_numbers.hpp"
#include "src/studies/reduction/places.hpp"
#include "src/studies/reduction/sum_checker.hpp"
#include "src/studies/reduction/sum_launch.hpp"

namespace mgsync::reduction {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t most_in_a_graph = 256;

double us_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

std::size_t places_of(const gpu_sum& asked) {
  return places_of(sums_in_turn{asked.bytes, asked.cold, asked.ordinal});
}

joining joining_of(const gpu_sum& asked, bool counter) {
  switch (asked.how) {
  case gpu_way::read:
  case gpu_way::read_graph:
  case gpu_way::word_read:
  case gpu_way::implicit:
  case gpu_way::implicit_graph: return joining::none;
  case gpu_way::programmatic: return joining::dependent;
  case gpu_way::grid_sync: return joining::grid_sync;
  case gpu_way::grid_ours: return counter ? joining::counter : joining::relay;
  case gpu_way::cluster: return joining::cluster;
  case gpu_way::automatic:
  case gpu_way::automatic_graph: return joining::inbox;
  default: return joining::last;
  }
}

bool is_cub(gpu_way how) { return how == gpu_way::cub || how == gpu_way::cub_graph; }
bool is_graph(gpu_way how) {
  return how == gpu_way::cub_graph || how == gpu_way::implicit_graph || how == gpu_way::automatic_graph ||
         how == gpu_way::read_graph;
}
bool is_automatic(gpu_way how) { return how == gpu_way::automatic || how == gpu_way::automatic_graph; }
bool meets(gpu_way how) { return how == gpu_way::grid_sync || how == gpu_way::grid_ours; }
bool only_reads(gpu_way how) {
  return how == gpu_way::read || how == gpu_way::read_graph || how == gpu_way::word_read;
}
bool is_two_kernels(gpu_way how) {
  return how == gpu_way::implicit || how == gpu_way::implicit_graph || how == gpu_way::programmatic;
}

int compute_major(int ordinal) {
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
              "asking what a GPU is");
  return major;
}

// Bulk copies are of compute capability 9.0.
reading reading_of(const gpu_sum& asked) {
  if (asked.asked) return *asked.asked;
  const auto best = best_reading(asked.how, asked.type, asked.bytes);
  return is_bulk(best.how) && compute_major(asked.ordinal) < 9 ? reading{} : best;
}

// The number of blocks: the least of how many tiles there are, how many are allowed, and how many are
// resident at once.
unsigned blocks_of(const gpu_sum& asked, const void* kernel) {
  const auto r = reading_of(asked);
  const auto tiles = (asked.bytes + tile_bytes_of(r.how, r.threads, bytes_of(asked.type)) - 1) /
                     tile_bytes_of(r.how, r.threads, bytes_of(asked.type));
  const cuda::device_scope scope(asked.ordinal);
  const int room = cuda::resident_blocks(kernel, r.threads, shared_bytes_of(r.how));
  const auto most = std::min<unsigned>(r.blocks_per_sm, static_cast<unsigned>(room)) *
                    static_cast<unsigned>(cuda::sm_count(asked.ordinal));
  auto blocks = r.blocks == how_many::one   ? 1
                : r.blocks == how_many::all ? most
                                            : static_cast<unsigned>(std::min<std::size_t>(most, tiles));
  if (asked.how == gpu_way::cluster)
    blocks = std::max(blocks / cluster_blocks * cluster_blocks, cluster_blocks);
  return blocks;
}

class gpu_sums final : public subject {
 public:
  explicit gpu_sums(const gpu_sum& asked)
      : asked_(asked),
        reading_(reading_of(asked)),
        places_(places_of(asked)),
        stride_(stride_of(asked.bytes)),
        numbers_(gpu_numbers::on(asked.ordinal, asked.type, places_ * stride_)) {
    const cuda::device_scope scope(asked.ordinal);
    stream_ = cuda::make_stream();
    for (auto* event : {&begin_, &end_}) {
      cudaEvent_t made = nullptr;
      cuda::check(cudaEventCreate(&made), "creating an event");
      *event = cuda::event(made);
    }
    if (is_cub(asked.how)) {
      std::size_t bytes = 0;
      call_cub(nullptr, bytes, numbers_->values(), nullptr, count_of(false));
      temporary_ = cuda::memory::in_pool(asked.ordinal, std::max<std::size_t>(bytes, 256));
      return;
    }
    early_ = is_automatic(asked.how) && compute_major(asked.ordinal) >= 9 && !is_bulk(reading_.how);
    const auto sms = static_cast<unsigned>(cuda::sm_count(asked.ordinal));
    const auto choice = algorithm::choose_grid(reading_.blocks_per_sm * sms, sms);
    kernel_ = sum_kernel(asked.type, reading_.how, joining_of(asked, choice.counter));
    allow_shared_memory(kernel_, reading_.how);
    blocks_ = blocks_of(asked, kernel_);
    if (is_two_kernels(asked.how)) second_ = joining_kernel(asked.type, asked.how == gpu_way::programmatic);
    arrived_ = cuda::memory::in_pool(asked.ordinal, 256);
    if (asked.how == gpu_way::grid_ours) set_flags(algorithm::choose_grid(blocks_, sms), choice.counter);
    for (const auto* kernel : {kernel_, second_})
      if (kernel != nullptr) cuda::load(kernel, "loading a kernel that adds up");
  }

  seen run(const order& order) override {
    const cuda::device_scope scope(asked_.ordinal);
    const bool faulty = order.fault == leave_out_the_last;
    prepare(order.count, faulty);
    if (asked_.cold) numbers_->push_out_of_cache(stream_.get());
    cuda::check(cudaMemsetAsync(results_.get(), 0xff, results_.bytes(), stream_.get()), "clearing results");
    cuda::check(cudaStreamSynchronize(stream_.get()), "clearing results");
    const auto began = clock::now();
    cuda::check(cudaEventRecord(begin_.get(), stream_.get()), "recording the begin of sums");
    issue(order.count, faulty);
    cuda::check(cudaEventRecord(end_.get(), stream_.get()), "recording the end of sums");
    const auto called = clock::now();
    cuda::check(cudaStreamSynchronize(stream_.get()), "waiting for sums");
    const auto ended = clock::now();
    float event_ms = 0;
    cuda::check(cudaEventElapsedTime(&event_ms, begin_.get(), end_.get()), "asking how long sums took");
    seen came{.done = order};
    came.values = {{"duration_us", {us_between(began, ended)}},
                   {"call_us", {us_between(began, called)}},
                   {"event", {static_cast<double>(event_ms) * 1e3 / static_cast<double>(order.count)}},
                   {"bytes", {static_cast<double>(asked_.bytes)}}};
    if (given_up()) {
      came.ended = ending::stuck;
      came.reason = "a barrier inside a sum was given up";
      return came;
    }
    compare(order.count, faulty, came);
    return came;
  }

 private:
  std::size_t count_of(bool faulty) const { return asked_.bytes / bytes_of(asked_.type) - (faulty ? 1 : 0); }
  const std::byte* numbers_of(std::size_t turn) const {
    return numbers_->values() + turn % places_ * stride_;
  }
  std::size_t slot_bytes() const { return only_reads(asked_.how) ? blocks_ * bytes_of(asked_.type) : 8; }
  std::byte* slot(std::size_t turn) const { return results_.get() + turn * slot_bytes(); }

  void set_flags(const algorithm::grid_choice& choice, bool counter) {
    const auto image = counter ? algorithm::spread_image(blocks_, choice.spread)
                               : algorithm::relay_image(blocks_, choice.relay);
    flags_ = cuda::memory::in_pool(asked_.ordinal, image.size() * sizeof(std::uint32_t));
    cuda::check(
        cudaMemcpy(flags_.get(), image.data(), image.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
        "setting a barrier up");
    abort_ = cuda::memory::on_host(128);
    counter_.shape = choice.spread;
    relay_.shape = choice.relay;
    const auto start = [&](auto& meeting) {
      meeting.parts[0] = flags_.as<std::uint32_t>();
      meeting.run.members = 1;
      meeting.run.blocks = blocks_;
      meeting.run.epoch = algorithm::first_gpu_epoch;
      meeting.run.budget_ns = 2'000'000'000;
      meeting.run.abort = abort_.as<std::uint32_t>();
    };
    start(counter_);
    start(relay_);
    by_counter_ = counter;
  }
  bool given_up() const { return abort_.get() != nullptr && *abort_.as<volatile std::uint32_t>() != 0; }

  void call_cub(void* temporary, std::size_t& bytes, const std::byte* from, std::byte* to,
                std::size_t count) const {
    cuda::check(cub_sum(asked_.type, temporary, bytes, from, to, count, stream_.get()), "adding up with CUB");
  }

  void issue_one(std::size_t turn, bool faulty) {
    if (is_cub(asked_.how)) {
      std::size_t bytes = temporary_.bytes();
      return call_cub(temporary_.get(), bytes, numbers_of(turn), slot(turn), count_of(faulty));
    }
    sum_arguments given;
    given.numbers = numbers_of(turn);
    given.count = count_of(faulty);
    given.partials = only_reads(asked_.how) ? slot(turn) : partials_.get();
    given.result = slot(turn);
    given.arrived = arrived_.as<unsigned long long>();
    given.in_chunks = reading_.in_chunks;
    ++counter_.run.epoch;
    ++relay_.run.epoch;
    void* parameters[] = {&given, by_counter_ ? static_cast<void*>(&counter_) : &relay_};
    std::optional<cudaLaunchAttributeID> special;
    if (meets(asked_.how)) special = cudaLaunchAttributeCooperative;
    if (asked_.how == gpu_way::cluster) special = cudaLaunchAttributeClusterDimension;
    if (early_) special = cudaLaunchAttributeProgrammaticStreamSerialization;
    launch({kernel_, blocks_, reading_.threads, shared_bytes_of(reading_.how), special}, parameters,
           stream_.get());
    if (second_ != nullptr)
      launch_joining(second_, given.partials, blocks_, given.result, asked_.how == gpu_way::programmatic,
                     stream_.get());
  }

  void prepare(std::uint64_t count, bool faulty) {
    if (results_.bytes() < count * slot_bytes()) {
      graphs_.clear();
      results_ = cuda::memory::in_pool(asked_.ordinal, count * slot_bytes());
    }
    if (!is_cub(asked_.how) && partials_.get() == nullptr)
      partials_ = cuda::memory::in_pool(asked_.ordinal, blocks_ * std::size_t{16});
    if (!is_graph(asked_.how)) return;
    auto& pieces = graphs_[{count, faulty}];
    for (std::size_t first = pieces.size() * most_in_a_graph; first < count; first += most_in_a_graph) {
      cuda::check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal), "capturing sums");
      for (std::size_t i = first; i < std::min<std::size_t>(count, first + most_in_a_graph); ++i)
        issue_one(i, faulty);
      cudaGraph_t captured = nullptr;
      cuda::check(cudaStreamEndCapture(stream_.get(), &captured), "capturing sums");
      pieces.push_back(cuda::instantiate(cuda::graph(captured)));
      cuda::check(cudaGraphUpload(pieces.back().get(), stream_.get()), "uploading a graph");
    }
  }

  void issue(std::uint64_t count, bool faulty) {
    if (is_graph(asked_.how)) {
      for (const auto& piece : graphs_.at({count, faulty}))
        cuda::check(cudaGraphLaunch(piece.get(), stream_.get()), "launching a graph");
      return;
    }
    for (std::size_t i = 0; i < count; ++i) issue_one(i, faulty);
  }

  void compare(std::uint64_t count, bool faulty, seen& came) {
    std::vector<std::byte> results(count * slot_bytes());
    cuda::check(cudaMemcpy(results.data(), results_.get(), results.size(), cudaMemcpyDeviceToHost),
                "reading sums");
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = i % places_;
      if (place >= expected_.size())
        expected_.push_back(sum_of_numbers(place * stride_ / bytes_of(asked_.type), count_of(false)));
      const std::size_t parts = only_reads(asked_.how) ? blocks_ : 1;
      wrong += !is_sum(asked_.type, results.data() + i * slot_bytes(), parts, expected_[place]);
    }
    tell_of_sums(count, wrong, faulty, came);
  }

  gpu_sum asked_;
  reading reading_;
  std::size_t places_, stride_;
  std::shared_ptr<const gpu_numbers> numbers_;
  cuda::stream stream_;
  cuda::event begin_, end_;
  const void* kernel_ = nullptr;
  const void* second_ = nullptr;
  unsigned blocks_ = 1;
  cuda::memory temporary_, results_, partials_, arrived_, flags_, abort_;
  counter_arguments counter_{};
  relay_arguments relay_{};
  bool by_counter_ = false;
  bool early_ = false;                  // a sum's kernel may start before the one before has ended
  std::vector<std::int64_t> expected_;  // the exact sum at each place
  std::map<std::pair<std::uint64_t, bool>, std::vector<cuda::executable>> graphs_;
};

// What a result tells of its GPU. Queried once per GPU, since some of it takes long.
struct told_of_gpu {
  std::string name;
  quantities_by_name numbers;
};
const told_of_gpu& told_of(int ordinal) {
  static std::map<int, told_of_gpu> all;
  auto& here = all[ordinal];
  if (!here.name.empty()) return here;
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, ordinal), "asking what a GPU is");
  return here = {properties.name,
                 {{"cache", {"B", {static_cast<double>(cache_bytes(ordinal))}}},
                  {"memory", {"GB/s", {theory_gbps(ordinal)}}}}};
}

}  // namespace

double theory_gbps(int ordinal) {
  int width_bits = 0, clock_khz = 0;
  cuda::check(cudaDeviceGetAttribute(&width_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal),
              "asking for the memory's bus");
  cuda::check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, ordinal),
              "asking for the memory's clock");
  return width_bits / 8.0 * 2.0 * clock_khz * 1e-6;
}

std::string why_no_gpu_sum(const gpu_sum& asked) {
  const int major = compute_major(asked.ordinal);
  const auto cache = cache_bytes(asked.ordinal);
  if (!asked.cold && asked.bytes > cache / 2)
    return fmt::format("{} bytes are more than half of the cache of {}", asked.bytes, cache);
  const bool bulk = !is_cub(asked.how) && is_bulk(reading_of(asked).how);
  if (major < 9 && (asked.how == gpu_way::cluster || asked.how == gpu_way::programmatic ||
                    (bulk && asked.asked) || asked.how == gpu_way::bulk))
    return "needs compute capability 9.0";
  if (is_cub(asked.how)) return asked.asked ? "CUB chooses how it reads" : "";
  const auto r = reading_of(asked);
  const auto* kernel = sum_kernel(asked.type, r.how, joining_of(asked, true));
  if (kernel == nullptr) return fmt::format("there is no kernel that reads by {} like this", to_string(r));
  const cuda::device_scope scope(asked.ordinal);
  std::size_t free = 0, all = 0;
  cuda::check(cudaMemGetInfo(&free, &all), "asking for free memory");
  if (places_of(asked) * stride_of(asked.bytes) > all / 10 * 9)
    return fmt::format("{} bytes do not fit into the GPU's {}", asked.bytes, all);
  allow_shared_memory(kernel, r.how);
  if (cuda::resident_blocks(kernel, r.threads, shared_bytes_of(r.how)) == 0)
    return fmt::format("a block of {} does not fit on an SM", to_string(r));
  return {};
}

subject_creation make_gpu_sum(const gpu_sum& asked) {
  if (auto reason = why_no_gpu_sum(asked); !reason.empty()) return {nullptr, reason, {}};
  const auto& told = told_of(asked.ordinal);
  std::map<std::string, std::string> found{{"gpu", told.name}};
  if (!is_cub(asked.how)) found["reading"] = to_string(reading_of(asked));
  else found["cub"] = fmt::format("{}", cub_version());
  return {std::make_unique<gpu_sums>(asked), {}, std::move(found), told.numbers};
}

}  // namespace mgsync::reduction
