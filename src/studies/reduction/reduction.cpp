// Study reduction: what a sum costs by the way its parts are put together (paper 000, sections VII-C to VII-E). Host threads;
// the sums of GPUs and of ranks are not built.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/study.hpp"
#include "src/studies/reduction/host_sums.hpp"
#include "src/studies/reduction/reduction_evaluation.hpp"

namespace mgsync {
namespace reduction {
namespace {

constexpr std::array<axis_declaration, 6> axes{{
    {"way", "all", "all, or of read, serial, implicit, explicit, ours, last-done, clause", "how the parts are put together"},
    {"type", "fp64,int32", "fp64, int32", "what is added up"},
    {"bytes", "4096,32768,262144,2097152,16777216,134217728", "multiples of 4096 up to 4294967296", "of one sum"},
    {"memory", "cold,cache", "cold, cache", "numbers that were not read for at least four times the cache's size, or the same again"},
    {"members", "2", "1 to 64", "threads"},
    {"max_time", "300", "50 to 10000", "ms for each point"},
}};

std::uint64_t number(std::string_view axis, const std::string& word, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most)
    throw usage_error(fmt::format("--{} is '{}'; accepted: {} to {}", axis, word, least, most));
  return value;
}

std::vector<way> ways_asked(const study_request& asked) {
  std::vector<way> all;
  std::vector<std::string_view> names{"all"};
  for (const auto& [one, name] : ways) names.push_back(name);
  for (const auto& word : asked.list("way")) {
    if (std::find(names.begin(), names.end(), word) == names.end())
      throw usage_error(fmt::format("--way is '{}'; accepted: {}", word, fmt::join(names, ", ")));
    for (const auto& [one, name] : ways)
      if (word == "all" || word == name) all.push_back(one);
  }
  return all;
}

std::string_view name_of_way(way which) {
  for (const auto& [one, name] : ways)
    if (one == which) return name;
  return {};
}

// A run of sums lasts long enough for the clock, and a batch of runs not longer than a point may.
std::uint64_t sums_of_a_run(std::size_t bytes) { return std::clamp<std::uint64_t>((std::size_t{4} << 20) / bytes, 1, 256); }

std::string why_not_here(const study_request& asked, const host_sum& sum, bool cold) {
  if (asked.device == topology::device::gpu) return "the sums of GPUs are not built: --device host";
  const auto cache = last_cache_bytes();
  constexpr std::size_t most = std::size_t{2} << 30;
  if (asked.planning) return {};
  if (sum.threads > asked.machine().allowed_cpus.size())
    return fmt::format("{} threads are asked for, and {} hardware threads are allowed here", sum.threads, asked.machine().allowed_cpus.size());
  if (cache == 0) return "the size of this machine's cache is unknown";
  if (cold && sum.working_set > most) return fmt::format("four times the cache are more than {} MiB", most >> 20);
  if (!cold && sum.bytes > cache / 2) return fmt::format("{} bytes are more than half of the cache of {}", sum.bytes, cache);
  return {};
}

void add_point(const study_request& asked, host_sum sum, const std::string& type, const std::string& memory, std::uint64_t max_time_ms,
               std::vector<measurement>& all) {
  const bool cold = memory == "cold";
  const auto many = (4 * last_cache_bytes() / sum.bytes + 1) * sum.bytes;
  sum.working_set = cold ? std::max(sum.bytes, many) : sum.bytes;
  measurement m;
  m.point.study = "reduction";
  m.point.subject = name_of_way(sum.how);
  m.point.device = asked.device;
  m.point.members = static_cast<int>(sum.threads);
  for (unsigned i = 0; i < sum.threads; ++i) m.point.group.push_back(static_cast<int>(i));
  m.point.set("type", type);
  m.point.set("bytes", static_cast<double>(sum.bytes), "B");
  m.point.set("memory", memory);
  m.waived = why_not_here(asked, sum, cold);
  const auto& cpus = asked.machine().allowed_cpus;
  if (asked.machine().is_this_machine && sum.threads <= cpus.size()) sum.cpus.assign(cpus.begin(), cpus.begin() + sum.threads);
  m.cell = fmt::format("{} {} {} {}", type, memory, sum.bytes, sum.threads);
  m.create = [sum] { return make_host_sum(sum); };
  m.method = [sum, max_time_ms] {
    one_run_settings settings;
    settings.stopping.max_time = std::chrono::milliseconds(max_time_ms);
    settings.count = sums_of_a_run(sum.bytes);
    return std::make_unique<one_run>(settings);
  };
  m.prover = [] { return make_sum_prover(); };
  all.push_back(std::move(m));
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  const auto chosen = ways_asked(asked);
  if (asked.list("max_time").size() != 1) throw usage_error("--max-time is one number; accepted: 50 to 10000");
  const auto max_time_ms = number("max-time", asked.list("max_time").front(), 50, 10000);
  for (const auto& members : asked.list("members"))
    for (const auto& type : asked.list("type"))
      for (const auto& memory : asked.list("memory"))
        for (const auto& word : asked.list("bytes"))
          for (const auto how : chosen) {
            if (type != "fp64" && type != "int32") throw usage_error(fmt::format("--type is '{}'; accepted: fp64, int32", type));
            if (memory != "cold" && memory != "cache") throw usage_error(fmt::format("--memory is '{}'; accepted: cold, cache", memory));
            host_sum sum;
            sum.how = how;
            sum.floating = type == "fp64";
            sum.threads = static_cast<unsigned>(number("members", members, 1, 64));
            sum.bytes = number("bytes", word, sum_granularity, std::uint64_t{1} << 32);
            if (sum.bytes % sum_granularity != 0) throw usage_error(fmt::format("--bytes is '{}'; accepted: multiples of {}", word, sum_granularity));
            add_point(asked, sum, type, memory, max_time_ms, all);
          }
  return all;
}

}  // namespace
}  // namespace reduction

extern const study reduction_study;
const study reduction_study{"reduction", "what a sum over memory costs, by the barrier that puts its parts together",
                            reduction::axes, reduction::points, reduction::evaluate, 0.5};

}  // namespace mgsync
