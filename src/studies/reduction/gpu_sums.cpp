#include "src/studies/reduction/gpu_sums.hpp"

#include <map>

#include "barriers/parts/algorithm/flag_image.hpp"
#include "src/studies/reduction/cub_sum.hpp"
#include "src/studies/reduction/gpu_numbers.hpp"
#include "src/studies/reduction/places.hpp"
#include "src/studies/reduction/sum_checker.hpp"
#include "src/studies/reduction/sum_launch.hpp"

namespace mgsync::reduction {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t most_in_a_graph = 256;

// Bulk copies are of compute capability 9.0.
reading reading_of(const gpu_sum& asked) {
  if (asked.asked) return *asked.asked;
  const auto best = asked.how->best(asked.type, asked.bytes);
  return is_bulk(best.how) && compute_major(asked.ordinal) < 9 ? reading{} : best;
}

// Sums of one GPU, one after the other in a stream.
class gpu_sums : public subject {
 public:
  seen run(const run_order& order) final {
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
    std::vector<std::byte> results(order.count * slot_bytes_);
    cuda::check(cudaMemcpy(results.data(), results_.get(), results.size(), cudaMemcpyDeviceToHost),
                "reading sums");
    tell_of_sums(order.count, places_.wrong(results, slot_bytes_, parts_), faulty, came);
    return came;
  }

 protected:
  explicit gpu_sums(const gpu_sum& asked)
      : asked_(asked),
        places_(asked.ordinal, asked.type, asked.bytes, asked.cold),
        numbers_(gpu_numbers::on(asked.ordinal, asked.type, places_.bytes())) {
    const cuda::device_scope scope(asked.ordinal);
    stream_ = cuda::make_stream();
    for (auto* event : {&begin_, &end_}) {
      cudaEvent_t made = nullptr;
      cuda::check(cudaEventCreate(&made), "creating an event");
      *event = cuda::event(made);
    }
  }

  // Enqueues one sum.
  virtual void add_up(const std::byte* numbers, std::size_t count, std::byte* result) = 0;
  virtual bool given_up() const { return false; }

  std::size_t count_of(bool faulty) const { return asked_.bytes / bytes_of(asked_.type) - (faulty ? 1 : 0); }

  gpu_sum asked_;
  places_of_sums places_;
  std::shared_ptr<const gpu_numbers> numbers_;
  cuda::stream stream_;
  std::size_t parts_ = 1;       // values that a sum leaves, which are to be added up
  std::size_t slot_bytes_ = 8;  // from one sum's to those of the next

 private:
  void add_up(std::size_t turn, bool faulty) {
    add_up(numbers_->values() + places_.offset_of(turn), count_of(faulty),
           results_.get() + turn * slot_bytes_);
  }

  void prepare(std::uint64_t count, bool faulty) {
    if (results_.bytes() < count * slot_bytes_) {
      graphs_.clear();
      results_ = cuda::memory::in_pool(asked_.ordinal, count * slot_bytes_);
    }
    if (!asked_.how->in_graphs) return;
    auto& pieces = graphs_[{count, faulty}];
    for (std::size_t first = pieces.size() * most_in_a_graph; first < count; first += most_in_a_graph) {
      pieces.push_back(gpu_team::captured(stream_.get(), "capturing sums", [&] {
        for (std::size_t i = first; i < std::min<std::size_t>(count, first + most_in_a_graph); ++i)
          add_up(i, faulty);
      }));
      cuda::check(cudaGraphUpload(pieces.back().get(), stream_.get()), "uploading a graph");
    }
  }

  void issue(std::uint64_t count, bool faulty) {
    if (asked_.how->in_graphs)
      for (const auto& piece : graphs_.at({count, faulty}))
        cuda::check(cudaGraphLaunch(piece.get(), stream_.get()), "launching a graph");
    else
      for (std::size_t i = 0; i < count; ++i) add_up(i, faulty);
  }

  cuda::event begin_, end_;
  cuda::memory results_;
  std::map<std::pair<std::uint64_t, bool>, std::vector<cuda::executable>> graphs_;
};

class by_cub final : public gpu_sums {
 public:
  explicit by_cub(const gpu_sum& asked) : gpu_sums(asked) {
    const cuda::device_scope scope(asked.ordinal);
    std::size_t bytes = 0;
    call(nullptr, bytes, numbers_->values(), count_of(false), nullptr);
    temporary_ = cuda::memory::in_pool(asked.ordinal, std::max<std::size_t>(bytes, 256));
  }

 private:
  void add_up(const std::byte* numbers, std::size_t count, std::byte* result) override {
    std::size_t bytes = temporary_.bytes();
    call(temporary_.get(), bytes, numbers, count, result);
  }
  void call(void* temporary, std::size_t& bytes, const std::byte* from, std::size_t count,
            std::byte* to) const {
    cuda::check(cub_sum(asked_.type, temporary, bytes, from, to, count, stream_.get()), "adding up with CUB");
  }

