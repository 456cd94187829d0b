#include "src/studies/pipeline/shown_study.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/models/pipeline/search.hpp"
#include "src/results/frame/frame.hpp"
#include "src/results/frame/paper_numbers.hpp"

namespace mgsync::pipeline {

std::string kernel_name(const std::string& family, int producers) {
  return family == "wgmma" ? family : family + ", " + counted(producers, "producer");
}

namespace {

constexpr std::size_t most_dots = 250;  // per kernel family: enough to see the cloud

using pairs = std::vector<std::pair<double, double>>;

// Converts percent, in which errors are stored, to a share.
double share(double percent) { return percent / 100; }

// Names of figures and tables of this machine.
struct namer {
  std::string machine;
  std::string operator()(std::string name) const {
    if (machine.empty()) return name;
    for (const char c : "-" + machine)
      name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(c)) : '-';
    return name;
  }
};

// The held-out rows of one kernel with the predictions of both models.
struct predicted_rows {
  std::vector<const product_row*> rows;
  pairs whole, less_launch, second, second_less_launch;

  void add(const product_row& r, const tile_profile& p, int sms) {
    const double predicted = simulated_ns(r, p, sms), other = max_model_ns(r, p, sms),
                 launch = launch_ns(p, r.size, sms);
    rows.push_back(&r);
    whole.emplace_back(predicted, r.median_ns);
    less_launch.emplace_back(predicted - launch, r.median_ns - launch);
    second.emplace_back(other, r.median_ns);
    second_less_launch.emplace_back(other - launch, r.median_ns - launch);
  }
};
using by_kernel_and_set = std::map<std::pair<std::string, int>, std::map<std::string, predicted_rows>>;

by_kernel_and_set predictions_of(const measured_study& study,
                                 const std::map<profile_key, tile_profile>& profiles) {
  by_kernel_and_set all;
  for (const product_row& r : study.products)
    if (const auto found = profiles.find({r.family, r.instance, r.producers});
        is_held_out(r) && found != profiles.end())
      all[{r.family, r.producers}][r.set].add(r, found->second, study.facts.sms);
  return all;
}

double error_of_paper(const char* which) {
  return number_of("003", "text", "2048 configurations", "A6000", fmt::format("{} error", which));
}

void add_errors(const by_kernel_and_set& all, const namer& name, evaluation& e) {
  table t{
      {name("pipeline-errors"), "Predicted against measured: products whose sizes the model never saw",
       fmt::format("Errors are |predicted - measured| / measured; less launch: the empty launch subtracted "
                   "from both, as paper 003 does (its figures: mean {:.1f} %, largest {:.1f} %). The second "
                   "model is launch + first load + sum of max(DMA, math, epilogue) + last epilogue.",
                   error_of_paper("mean"), error_of_paper("largest"))},
      {"kernel", "sizes", "products | >", "whole, mean | .2f %", "largest | .2f %",
       "less launch, mean | .2f %", "largest | .2f %", "second model, mean | .2f %", "largest | .2f %"}};
  for (const auto& [kernel, sets] : all)
    for (const auto& [set, rows] : sets) {
      const auto whole = summarize_errors(rows.whole), less = summarize_errors(rows.less_launch),
                 second = summarize_errors(rows.second);
      t.add({kernel_name(kernel.first, kernel.second), set_name(set), whole.count, share(whole.mean_percent),
             share(whole.max_percent), share(less.mean_percent), share(less.max_percent),
             share(second.mean_percent), share(second.max_percent)});
      if (set == "grid" || set == "random")
        e.sentences.push_back(fmt::format("{}, {} products of {} that the model never saw: the prediction is "
                                          "off by {:.1f} % in the mean and {:.1f} % at worst "
                                          "({:.1f} and {:.1f} % with the launch subtracted).",
                                          kernel_name(kernel.first, kernel.second), whole.count,
                                          set_name(set), whole.mean_percent, whole.max_percent,
                                          less.mean_percent, less.max_percent));
    }
  e.add(std::move(t));
}

void add_histograms(const by_kernel_and_set& all, const namer& name, evaluation& e) {
  for (const auto& [kernel, sets] : all) {
    const auto grid = sets.find("grid");
    if (grid == sets.end()) continue;
    const auto s = summarize_errors(grid->second.less_launch);
    bar_chart c{
        {name(fmt::format("pipeline-histogram-{}-{}", kernel.first, kernel.second)),
         fmt::format("Prediction errors, {}: {} products", kernel_name(kernel.first, kernel.second), s.count),
         fmt::format("Signed errors with the launch subtracted, in bins of 2 %; the outermost hold what lies "
                     "beyond. The paper's mean is {:.1f} %, its largest {:.1f} %.",
                     error_of_paper("mean"), error_of_paper("largest"))},
        {"products"},
        {},
        {}};
    for (std::size_t i = 0; i < s.histogram.size(); ++i) {
      const double from = histogram_from + histogram_bin * static_cast<double>(i);
      c.bars.push_back({i == 0 ? fmt::format("below {:+.0f} %", from + histogram_bin)
                        : i + 1 == s.histogram.size()
                            ? fmt::format("{:+.0f} % and above", from)
                            : fmt::format("{:+.0f} to {:+.0f} %", from, from + histogram_bin),
                        {static_cast<double>(s.histogram[i])}});
    }
    e.figures.emplace_back(std::move(c));
  }
}

void add_cloud(const by_kernel_and_set& all, const namer& name, evaluation& e) {
  chart c{{name("pipeline-predicted"), "Predicted against measured: whole products of random sizes",
           "The simulator's time over the measured one, by the measured time; 1 is right (003). Of each "
           "kernel at most 250 products, evenly chosen."},
          {"measured (us)", true},
          {"predicted / measured"},
          {}};
  for (const auto& [kernel, sets] : all) {
    const auto random = sets.find("random");
    if (random == sets.end()) continue;
    const auto& whole = random->second.whole;
    curve dots{kernel_name(kernel.first, kernel.second), {}, false, true};
    const std::size_t step = (whole.size() + most_dots - 1) / most_dots;
    for (std::size_t i = 0; i < whole.size(); i += step)
      dots.points.push_back({whole[i].second * 1e-3, whole[i].first / whole[i].second, {}, {}, {}, "", ""});
    std::sort(dots.points.begin(), dots.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    c.curves.push_back(std::move(dots));
  }
  if (!c.curves.empty()) e.figures.emplace_back(std::move(c));
}

void add_choices(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
                 const namer& name, evaluation& e) {
  table t{
      {name("pipeline-choices"), "The model's best tile against the best measured",
       "Of each kernel's tiles, per size: how much longer than the fastest of them the chosen one takes. The "
       "fixed tile is the one that costs the least in the mean if it is taken for every size."},
      {"kernel", "products", "sizes | >", "chosen by", "at most 5 % slower | .1f %", "median | .2f %",
       "mean | .2f %", "90 % within | .2f %", "worst | .2f %"}};
  std::map<std::tuple<std::string, int, std::string>, std::vector<product_row>> groups;
  for (const product_row& r : study.products)
    if ((r.set.starts_with("grid") || (r.set == "large" && r.loads)) &&
        profiles.contains({r.family, r.instance, r.producers}))
      groups[{r.family, r.producers, r.set == "large" ? "large" : "grid"}].push_back(r);
  for (const auto& [key, rows] : groups) {
    const auto& [family, producers, set] = key;
    const auto kernel = kernel_name(family, producers);
    const auto add = [&, &of_set = set](const tile_choice_summary& choice, const std::string& by) {
      t.add({kernel, set_name(of_set), choice.sizes, by,
             static_cast<double>(choice.within_5_percent) / static_cast<double>(choice.sizes),
             share(choice.median_percent), share(choice.mean_percent), share(choice.ninety_percent),
             share(choice.worst_percent)});
    };
    const auto choice = choices_of(rows, [&](const product_row& r) {
      return simulated_ns(r, profiles.at({r.family, r.instance, r.producers}), study.facts.sms);
    });
    const auto fixed = fixed_choice_of(rows);
    add(choice, "the model");
    add(fixed, "always " + fixed.tile);
    if (set == "grid")
      e.sentences.push_back(fmt::format(
          "{}: the tile that the model chooses is at most 5 % slower than the "
          "best measured one for {:.1f} % of {} sizes; mgsync study pipeline --gemm MxNxK names it for one "
          "size.",
          kernel, 100.0 * static_cast<double>(choice.within_5_percent) / static_cast<double>(choice.sizes),
          choice.sizes));
  }
  e.add(std::move(t));
}

double tflops(const product_row& r) { return 2.0 * r.size.m * r.size.n * r.size.k / r.median_ns * 1e-3; }

void add_kernels(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
                 const namer& name, evaluation& e) {
  struct rates {
    double whole = 0, alone = 0;
  };
  std::map<profile_key, rates> at_8192;
  std::map<std::string, rates> best;
  for (const product_row& r : study.products) {
    if (r.set != "large" || !(r.size == extent{8192, 8192, 8192})) continue;
    for (rates* one : {&at_8192[{r.family, r.instance, r.producers}], &best[r.family]})
      (r.loads ? one->whole : one->alone) = std::max(r.loads ? one->whole : one->alone, tflops(r));
  }
  table t{{name("pipeline-kernels"), "What a stage takes, all SMs at work",
           "In ns, from stage to stage; both: as many buffers as fit. The rate is that of 8192 cubed."},
          {"kernel", "tile", "consumers | >", "loads | .0f", "multiplying | .0f", "both | .0f",
           "one buffer | .0f", "launch | .0f", "TFLOP/s | .0f"}};
  for (const auto& [key, p] : profiles) {
    const int sms = study.facts.sms;
    const auto* rate = at(at_8192, key);
    t.add({kernel_name(p.family, p.producers), text(p.tile),
           p.consumers == 2 ? "2, ping-pong" : fmt::format("{} warps", p.math_warps), p.load.at(sms),
           p.math.at(sms), p.both.at(sms), p.round.at(sms), p.launch.at(sms),
           rate == nullptr ? std::nullopt : table_entry(rate->whole)});
  }
  e.add(std::move(t));
  for (const auto& [family, rate] : best)
    if (rate.alone > 0)
      e.sentences.push_back(fmt::format("{} at 8192 cubed: {:.0f} TFLOP/s, {:.1f} % of the {:.0f} that the "
                                        "same machine multiplies without loading, on random inputs.",
                                        family, rate.whole, 100 * rate.whole / rate.alone, rate.alone));
}

void add_asked(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
               const namer& name, evaluation& e) {
  table t{{name("pipeline-asked"), "The products asked for", "The fastest first."},
          {"size", "kernel", "tile", "us | .2f", "predicted, us | .2f", "TFLOP/s | .1f"}};
  std::vector<const product_row*> rows;
  for (const product_row& r : study.products)
    if (r.set.starts_with("asked") && profiles.contains({r.family, r.instance, r.producers}))
      rows.push_back(&r);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return std::make_tuple(a->size.m, a->size.n, a->size.k, a->median_ns) <
           std::make_tuple(b->size.m, b->size.n, b->size.k, b->median_ns);
  });
  for (const auto* r : rows)
    t.add({text(r->size), kernel_name(r->family, r->producers),
           text(r->tile) + (r->consumers == 2 ? ", ping-pong" : ""), r->median_ns * 1e-3,
           simulated_ns(*r, profiles.at({r->family, r->instance, r->producers}), study.facts.sms) * 1e-3,
           tflops(*r)});
  e.add(std::move(t));
}

