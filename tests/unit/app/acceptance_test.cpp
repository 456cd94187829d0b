// Nodes that were measured, each judged against the others of its kind as `mgsync accept` does: none is taken
// for slow, and faults that are planted in them are named.
#include "src/results/comparison/acceptance.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "src/harness/study.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/files/result_file.hpp"

namespace mgsync { namespace {

// The committed files with idle barriers of GPUs, by kind of machine.
const std::map<std::string, std::vector<json_document>>& nodes() {
  static const auto all = [] {
    std::map<std::string, std::vector<json_document>> found;
    for (const auto* name :
         {"h100x1/grid-barriers.json.xz",  "h100x1/barriers.json.xz",       "h100x1/peers.json.xz",
          "h100x2/barriers.json.xz",       "h100x2/library.json.xz",        "h100x2/load.json.xz",
          "h200x1/grid-barriers.json.xz",  "h200x1/inner-barriers.json.xz", "h200x2/barriers.json.xz",
          "h200x2/late.json.xz",           "h200x2/library.json.xz",        "h200x2/load.json.xz",
          "h200x2/sweep.json.xz",          "h200x2/work.json.xz",           "h200x4/map-1.json.xz",
          "h200x4/all-backends.json.xz",   "h200x4/barriers.json.xz",       "h200x4/gpu-barriers.json.xz",
          "h200x4/library-before.json.xz", "h200x4/library.json.xz",        "h200x4/load.json.xz",
          "h200x4/map-2.json.xz"}) {
      const auto path = std::filesystem::path(MGSYNC_RESULTS_FOLDER) / name;
      if (path.extension() == ".xz" && !can_pack()) continue;
      auto document = read_result_file(path.string()).document;
      know_facts(studies(), document.results, false);
      const auto& m = document.machine;
      found[fmt::format("{} x {}, {}", m.gpus.size(), m.gpus.front().name, m.cores)].push_back(
          std::move(document));
    }
    return found;
  }();
  return all;
}

struct judgement {
  std::vector<acceptance_point> planned;
  json_document measured;
  acceptance node;
};

// Judges one document against the others: it is measured at those points that it has, on whichever GPUs.
judgement judged_by_others(const std::vector<json_document>& kind, std::size_t which) {
  std::vector<json_document> others = kind;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(which));
  const reference_spread own({&kind[which], 1}), known(others);
  const int gpus = static_cast<int>(kind[which].machine.gpus.size());
  acceptance_request asked{.members = gpus,
                           .can_run = [&](const point& p) { return own.find(p) != nullptr; }};
  for (int a = 0; a < gpus; ++a)
    for (int b = a + 1; b < gpus; ++b) asked.pairs.push_back({a, b});
  judgement done{plan_acceptance(known, asked), {}, {}};
  for (const auto& p : done.planned)
    for (const auto& r : kind[which].results) {
      auto placed = r;
      placed.point.placement = p.point.placement, placed.point.group = p.point.group;
      if (!(placed.point == p.point) || !r.has_metrics()) continue;
      done.measured.results.push_back(std::move(placed));
      break;
    }
  if (!done.planned.empty()) judge(done.node, done.planned, done.measured);
  return done;
}

TEST(acceptance_of_measured_nodes, none_is_taken_for_slow) {
  std::size_t judged = 0, points = 0;
  for (const auto& [kind, documents] : nodes())
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto one = judged_by_others(documents, i);
      if (one.planned.size() < 3) continue;
      ++judged, points += one.planned.size();
      EXPECT_NE(one.node.verdict, node_verdict_kind::slow) << kind << " " << documents[i].command << "\n"
                                                           << one.node.sentence;
    }
  RecordProperty("files", static_cast<int>(judged));
  RecordProperty("points", static_cast<int>(points));
  EXPECT_GE(judged, 14U);  // docs/accept.md has the number, and the bound that it gives
}

judgement with_fault(const std::function<double(const std::vector<int>&)>& times, std::size_t which) {
  const auto& kind = nodes().at("4 x NVIDIA H200, 64");
  auto one = judged_by_others(kind, which);
  for (auto& r : one.measured.results)
    for (auto* value : {&r.metrics[0].median, &r.metrics[0].ci95_low, &r.metrics[0].ci95_high})
      *value *= times(r.point.group);
  judge(one.node, one.planned, one.measured);
  return one;
}

bool has(const std::vector<int>& group, int gpu) { return std::ranges::count(group, gpu) > 0; }

// The two files of four GPUs with points of single GPUs, pairs and all four.
constexpr std::size_t all_backends = 1, barriers = 2;

std::string named(const judgement& one) {
  std::string text;
  for (const auto& s : one.node.suspects) text += s.part + ";";
  return text;
}

// How many times as long a barrier takes beside measured traffic: h200x2/load.json.xz, multigrid:library.
constexpr double beside_local_stores = 1.95, beside_peer_stores = 1.54;

TEST(acceptance_of_measured_nodes, a_gpu_with_a_busy_neighbour_is_named) {
  EXPECT_EQ(
      named(with_fault([](const auto& g) { return has(g, 1) ? beside_local_stores : 1; }, all_backends)),
      "GPU 1;");
  EXPECT_EQ(named(with_fault([](const auto& g) { return has(g, 3) ? beside_local_stores : 1; }, barriers)),
            "GPU 3;");
}

TEST(acceptance_of_measured_nodes, a_late_gpu_is_named) {
  const auto late = [](int gpu) {
    return [gpu](const std::vector<int>& g) { return g.size() > 1 && has(g, gpu) ? 2.0 : 1.0; };
  };
  EXPECT_EQ(named(with_fault(late(0), all_backends)), "GPU 0 with every other GPU;");
  EXPECT_EQ(named(with_fault(late(2), barriers)), "GPU 2 with every other GPU;");
}

TEST(acceptance_of_measured_nodes, a_slow_pair_is_named) {
  const auto pair = [](std::vector<int> slow) {
    return [slow](const std::vector<int>& g) { return g == slow ? beside_peer_stores : 1.0; };
  };
  EXPECT_EQ(named(with_fault(pair({0, 3}), all_backends)), "GPUs 0 and 3;");
  EXPECT_EQ(named(with_fault(pair({1, 2}), barriers)), "GPUs 1 and 2;");
}

}}  // namespace mgsync
