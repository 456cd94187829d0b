#include "barriers/library/barrier_flags.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/library/choice.hpp"
#include "barriers/library/include/mgsync/multi_grid.hpp"

namespace mgsync::library {

namespace {

using algorithm::first_gpu_epoch;

std::size_t flag_bytes(std::size_t members) {
  const std::size_t lines = members == 1 ? std::max(algorithm::relay_layout{}.lines(), algorithm::spread_layout{}.lines())
                                         : algorithm::relay_layout{}.lines();
  return lines * algorithm::line_bytes;
}

// In 2^20 ns, the unit of the device.
std::uint32_t patience_of(std::chrono::nanoseconds timeout) {
  const auto ns = timeout.count();
  if (ns < 0) throw usage_error("a negative time-out: it takes 0 (for ever) or more");
  if (ns == 0) return UINT32_MAX;
  return static_cast<std::uint32_t>(std::min<long long>((ns + (1 << 20) - 1) >> 20, INT32_MAX));
}

void copy_to(void* to, const void* from, std::size_t bytes) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream.get()), "setting the flags of a barrier");
  cuda::check(cudaStreamSynchronize(stream.get()), "setting the flags of a barrier");
}

template <class T>
void copy_from(T* to, const void* from, std::size_t count) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream.get()), "reading who arrived");
  cuda::check(cudaStreamSynchronize(stream.get()), "reading who arrived");
}

// "17, 18, 40 and 3 more".
std::string listed(const std::vector<std::size_t>& blocks) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(blocks.size(), most); ++i) text += (i == 0 ? "" : ", ") + std::to_string(blocks[i]);
  if (blocks.size() > most) text += fmt::format(" and {} more", blocks.size() - most);
  return text;
}

}  // namespace

barrier_flags::barrier_flags(const group_members& group, std::chrono::nanoseconds timeout)
    : members_(group.gpus), local_(group.gpus.local()), fewest_sms_(group.fewest_sms), patience_(patience_of(timeout)),
      abort_(cuda::memory::on_host(algorithm::line_bytes)), records_(local_.size()), handles_(local_.size()) {
  auto made = allocate_gpu_memory(members_, flag_bytes(members_.places.size()), peer_memory::automatic);
  if (!made.memory) throw unsupported_error(made.reason);
  flags_ = std::move(made.memory);
}

void barrier_flags::start(unsigned blocks) {
  const auto gpus = static_cast<unsigned>(members_.places.size());
  const auto choice = choose_multigrid(gpus, blocks, fewest_sms_);
  const auto image = choice.counter ? algorithm::spread_image(blocks, choice.spread) : algorithm::relay_image(blocks);
  why_ = choice.why;
  const std::vector<multi_grid_block> fresh(blocks, fresh_block);
  for (unsigned l = 0; l < local_.size(); ++l) {
    const int ordinal = members_.places[local_[l]].ordinal;
    const cuda::device_scope scope(ordinal);
    copy_to(flags_->part(local_[l], l), image.data(), image.size() * sizeof image[0]);
    if (blocks > blocks_) records_[l] = cuda::memory::on_gpu(ordinal, blocks * sizeof(multi_grid_block));
    copy_to(records_[l].get(), fresh.data(), blocks * sizeof(multi_grid_block));
    multi_grid_handle& h = handles_[l];
    for (unsigned m = 0; m < gpus; ++m) h.parts[m] = reinterpret_cast<std::uint32_t*>(flags_->part(m, l));
    h.records = records_[l].as<multi_grid_block>();
    h.bounds = {abort_.as<std::uint32_t>(), patience_};
    h.rank = local_[l];
    describe(choice, gpus, blocks, h);
  }
  std::atomic_ref<std::uint32_t>(*abort_.as<std::uint32_t>()).store(0);
  blocks_ = blocks;
}

bool barrier_flags::given_up() const { return std::atomic_ref<std::uint32_t>(*abort_.as<std::uint32_t>()).load() != 0; }

void barrier_flags::give_up() { std::atomic_ref<std::uint32_t>(*abort_.as<std::uint32_t>()).store(1); }

std::vector<multi_grid_block> barrier_flags::records_of(unsigned local) const {
  const cuda::device_scope scope(members_.places[local_[local]].ordinal);
  std::vector<multi_grid_block> records(blocks_);
  copy_from(records.data(), records_[local].get(), records.size());
  return records;
}

std::string barrier_flags::who_is_missing() const {
  const auto barriers = [](std::uint32_t epoch) { return epoch - first_gpu_epoch; };  // arrived at
  std::uint32_t furthest = 0;
  std::vector<std::vector<multi_grid_block>> records;
  for (unsigned l = 0; l < local_.size(); ++l) {
    records.push_back(records_of(l));
    for (const auto& r : records.back()) furthest = std::max(furthest, barriers(r.epoch));
  }
  std::vector<std::string> late;
  for (unsigned l = 0; l < local_.size(); ++l) {
    std::vector<std::size_t> blocks;
    for (std::size_t b = 0; b < records[l].size(); ++b)
      if (barriers(records[l][b].epoch) < furthest) blocks.push_back(b);
    const auto gpu = fmt::format("GPU {} (grid {})", members_.places[local_[l]].ordinal, local_[l]);
    if (blocks.size() == blocks_) late.push_back(fmt::format("{}: all {} blocks", gpu, blocks_));
    else if (!blocks.empty()) late.push_back(fmt::format("{}: block{} {}", gpu, blocks.size() == 1 ? "" : "s", listed(blocks)));
  }
  if (!members_.one_process()) {
    std::vector<std::uint32_t> inbox(members_.places.size());
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    const auto first = std::size_t{algorithm::relay_layout{}.inbox(0)} * algorithm::line_bytes;
    copy_from(inbox.data(), flags_->part(local_.front(), 0) + first, inbox.size());
    for (std::size_t m = 0; m < inbox.size(); ++m)
      if (members_.places[m].process != members_.process && barriers(inbox[m]) < furthest)
        late.push_back(fmt::format("GPU {} of process {} (grid {})", members_.places[m].ordinal, members_.places[m].process, m));
  }
  if (late.empty()) return fmt::format("barrier {}: all arrived in the end, but too late", furthest);
  std::string text = fmt::format("barrier {}: not arrived: ", furthest);
  for (std::size_t i = 0; i < late.size(); ++i) text += (i == 0 ? "" : "; ") + late[i];
  return text;
}

}  // namespace mgsync::library