// Adds the lines of eqs. 4 to 7, and predictions for each tile from lines fitted to the other tiles.
void add_lines(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
               const namer& name, evaluation& e) {
  table t{{name("pipeline-lines"), "Lines instead of tiles: eqs. 4 to 7, least squares over the tiles",
           "startup + work / rate, and how far the measured tiles are from the line. The last rows predict "
           "whole products of tiles from lines that were fitted to the others."},
          {"kernel", "of", "startup, ns | .1f", "rate | .2f", "mean | .2f %", "largest | .2f %"}};
  std::map<std::pair<std::string, int>, std::vector<tile_profile>> kernels;
  for (const auto& [key, p] : profiles) kernels[{p.family, p.producers}].push_back(p);
  for (const auto& [kernel, tiles] : kernels) {
    if (tiles.size() < 2) continue;
    const auto called = kernel_name(kernel.first, kernel.second);
    const machine_fit all = fit_machine(tiles, study.facts);
    const auto line = [&](const char* what, const line_fit& f, const char* unit) {
      t.add({called, what, f.line.startup_ns, noted{f.line.per_ns, unit}, share(f.mean_error_percent),
             share(f.max_error_percent)});
    };
    line("loads of a stage", all.load, "B/ns");
    line("multiplying, by bytes", all.math_by_bytes, "B/ns");
    line("multiplying, by its work", all.math_by_multiply_adds, "multiply-adds/ns");
    line("epilogue, all SMs", all.epilogue, "B/ns");
    pairs predicted;
    for (const tile_profile& left_out : tiles) {
      std::vector<tile_profile> others;
      for (const tile_profile& p : tiles)
        if (p.instance != left_out.instance) others.push_back(p);
      if (others.size() < 6) continue;
      const machine on = fit_machine(others, study.facts).on;
      for (const product_row& r : study.products)
        if (r.set == "grid" && r.family == kernel.first && r.producers == kernel.second &&
            r.instance == left_out.instance)
          predicted.emplace_back(
              static_cast<double>(predict(on, r.size, {r.tile, {1, r.consumers, r.buffers, true}}).total) /
                  ticks_per_ns,
              r.median_ns);
    }
    if (predicted.empty()) continue;
    const auto s = summarize_errors(predicted);
    t.add({called, "whole products of tiles left out", std::nullopt, std::nullopt, share(s.mean_percent),
           share(s.max_percent)});
  }
  e.add(std::move(t));
}

