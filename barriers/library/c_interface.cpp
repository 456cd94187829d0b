#include "barriers/library/include/mgsync/multi_grid.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "barriers/library/team_ranks.hpp"
#include "src/base/filled.hpp"

struct mgsync_multi_grid {
  mgsync::multi_grid grids;
};

namespace {

using mgsync::filled;

thread_local std::string last_error;

int failed(int code, const char* why) noexcept {
  try {
    last_error = why;
  } catch (...) { last_error.clear(); }
  return code;
}

// No exception leaves the C interface.
template <class F>
int run(F f) noexcept {
  try {
    f();
    return MGSYNC_SUCCESS;
  } catch (const mgsync::usage_error& e) {
    return failed(MGSYNC_USAGE, e.what());
  } catch (const mgsync::timeout_error& e) {
    return failed(MGSYNC_TIMED_OUT, e.what());
  } catch (const mgsync::unsupported_error& e) {
    return failed(MGSYNC_UNSUPPORTED, e.what());
  } catch (const mgsync::aborted_error& e) {
    return failed(MGSYNC_ABORTED, e.what());
  } catch (const std::exception& e) { return failed(MGSYNC_FAILURE, e.what()); } catch (...) {
    return failed(MGSYNC_FAILURE, "an unknown exception");
  }
}

template <class T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw mgsync::usage_error(filled("{} is null", what));
  return *pointer;
}

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  constexpr double most = 1e9;  // 30 years
  if (!std::isfinite(seconds) || seconds < 0 || seconds > most)
    throw mgsync::usage_error(filled("a time-out of {} s: it takes 0 (for ever) to {}", seconds, most));
  return std::chrono::nanoseconds(static_cast<long long>(std::ceil(seconds * 1e9)));
}

std::vector<int> list_of(const int* gpus, int count) {
  if (count > 0) given(gpus, "gpus");
  return std::vector<int>(gpus, gpus + std::max(count, 0));
}

// Exchanges strings of any length by a gather of equal lengths: first the lengths, then the strings padded to
// the longest.
mgsync::process_exchange exchange_over(mgsync_all_gather gather, void* context, int processes) {
  return [=](const std::string& mine) {
    const auto call = [&](const void* from, void* to, std::size_t bytes) {
      if (const int status = gather(from, to, bytes, context); status != 0)
        throw std::runtime_error(filled("the gather between processes returned {}", status));
    };
    const auto count = static_cast<std::size_t>(processes);
    const unsigned long long length = mine.size();
    std::vector<unsigned long long> lengths(count);
    call(&length, lengths.data(), sizeof length);
    const auto longest =
        static_cast<std::size_t>(std::max(*std::max_element(lengths.begin(), lengths.end()), 1ull));
    std::string filled = mine, all(count * longest, '\0');
    filled.resize(longest);
    call(filled.data(), all.data(), longest);
    std::vector<std::string> parts;
    for (std::size_t p = 0; p < count; ++p)
      parts.push_back(all.substr(p * longest, static_cast<std::size_t>(lengths[p])));
    return parts;
  };
}

mgsync::process_exchange exchange_of(mgsync_all_gather gather, void* context, int process, int processes) {
  if (processes < 1 || process < 0 || process >= processes)
    throw mgsync::usage_error(filled("process {} of {}", process, processes));
  if (gather == nullptr) throw mgsync::usage_error("gather is null");
  return exchange_over(gather, context, processes);
}

// What f is refused for as wrong use; empty if it is not.
template <class F>
std::string refusal_of(F f) {
  try {
    f();
  } catch (const mgsync::usage_error& e) { return e.what(); }
  return "";
}

unsigned number_of(int number) { return number < 0 ? ~0u : static_cast<unsigned>(number); }

void must_hold_a_handle(std::size_t size) {
  if (size < sizeof(mgsync::multi_grid_handle))
    throw mgsync::usage_error(
        filled("room of {} bytes for a handle of {}", size, sizeof(mgsync::multi_grid_handle)));
}
void put(const mgsync::multi_grid_handle& made, void* handle) {
  std::memcpy(&given(static_cast<char*>(handle), "handle"), &made, sizeof made);
}

dim3 dimensions(const unsigned* d) { return dim3(d[0], d[1], d[2]); }

}  // namespace

int mgsync_version(void) { return MGSYNC_VERSION; }
int mgsync_abi_version(void) { return MGSYNC_ABI_VERSION; }

const char* mgsync_last_error(void) { return last_error.c_str(); }

int mgsync_multi_grid_create(mgsync_multi_grid** made, const int* gpus, int count, double timeout_seconds) {
  return run([&] {
    given(made, "made") = nullptr;
    *made = new mgsync_multi_grid{mgsync::multi_grid(list_of(gpus, count), nanoseconds_of(timeout_seconds))};
  });
}

int mgsync_multi_grid_create_across(mgsync_multi_grid** made, const int* gpus, int count, int process,
                                    int processes, mgsync_all_gather gather, void* context,
                                    double timeout_seconds) {
  return run([&] {
    given(made, "made") = nullptr;
    *made = new mgsync_multi_grid{mgsync::multi_grid(list_of(gpus, count), process,
                                                     exchange_of(gather, context, process, processes),
                                                     nanoseconds_of(timeout_seconds))};
  });
}

