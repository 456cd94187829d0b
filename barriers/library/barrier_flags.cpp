#include "barriers/library/barrier_flags.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/library/missing.hpp"
#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

using algorithm::first_gpu_epoch;

// The time-out in the unit that kernels use, 2^20 ns, rounded up.
std::uint32_t patience_of(std::chrono::nanoseconds timeout) {
  const auto ns = timeout.count();
  if (ns == 0) return UINT32_MAX;
  constexpr long long unit = 1 << 20;
  return static_cast<std::uint32_t>(
      std::min<long long>(ns / unit + (ns % unit != 0), INT32_MAX));  // no overflow for any time-out
}

// Copies on a stream of the calling thread's GPU, so that it does not wait for the default stream.
void copy(void* to, const void* from, std::size_t bytes, std::string_view action) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), action);
  cuda::check(cudaStreamSynchronize(stream.get()), action);
}

}  // namespace

memory_source own_memory(peer_memory wanted) {
  return [wanted](const gpu_members& members, std::size_t bytes) {
    // Memory shared by VMM exists until the last process has released it, so that no process has to wait for
    // the others before it frees its part.
    const bool both = wanted == peer_memory::automatic && !members.one_process();
    auto made = allocate_gpu_memory(members, bytes, both ? peer_memory::vmm : wanted, given_back::at_once);
    if (!made.memory && both) {
      const std::string why = std::move(made.reason);
      made = allocate_gpu_memory(members, bytes, peer_memory::ipc, given_back::at_once);
      made.reason = why + "; " + made.reason;
    }
    if (!made.memory) throw unsupported_error(made.reason);
    return std::move(made.memory);
  };
}

namespace {

// A range of the parts that the caller gave.
class borrowed_memory final : public gpu_memory {
 public:
  borrowed_memory(const std::vector<void*>& parts, std::size_t from, std::size_t bytes, std::size_t locals)
      : gpu_memory(bytes, locals, parts.size()) {
    for (auto& seen : parts_)
      for (std::size_t m = 0; m < parts.size(); ++m) seen[m] = static_cast<std::byte*>(parts[m]) + from;
  }
  std::string_view provider() const override { return "the caller's"; }
};

std::string why_no_parts(const gpu_members& members, const std::vector<void*>& parts) {
  if (parts.size() != members.places.size())
    return filled("{} parts of symmetric memory for {} GPUs: one for each, by grid rank", parts.size(),
                  members.places.size());
  for (std::size_t m = 0; m < parts.size(); ++m) {
    if (parts[m] == nullptr) return filled("no address of grid {}'s part: this GPU cannot reach it", m);
    if (reinterpret_cast<std::uintptr_t>(parts[m]) % part_alignment != 0)
      return filled("grid {}'s part is aligned to less than {} bytes", m, part_alignment);
  }
  return {};
}

}  // namespace

// Ranges are taken in the order of the requests, which is the same in all processes.
memory_source memory_of_caller(std::vector<void*> parts, std::size_t bytes) {
  return [parts = std::move(parts), bytes, taken = std::size_t{0}](const gpu_members& members,
                                                                   std::size_t wanted) mutable {
    all_or_none(members, [&] {
      if (const auto why = why_no_parts(members, parts); !why.empty()) throw usage_error(why);
      if (wanted > bytes || taken > bytes - wanted)
        throw usage_error(
            filled("the caller's memory has {} bytes on each GPU, {} of them taken, and {} more are "
                   "wanted: multi_grid::flag_bytes() says how many a number of blocks takes",
                   bytes, taken, wanted));
    });
    auto made = std::make_unique<borrowed_memory>(parts, taken, wanted, members.local().size());
    taken += (wanted + part_alignment - 1) / part_alignment * part_alignment;
    return made;
  };
}

std::size_t memory_of_flags(unsigned gpus, unsigned blocks, unsigned sms) {
  return image_of(choose_multigrid(gpus, blocks, sms), blocks).size() * sizeof(std::uint32_t);
}

barrier_flags::barrier_flags(const group_members& group, const wait_bounds& bounds, memory_source source)
    : members_(group.gpus),
      local_(group.gpus.local()),
      fewest_sms_(group.fewest_sms),
      bounds_(bounds),
      source_(std::move(source)) {
  all_or_none(members_, [&] {
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    report_ = cuda::memory::on_host((local_.size() + 2) * sizeof(multi_grid_report));
    heard_ = cuda::memory::on_host(2 * sizeof(std::uint32_t));
    heard_.as<std::uint32_t>()[1] = 1;
    voice_ = cuda::make_stream();
  });
  // This allocation throws where one GPU cannot address another.
  stops_ = source_(members_, algorithm::line_bytes);
  const std::uint32_t none = 0;
  all_or_none(members_, [&] {
    for (unsigned l = 0; l < local_.size(); ++l) {
      std::vector<std::byte*> words{stops_->part(local_[l], l)};
      for (unsigned m = 0; m < members_.places.size(); ++m)
        if (m != local_[l]) words.push_back(stops_->part(m, l));
      const int ordinal = members_.places[local_[l]].ordinal;
      const cuda::device_scope scope(ordinal);
      stop_lists_.push_back(cuda::memory::on_gpu(ordinal, words.size() * sizeof words[0]));
      copy(stop_lists_.back().get(), words.data(), words.size() * sizeof words[0], "setting up a group");
      copy(stop_word(local_[l], l), &none, sizeof none, "setting up a group");
    }
  });
  if (members_.places.size() > 1) probe_all_ways();
}

