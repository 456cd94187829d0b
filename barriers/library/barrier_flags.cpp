#include "barriers/library/barrier_flags.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/library/missing.hpp"
#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

using algorithm::first_gpu_epoch;

// In 2^20 ns, the unit of the device.
std::uint32_t patience_of(std::chrono::nanoseconds timeout) {
  const auto ns = timeout.count();
  if (ns == 0) return UINT32_MAX;
  constexpr long long unit = 1 << 20;
  return static_cast<std::uint32_t>(
      std::min<long long>(ns / unit + (ns % unit != 0), INT32_MAX));  // of any time-out, the largest too
}

// On the calling thread's GPU, whatever its default stream does.
void copy(void* to, const void* from, std::size_t bytes, std::string_view action) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), action);
  cuda::check(cudaStreamSynchronize(stream.get()), action);
}

std::unique_ptr<gpu_memory> memory_of(const gpu_members& members, std::size_t bytes) {
  auto made = allocate_gpu_memory(members, bytes, peer_memory::automatic, given_back::at_once);
  if (!made.memory) throw unsupported_error(made.reason);
  return std::move(made.memory);
}

}  // namespace

barrier_flags::barrier_flags(const group_members& group, std::chrono::nanoseconds timeout)
    : members_(group.gpus),
      local_(group.gpus.local()),
      fewest_sms_(group.fewest_sms),
      patience_(patience_of(timeout)) {
  all_or_none(members_, [&] {
    report_ = cuda::memory::on_host((local_.size() + 2) * sizeof(multi_grid_report));
    heard_ = cuda::memory::on_host(sizeof(std::uint32_t));
  });
  stops_ = memory_of(members_,
                     algorithm::line_bytes);  // here it is found out where there is no way from GPU to GPU
  all_or_none(members_, [&] {
    for (unsigned l = 0; l < local_.size(); ++l) {
      std::vector<std::byte*> words{stops_->part(local_[l], l)};
      for (unsigned m = 0; m < members_.places.size(); ++m)
        if (m != local_[l]) words.push_back(stops_->part(m, l));
      const int ordinal = members_.places[local_[l]].ordinal;
      const cuda::device_scope scope(ordinal);
      stop_lists_.push_back(cuda::memory::on_gpu(ordinal, words.size() * sizeof words[0]));
      copy(stop_lists_.back().get(), words.data(), words.size() * sizeof words[0], "setting up a group");
    }
  });
}

void barrier_flags::add(unsigned blocks) {
  const auto gpus = static_cast<unsigned>(members_.places.size());
  grid_flags made;
  made.choice = choose_multigrid(gpus, blocks, fewest_sms_);
  const auto bytes = image_of(made.choice, blocks).size() * sizeof(std::uint32_t);
  made.memory = memory_of(members_, bytes);
  all_or_none(members_, [&] {
    for (unsigned l = 0; l < local_.size(); ++l) {
      const int ordinal = members_.places[local_[l]].ordinal;
      made.records.push_back(cuda::memory::on_gpu(ordinal, blocks * sizeof(multi_grid_block)));
      std::vector<std::uint32_t*> parts;
      for (unsigned m = 0; m < gpus; ++m)
        parts.push_back(reinterpret_cast<std::uint32_t*>(made.memory->part(m, l)));
      made.handles.push_back(describe(made.choice, parts.data(), local_[l], gpus, blocks));
      made.handles.back().records = made.records.back().as<multi_grid_block>();
      made.handles.back().stopped = stop_word(local_[l], l);
      made.handles.back().generation = generation_;
    }
    fill(blocks, made);
  });
  grids_.emplace(blocks, std::move(made));
}

void barrier_flags::fill(unsigned blocks, grid_flags& grid) const {
  const auto image = image_of(grid.choice, blocks);
  for (unsigned l = 0; l < local_.size(); ++l) {
    const cuda::device_scope scope(members_.places[local_[l]].ordinal);
    copy(grid.memory->part(local_[l], l), image.data(), image.size() * sizeof image[0],
         "setting the flags of a barrier");
    auto record = fresh_block();
    record.patience = patience_;
    record.generation = generation_;
    record.told = told();
    record.report = reports() + l;
    record.stops = stop_lists_[l].as<std::uint32_t*>();
    record.watched = stop_word(local_[l], l);
    record.stop_count = static_cast<std::uint16_t>(members_.places.size());
    const std::vector<multi_grid_block> records(blocks, record);
    copy(grid.records[l].get(), records.data(), records.size() * sizeof record,
         "setting the records of a barrier");
    grid.handles[l].generation = generation_;
  }
}