void add_synthetic(std::span<const synthetic_summary> all, const namer& name, evaluation& e) {
  table t{
      {name("pipeline-semaphores"), "What the semaphores of the synthetic kernel cost, in cycles",
       "Fitted on some settings; the errors are those of others, drawn at random. item: what a wait lasts "
       "longer than asked for; query: between two stages of an agent; "
       "handover: from a signal to who waited for it, with the recorder's clock reads in it; start: once."},
      {"semaphore", "item | .0f", "query | .0f", "handover | .0f", "start | .0f", "settings | >",
       "mean error | .2f %", "largest | .2f %"}};
  for (const auto& s : all) {
    if (s.held_out.count == 0) continue;
    if (s.semaphore == "all") {
      e.sentences.push_back(fmt::format("The synthetic kernel, {} random settings of 200 to 20,000 cycles: "
                                        "predicted within {:.2f} % in the mean and {:.2f} % at worst.",
                                        s.held_out.count, s.held_out.mean_percent, s.held_out.max_percent));
      continue;
    }
    t.add({s.semaphore, s.costs.item,
           s.query_shows ? std::optional(table_entry(s.costs.query)) : std::nullopt, s.costs.handover,
           s.costs.start, s.held_out.count, share(s.held_out.mean_percent), share(s.held_out.max_percent)});
  }
  e.add(std::move(t));
}

