// Study reduction: what a sum costs, by the way its partial sums are combined (paper 000, sections VII-C to
// VII-E): by host threads, by the blocks of one GPU, and by several GPUs.
#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/reduction/gpu_sums.hpp"
#include "src/studies/reduction/host_ranks.hpp"
#include "src/studies/reduction/host_sums.hpp"
#include "src/studies/reduction/reduction_evaluation.hpp"
#include "src/studies/reduction/several_gpus.hpp"
#include "src/studies/reduction/sum_checker.hpp"

namespace mgsync {
namespace reduction { namespace {

// A way to combine partial sums, of any kind of members. One word may name a way of several kinds.
using any_way = std::variant<way, rank_way, const gpu_way*, const several_way*>;
constexpr auto ways_of_a_gpu = [] { return std::span(gpu_ways); };
constexpr auto ways_of_several = [] { return std::span(several_ways); };
constexpr takers host_threads{"host threads", topology::device::host},
    host_ranks{"host ranks", topology::device::host}, one_gpu{"one GPU", topology::device::gpu},
    several_gpus{"several GPUs", topology::device::gpu};
constexpr axis_of<any_way> every_way({.name = "way", .help = "how the parts are put together"},
                                     words_in<way>{.of = host_threads, .table = ways},
                                     words_in<rank_way>{.of = host_ranks, .table = rank_ways},
                                     names_in<ways_of_a_gpu>{.of = one_gpu},
                                     names_in<ways_of_several>{.of = several_gpus});

constexpr axis_of<value_type> types({.name = "type", .help = "what is added up"}, value_types);

constexpr axis_of<std::uint64_t> bytes_of_a_sum(
    {.name = "bytes", .help = "of one sum, of whole numbers of its type; several GPUs: on each", .unit = "B"},
    numbers_in{.of = only_hosts,
               .least = sum_granularity,
               .most = std::uint64_t{1} << 32,
               .step = sum_granularity,
               .defaults = "4096,32768,262144,2097152,16777216,134217728"},
    numbers_in{.of = only_gpus,
               .least = 8,
               .most = std::uint64_t{1} << 32,
               .step = 4,
               .defaults = "8,4096,65536,524288,4194304,33554432,268435456,1073741824,4294967296"});

enum class memory { cold, cache };
constexpr std::pair<memory, std::string_view> memory_words[] = {{memory::cold, "cold"},
                                                                {memory::cache, "cache"}};
constexpr axis_of<memory> memories(
    {.name = "memory",
     .help = "numbers that were not read for at least four times the cache's size, or the same again"},
    memory_words);

constexpr axis_of<unsigned> members(
    {.name = "members",
     .help = "by how many; without a number two host threads, one GPU, or of ranks as many as there are"},
    numbers_in{.of = only_hosts, .least = 1, .most = 64, .ranges = true},
    numbers_in{.of = only_gpus, .least = 1, .most = 16, .ranges = true});

// How numbers are to be read.
struct asked_reading {
  bool all_first = false;            // host members: the first one has all numbers
  std::optional<reading> of_gpus{};  // nothing: the best for the way
  bool operator==(const asked_reading&) const = default;
};
constexpr std::pair<asked_reading, std::string_view> reading_words[] = {{{}, "auto"}, {{true, {}}, "first"}};
constexpr axis_of<asked_reading> readings(
    {.name = "reading",
     .help =
         "host members: all numbers are the first one's, and the others only meet; GPUs: how a block reads, "
         "threads of a block, and blocks per SM at most; one block, or all that fit"},
    words_in<asked_reading>{.of = only_hosts, .defaults = "auto", .table = reading_words},
    words_in<asked_reading>{.of = only_gpus, .defaults = "auto", .table = std::span(reading_words).first(1)},
    read_by<asked_reading>{.of = only_gpus,
                           .accepted = "loads:THREADSxBLOCKS as vector4:512x2, and :chunks, :one or :all "
                                       "behind it; loads: word1, vector1, "
                                       "vector2, vector4, vector8, bulk4, bulk8",
                           .read = [](auto words, auto& into) -> std::size_t {
                             const auto found = reading_named(words.front());
                             if (found) into.push_back({false, found});
                             return found ? 1 : 0;
                           }});

constexpr const axis_declaration* axes[] = {&every_way, &types,   &bytes_of_a_sum,
                                            &memories,  &members, &readings};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked beforehand: every sum is compared"},
    {"no-check", "no rounds are checked beforehand: every sum is compared"},
    {"members-per-rank", "each rank is one of its members"},
    {"per-node", "its members are all ranks together"},
    {"oversubscribe", "its members need a hardware thread each"},
};

measurement planned(const study_request& asked, any_way how, value_type type, std::uint64_t bytes,
                    bool cold) {
  auto m = measurement_of(asked, "reduction", every_way.word_for(how));
  m.point.group.clear();
  m.point.ranks = static_cast<int>(asked.ranks.size());
  set(m.point, types, type);
  set(m.point, bytes_of_a_sum, bytes);
  set(m.point, memories, cold ? memory::cold : memory::cache);
  m.checker = [] { return make_sum_checker(); };
  return m;
}

// How many sums a run makes: enough for the clock, but not so many that a batch takes longer than a point
// may.
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

// A group with one member in each rank where there are several ranks, else with all members in this process.
topology::group group_of(const study_request& asked, unsigned count) {
  topology::grouping_request wanted;
  wanted.kind = asked.device;
  wanted.members = static_cast<int>(count);
  wanted.pin = asked.pins();
  return topology::make_group(asked.ranks, wanted).chosen;
}

// The parts of a measurement that all host members share; the caller adds how its subject is made.
measurement host_point(const study_request& asked, any_way how, host_sum& sum, bool cold,
                       const stopping_rule& stopping) {
  const auto many = (4 * last_cache_bytes() / sum.bytes + 1) * sum.bytes;
  sum.working_set = cold ? std::max(sum.bytes, many) : sum.bytes;
  auto m = planned(asked, how, sum.type, sum.bytes, cold);
  m.point.members = static_cast<int>(sum.threads);
  if (sum.all_first) m.point.variant = "first";
  for (unsigned i = 0; i < sum.threads; ++i) m.point.group.push_back(static_cast<int>(i));
  m.waived = why_not_here(asked, sum, cold);
  m.cell = fmt::format("{} {} {} {}", types.word_for(sum.type), cold, sum.bytes, sum.threads);
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
  auto m = host_point(asked, sum.how, sum, cold, stopping);
  const auto& cpus = asked.machine().allowed_cpus;
  if (asked.pins() && sum.threads <= cpus.size()) sum.cpus.assign(cpus.begin(), cpus.begin() + sum.threads);
  m.create = [sum] { return make_host_sum(sum); };
  return m;
}

measurement ranks_point(const study_request& asked, host_sum sum, rank_way how, bool cold,
                        const stopping_rule& stopping) {
  auto m = host_point(asked, how, sum, cold, stopping);
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
  auto m = planned(asked, sum.how, sum.type, sum.bytes, sum.cold);
  m.point.members = 1;
  const auto& gpus = asked.machine().gpus;
  if (in_ranks(asked)) m.waived = "one GPU's sums are measured in one process";
  else if (gpus.empty()) m.waived = "no GPU is visible here";
  else m.point.group = {gpus.front().id};
  if (m.waived.empty() && !asked.with_cuda) m.waived = "this mgsync was built without CUDA";
  if (!m.waived.empty()) return m;
  sum.ordinal = gpus.front().cuda_ordinal.value_or(0);
  if (sum.asked) m.point.variant = to_string(*sum.asked);
  // Sizes are interleaved as ways are: what the host takes for a launch drifts over a run.
  m.cell = fmt::format("{} {}", types.word_for(sum.type), sum.cold);
  if constexpr (MGSYNC_WITH_CUDA) m.create = [sum] { return make_gpu_sum(sum); };
  m.method = gpu_method(stopping, true);
  return m;
}

measurement several_point(const study_request& asked, several_sum sum, unsigned count,
                          const stopping_rule& stopping) {
  auto m = planned(asked, sum.how, sum.type, sum.bytes, sum.cold);
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
  m.cell = fmt::format("{} {} {} {}", types.word_for(sum.type), sum.cold, sum.bytes, count);
  if constexpr (MGSYNC_WITH_CUDA) m.create = [sum] { return make_several_sum(sum); };
  m.method = gpu_method(stopping, false);
  return m;
}

std::vector<unsigned> member_counts(const study_request& asked, unsigned in_one_process) {
  if (const auto& typed = asked.values(members); !typed.empty()) return typed;
  return {in_ranks(asked) ? static_cast<unsigned>(asked.ranks.size()) : in_one_process};
}

// The sizes of a sum in bytes, multiples of the size of the type.
const std::vector<std::uint64_t>& sizes(const study_request& asked, value_type type) {
  const auto& all = asked.values(bytes_of_a_sum);
  for (const auto size : all)
    if (size % bytes_of(type) != 0)
      throw usage_error(fmt::format("--bytes is '{}'; accepted for {}: multiples of {}", size,
                                    types.word_for(type), bytes_of(type)));
  return all;
}

// When sampling stops, which includes a limit of time for each point.
stopping_rule stopping_of(const study_request& asked) {
  const bool gpus = asked.device == topology::device::gpu;
  return asked.stops({.max_time = std::chrono::milliseconds(gpus ? 90 : 300)});
}

std::vector<measurement> gpu_points(const study_request& asked) {
  std::vector<measurement> all;
  const auto stopping = stopping_of(asked);
  const auto add = [&](unsigned count, value_type type, bool cold, std::uint64_t bytes) {
    if (count == 1)
      for (const auto* how : asked.values<const gpu_way*>(every_way))
        for (const auto& each : asked.values(readings))
          all.push_back(gpu_point(asked, gpu_sum{how, type, bytes, cold, 0, each.of_gpus}, stopping));
    else
      for (const auto* how : asked.values<const several_way*>(every_way))
        for (const auto& each : asked.values(readings))
          all.push_back(several_point(
              asked, several_sum{how, type, bytes, cold, {}, nullptr, {}, each.of_gpus}, count, stopping));
  };
  for (const auto count : member_counts(asked, 1))
    for (const auto type : asked.values(types))
      for (const auto where : asked.values(memories))
        for (const auto bytes : sizes(asked, type)) add(count, type, where == memory::cold, bytes);
  return all;
}

std::vector<measurement> host_points(const study_request& asked) {
  std::vector<measurement> all;
  const auto stopping = stopping_of(asked);
  const auto add = [&](host_sum sum, bool cold) {
    if (in_ranks(asked))
      for (const auto how : asked.values<rank_way>(every_way))
        all.push_back(ranks_point(asked, sum, how, cold, stopping));
    else
      for (const auto how : asked.values<way>(every_way)) {
        sum.how = how;
        all.push_back(threads_point(asked, sum, cold, stopping));
      }
  };
  for (const auto count : member_counts(asked, 2))
    for (const auto type : asked.values(types))
      for (const auto where : asked.values(memories))
        for (const auto bytes : sizes(asked, type))
          for (const auto& dealt : asked.values(readings)) {
            host_sum sum;
            sum.all_first = dealt.all_first;
            sum.type = type;
            sum.threads = count;
            sum.bytes = bytes;
            add(sum, where == memory::cold);
          }
  return all;
}

std::vector<measurement> points(const study_request& asked) {
  auto all = asked.device == topology::device::gpu ? gpu_points(asked) : host_points(asked);
  // A word that is no way of the members that were asked for is an error.
  for (const auto& word : asked.words_of(every_way))
    if (word != "all" && std::ranges::none_of(all, [&](const auto& m) { return m.point.subject == word; }))
      throw usage_error(fmt::format("--way is '{}', and no way of these members; accepted: {}", word,
                                    every_way.accepted()));
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