int mgsync_multi_grid_create_over(mgsync_multi_grid** made, void* const* parts, int part_count, size_t bytes,
                                  const int* gpus, int count, int process, int processes,
                                  mgsync_all_gather gather, void* context, double timeout_seconds) {
  return run([&] {
    given(made, "made") = nullptr;
    if (part_count > 0) given(parts, "parts");
    const mgsync::symmetric_parts theirs{std::vector<void*>(parts, parts + std::max(part_count, 0)), bytes};
    *made = new mgsync_multi_grid{mgsync::multi_grid::over(
        theirs, list_of(gpus, count), process,
        processes == 1 ? mgsync::process_exchange() : exchange_of(gather, context, process, processes),
        nanoseconds_of(timeout_seconds))};
  });
}
size_t mgsync_multi_grid_flag_bytes(unsigned gpus, unsigned blocks_per_gpu) {
  return gpus == 0 || blocks_per_gpu == 0 ? 0 : mgsync::multi_grid::flag_bytes(gpus, blocks_per_gpu);
}

int mgsync_multi_grid_destroy(mgsync_multi_grid* grids) {
  return run([&] { delete grids; });
}

int mgsync_multi_grid_gpus(const mgsync_multi_grid* grids) {
  return grids == nullptr ? 0 : static_cast<int>(grids->grids.gpus());
}
int mgsync_multi_grid_local_gpus(const mgsync_multi_grid* grids) {
  return grids == nullptr ? 0 : static_cast<int>(grids->grids.local_gpus());
}
int mgsync_multi_grid_rank(const mgsync_multi_grid* grids, int local) {
  if (local < 0 || local >= mgsync_multi_grid_local_gpus(grids)) return -1;
  return static_cast<int>(grids->grids.grid_rank(static_cast<unsigned>(local)));
}

int mgsync_multi_grid_launch(mgsync_multi_grid* grids, const mgsync_launch* launches, int count) {
  return run([&] {
    std::vector<mgsync::launch_parameters> all;
    for (int i = 0; launches != nullptr && i < count; ++i) {
      const auto& l = launches[i];
      all.push_back({l.kernel, dimensions(l.grid), dimensions(l.block), l.arguments, l.shared_bytes,
                     static_cast<cudaStream_t>(l.stream)});
    }
    given(grids, "grids").grids.launch(all.data(), static_cast<unsigned>(all.size()));
  });
}

int mgsync_multi_grid_wait(mgsync_multi_grid* grids) {
  return run([&] { given(grids, "grids").grids.wait(); });
}
int mgsync_multi_grid_check(mgsync_multi_grid* grids) {
  return run([&] { given(grids, "grids").grids.check(); });
}
int mgsync_multi_grid_reset(mgsync_multi_grid* grids) {
  return run([&] { given(grids, "grids").grids.reset(); });
}
int mgsync_multi_grid_resize(mgsync_multi_grid* grids, unsigned blocks_per_gpu) {
  return run([&] { given(grids, "grids").grids.resize(blocks_per_gpu); });
}

size_t mgsync_multi_grid_handle_size(void) { return sizeof(mgsync::multi_grid_handle); }

int mgsync_multi_grid_handle(const mgsync_multi_grid* grids, unsigned blocks_per_gpu, int local, void* handle,
                             size_t size) {
  return run([&] {
    must_hold_a_handle(size);
    put(given(grids, "grids").grids.handle_for(blocks_per_gpu, number_of(local)), handle);
  });
}

int mgsync_multi_grid_make_team(mgsync_multi_grid* grids, int* team, const int* grid_ranks, int count) {
  return run([&] {
    auto& group = given(grids, "grids").grids;
    std::vector<unsigned> ranks;
    const auto why = refusal_of([&] {
      given(team, "team") = 0;
      ranks = mgsync::library::ranks_in_c(grid_ranks, count, group.gpus());
    });
    // The other processes wait in make_team(): that of no grids refuses them too.
    unsigned made = 0;
    const auto refused = refusal_of([&] { made = group.make_team(ranks); });
    if (!why.empty() || !refused.empty()) throw mgsync::usage_error(why.empty() ? refused : why);
    *team = static_cast<int>(made);
  });
}

int mgsync_multi_grid_team_handle(const mgsync_multi_grid* grids, int team, unsigned blocks_per_gpu,
                                  int local, void* handle, size_t size) {
  return run([&] {
    must_hold_a_handle(size);
    const auto& group = given(grids, "grids").grids;
    if (team < 0) throw mgsync::usage_error(filled("no team {} here: they are numbered from 1 on", team));
    put(group.team_handle(static_cast<unsigned>(team), blocks_per_gpu, number_of(local)), handle);
  });
}

int mgsync_multi_grid_prepare(mgsync_multi_grid* grids, const void* kernel, const unsigned grid[3],
                              const unsigned block[3], size_t shared_bytes) {
  return run([&] {
    given(grids, "grids")
        .grids.prepare(kernel, dimensions(&given(grid, "grid")), dimensions(&given(block, "block")),
                       shared_bytes);
  });
}

int mgsync_multi_grid_abort(mgsync_multi_grid* grids, const char* why) {
  return run([&] { given(grids, "grids").grids.abort(why == nullptr ? "no reason was given" : why); });
}
int mgsync_multi_grid_poll(const mgsync_multi_grid* grids) {
  if (grids == nullptr) return MGSYNC_NO_GROUP;
  switch (grids->grids.poll()) {
  case mgsync::group_status::done: return MGSYNC_DONE;
  case mgsync::group_status::at_work: return MGSYNC_AT_WORK;
  case mgsync::group_status::lost: break;
  }
  return MGSYNC_LOST;
}
int mgsync_multi_grid_set_timeout(mgsync_multi_grid* grids, double timeout_seconds,
                                  double first_timeout_seconds) {
  return run([&] {
    given(grids, "grids")
        .grids.set_timeout(nanoseconds_of(timeout_seconds), nanoseconds_of(first_timeout_seconds));
  });
}