  cuda::memory temporary_;
};

class by_kernels final : public gpu_sums {
 public:
  explicit by_kernels(const gpu_sum& asked) : gpu_sums(asked), reading_(reading_of(asked)) {
    const cuda::device_scope scope(asked.ordinal);
    const auto& way = *asked.how;
    const auto sms = static_cast<unsigned>(cuda::sm_count(asked.ordinal));
    const bool meets = way.join == joining::counter,
               counter = algorithm::choose_grid(reading_.blocks_per_sm * sms, sms).counter;
    kernel_ = {.kernel = sum_kernel(asked.type, reading_.how, meets && !counter ? joining::relay : way.join),
               .threads = reading_.threads,
               .shared_bytes = shared_bytes_of(reading_.how),
               .as = way.as,
               .cluster = cluster_blocks};
    if (way.as == launch_as::early && (is_bulk(reading_.how) || compute_major(asked.ordinal) < 9))
      kernel_.as = launch_as::plain;
    allow_shared_memory(kernel_.kernel, reading_.how);
    kernel_.blocks =
        blocks_of(reading_, asked.type, asked.bytes, room_of(kernel_.kernel, reading_), asked.ordinal);
    if (way.as == launch_as::clusters)
      kernel_.blocks = std::max(kernel_.blocks / cluster_blocks * cluster_blocks, cluster_blocks);
    if (way.second != second_kernel::none)
      second_ = joining_kernel(asked.type, way.second == second_kernel::early);
    if (way.only_reads()) {
      parts_ = kernel_.blocks;
      slot_bytes_ = kernel_.blocks * bytes_of(asked.type);
    }
    arrived_ = cuda::memory::in_pool(asked.ordinal, 256);
    partials_ = cuda::memory::in_pool(asked.ordinal, kernel_.blocks * std::size_t{16});
    if (meets) set_flags(algorithm::choose_grid(kernel_.blocks, sms), counter);
    for (const auto* kernel : {kernel_.kernel, second_})
      if (kernel != nullptr) cuda::load(kernel, "loading a kernel that adds up");
  }

 private:
  void set_flags(const algorithm::grid_choice& choice, bool counter) {
    const auto image = counter ? algorithm::spread_image(kernel_.blocks, choice.spread)
                               : algorithm::relay_image(kernel_.blocks, choice.relay);
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
      meeting.run.blocks = kernel_.blocks;
      meeting.run.epoch = algorithm::first_gpu_epoch;
      meeting.run.budget_ns = 2'000'000'000;
      meeting.run.abort = abort_.as<std::uint32_t>();
      meeting_ = &meeting;
      epoch_ = &meeting.run.epoch;
    };
    if (counter) start(counter_);
    else start(relay_);
  }
  bool given_up() const override {
    return abort_.get() != nullptr && *abort_.as<volatile std::uint32_t>() != 0;
  }

  void add_up(const std::byte* numbers, std::size_t count, std::byte* result) override {
    const auto& way = *asked_.how;
    sum_arguments given;
    given.numbers = numbers;
    given.count = count;
    given.partials = way.only_reads() ? result : partials_.get();
    given.result = result;
    given.arrived = arrived_.as<unsigned long long>();
    given.in_chunks = reading_.in_chunks;
    ++*epoch_;
    void* parameters[] = {&given, meeting_};
    launch_sum(kernel_, parameters, stream_.get());
    if (second_ != nullptr)
      launch_joining(second_, given.partials, kernel_.blocks, given.result,
                     way.second == second_kernel::early ? launch_as::early : launch_as::plain, stream_.get());
  }

  reading reading_;
  gpu_team::kernel_launch kernel_;
  const void* second_ = nullptr;
  cuda::memory partials_, arrived_, flags_, abort_;
  counter_arguments counter_{};
  relay_arguments relay_{};
  void* meeting_ = &relay_;  // where there is a barrier, its arguments
  std::uint32_t* epoch_ = &relay_.run.epoch;
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
  const auto& way = *asked.how;
  const int major = compute_major(asked.ordinal);
  if (auto reason = why_not_cached(asked.bytes, asked.cold, asked.ordinal); !reason.empty()) return reason;
  if (major < 9 && (way.needs_9_0 || (way.best != nullptr && asked.asked && is_bulk(asked.asked->how))))
    return "needs compute capability 9.0";
  if (way.best == nullptr) return asked.asked ? "CUB chooses how it reads" : "";
  const auto r = reading_of(asked);
  const auto* kernel = sum_kernel(asked.type, r.how, way.join);
  if (kernel == nullptr) return fmt::format("there is no kernel that reads by {} like this", to_string(r));
  const cuda::device_scope scope(asked.ordinal);
  std::size_t free = 0, all = 0;
  cuda::check(cudaMemGetInfo(&free, &all), "asking for free memory");
  if (places_of_sums(asked.ordinal, asked.type, asked.bytes, asked.cold).bytes() > all / 10 * 9)
    return fmt::format("{} bytes do not fit into the GPU's {}", asked.bytes, all);
  allow_shared_memory(kernel, r.how);
  return why_no_room(room_of(kernel, r), r);
}

subject_creation make_gpu_sum(const gpu_sum& asked) {
  if (auto reason = why_no_gpu_sum(asked); !reason.empty()) return {nullptr, reason, {}};
  const auto& told = told_of(asked.ordinal);
  if (asked.how->best == nullptr)
    return {std::make_unique<by_cub>(asked),
            {},
            {{"gpu", told.name}, {"cub", fmt::format("{}", cub_version())}},
            told.numbers};
  return {std::make_unique<by_kernels>(asked),
          {},
          {{"gpu", told.name}, {"reading", to_string(reading_of(asked))}},
          told.numbers};
}

}  // namespace mgsync::reduction
