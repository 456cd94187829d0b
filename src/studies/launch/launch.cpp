// Study launch: what does one more kernel cost, and what of it is host, device, or neither (paper 000,
// section IV; paper 004)? Host members: the start of an OpenMP parallel region and of threads, by the same
// formulas.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/harness/methods/fused_difference.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/launch/launch_evaluation.hpp"
#include "src/studies/launch/launches.hpp"
#include "src/studies/launch/wait_gradient.hpp"

namespace mgsync {
namespace launch { namespace {

constexpr std::array<axis_declaration, 7> axes{{
    {"kind", "all",
     "all; GPUs: traditional, cooperative, multi-device, graph, graph-programmatic, programmatic, cluster, "
     "device-graph; host members: openmp-region, std-thread",
     "how kernels (threads) are launched"},
    {"quantity", "null,total,fused,gradient", "null, total, fused, gradient",
     "what one more launch adds; one launch in all; what is left of it beside long kernels; what one more "
     "unit of waiting in a kernel adds"},
    {"members", "1", "1 to 4096", "over how many GPUs, or host threads"},
    {"gpus", "", "GPUs: 1 to 4096", "the same of GPUs alone"},
    {"shape", "1x32", "GPUs: 1x1 to 1024x1024", "of the kernels: blocks per SM x threads, as 1x32,1x1024"},
    {"argument_bytes", "0", "GPUs: 0, 8, 128, 4096", "of a kernel that waits for nothing", word_count::list,
     nullptr, "B"},
    {"policy", "synchronize", "GPUs: all, synchronize, spin, yield, block", "how the host waits for the end"},
}};

static_assert(names_all(axes[0], gpu_kinds) && names_all(axes[0], host_kinds) &&
              names_all(axes[6], host_policies));

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: there is no barrier in a launch"},
    {"no-check", "no rounds are checked: there is no barrier in a launch"},
    {"oversubscribe",
     "its members need a hardware thread each: what they cost that share one is no cost of a start"},
};

unsigned number(std::string_view word) { return static_cast<unsigned>(std::stoul(std::string(word))); }

const std::vector<std::string>& counts(const study_request& asked) {
  const auto& gpus = asked.list("gpus");
  return gpus.empty() || gpus.front().empty() ? asked.list("members") : gpus;
}

template <class Kind, std::size_t Count>
std::vector<Kind> chosen(const std::vector<std::string>& words,
                         const std::pair<Kind, std::string_view> (&known)[Count]) {
  std::vector<Kind> kinds;
  for (const auto& [kind, name] : known)
    if (std::ranges::find(words, "all") != words.end() || std::ranges::find(words, name) != words.end())
      kinds.push_back(kind);
  return kinds;
}

template <class Kind, std::size_t Count>
std::string name_in(const std::pair<Kind, std::string_view> (&known)[Count], Kind kind) {
  for (const auto& [one, name] : known)
    if (one == kind) return std::string(name);
  return {};
}

// The ways of asking (docs/method.md, "Launch overhead").
std::function<std::unique_ptr<method>()> method_for(const study_request& asked, const std::string& quantity) {
  if (quantity == "null")
    return [stopping = asked.stops({.max_time = std::chrono::milliseconds(600)})] {
      rounds_difference_settings settings;
      settings.lengths_given = rounds_choice{64, 128};  // below the 1024 launches that a stream holds
      settings.value = "total_us";
      settings.per_round = {"call_us"};
      settings.stopping = stopping;
      return std::make_unique<rounds_difference>(settings);
    };
  if (quantity == "total")
    return [stopping = asked.stops({.max_time = std::chrono::milliseconds(400)})] {
      one_run_settings settings;
      settings.value = "total_us";
      settings.runs_per_batch = 15;
      settings.stopping = stopping;
      return std::make_unique<one_run>(settings);
    };
  if (quantity == "fused") return [] { return std::make_unique<fused_difference>(fused_settings{}); };
  return [] { return std::make_unique<wait_gradient>(); };
}

measurement planned(const study_request& asked, const std::string& subject, unsigned members,
                    const std::string& quantity) {
  auto m = measurement_of(asked, "launch", subject);
  m.point.members = static_cast<int>(members);
  m.point.group.clear();
  m.point.set("quantity", quantity);
  m.method = method_for(asked, quantity);
  return m;
}

void add_gpu(const study_request& asked, std::vector<measurement>& all) {
  const auto& machine = asked.machine();
  for (const auto& count_word : counts(asked))
    for (const auto& shape_word : asked.list("shape"))
      for (const auto kind : chosen(asked.list("kind"), gpu_kinds))
        for (const auto& quantity : asked.list("quantity"))
          for (const auto& bytes_word : asked.list("argument_bytes"))
            for (const auto policy : chosen(asked.list("policy"), host_policies)) {
              const unsigned count = number(count_word), per_sm = number(shape_word),
                             threads = number(shape_word.substr(shape_word.find('x') + 1));
              gpu_launch launch;
              launch.kind = kind;
              launch.threads = threads;
              launch.policy = policy;
              launch.argument_bytes = number(bytes_word);
              auto m = planned(asked, name_in(gpu_kinds, kind), count, quantity);
              m.point.set("blocks_per_sm", static_cast<double>(per_sm));
              m.point.set("threads_per_block", static_cast<double>(threads));
              if (launch.argument_bytes != 0)
                m.point.set("argument_bytes", static_cast<double>(launch.argument_bytes), "B");
              if (policy != host_policy::synchronize) m.point.set("policy", name_in(host_policies, policy));
              if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
              else if (count > machine.gpus.size())
                m.waived = fmt::format("{} GPUs are asked for, and {} are here", count, machine.gpus.size());
              else if (launch.argument_bytes != 0 && (quantity == "fused" || quantity == "gradient"))
                m.waived = "arguments are those of kernels that wait for nothing";
              else if (launch.argument_bytes != 0 && kind == gpu_kind::device_graph)
                m.waived = "a graph that launches itself takes its arguments once, when it is made";
              else {
                launch.gpus.clear();
                for (unsigned g = 0; g < count; ++g) {
                  launch.gpus.push_back(machine.gpus[g].cuda_ordinal.value_or(static_cast<int>(g)));
                  m.point.group.push_back(machine.gpus[g].id);
                }
                launch.blocks_per_sm = per_sm;
                if constexpr (MGSYNC_WITH_CUDA)
                  m.create = [launch] {
                    auto made = make_gpu_launches(launch);
                    return subject_creation{std::move(made.subject), made.reason, {}};
                  };
              }
              all.push_back(std::move(m));
            }
}

void add_host(const study_request& asked, std::vector<measurement>& all) {
  const auto& machine = asked.machine();
  const auto& cpus = machine.allowed_cpus;
  for (const auto& count_word : counts(asked))
    for (const auto kind : chosen(asked.list("kind"), host_kinds))
      for (const auto& quantity : asked.list("quantity")) {
        const unsigned count = number(count_word);
        auto m = planned(asked, name_in(host_kinds, kind), count, quantity);
        for (unsigned i = 0; i < count; ++i) m.point.group.push_back(static_cast<int>(i));
        if (count > cpus.size())
          m.waived = fmt::format("{} threads are asked for, and {} hardware threads are allowed here", count,
                                 cpus.size());
        else if (quantity == "fused")
          m.waived = "a host start returns when its members are done: there is nothing to be fused";
        const std::vector<int> pinned = asked.pins() && count <= cpus.size()
                                            ? std::vector<int>(cpus.begin(), cpus.begin() + count)
                                            : std::vector<int>{};
        m.create = [kind, count, pinned] {
          auto made = make_host_launches(kind, count, pinned);
          return subject_creation{std::move(made.subject), made.reason, {}};
        };
        all.push_back(std::move(m));
      }
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  asked.device == topology::device::gpu ? add_gpu(asked, all) : add_host(asked, all);
  return all;
}

}}  // namespace launch

extern const study launch_study;
const study launch_study{
    .name = "launch",
    .summary = "what one more kernel (or start of threads) costs, and what of it is host, device, or neither",
    .axes = launch::axes,
    .points = launch::points,
    .evaluate = launch::evaluate,
    .seconds_per_point = 1.2,
    .refuses = launch::refused};

}  // namespace mgsync
