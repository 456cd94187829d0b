#include "src/app/recording_page.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "mgsync/version.hpp"
#include "src/base/units.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {

bool is_recording_file(const std::string& name) {
  return std::filesystem::is_regular_file(name) && is_recording(read_text(name, "a recording"));
}

timeline picture_of(const recording& recorded, const std::string& name) {
  return bars_of(recorded,
                 {std::string(figure_of_recordings),
                  fmt::format("What happened when: {}", std::filesystem::path(name).filename().string()),
                  recorded.lost == 0
                      ? ""
                      : fmt::format("{} older stamps are missing: the recorder was full.", recorded.lost)});
}

table durations_of(const timeline& picture) {
  std::map<std::string, std::vector<double>> by_name;
  for (const track& one : picture.tracks)
    for (const event& e : one.events) by_name[e.name].push_back(e.end - e.begin);
  table t{{"durations", fmt::format("How long each took, in {}", picture.unit), "Over all workers."},
          {"what", "count | >", "median | .1f", "shortest | .1f", "longest | .1f", "in all | .0f"}};
  for (const auto& [name, all] : by_name) {
    double sum = 0;
    for (const double one : all) sum += one;
    t.add({name, all.size(), median(all), std::ranges::min(all), std::ranges::max(all), sum});
  }
  return t;
}

report::page page_of(const recording& recorded, const std::string& name) {
  auto picture = picture_of(recorded, name);
  double begin = 0, end = 0;
  for (const recorded_event& e : recorded.events) begin = std::min(begin, e.at), end = std::max(end, e.at);
  report::page p;
  p.title = picture.heading.title;
  p.subtitle = fmt::format("{} of {}", counted(recorded.events.size(), "stamp"),
                           counted(recorded.workers.size(), recorded.worker_word));
  p.verdict.shown.sentences = {fmt::format("{} within {:.0f} {}{}.", p.subtitle, end - begin, recorded.unit,
                                           recorded.lost == 0
                                               ? std::string()
                                               : fmt::format("; {} older ones are missing, as the "
                                                             "recorder was full",
                                                             recorded.lost))};
  p.verdict.shown.tables.push_back(durations_of(picture));
  report::page_section drawn{"timeline", "Timeline"};
  drawn.shown.figures.emplace_back(std::move(picture));
  p.sections.push_back(std::move(drawn));
  p.written = fmt::format("mgsync {}", version_with_commit);
  return p;
}

}  // namespace mgsync
