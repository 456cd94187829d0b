// Study reduction: what a sum costs by the way its parts are put together (paper 000, sections VII-C to
// VII-E): by host threads, by the blocks of one GPU, and by several GPUs.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/harness/axis_words.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/reduction/gpu_sums.hpp"
#include "src/studies/reduction/host_ranks.hpp"
#include "src/studies/reduction/host_sums.hpp"
#include "src/studies/reduction/reduction_evaluation.hpp"
#include "src/studies/reduction/several_gpus.hpp"
#include "src/studies/reduction/sum_prover.hpp"

namespace mgsync {
namespace reduction { namespace {

std::vector<std::optional<reading>> readings(const study_request& asked) {
  std::vector<std::optional<reading>> all;
  for (const auto& word : asked.list("reading")) {
    const auto found = reading_named(word);
    if (word != "auto" && !found)
      throw usage_error(fmt::format("--reading is '{}'; accepted for GPUs: auto, or loads:THREADSxBLOCKS as "
                                    "vector4:512x2, and :chunks, :one or :all behind it",
                                    word));
    all.push_back(found);
  }
  return all;
}

void read_readings(const study_request& asked) {
  if (asked.device == topology::device::gpu) readings(asked);
  else check_words("reading", asked.list("reading"), std::array<std::string_view, 2>{"auto", "first"});
}

constexpr std::array<axis_declaration, 6> axes{{
    {"way", "all",
     "all; host threads: read, serial, implicit, explicit, ours, last-done, clause; host ranks: read, "
     "serial, mpi-barrier, ours, last-done, mpi-reduce; "
     "one GPU: read, read-graph, word-read, auto, auto-graph, last-done, implicit, implicit-graph, "
     "programmatic, grid-sync, grid-ours, cluster, bulk, cub, cub-graph; several GPUs: read, single-kernel, "
     "vendor, last-done, gather, host-barrier, nccl",
     "how the parts are put together"},
    {"type", "fp64,fp32,int32", "all, fp64, fp32, int32", "what is added up"},
    {"bytes", "default",
     "default; host members: 4096 to 4294967296 in steps of 4096; GPUs: 8 to 4294967296 in steps of 4",
     "of one sum, of whole numbers of its type; several GPUs: on each", word_count::list, nullptr, "B"},
    {"memory", "cold,cache", "cold, cache",
     "numbers that were not read for at least four times the cache's size, or the same again"},
    {"members", "default", "default; host members: 1 to 64; GPUs: 1 to 16",
     "by how many (default: two host threads, one GPU; of ranks as many as there are)"},
    {"reading", "auto",
     "auto; host members: first; GPUs: loads:THREADSxBLOCKS as vector4:512x2, and :chunks, :one or :all "
     "behind it; loads: word1, vector1, vector2, vector4, vector8, bulk4, bulk8",
     "host members: all numbers are the first one's, and the others only meet; GPUs: how a block reads, "
     "threads of a block, and blocks per SM at most; one block, or all that fit",
     word_count::list, read_readings},
}};

static_assert(names_all(axes[0], ways) && names_all(axes[0], rank_ways) && names_all(axes[0], gpu_ways) &&
              names_all(axes[0], several_ways));
static_assert(names_all(axes[1], value_types) && names_all(axes[5], all_loads));

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked beforehand: every sum is compared"},
    {"no-check", "no rounds are checked beforehand: every sum is compared"},
    {"members-per-rank", "each rank is one of its members"},
    {"per-node", "its members are all ranks together"},
    {"oversubscribe", "its members need a hardware thread each"},
};

const std::vector<std::uint64_t> host_sizes{4096, 32768, 262144, 2097152, 16777216, 134217728};
const std::vector<std::uint64_t> gpu_sizes{8,        4096,      65536,      524288,    4194304,
                                           33554432, 268435456, 1073741824, 4294967296};
static_assert(sum_granularity == 4096);

// Those of `known` that are asked for by name, or all.
template <class Value, std::size_t Count>
std::vector<Value> chosen(const study_request& asked, std::string_view axis,
                          const std::pair<Value, std::string_view> (&known)[Count]) {
  const auto& words = asked.list(axis);
  std::vector<Value> some;
  for (const auto& [value, name] : known)
    if (std::ranges::find(words, "all") != words.end() || std::ranges::find(words, name) != words.end())
      some.push_back(value);
  return some;
}

template <class Value, std::size_t Count>
std::string_view name_in(const std::pair<Value, std::string_view> (&known)[Count], Value which) {
  for (const auto& [one, name] : known)
    if (one == which) return name;
  return {};
}

std::vector<bool> cold_or_not(const study_request& asked) {
  std::vector<bool> all;
  for (const auto& word : asked.list("memory")) all.push_back(word == "cold");
  return all;
}

// The numbers of an axis; for the word "default" these.
std::vector<std::uint64_t> numbers_of(const study_request& asked, std::string_view axis,
                                      const std::vector<std::uint64_t>& by_default) {
  std::vector<std::uint64_t> all;
  for (const auto& word : asked.list(axis)) {
    if (word == "default") all.insert(all.end(), by_default.begin(), by_default.end());
    else all.push_back(std::stoull(word));
  }
  return all;
}

std::vector<std::uint64_t> sizes(const study_request& asked, const std::vector<std::uint64_t>& by_default,
                                 std::uint64_t multiple) {
  const auto all = numbers_of(asked, "bytes", by_default);
  for (const auto size : all)
    if (size % multiple != 0)
      throw usage_error(fmt::format("--bytes is '{}'; accepted: multiples of {}", size, multiple));
  return all;
}

measurement planned(const study_request& asked, std::string_view subject, value_type type,
                    std::uint64_t bytes, bool cold) {
  auto m = measurement_of(asked, "reduction", subject);
  m.point.group.clear();
  m.point.ranks = static_cast<int>(asked.ranks.size());
  m.point.set("type", std::string(name_in(value_types, type)));
  m.point.set("bytes", static_cast<double>(bytes), "B");
  m.point.set("memory", cold ? "cold" : "cache");
  m.prover = [] { return make_sum_prover(); };
  return m;
}

// A run of sums lasts long enough for the clock, and a batch of runs not longer than a point may.
std::uint64_t sums_of_a_run(std::size_t bytes) {
  return std::clamp<std::uint64_t>((std::size_t{4} << 20) / bytes, 1, 256);
}

bool in_ranks(const study_request& asked) { return asked.ranks.size() > 1; }

std::string why_not_here(const study_request& asked, const host_sum& sum, bool cold) {
  const auto cache = last_cache_bytes();
  constexpr std::size_t most = std::size_t{2} << 30;
  if (in_ranks(asked) && sum.threads != asked.ranks.size())
    return fmt::format("{} members are asked for, and each of the {} ranks is one", sum.threads,
                       asked.ranks.size());
  if (asked.planning) return {};
  if (!in_ranks(asked) && sum.threads > asked.machine().allowed_cpus.size())
    return fmt::format("{} threads are asked for, and {} hardware threads are allowed here", sum.threads,
                       asked.machine().allowed_cpus.size());
  if (cache == 0) return "the size of this machine's cache is unknown";
  if (cold && sum.working_set > most)
    return fmt::format("four times the cache are more than {} MiB", most >> 20);
  if (!cold && sum.bytes > cache / 2)
    return fmt::format("{} bytes are more than half of the cache of {}", sum.bytes, cache);
  return {};
}

// As many members as there are ranks, each in one; or all in this process.
topology::group group_of(const study_request& asked, unsigned members) {
  topology::grouping_request wanted;
  wanted.kind = asked.device;
  wanted.members = static_cast<int>(members);
  wanted.pin = asked.pins();
  return topology::make_group(asked.ranks, wanted).chosen;
}

// What all host members have in common; the subject is still to be made.
measurement host_point(const study_request& asked, std::string_view way, host_sum& sum, bool cold,
                       const stopping_rule& stopping) {
  const auto many = (4 * last_cache_bytes() / sum.bytes + 1) * sum.bytes;
  sum.working_set = cold ? std::max(sum.bytes, many) : sum.bytes;
  auto m = planned(asked, way, sum.type, sum.bytes, cold);
  m.point.members = static_cast<int>(sum.threads);
  if (sum.all_first) m.point.variant = "first";
  for (unsigned i = 0; i < sum.threads; ++i) m.point.group.push_back(static_cast<int>(i));
  m.waived = why_not_here(asked, sum, cold);
  m.cell = fmt::format("{} {} {} {}", name_in(value_types, sum.type), cold, sum.bytes, sum.threads);
  m.method = [bytes = sum.bytes, stopping] {
    one_run_settings settings;
    settings.stopping = stopping;
    settings.count = sums_of_a_run(bytes);
    return std::make_unique<one_run>(settings);
  };
  return m;
}

measurement threads_point(const study_request& asked, host_sum sum, bool cold,
                          const stopping_rule& stopping) {
  auto m = host_point(asked, name_in(ways, sum.how), sum, cold, stopping);
  const auto& cpus = asked.machine().allowed_cpus;
  if (asked.pins() && sum.threads <= cpus.size()) sum.cpus.assign(cpus.begin(), cpus.begin() + sum.threads);
  m.create = [sum] { return make_host_sum(sum); };
  return m;
}

measurement ranks_point(const study_request& asked, host_sum sum, rank_way how, bool cold,
                        const stopping_rule& stopping) {
  auto m = host_point(asked, name_in(rank_ways, how), sum, cold, stopping);
  if (!m.waived.empty()) return m;
  if constexpr (MGSYNC_WITH_MPI)
    m.create = [sum, how, group = group_of(asked, sum.threads), where = asked.where] {
      return make_rank_sum(sum, how, group, *where);
    };
  return m;
}

std::function<std::unique_ptr<method>()> gpu_method(const stopping_rule& stopping, bool events) {
  return [stopping, events] {
    rounds_difference_settings settings;
    settings.stopping = stopping;
    settings.samples_per_batch = 3;
    settings.lengths.longest_run_us = 3000;
    settings.lengths.least_difference_us = 250;
    settings.long_enough_us = 300;
    settings.per_round = {"call_us"};
    if (events) settings.beside = {metric_name{"event", "us"}};
    return std::make_unique<rounds_difference>(settings);
  };
}

measurement gpu_point(const study_request& asked, gpu_sum sum, const stopping_rule& stopping) {
  auto m = planned(asked, name_in(gpu_ways, sum.how), sum.type, sum.bytes, sum.cold);
  m.point.members = 1;
  const auto& gpus = asked.machine().gpus;
  if (in_ranks(asked)) m.waived = "one GPU's sums are measured in one process";
  else if (gpus.empty()) m.waived = "no GPU is visible here";
  else m.point.group = {gpus.front().id};
  if (m.waived.empty() && !asked.with_cuda) m.waived = "this mgsync was built without CUDA";
  if (!m.waived.empty()) return m;
  sum.ordinal = gpus.front().cuda_ordinal.value_or(0);
  if (sum.asked) m.point.variant = to_string(*sum.asked);
  m.cell = fmt::format("{} {} {}", name_in(value_types, sum.type), sum.cold, sum.bytes);
  if constexpr (MGSYNC_WITH_CUDA) m.create = [sum] { return make_gpu_sum(sum); };
  m.method = gpu_method(stopping, true);
  return m;
}

measurement several_point(const study_request& asked, several_sum sum, unsigned count,
                          const stopping_rule& stopping) {
  auto m = planned(asked, name_in(several_ways, sum.how), sum.type, sum.bytes, sum.cold);
  m.point.members = static_cast<int>(count);
  const auto here = topology::largest_group(asked.ranks, topology::device::gpu, 0);
  if (in_ranks(asked) && count != asked.ranks.size())
    m.waived =
        fmt::format("{} GPUs are asked for, and each of the {} ranks has one", count, asked.ranks.size());
  else if (static_cast<int>(count) > here)
    m.waived = fmt::format("{} GPUs are asked for, and {} are here", count, here);
  else if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
  if (!m.waived.empty()) return m;
  sum.group = group_of(asked, count);
  sum.where = asked.where;
  for (const auto& member : sum.group.members) m.point.group.push_back(member.id);
  sum.tree = gather_tree_of(asked.machine(), m.point.group);
  if (sum.asked) m.point.variant = to_string(*sum.asked);
  m.cell = fmt::format("{} {} {} {}", name_in(value_types, sum.type), sum.cold, sum.bytes, count);
  if constexpr (MGSYNC_WITH_CUDA) m.create = [sum] { return make_several_sum(sum); };
  m.method = gpu_method(stopping, false);
  return m;
}

std::vector<std::uint64_t> members(const study_request& asked, unsigned in_one_process) {
  return numbers_of(asked, "members", {in_ranks(asked) ? asked.ranks.size() : in_one_process});
}

std::vector<measurement> gpu_points(const study_request& asked) {
  std::vector<measurement> all;
  const auto alone = chosen(asked, "way", gpu_ways);
  const auto together = chosen(asked, "way", several_ways);
  const auto stopping = asked.stops({.max_time = std::chrono::milliseconds(90)});
  const auto add_sizes = [&](unsigned count, value_type type, bool cold) {
    for (const auto bytes : sizes(asked, gpu_sizes, bytes_of(type))) {
      for (const auto how : count == 1 ? alone : std::vector<gpu_way>{})
        for (const auto& each : readings(asked))
          all.push_back(gpu_point(asked, gpu_sum{how, type, bytes, cold, 0, each}, stopping));
      for (const auto how : count > 1 ? together : std::vector<several_way>{})
        for (const auto& each : readings(asked))
          all.push_back(several_point(asked, several_sum{how, type, bytes, cold, {}, nullptr, {}, each},
                                      count, stopping));
    }
  };
  for (const auto count : members(asked, 1))
    for (const auto type : chosen(asked, "type", value_types))
      for (const bool cold : cold_or_not(asked)) add_sizes(static_cast<unsigned>(count), type, cold);
  return all;
}

std::vector<measurement> host_points(const study_request& asked) {
  std::vector<measurement> all;
  const auto by_threads = chosen(asked, "way", ways);
  const auto by_ranks = chosen(asked, "way", rank_ways);
  const auto types = chosen(asked, "type", value_types);
  const auto stopping = asked.stops({.max_time = std::chrono::milliseconds(300)});
  const auto& dealt = asked.list("reading");
  const auto add = [&](unsigned count, value_type type, bool cold, std::uint64_t bytes, bool all_first) {
    host_sum sum;
    sum.all_first = all_first;
    sum.type = type;
    sum.threads = count;
    sum.bytes = bytes;
    for (const auto how : in_ranks(asked) ? by_ranks : std::vector<rank_way>{})
      all.push_back(ranks_point(asked, sum, how, cold, stopping));
    for (const auto how : in_ranks(asked) ? std::vector<way>{} : by_threads) {
      sum.how = how;
      all.push_back(threads_point(asked, sum, cold, stopping));
    }
  };
  for (const auto count : members(asked, 2))
    for (const auto type : types)
      for (const bool cold : cold_or_not(asked))
        for (const auto bytes : sizes(asked, host_sizes, sum_granularity))
          for (const auto& word : dealt)
            add(static_cast<unsigned>(count), type, cold, bytes, word == "first");
  return all;
}

std::vector<measurement> points(const study_request& asked) {
  auto all = asked.device == topology::device::gpu ? gpu_points(asked) : host_points(asked);
  for (const auto& word :
       asked.list("way"))  // threads or ranks, one GPU or several: as many members as are asked for
    if (word != "all" && std::ranges::none_of(all, [&](const auto& m) { return m.point.subject == word; }))
      throw usage_error(fmt::format("--way is '{}', and no way of these members; accepted: {}", word,
                                    axes.front().accepted));
  return all;
}

}}  // namespace reduction

extern const study reduction_study;
const study reduction_study{.name = "reduction",
                            .summary =
                                "what a sum over memory costs, by the barrier that puts its parts together",
                            .axes = reduction::axes,
                            .points = reduction::points,
                            .evaluate = reduction::evaluate,
                            .seconds_per_point = 0.15,
                            .in_ranks = true,
                            .of_one_program = true,
                            .refuses = reduction::refused};

}  // namespace mgsync
