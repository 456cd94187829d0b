// Study scale-out: what a barrier over many nodes of GPUs would take. Nothing is measured:
// src/models/scale_out simulates it from what was measured on one node and what others published of networks.
#include <fmt/format.h>

#include "src/harness/study.hpp"
#include "src/models/scale_out/scale_out.hpp"
#include "src/results/frame/frame.hpp"

namespace mgsync {
namespace scale_out { namespace {

constexpr axis_of<unsigned> simulated({.name = "simulate",
                                       .help = "the numbers of nodes whose barrier is simulated",
                                       .asks_model = true},
                                      numbers_in{.least = 2, .most = 4096});

constexpr std::pair<form, std::string_view> form_words[] = {
    {form::leader, "leader"}, {form::rail, "rail"}, {form::flat, "flat"}};
constexpr axis_of<form> forms({.name = "proxies",
                               .help = "one of each node, one of each GPU by its rail, or of all GPUs alike"},
                              words_in<form>{.table = form_words});
constexpr axis_of<unsigned> radixes(
    {.name = "radix", .help = "nodes that know of each other after a step for each that did before"},
    numbers_in{.least = 2, .most = 64, .defaults = "2,8"});
constexpr axis_of<unsigned> gpus_of_node({.name = "gpus_per_node",
                                          .help = "of each node",
                                          .counts = word_count::one},
                                         numbers_in{.least = 1, .most = 16, .defaults = "8"});

// multigrid:host-flags of 2 H200s at 1x32 (docs/results/gpu-barriers.md): blocks to a word of the host's, and
// back. 8 GPUs of a node were not measured.
constexpr double of_gpus_us = 4.181;
// What a thread takes for MPI_Isend or MPI_Test of 8 bytes, and a message between ranks of one host takes, by
// shared memory (docs/nodes.md).
constexpr double gap_of_mpi_us = 0.1, hop_us = 0.54;

// Half a round trip of a message of 8 bytes between two nodes, as others measured it; virtual-nodes: what
// holds the simulation against what was measured over more of them.
struct network {
  std::string_view name;
  double latency_us;
  std::string_view source;
  double in_node_us = of_gpus_us;  // half of it before the proxies speak, half after
  double gap_us = gap_of_mpi_us;
};
constexpr network networks_known[] = {
    {"infiniband", 0.90,
     "Open MPI over InfiniBand, osu_latency: gist.github.com/jfgrimm/3af692a5475bdd4ed836b5a18197a209"},
    {"slingshot", 1.6, "expected of LUMI, osu_latency: github.com/Lumi-supercomputer/reframe/issues/7"},
    {"tcp", 24.6, "MPICH over TCP, osu_latency: gist.github.com/jfgrimm/3af692a5475bdd4ed836b5a18197a209"},
    {"virtual-nodes", 1.1,
     "nodes:leader of 2 virtual nodes of 16 cores, less a word in each: docs/results/host16/nodes.json.xz",
     0.1, 0}};
std::vector<std::pair<const network*, std::string_view>> known_networks() {
  std::vector<std::pair<const network*, std::string_view>> all;
  for (const auto& one : networks_known) all.emplace_back(&one, one.name);
  return all;
}
constexpr axis_of<const network*> networks({.name = "network", .help = "whose published latency is taken"},
                                           names_in<known_networks>{.defaults = "infiniband,tcp"});
constexpr axis_of<std::uint32_t> jitters(
    {.name = "jitter", .help = "what messages take longer on average, in percent of the latency"},
    numbers_in{.least = 0, .most = 1000, .defaults = "10"});
constexpr axis_of<std::uint32_t> slowness(
    {.name = "slow_node",
     .help = "how much later than the others one node comes to each round",
     .unit = "us"},
    numbers_in{.least = 0, .most = 1'000'000, .defaults = "0"});
constexpr const axis_declaration* axes[] = {&simulated, &forms,   &radixes, &gpus_of_node,
                                            &networks,  &jitters, &slowness};

constexpr unsigned rounds = 20;  // of one random sequence: an answer is the same each time

double us_of(const cluster& of, const network& over, double jitter_percent, double slow_us) {
  return simulated_us(
      of, {.latency = over.latency_us, .gap = over.gap_us, .jitter = over.latency_us * jitter_percent / 100},
      {.arrive = over.in_node_us / 2, .leave = over.in_node_us / 2, .hop = hop_us, .slow = slow_us}, rounds,
      1);
}

std::string name_of_curve(const network& over, form how, unsigned radix, std::uint32_t jitter,
                          std::uint32_t slow) {
  auto name = fmt::format("{}, {}, radix {}", over.name, forms.word_for(how), radix);
  if (jitter != 10) name += fmt::format(", jitter {} %", jitter);
  if (slow != 0) name += fmt::format(", one node {} us late", slow);
  return name;
}

study_answer answer_for(const study_request& asked) {
  const auto counts = asked.values(simulated);
  const unsigned gpus = asked.one(gpus_of_node);
  table rows{{"scale-out", fmt::format("A barrier over nodes of {} GPUs, simulated", gpus),
              "Nothing of this was measured: us of a round."},
             {"proxies and network"}};
  for (const auto n : counts) rows.columns.push_back({fmt::format("{} nodes", n), ".2f"});
  chart over_nodes{
      {"scale-out", fmt::format("A barrier over nodes of {} GPUs, simulated", gpus),
       "From one node's measured hops and published latencies of networks; nothing was measured."},
      {.label = "nodes", .logarithmic = true},
      {.label = "latency (us), simulated", .logarithmic = true},
      {}};
  for (const auto* over : asked.values(networks))
    for (const auto how : asked.values(forms))
      for (const auto radix : asked.values(radixes))
        for (const auto jitter : asked.values(jitters))
          for (const auto slow : asked.values(slowness)) {
            curve one{.name = name_of_curve(*over, how, radix, jitter, slow), .reference = true};
            std::vector<table_entry> line{one.name};
            for (const auto n : counts) {
              const double us = us_of({n, gpus, how, radix}, *over, jitter, slow);
              one.points.push_back({.x = static_cast<double>(n), .y = us});
              line.push_back(us);
            }
            over_nodes.curves.push_back(std::move(one));
            rows.add(line);
          }
  study_answer out;
  out.text = to_text(rows) + "\n";
  for (const auto* over : asked.values(networks))
    out.text += fmt::format("{}: {} us a message ({})\n", over->name, over->latency_us, over->source);
  out.figures.push_back(std::move(over_nodes));
  return out;
}

std::vector<measurement> points(const study_request& asked) {
  auto none = measurement_of(asked, "scale-out", "simulation");
  none.waived = "nothing of it is measured: --simulate 2,16,128,1024 has a model answer for so many nodes";
  return {none};
}

evaluation evaluate(std::span<const result>) { return {}; }

}}  // namespace scale_out

extern const study scale_out_study;
const study scale_out_study{.name = "scale-out",
                            .summary = "what a barrier over many nodes of GPUs would take: a simulation",
                            .axes = scale_out::axes,
                            .points = scale_out::points,
                            .evaluate = scale_out::evaluate,
                            .answer = scale_out::answer_for};

}  // namespace mgsync
