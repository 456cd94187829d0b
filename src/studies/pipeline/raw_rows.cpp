#include "src/studies/pipeline/raw_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "src/studies/pipeline/evaluation.hpp"
#include "src/studies/pipeline/measured_rows.hpp"

namespace mgsync::pipeline {
namespace {

bool has_header(std::string_view text, std::string_view header) { return text.starts_with(header) || text.find(fmt::format("\n{}", header)) != std::string_view::npos; }

measured_study read(std::span<const raw_file> files) {
  measured_study study;
  const auto take = [&](auto rows, auto& into) {
    study.facts.insert(rows.facts.begin(), rows.facts.end());
    into.insert(into.end(), rows.rows.begin(), rows.rows.end());
  };
  for (const auto& f : files) {
    if (has_header(f.text, "family,instance,")) take(read_product_rows(f.text, f.name), study.products);
    else if (has_header(f.text, "timeline,")) take(read_stamp_rows(f.text, f.name), study.stamps);
    else take(read_synthetic_rows(f.text, f.name), study.synthetic);
  }
  return study;
}

constexpr std::size_t most_dots = 250;  // of one family: enough to see the cloud

// Products whose sizes the calibration never saw.
void add_predictions(const measured_study& study, evaluation& e) {
  const auto found_sms = study.facts.find("sms");
  const int sms = found_sms == study.facts.end() ? 1 : std::atoi(found_sms->second.c_str());
  const auto profiles = profiles_of(study.products, sms);
  chart c{{"pipeline-predicted", "Predicted against measured: whole products of random sizes",
           "The simulator's time over the measured one, by the measured time; 1 is right (003). Of each kernel at most 250 products, evenly chosen."},
          {"measured (us)", true}, {"predicted / measured"}, {}};
  for (const char* family : {"mma", "wgmma"}) {
    std::vector<std::pair<double, double>> pairs;
    for (const auto& r : study.products) {
      const auto profile = profiles.find({r.family, r.instance, r.producers});
      if (r.family == family && r.set == "random" && profile != profiles.end()) pairs.emplace_back(simulated_ns(r, profile->second, sms), r.median_ns);
    }
    if (pairs.empty()) continue;
    const auto errors = summarize_errors(pairs);
    e.sentences.push_back(fmt::format("Of {} products by {} whose sizes the model never saw, the prediction is off by {:.1f} % in the mean and {:.1f} % at worst.", errors.count, family,
                                      errors.mean_percent, errors.max_percent));
    curve dots{family, {}, false, true};
    const std::size_t step = (pairs.size() + most_dots - 1) / most_dots;
    for (std::size_t i = 0; i < pairs.size(); i += step) dots.points.push_back({pairs[i].second * 1e-3, pairs[i].first / pairs[i].second, {}, {}, {}, "", ""});
    std::sort(dots.points.begin(), dots.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    c.curves.push_back(std::move(dots));
  }
  if (!c.curves.empty()) e.figures.emplace_back(std::move(c));
}

void add_timelines(const measured_study& study, evaluation& e) {
  std::map<int, std::vector<stamp_row>> by_number;
  for (const auto& r : study.stamps) by_number[r.timeline].push_back(r);
  std::size_t shown = 0;
  for (auto& [number, rows] : by_number) {
    if (++shown > 4) break;  // four of them say it
    const auto& any = rows.front();
    mgsync::timeline picture{{fmt::format("pipeline-timeline-{}", number), fmt::format("Measured: {}, {} producer{}, {} buffers", any.semaphore, any.producers, any.producers == 1 ? "" : "s", any.buffers),
                              "Stages of the synthetic kernel on one SM, by its cycle counter."}, "cycles", {}, 0};
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.agent != b.agent ? a.agent < b.agent : a.begin < b.begin; });
    for (const auto& r : rows) {
      const auto name = fmt::format("warp {}", r.agent);
      if (picture.tracks.empty() || picture.tracks.back().name != name) picture.tracks.push_back({name, {}});
      auto& events = picture.tracks.back().events;
      if (events.empty() || r.begin >= events.back().end) events.push_back({r.what == 'm' ? "math" : "load", r.begin, r.end});
    }
    e.figures.emplace_back(std::move(picture));
  }
}

}  // namespace

bool knows_rows(std::string_view text) { return has_header(text, "family,instance,") || has_header(text, "timeline,") || has_header(text, "semaphore,"); }

raw_evaluation evaluate_rows(std::span<const raw_file> files) {
  // What the kernels compute was checked in files of their own, with another column in place of times.
  std::vector<raw_file> timed;
  for (const auto& f : files)
    if (f.text.find(",verdict\n") == std::string::npos) timed.push_back(f);
  const auto study = read(timed);
  raw_evaluation all;
  add_predictions(study, all.shown);
  add_timelines(study, all.shown);
  return all;
}

}  // namespace mgsync::pipeline
