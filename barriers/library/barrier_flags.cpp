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

constexpr std::size_t first_slot =
    16;  // of the numbers that GPUs show each other, in words from the stop word

// Copies on a stream of the calling thread's GPU, so that it does not wait for the default stream.
void copy(void* to, const void* from, std::size_t bytes, std::string_view action) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), action);
  cuda::check(cudaStreamSynchronize(stream.get()), action);
}

}  // namespace

std::size_t memory_of_flags(unsigned gpus, unsigned blocks, unsigned sms) {
  return image_of(choose_multigrid(gpus, blocks, sms), blocks).size() * sizeof(std::uint32_t);
}

barrier_flags::barrier_flags(const group_members& group, const wait_bounds& bounds, memory_source source,
                             const habits& given)
    : group_(group), habits_(given), local_(group.gpus.local()), bounds_(bounds), source_(std::move(source)) {
  all_or_none(members_, [&] {
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    report_ = cuda::memory::on_host(2 * sizeof(multi_grid_report));
    heard_ = cuda::memory::on_host(2 * sizeof(std::uint32_t));
    heard_.as<std::uint32_t>()[1] = 1;
    voice_ = cuda::make_stream();
  });
  // This allocation throws where one GPU cannot address another.
  stops_ = source_(members_, (first_slot + members_.places.size()) * sizeof(std::uint32_t));
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
  std::vector<unsigned> everybody(members_.places.size());
  for (unsigned m = 0; m < everybody.size(); ++m) everybody[m] = m;
  add_team(std::move(everybody));
}

// A stream is destroyed with its own GPU current: otherwise the runtime would start CUDA on the thread's
// current GPU.
barrier_flags::~barrier_flags() try {
  if (given_up())
    each_grid([](unsigned, unsigned, const grid_flags& grid) {
      if (grid.traces) grid.traces->keep();
    });
  const cuda::device_scope scope(members_.places[local_.front()].ordinal);
  voice_ = {};
} catch (const std::exception& error) { std::fprintf(stderr, "mgsync: %s\n", error.what()); }

// Every GPU writes a number to every GPU and reads it back; then every GPU checks that the numbers of all
// have arrived. The numbers lie behind the stop word. Every copy has a time limit, so that a
// broken link between two GPUs makes no process wait for ever.
void barrier_flags::probe_all_ways() const {
  constexpr auto patience = std::chrono::seconds(10);
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
        auto* const slot = stop_word(m, l) + first_slot + local_[l];
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
        copy_in_time(to_room + 1, stop_word(local_[l], l) + first_slot + m,
                     filled("reading grid {}'s own memory", local_[l]));
        if (word[1] != number(m, local_[l]))
          throw unsupported_error(filled("what grid {} wrote to grid {} did not come", m, local_[l]));
      }
    }
  });
}

algorithm::grid_choice barrier_flags::chosen_for(unsigned blocks) const {
  return choice_for(static_cast<unsigned>(members_.places.size()), blocks);
}

// Nobody speaks for a GPU that is alone: its blocks meet at counters.
algorithm::grid_choice barrier_flags::choice_for(unsigned gpus, unsigned blocks) const {
  return choose_multigrid(habits_.one_block_speaks ? std::max(gpus, 2u) : gpus, blocks, group_.fewest_sms);
}

// f(team's number, blocks, flags), of all flags.
template <class F>
void barrier_flags::each_grid(F f) const {
  for (unsigned t = 0; t < teams_.size(); ++t)
    for (auto& [blocks, grid] : teams_[t].grids) f(t, blocks, grid);
}

void barrier_flags::add(unsigned blocks) {
  for (unsigned t = 0; t < teams_.size(); ++t) add_to(t, blocks);
}

unsigned barrier_flags::add_team(std::vector<unsigned> ranks) {
  team_flags made{std::move(ranks), {}, {}};
  all_or_none(members_, [&] {
    const cuda::device_scope scope(members_.places[local_.front()].ordinal);
    made.reports = cuda::memory::on_host(local_.size() * sizeof(multi_grid_report));
  });
  const auto number = static_cast<unsigned>(teams_.size());
  {
    const std::lock_guard lock(told_by_host_);
    teams_.push_back(std::move(made));
  }
  for (const auto& known : teams_.front().grids)
    if (number != 0) add_to(number, known.first);
  return number;
}