void barrier_flags::renew() {
  ++generation_;
  for (auto& [blocks, grid] : grids_) fill(blocks, grid);
  const std::uint32_t none = 0;
  for (unsigned l = 0; l < local_.size(); ++l) {
    const cuda::device_scope scope(members_.places[local_[l]].ordinal);
    copy(stop_word(local_[l], l), &none, sizeof none, "setting up a group");
  }
  std::fill_n(reports(), local_.size() + 2, multi_grid_report{});
}

bool barrier_flags::given_up() const { return std::atomic_ref<std::uint32_t>(*told()).load() != 0; }

const multi_grid_report& barrier_flags::report() const {
  return *std::max_element(
      reports(), reports() + local_.size() + 1,
      [](const multi_grid_report& a, const multi_grid_report& b) { return a.what < b.what; });
}

void barrier_flags::give_up(unsigned blocks, unsigned local) noexcept {
  reports()[local_.size()] = {multi_grid_report::launch_failed, local_[local], blocks, blocks};
  std::atomic_ref<std::uint32_t>(*told()).store(1);
  const std::uint32_t stop = 1;
  for (unsigned m = 0; m < members_.places.size(); ++m) try {
      const cuda::device_scope scope(members_.places[local_.front()].ordinal);
      copy(stop_word(m, 0), &stop, sizeof stop, "telling the other GPUs");
    } catch (const std::exception& error) {
      std::fprintf(stderr, "mgsync: after a launch that failed: %s\n", error.what());
    }
}

void barrier_flags::listen(unsigned local, cudaStream_t stream) {
  const int ordinal = members_.places[local_[local]].ordinal;
  const cuda::device_scope scope(ordinal);
  const auto action = [&] { return filled("asking GPU {} whether others gave up", ordinal); };
  cuda::check(cudaMemcpyAsync(heard_.get(), stop_word(local_[local], local), sizeof(std::uint32_t),
                              cudaMemcpyDeviceToHost, stream),
              action());
  cuda::check(cudaStreamSynchronize(stream), action());
  if (*heard_.as<std::uint32_t>() != 0) std::atomic_ref<std::uint32_t>(*told()).store(1);
}

std::vector<multi_grid_block> barrier_flags::records_of(const grid_flags& grid, unsigned local) const {
  const cuda::device_scope scope(members_.places[local_[local]].ordinal);
  std::vector<multi_grid_block> records(grid.handles[local].blocks);
  copy(records.data(), grid.records[local].get(), records.size() * sizeof records[0], "reading who arrived");
  return records;
}

std::string barrier_flags::who_is_missing() const {
  const auto found = grids_.find(report().made_for);
  if (found == grids_.end()) return library::who_is_missing({});
  const grid_flags& grid = found->second;
  std::vector<arrivals> all;
  for (unsigned l = 0; l < local_.size(); ++l) {
    all.push_back({filled("GPU {} (grid {})", members_.places[local_[l]].ordinal, local_[l]), {}});
    for (const auto& r : records_of(grid, l)) all.back().epochs.push_back(r.epoch);
  }
  if (!members_.one_process()) {
    std::vector<std::uint32_t> inbox(members_.places.size());
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    const auto first = std::size_t{algorithm::relay_layout{}.inbox(0)} * algorithm::line_bytes;
    copy(inbox.data(), grid.memory->part(local_.front(), 0) + first, inbox.size() * sizeof inbox[0],
         "reading who arrived");
    for (std::size_t m = 0; m < inbox.size(); ++m)
      if (const auto& at = members_.places[m]; at.process != members_.process)
        all.push_back(
            {filled("GPU {} of process {} (grid {})", at.ordinal, at.process, m), {inbox[m]}, false});
  }
  return library::who_is_missing(all);
}

}  // namespace mgsync::library