// Adds a timeline for each kind of semaphore and number; the numbers of every kind begin at 0.
void add_timelines(const measured_study& study, std::span<const synthetic_summary> fitted, const namer& name,
                   evaluation& e) {
  std::map<std::pair<std::string, int>, std::vector<stamp_row>> recorded;
  for (const stamp_row& r : study.stamps) recorded[{r.semaphore, r.timeline}].push_back(r);
  std::size_t in_order = 0;
  for (const auto& [key, rows] : recorded) {
    in_order += violations_of(rows).empty();
    semaphore_costs costs;
    for (const auto& s : fitted)
      if (s.semaphore == key.first) costs = s.costs;
    auto picture = simulated_over_measured(rows, costs);
    picture.heading.name = name(picture.heading.name);
    e.figures.emplace_back(std::move(picture));
  }
  if (!recorded.empty())
    e.sentences.push_back(fmt::format("{} of {} recorded runs: never more tiles in flight than buffers, "
                                      "nothing used before it was there, nothing overwritten while in use.",
                                      in_order, recorded.size()));
}

}  // namespace

std::string set_name(const std::string& set) {
  return set == "grid"     ? "sizes to 1024"
         : set == "random" ? "random sizes to 3072"
         : set == "large"  ? "2048 to 8192 cubed"
         : set == "fresh"  ? "fresh sizes to 8192"
                           : "sizes asked for";
}

void show(const measured_study& study, const std::string& machine, evaluation& e) {
  const namer name{machine};
  const auto fitted =
      study.synthetic.empty() ? std::vector<synthetic_summary>{} : evaluate_synthetic(study.synthetic);
  add_synthetic(fitted, name, e);
  const auto profiles = profiles_of(study.products, study.facts.sms);
  const auto predicted = predictions_of(study, profiles);
  add_errors(predicted, name, e);
  e.add(claims_of(study, profiles, {name("pipeline-claims"), "", ""}));
  add_choices(study, profiles, name, e);
  e.add(regret_of(study, profiles, {name("pipeline-regret"), "", ""}));
  e.add(vendor_of(study, {name("pipeline-vendor"), "", ""}));
  add_asked(study, profiles, name, e);
  add_paper_products(study, profiles, name("pipeline-table-2"), e);
  add_kernels(study, profiles, name, e);
  add_lines(study, profiles, name, e);
  add_cloud(predicted, name, e);
  add_histograms(predicted, name, e);
  add_timelines(study, fitted, name, e);
  if (!study.recorded.empty())
    if (const auto& r = study.recorded.front(); profiles.contains({r.family, r.instance, 1})) {
      auto picture =
          recorded_over_simulated(study.recorded, profiles.at({r.family, r.instance, 1}), study.facts);
      picture.heading.name = name(picture.heading.name);
      e.figures.emplace_back(std::move(picture));
    }
}

}  // namespace mgsync::pipeline
