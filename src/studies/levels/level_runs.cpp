#include "src/studies/levels/level_runs.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "src/base/cuda.hpp"

namespace mgsync::levels {

namespace {

constexpr std::uint32_t passes = 17;
constexpr unsigned window_log2_ns = 17;  // 131 us: longer than a full SM takes for the longest chain

std::span<const probes::image> images_of(std::string_view source) {
  if (source == "warp") return probes::warp_images();
  if (source == "block") return probes::block_images();
  if (source == "cluster") return probes::cluster_images();
  return probes::memory_images();
}

// A ring through all nodes of `bytes`, `stride` bytes apart, in random order: words that are addresses. After them room
// for where each block begins.
class ring {
 public:
  ring(int ordinal, std::size_t bytes, std::size_t stride, unsigned blocks)
      : stride_(stride),
        words_(bytes / sizeof(std::uint64_t)),
        order_(bytes / stride),
        blocks_(blocks),
        memory_(cuda::memory::on_gpu(ordinal, bytes + blocks * sizeof(std::uint64_t))) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::shuffle(order_.begin(), order_.end(), std::mt19937_64(1));
    std::vector<std::uint64_t> words(words_);
    for (std::size_t k = 0; k < order_.size(); ++k)
      words[order_[k] * stride / sizeof(std::uint64_t)] = address(order_[(k + 1) % order_.size()]);
    cuda::check(cudaMemcpy(memory_.get(), words.data(), bytes, cudaMemcpyHostToDevice), "copying the ring of a chase");
  }

  // The blocks begin evenly apart, `nodes` after where they began before.
  void begin(std::size_t nodes) {
    first_ += nodes;
    std::vector<std::uint64_t> starts(blocks_);
    for (std::size_t k = 0; k < blocks_; ++k)
      starts[k] = address(order_[(first_ + k * order_.size() / blocks_) % order_.size()]);
    cuda::check(cudaMemcpy(memory_.as<std::uint64_t>() + words_, starts.data(), blocks_ * sizeof(std::uint64_t),
                           cudaMemcpyHostToDevice),
                "copying where the chases begin");
  }

  std::uint64_t* memory() const { return memory_.as<std::uint64_t>(); }
  std::uint32_t starts() const { return static_cast<std::uint32_t>(words_); }

 private:
  std::uint64_t address(std::uint32_t node) const {
    return reinterpret_cast<std::uint64_t>(memory_.get()) + node * stride_;
  }

  std::size_t stride_, words_;
  std::vector<std::uint32_t> order_;
  unsigned blocks_;
  cuda::memory memory_;
  std::size_t first_ = 0;
};

}  // namespace

level_runs::level_runs(int ordinal, unsigned launches, listener tell)
    : ordinal_(ordinal), launches_(launches), tell_(std::move(tell)) {
  for (const auto* const source : {"warp", "block", "cluster", "memory"}) {
    std::string reason;
    auto one = probes::runner::load(images_of(source), ordinal, reason);
    if (one == nullptr)
      tell_.waived(source, reason);
    else
      runners_.emplace(source, std::move(one));
  }
  sms_ = static_cast<unsigned>(cuda::sm_count(ordinal));
}

level_runs::~level_runs() = default;

std::vector<machine_code::code_verdict> level_runs::check_code() const {
  std::vector<machine_code::code_verdict> verdicts;
  for (const auto& [source, one] : runners_) {
    const auto image = machine_code::read_cubin(one->loaded().bytes);
    for (const auto& f : families()) {
      if (f.source != source || f.oldest > image.architecture) continue;
      for (const unsigned links : f.lengths) verdicts.push_back(machine_code::check_code(image, f.expected(links)));
    }
  }
  return verdicts;
}

void level_runs::run(const probe_family& f, const probes::probe_order& order, unsigned links, const std::string& where,
                     unsigned blocks_per_sm, unsigned lanes) {
  for (unsigned launch = 0; launch < launches_; ++launch)
    if (!run_once(f, order, links, where, blocks_per_sm, lanes, launch)) return;
}