// A stream is destroyed with its own GPU current: otherwise the runtime would start CUDA on the thread's
// current GPU.
barrier_flags::~barrier_flags() try {
  const cuda::device_scope scope(members_.places[local_.front()].ordinal);
  voice_ = {};
} catch (const std::exception& error) { std::fprintf(stderr, "mgsync: %s\n", error.what()); }

// Every GPU writes a number to every GPU and reads it back; then every GPU checks that the numbers of all
// have arrived. The numbers lie behind the stop word in its line. Every copy has a time limit, so that a
// broken link between two GPUs makes no process wait for ever.
void barrier_flags::probe_all_ways() const {
  constexpr auto patience = std::chrono::seconds(10);
  constexpr std::size_t slots = 16;  // the first of them in the line
  static_assert(slots + multi_grid_handle::most_gpus <= algorithm::line_bytes / sizeof(std::uint32_t));
  const auto number = [](unsigned from, unsigned to) { return 0x5a000000u + from * 256 + to; };
  const auto copy_in_time = [&](void* to, const void* from, const std::string& action) {
    const auto stream = cuda::make_stream();
    cuda::check(cudaMemcpyAsync(to, from, sizeof(std::uint32_t), cudaMemcpyDefault, stream.get()), action);
    const auto until = std::chrono::steady_clock::now() + patience;
    static const auto query = cuda::driver_function<decltype(&cuStreamQuery)>("cuStreamQuery");
    for (;;) {
      const auto status = query(stream.get());
      if (status == CUDA_SUCCESS) return;
      if (status != CUDA_ERROR_NOT_READY) cuda::check_driver(status, action);
      if (std::chrono::steady_clock::now() > until)
        throw unsupported_error(filled("{} did not end in {} s", action, patience.count()));
    }
  };
  const auto all = static_cast<unsigned>(members_.places.size());
  auto room = cuda::memory();
  all_or_none(members_, [&] {
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    room = cuda::memory::on_host(2 * sizeof(std::uint32_t));
  });
  auto* const word = room.as<volatile std::uint32_t>();
  const auto to_room = const_cast<std::uint32_t*>(word);
  all_or_none(members_, [&] {
    for (unsigned l = 0; l < local_.size(); ++l) {
      const cuda::device_scope scope(members_.places[local_[l]].ordinal);
      for (unsigned m = 0; m < all; ++m) {
        word[0] = number(local_[l], m);
        word[1] = 0;
        auto* const slot = stop_word(m, l) + slots + local_[l];
        copy_in_time(slot, to_room, filled("writing from grid {} to grid {}", local_[l], m));
        copy_in_time(to_room + 1, slot, filled("reading on grid {} from grid {}", local_[l], m));
        if (word[1] != word[0])
          throw unsupported_error(
              filled("grid {} does not read from grid {} what it wrote there", local_[l], m));
      }
    }
  });
  all_or_none(members_, [&] {
    for (unsigned l = 0; l < local_.size(); ++l) {
      const cuda::device_scope scope(members_.places[local_[l]].ordinal);
      for (unsigned m = 0; m < all; ++m) {
        word[1] = 0;
        copy_in_time(to_room + 1, stop_word(local_[l], l) + slots + m,
                     filled("reading grid {}'s own memory", local_[l]));
        if (word[1] != number(m, local_[l]))
          throw unsupported_error(filled("what grid {} wrote to grid {} did not come", m, local_[l]));
      }
    }
  });
}

void barrier_flags::add(unsigned blocks) {
  const auto gpus = static_cast<unsigned>(members_.places.size());
  grid_flags made;
  made.choice = choose_multigrid(gpus, blocks, fewest_sms_);
  made.memory = source_(members_, memory_of_flags(gpus, blocks, fewest_sms_));
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
    record.patience = patience_of(bounds_.of_a_wait);
    record.first_patience = patience_of(bounds_.of_the_first);
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
  const std::lock_guard lock(told_by_host_);
  {
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    cuda::check(cudaStreamSynchronize(voice_.get()), "waiting for what was told to other GPUs");
  }
  ++generation_;
  for (auto& [blocks, grid] : grids_) fill(blocks, grid);
  const std::uint32_t none = 0;
  for (unsigned l = 0; l < local_.size(); ++l) {
    const cuda::device_scope scope(members_.places[local_[l]].ordinal);
    copy(stop_word(local_[l], l), &none, sizeof none, "setting up a group");
  }
  std::fill_n(reports(), local_.size() + 2, multi_grid_report{});
  why_aborted_.clear();
}

