#include "barriers/user/tried_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

#if MGSYNC_WITH_CUDA
#include "barriers/user/gpu_barrier.hpp"
#endif
#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"

namespace mgsync::user {

namespace {

constexpr std::string_view ending_of_objects = ".so";
constexpr char refusal = '!', answer = '=';  // the first letter of what a child returns

told_file told_of(const barrier_file& file) {
  told_file all{file.path(), std::string(file.compiler()), {}};
  for (const auto* b : file.barriers())
    all.barriers.push_back({b->name, b->on_gpu != 0, b->orders == check::extent::equal_blocks,
                            b->exchanges != 0, b->ends_itself != 0, b->streams});
  return all;
}

// Of its wait: rounds that are slow, but go on, are not ended early.
std::chrono::nanoseconds longest_of(const scenario& s) {
  return s.patience + std::chrono::minutes(5) + std::chrono::milliseconds(20) * s.launches * s.rounds;
}

tried try_gpus(const check::barrier_table& of, const scenario& s) {
  if (auto why = why_not_for(of, s); !why.empty()) return {ending::refused, 0, std::move(why)};
#if MGSYNC_WITH_CUDA
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // kernels of several members on one GPU, at once
  return try_on_gpus(of, s);
#else
  return {ending::waived, 0, why_no_gpus()};
#endif
}

tried ending_of(const child_end& end) {
  if (end.outlived) return {ending::stuck, 0, fmt::format("its rounds were not through: {}", end.death)};
  if (end.code == 128 + SIGALRM)
    return {ending::stuck, 0,
            fmt::format("its takes(), bytes() or start() did not come back within {} s", seconds_to_prepare)};
  return {ending::crashed, 0,
          fmt::format("before the first round, as it was loaded or in takes(), bytes() or start(): {}",
                      end.death)};
}

}  // namespace

file_word read_file_word(std::string_view word) {
  const auto colon = word.rfind(':');
  if (colon == std::string_view::npos || word.find('/', colon) != std::string_view::npos ||
      access(std::string(word).c_str(), F_OK) == 0)
    return {std::string(word), {}};
  return {std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

bool is_file_word(std::string_view word) {
  return word.find('/') != std::string_view::npos || read_file_word(word).path.ends_with(ending_of_objects);
}

told_file look_into(std::string_view word) {
  const file_word asked = read_file_word(word);
  const std::string &path = asked.path, &barrier = asked.barrier;
  child_order order;
  order.longest = std::chrono::seconds(seconds_to_prepare);
  order.work = [&path]() -> std::string {
    try {
      return answer + on_wire(told_of(*barrier_file::open(path)));
    } catch (const usage_error& error) { return refusal + std::string(error.what()); }
  };
  const auto end = run_child(order);
  if (!end.death.empty())
    throw usage_error(fmt::format("'{}' cannot be used as a barrier: {} as it was loaded", path, end.death));
  if (end.out.empty() || end.out.front() != answer)
    throw usage_error(end.out.empty() ? fmt::format("'{}' cannot be used as a barrier: it ended this process "
                                                    "as it was loaded",
                                                    path)
                                      : end.out.substr(1));
  auto all = from_json<told_file>(std::string_view(end.out).substr(1), path);
  if (barrier.empty()) return all;
  std::string names;
  for (const auto& b : all.barriers) names += (names.empty() ? "" : ", ") + b.name;
  if (std::erase_if(all.barriers, [&](const auto& b) { return b.name != barrier; }); all.barriers.empty())
    throw usage_error(fmt::format("'{}' has no barrier '{}'; accepted: {}", path, barrier, names));
  return all;
}

std::string why_no_gpus() {
#if MGSYNC_WITH_CUDA
  child_order order;
  order.longest = std::chrono::minutes(2);
  order.work = [] { return why_no_gpus_here(); };
  const auto end = run_child(order);
  return end.death.empty() ? end.out
                           : fmt::format("needs a GPU, and CUDA does not start here: {}", end.death);
#else
  return "needs a GPU, and this mgsync was built without CUDA";
#endif
}

tried try_in_child(const told_file& file, const told_barrier& of, const scenario& s) {
  child_order order;
  order.longest = longest_of(s);
  order.work = [&] {
    const auto opened = barrier_file::open(file.path);
    const auto& barrier = opened->barrier(of.name);
    return on_wire(of.on_gpu ? try_gpus(barrier, s) : try_on_host(barrier, s));
  };
  const auto end = run_child(order);
  return end.death.empty() && !end.out.empty() ? from_wire<tried>(end.out) : ending_of(end);
}

}  // namespace mgsync::user