bool level_runs::run_once(const probe_family& f, probes::probe_order order, unsigned links, const std::string& where,
                          unsigned blocks_per_sm, unsigned lanes, unsigned launch) {
  const auto found = runners_.find(f.source);
  if (found == runners_.end()) return false;
  order.kernel = fmt::format("{}_{}", f.name, links);
  order.seed = launch + 1;
  std::string reason;
  const auto saw = found->second->run(order, reason);
  if (!saw) {
    tell_.waived(order.kernel, reason);
    return false;
  }
  std::map<std::uint32_t, raw_samples> by_sm;
  for (const auto& p : saw->passes()) {
    auto [it, added] = by_sm.try_emplace(p.sm);
    auto& r = it->second;
    if (added)
      r = {f.name, links, order.threads, blocks_per_sm, order.cluster, lanes, where, launch,
           p.sm,   {},    p.span_cycles, p.warps,       saw->host_ns};
    ++r.latency_cycles[p.latency_cycles];
    r.span_cycles = std::min(r.span_cycles, p.span_cycles);
  }
  for (const auto& [sm, r] : by_sm) tell_.sample(r);
  return true;
}

void level_runs::latency(const probe_family& f, unsigned threads, std::uint32_t lanes) {
  probes::probe_order order;
  order.passes = passes;
  order.threads = threads == 0 ? f.threads : threads;
  order.cluster = f.cluster;
  order.blocks = f.cluster;
  order.lanes = lanes;
  order.words = 32;  // the size of the group whose size is known at run time only
  for (const unsigned links : f.lengths)
    run(f, order, links, "", 1, lanes == 0xffffffffu ? f.lanes : static_cast<unsigned>(std::popcount(lanes)));
}

void level_runs::throughput(const probe_family& f, unsigned threads, unsigned blocks_per_sm) {
  probes::probe_order order;
  order.passes = 8;
  order.threads = threads;
  order.cluster = f.cluster;
  order.blocks = blocks_per_sm * sms_;
  order.window_log2_ns = window_log2_ns;
  order.words = 32;
  // One launch: its passes are the samples, and every SM has its own.
  run_once(f, order, f.lengths.back(), "throughput", blocks_per_sm, f.lanes, 0);
}

void level_runs::memory() {
  struct level {
    const char* where;
    const char* family;
    std::size_t bytes, stride;
    bool every_sm;
  };
  // DRAM: nodes that no cache has seen, as the whole is several times L2.
  constexpr level levels[] = {{"L1", "l1_chase", 16u << 10, 128, false},
                              {"L2", "l2_chase", 4u << 20, 128, true},
                              {"DRAM", "l2_chase", std::size_t{512} << 20, 256, true}};
  for (const auto& l : levels) {
    const unsigned blocks = l.every_sm ? sms_ : 1;
    ring nodes(ordinal_, l.bytes, l.stride, blocks);
    const auto& f = family(l.family);
    for (const unsigned links : f.lengths) {
      for (unsigned launch = 0; launch < launches_; ++launch) {
        nodes.begin(std::size_t{passes} * links);
        probes::probe_order order;
        order.passes = passes;
        order.memory = nodes.memory();
        order.words = nodes.starts();
        order.fill_sms = l.every_sm;
        order.blocks = blocks;
        run_once(f, order, links, l.where, 1, 32, launch);
      }
    }
  }
  const auto memory = cuda::memory::on_gpu(ordinal_, 4096);
  const auto& f = family("global_atomic");
  for (const unsigned links : f.lengths) {
    probes::probe_order order;
    order.passes = passes;
    order.memory = memory.as<std::uint64_t>();
    run(f, order, links, "L2", 1, 32);
  }
}

void level_runs::cluster_by_both_clocks(const probe_family& f) {
  for (const std::uint32_t many : {2000u, 10000u}) {
    probes::probe_order order;
    order.passes = many;
    order.cluster = order.blocks = f.cluster;
    run(f, order, f.lengths.back(), "host " + std::to_string(many), 1, 32);
  }
}

}  // namespace mgsync::levels