// Memory is taken on all GPUs, so that every process takes part.
void barrier_flags::add_to(unsigned number, unsigned blocks) {
  team_flags& team = teams_[number];
  const auto gpus = static_cast<unsigned>(team.ranks.size());
  grid_flags made;
  made.choice = choice_for(gpus, blocks);
  made.memory = source_(members_, image_of(made.choice, blocks).size() * sizeof(std::uint32_t));
  all_or_none(members_, [&] {
    if (habits_.traced) made.traces = std::make_unique<wait_traces>(group_, team.ranks, number, blocks);
    for (unsigned l = 0; l < local_.size(); ++l) {
      made.records.push_back({});
      made.handles.push_back({});
      const auto rank = team.rank_of(local_[l]);
      if (!rank) continue;
      made.records.back() =
          cuda::memory::on_gpu(members_.places[local_[l]].ordinal, blocks * sizeof(multi_grid_block));
      std::vector<std::uint32_t*> parts;
      for (const unsigned m : team.ranks)
        parts.push_back(reinterpret_cast<std::uint32_t*>(made.memory->part(m, l)));
      made.handles.back() = describe(made.choice, parts.data(), *rank, gpus, blocks);
      if (gpus > multi_grid_handle::gpus_inside) {
        const cuda::device_scope scope(members_.places[local_[l]].ordinal);
        made.tables.push_back(
            cuda::memory::on_gpu(members_.places[local_[l]].ordinal, gpus * sizeof parts[0]));
        copy(made.tables.back().get(), parts.data(), gpus * sizeof parts[0], "setting up a barrier");
        made.handles.back().table = made.tables.back().as<std::uint32_t*>();
      }
      made.handles.back().records = made.records.back().as<multi_grid_block>();
      made.handles.back().refused = refused();
    }
    fill(number, blocks, made);
  });
  team.grids.emplace(blocks, std::move(made));
}

void barrier_flags::fill(unsigned number, unsigned blocks, grid_flags& grid) const {
  const auto image = image_of(grid.choice, blocks);
  for (unsigned l = 0; l < local_.size(); ++l) {
    if (!teams_[number].rank_of(local_[l])) continue;
    const cuda::device_scope scope(members_.places[local_[l]].ordinal);
    copy(grid.memory->part(local_[l], l), image.data(), image.size() * sizeof image[0],
         "setting the flags of a barrier");
    auto record = fresh_block();
    record.patience = patience_of(bounds_.of_a_wait);
    record.first_patience = patience_of(bounds_.of_the_first);
    record.generation = generation_;
    record.told = told();
    record.report = teams_[number].reports.as<multi_grid_report>() + l;
    record.stops = stop_lists_[l].as<std::uint32_t*>();
    record.watched = stop_word(local_[l], l);
    record.trace = grid.traces ? grid.traces->on_gpu(l) : nullptr;
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
  for (unsigned t = 0; t < teams_.size(); ++t)
    for (auto& [blocks, grid] : teams_[t].grids) {
      if (grid.traces) grid.traces->clear();
      fill(t, blocks, grid);
    }
  const std::uint32_t none = 0;
  for (unsigned l = 0; l < local_.size(); ++l) {
    const cuda::device_scope scope(members_.places[local_[l]].ordinal);
    copy(stop_word(local_[l], l), &none, sizeof none, "setting up a group");
  }
  for (const auto& team : teams_)
    std::fill_n(team.reports.as<multi_grid_report>(), local_.size(), multi_grid_report{});
  std::fill_n(&report_of_host(), 2, multi_grid_report{});
  why_aborted_.clear();
}

bool barrier_flags::given_up() const {
  return std::atomic_ref<std::uint32_t>(*told()).load() != 0 ||
         std::atomic_ref<std::uint32_t>(*refused()).load() != 0;
}

namespace {

bool tells_less(const multi_grid_report& one, const multi_grid_report& other) {
  return one.what < other.what;
}

}  // namespace

multi_grid_report barrier_flags::report_of(const team_flags& team) const {
  const auto* const first = team.reports.as<multi_grid_report>();
  multi_grid_report most = *std::max_element(first, first + local_.size(), tells_less);
  if (most.what != multi_grid_report::none) most.rank = team.ranks[most.rank];
  return most;
}

multi_grid_report barrier_flags::report() const {
  const std::lock_guard lock(told_by_host_);
  const std::uint32_t version = std::atomic_ref<std::uint32_t>(*refused()).load();
  if (version != 0) return {multi_grid_report::other_version, 0, version, 0};
  multi_grid_report most = report_of_host();
  for (const auto& team : teams_) most = std::max(most, report_of(team), tells_less);
  return most;
}

void barrier_flags::end_all_waits(const multi_grid_report& told_by_host) noexcept {
  report_of_host() = told_by_host;
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
  each_grid([&](unsigned, unsigned blocks, const grid_flags& grid) {
    for (unsigned l = 0; l < local_.size(); ++l) {
      if (grid.records[l].get() == nullptr) continue;
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
  });
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

}  // namespace mgsync::library