bool barrier_flags::given_up() const { return std::atomic_ref<std::uint32_t>(*told()).load() != 0; }

multi_grid_report barrier_flags::report() const {
  const std::lock_guard lock(told_by_host_);
  return *std::max_element(
      reports(), reports() + local_.size() + 1,
      [](const multi_grid_report& a, const multi_grid_report& b) { return a.what < b.what; });
}

void barrier_flags::end_all_waits(const multi_grid_report& told_by_host) noexcept {
  reports()[local_.size()] = told_by_host;
  std::atomic_ref<std::uint32_t>(*told()).store(1);
  try {
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    for (unsigned m = 0; m < members_.places.size(); ++m)
      cuda::check(cudaMemcpyAsync(stop_word(m, 0), heard_.as<std::uint32_t>() + 1, sizeof(std::uint32_t),
                                  cudaMemcpyDefault, voice_.get()),
                  filled("telling grid {} to give up", m));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mgsync: ending the waits of a group: %s\n", error.what());
  }
}

void barrier_flags::launch_failed(unsigned blocks, unsigned local) noexcept {
  const std::lock_guard lock(told_by_host_);
  end_all_waits({multi_grid_report::launch_failed, local_[local], blocks, blocks});
}

void barrier_flags::abort(std::string_view why) noexcept {
  const std::lock_guard lock(told_by_host_);
  try {
    if (why_aborted_.empty()) why_aborted_ = why;  // of two, the first
  } catch (...) {}
  end_all_waits({multi_grid_report::aborted, local_.front(), 0, 0});
}

std::string barrier_flags::why_aborted() const {
  const std::lock_guard lock(told_by_host_);
  return why_aborted_;
}

void barrier_flags::set_bounds(const wait_bounds& bounds) {
  bounds_ = bounds;
  static_assert(offsetof(multi_grid_block, first_patience) ==
                offsetof(multi_grid_block, patience) + sizeof(std::uint32_t));
  for (const auto& [blocks, grid] : grids_)
    for (unsigned l = 0; l < local_.size(); ++l) {
      std::vector<std::uint32_t> both;
      for (unsigned b = 0; b < blocks; ++b)
        both.insert(both.end(), {patience_of(bounds.of_a_wait), patience_of(bounds.of_the_first)});
      const cuda::device_scope scope(members_.places[local_[l]].ordinal);
      const auto stream = cuda::make_stream();
      constexpr std::size_t width = 2 * sizeof(std::uint32_t);
      cuda::check(cudaMemcpy2DAsync(&grid.records[l].as<multi_grid_block>()->patience,
                                    sizeof(multi_grid_block), both.data(), width, width, blocks,
                                    cudaMemcpyHostToDevice, stream.get()),
                  "setting how long a wait may take");
      cuda::check(cudaStreamSynchronize(stream.get()), "setting how long a wait may take");
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

absence barrier_flags::who_is_missing() const {
  const auto found = grids_.find(report().made_for);
  if (found == grids_.end()) return library::who_is_missing({});
  const grid_flags& grid = found->second;
  std::vector<arrivals> all;
  for (unsigned l = 0; l < local_.size(); ++l) {
    all.push_back({local_[l], filled("GPU {} (grid {})", members_.places[local_[l]].ordinal, local_[l]), {}});
    for (const auto& r : records_of(grid, l)) all.back().epochs.push_back(r.epoch);
  }
  if (!members_.one_process()) {
    constexpr std::size_t line = algorithm::line_bytes / sizeof(std::uint32_t);
    std::array<std::uint32_t, 2 * line> inbox{};
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    const auto first = std::size_t{algorithm::relay_layout{}.inbox(0)} * algorithm::line_bytes;
    copy(inbox.data(), grid.memory->part(local_.front(), 0) + first, sizeof inbox, "reading who arrived");
    const auto spoken_by = [&](unsigned member) { return spoken{inbox[member], inbox[line + member]}; };
    const auto& epochs = all.front().epochs;
    const std::uint32_t own = *std::min_element(
        epochs.begin(), epochs.end(), [](auto one, auto other) { return !algorithm::reached(one, other); });
    for (unsigned m = 0; m < members_.places.size(); ++m)
      if (const auto& at = members_.places[m]; at.process != members_.process)
        all.push_back({m,
                       filled("GPU {} of process {} (grid {})", at.ordinal, at.process, m),
                       {epoch_of_other(own, spoken_by(local_.front()), spoken_by(m))},
                       false});
  }
  return library::who_is_missing(all);
}

}  // namespace mgsync::library
