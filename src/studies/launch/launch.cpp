// Study launch: what does one more kernel cost, and what of it is host, device, or neither (paper 000,
// section IV; paper 004)? Host members: the start of an OpenMP parallel region and of threads, by the same
// formulas.
#include <algorithm>

#include <fmt/format.h>

#include "barriers/words.hpp"
#include "src/harness/control_and_check.hpp"
#include "src/harness/methods/fused_difference.hpp"
#include "src/harness/methods/one_run.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/harness/study.hpp"
#include "src/studies/launch/graph_nodes.hpp"
#include "src/studies/launch/graph_rounds.hpp"
#include "src/studies/launch/launch_evaluation.hpp"
#include "src/studies/launch/launches.hpp"
#include "src/studies/launch/wait_gradient.hpp"

namespace mgsync {
namespace launch { namespace {

using kind = std::variant<const gpu_kind*, host_kind>;
constexpr auto all_gpu_kinds = [] { return std::span(gpu_kinds); };
constexpr axis_of<kind> kinds({.name = "kind", .help = "how kernels (threads) are launched"},
                              names_in<all_gpu_kinds>{.of = only_gpus},
                              words_in<host_kind>{.of = only_hosts});

enum class quantity { null, total, fused, gradient, round, graph };
constexpr std::pair<quantity, std::string_view> quantity_words[] = {
    {quantity::null, "null"},         {quantity::total, "total"}, {quantity::fused, "fused"},
    {quantity::gradient, "gradient"}, {quantity::round, "round"}, {quantity::graph, "graph"}};
constexpr axis_of<quantity> quantities(
    {.name = "quantity",
     .help = "what one more launch adds; one launch in all; what is left of it beside long kernels; what one "
             "more unit of waiting in a kernel adds; of kernels in a graph, a round in which each waits for "
             "all of the "
             "round before; a graph of so many nodes of one kind"},
    words_in<quantity>{.of = only_gpus, .table = quantity_words},
    words_in<quantity>{.of = only_hosts, .table = std::span(quantity_words).first(4)});

constexpr axis_of<unsigned> members({.name = "members", .help = "over how many GPUs, or host threads"},
                                    numbers_in{.least = 1, .most = 4096, .defaults = "1", .ranges = true});
constexpr axis_of<unsigned> kernels(
    {.name = "kernels", .help = "in a round of a graph"},
    numbers_in{.of = only_gpus, .least = 1, .most = 64, .defaults = "1,2,4,8", .ranges = true});

constexpr axis_of<node> node_kinds({.name = "node", .help = "of what kind the nodes of a graph are"},
                                   words_in<node>{.of = only_gpus, .table = node_words});
constexpr axis_of<unsigned> nodes(
    {.name = "nodes", .help = "in a graph, one behind the other"},
    numbers_in{.of = only_gpus, .least = 1, .most = 4096, .defaults = "1,10,100,1000"});

constexpr axis_of<unsigned> gpus({.name = "gpus",
                                  .help = "the same of GPUs alone",
                                  .another_name_of = &members},
                                 numbers_in{.of = only_gpus, .least = 1, .most = 4096, .ranges = true});

constexpr axis_of<shape> shapes({.name = "shape", .help = "of the kernels"},
                                read_by<shape>{
                                    .of = only_gpus,
                                    .defaults = "1x32",
                                    .accepted = "BxT (blocks per SM x threads, as in 1x32,1x1024), all",
                                    .read = [](auto words, auto& into) {
                                      const auto read = read_shapes(words, into);
                                      return !into.empty() && into.back().blocks ? 0 : read;
                                    }});

constexpr std::uint64_t argument_sizes[] = {0, 8, 128, 4096};
constexpr axis_of<unsigned> argument_bytes(
    {.name = "argument_bytes",
     .help = "of a kernel; 0: none, and how long it waits is in its code",
     .unit = "B"},
    numbers_in{.of = only_gpus, .defaults = "0", .only = argument_sizes});
constexpr axis_of<host_policy> policies({.name = "policy", .help = "how the host waits for the end"},
                                        words_in<host_policy>{.of = only_gpus, .defaults = "synchronize"});

constexpr const axis_declaration* axes[] = {&kinds,          &quantities, &members, &gpus,       &shapes,
                                            &argument_bytes, &policies,   &kernels, &node_kinds, &nodes};

constexpr refused_option refused[] = {
    {"check-rounds", "no rounds are checked: there is no barrier in a launch"},
    {"no-check", "no rounds are checked: there is no barrier in a launch"},
    {"oversubscribe",
     "its members need a hardware thread each: what they cost that share one is no cost of a start"},
};

// The methods of the study (docs/method.md, "Launch overhead").
std::function<std::unique_ptr<method>()> method_for(const study_request& asked, quantity what) {
  if (what == quantity::null)
    return [stopping = asked.stops({.max_time = std::chrono::milliseconds(600)})] {
      rounds_difference_settings settings;
      settings.lengths_given = rounds_choice{64, 128};  // below the 1024 launches that a stream holds
      settings.value = "total_us";
      settings.per_round = {"call_us"};
      settings.stopping = stopping;
      return std::make_unique<rounds_difference>(settings);
    };
  if (what == quantity::total)
    return [stopping = asked.stops({.max_time = std::chrono::milliseconds(400)})] {
      one_run_settings settings;
      settings.value = "total_us";
      settings.runs_per_batch = 15;
      settings.stopping = stopping;
      return std::make_unique<one_run>(settings);
    };
  if (what == quantity::round)
    return [stopping = asked.stops({.max_time = std::chrono::milliseconds(400)})] {
      one_run_settings settings;
      settings.value = "total_us";
      settings.count = rounds_of_graph;
      settings.stopping = stopping;
      return std::make_unique<one_run>(settings);
    };
  if (what == quantity::fused) return [] { return std::make_unique<fused_difference>(fused_settings{}); };
  return [] { return std::make_unique<wait_gradient>(); };
}

measurement planned(const study_request& asked, std::string_view subject, unsigned count, quantity what) {
  auto m = measurement_of(asked, "launch", subject);
  m.point.members = static_cast<int>(count);
  m.point.group.clear();
  set(m.point, quantities, what);
  m.method = method_for(asked, what);
  return m;
}

// The quantities that each kind of launch has.
std::vector<quantity> of_kinds(const study_request& asked) {
  auto all = asked.values(quantities);
  std::erase(all, quantity::round);
  std::erase(all, quantity::graph);
  return all;
}

void add_gpu(const study_request& asked, std::vector<measurement>& all) {
  const auto& machine = asked.machine();
  for (const unsigned count : asked.values(members))
    for (const auto& of : asked.values(shapes))
      for (const auto* how : asked.values<const gpu_kind*>(kinds))
        for (const auto what : of_kinds(asked))
          for (const unsigned bytes : asked.values(argument_bytes))
            for (const auto policy : asked.values(policies)) {
              gpu_launch launch;
              launch.kind = how;
              launch.threads = of.threads_per_block;
              launch.policy = policy;
              launch.argument_bytes = bytes;
              auto m = planned(asked, how->name, count, what);
              m.point.set(mgsync::axes::blocks_per_sm, static_cast<double>(*of.blocks_per_sm));
              m.point.set(mgsync::axes::threads_per_block, static_cast<double>(of.threads_per_block));
              if (bytes != 0) set(m.point, argument_bytes, bytes);
              if (policy != host_policy::synchronize) set(m.point, policies, policy);
              if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
              else if (count > machine.gpus.size())
                m.waived = fmt::format("{} GPUs are asked for, and {} are here", count, machine.gpus.size());
              else if (bytes != 0 && what == quantity::gradient)
                m.waived = "the gradient is that of kernels that are told in 16 bytes how long they wait";
              else if (bytes != 0 && how->by_the_device)
                m.waived = "a graph that launches itself takes its arguments once, when it is made";
              else {
                launch.gpus.clear();
                for (unsigned g = 0; g < count; ++g) {
                  launch.gpus.push_back(machine.gpus[g].cuda_ordinal.value_or(static_cast<int>(g)));
                  m.point.group.push_back(machine.gpus[g].id);
                }
                launch.blocks_per_sm = *of.blocks_per_sm;
                if constexpr (MGSYNC_WITH_CUDA)
                  m.create = [launch] {
                    auto made = make_gpu_launches(launch);
                    return subject_creation{std::move(made.subject), made.reason, {}};
                  };
              }
              all.push_back(std::move(m));
            }
}

// Kernels that take turns on the GPUs: at least one on each.
void add_rounds(const study_request& asked, std::vector<measurement>& all) {
  const auto& machine = asked.machine();
  for (const unsigned count : asked.values(members))
    for (const unsigned several : asked.values(kernels))
      for (const bool joined : {false, true}) {
        if (several < count) continue;
        auto m = planned(asked, "graph-rounds", count, quantity::round);
        m.point.variant = joined ? "joined" : "edges";
        set(m.point, kernels, several);
        m.cell = fmt::format("rounds {}", count);
        m.checker = [] { return std::make_unique<control_and_check>(verdict_kind::rounds, rounds_of_graph); };
        if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
        else if (count > machine.gpus.size())
          m.waived = fmt::format("{} GPUs are asked for, and {} are here", count, machine.gpus.size());
        graph_rounds wanted{{}, several, joined};
        for (unsigned g = 0; g < std::min<std::size_t>(count, machine.gpus.size()); ++g) {
          wanted.gpus.push_back(machine.gpus[g].cuda_ordinal.value_or(static_cast<int>(g)));
          m.point.group.push_back(machine.gpus[g].id);
        }
        if constexpr (MGSYNC_WITH_CUDA)
          m.create = [wanted] {
            auto made = make_graph_rounds(wanted);
            return subject_creation{std::move(made.subject), made.reason, {}};
          };
        all.push_back(std::move(m));
      }
}

// Graphs of nodes in a chain, on the first GPU.
void add_graphs(const study_request& asked, std::vector<measurement>& all) {
  for (const auto what : asked.values(node_kinds))
    for (const unsigned count : asked.values(nodes)) {
      auto m = planned(asked, "graph-nodes", 1, quantity::graph);
      m.point.variant = node_kinds.word_for(what);
      set(m.point, nodes, count);
      m.cell = "graphs";
      if (const auto* gpu = asked.first_gpu()) m.point.group.push_back(gpu->id);
      if (!asked.with_cuda) m.waived = "this mgsync was built without CUDA";
      m.method = [count, stopping = asked.stops({.max_time = std::chrono::milliseconds(200)})] {
        one_run_settings settings;
        settings.value = "total_us";
        settings.count = count;
        settings.runs_per_batch = 15;
        settings.beside = {{"call", "us"}, {"instantiation", "us"}, {"upload", "us"}};
        settings.stopping = stopping;
        return std::make_unique<one_run>(settings);
      };
      if constexpr (MGSYNC_WITH_CUDA)
        m.create = [what, ordinal = asked.first_ordinal()] {
          auto made = make_graph_nodes(what, ordinal);
          return subject_creation{std::move(made.subject), made.reason, {}};
        };
      all.push_back(std::move(m));
    }
}

void add_host(const study_request& asked, std::vector<measurement>& all) {
  const auto& machine = asked.machine();
  const auto& cpus = machine.allowed_cpus;
  for (const unsigned count : asked.values(members))
    for (const auto how : asked.values<host_kind>(kinds))
      for (const auto what : asked.values(quantities)) {
        auto m = planned(asked, to_string(how), count, what);
        for (unsigned i = 0; i < count; ++i) m.point.group.push_back(static_cast<int>(i));
        if (count > cpus.size())
          m.waived = fmt::format("{} threads are asked for, and {} hardware threads are allowed here", count,
                                 cpus.size());
        else if (what == quantity::fused)
          m.waived = "a host start returns when its members are done: there is nothing to be fused";
        const std::vector<int> pinned = asked.pins() && count <= cpus.size()
                                            ? std::vector<int>(cpus.begin(), cpus.begin() + count)
                                            : std::vector<int>{};
        m.create = [how, count, pinned] {
          auto made = make_host_launches(how, count, pinned);
          return subject_creation{std::move(made.subject), made.reason, {}};
        };
        all.push_back(std::move(m));
      }
}

std::vector<measurement> points(const study_request& asked) {
  std::vector<measurement> all;
  asked.device == topology::device::gpu ? add_gpu(asked, all) : add_host(asked, all);
  const auto& wanted = asked.values(quantities);
  const auto wants = [&](quantity what) {
    return asked.device == topology::device::gpu && std::ranges::find(wanted, what) != wanted.end();
  };
  if (wants(quantity::round)) add_rounds(asked, all);
  if (wants(quantity::graph)) add_graphs(asked, all);
  return all;
}

// On one GPU a kernel after another is a barrier over all its blocks. On several GPUs it is not, since each
// kernel waits only for the one before it on its own GPU.
std::optional<known_facts> facts_of(const point& p) {
  if (p.device != topology::device::gpu || p.members != 1 || p.word("quantity") != "null" ||
      p.number("argument_bytes").value_or(0) != 0 || p.find("policy") != nullptr)
    return std::nullopt;
  return known_facts{{.origin = fact::origin::vendor,
                      .driver = fact::driver::kernel_boundary,
                      .scope = fact::scope::grid,
                      .extent = fact::extent::everything,
                      .order = fact::order::both},
                     "NVIDIA",
                     "one more launch"};
}

// All of them time launches, by the host but for a graph that launches itself. Of a gradient, of the unit of
// waiting and of the time that holds this unit nothing was better until then.
void renew(result& one) {
  one.times_launches = std::ranges::none_of(
      gpu_kinds, [&](const gpu_kind& k) { return k.by_the_device && k.name == one.point.subject; });
  for (metric& m : one.metrics)
    if (m.name.starts_with("gradient_") || m.name == "unit" || m.name == "additional")
      m.better = better::neither;
  if (one.has_metrics() && one.metrics.front().better == better::neither)
    std::erase_if(one.doubts, [](const doubt& d) { return d.kind == doubt_kinds::negative; });
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
    .facts_of = launch::facts_of,
    .renew = launch::renew,
    .refuses = launch::refused};

}  // namespace mgsync
