#include "src/app/listed_points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/results/files/result_file.hpp"

namespace mgsync {
namespace {

typed_words words_of(const point& p) {
  typed_words words{{"members", {std::to_string(p.members)}}};
  // A host member's shape is its threads alone, and is typed as blocks of any number of threads.
  if (const auto shape = format_shape(p); !shape.empty())
    words["shape"] = {shape.find('x') == std::string::npos ? shape + "x1" : shape};
  for (const auto word : split_at_commas(p.placement)) words["placement"].emplace_back(word);
  for (const auto name : {axes::load, axes::work, axes::late})
    if (const auto* axis = p.find(name); axis != nullptr && !is_ordinary(*axis))
      words[std::string(name)] = {text_of(*axis)};
  return words;
}

}  // namespace

std::vector<typed_words> sweeps_of(std::span<const point> points) {
  std::vector<std::pair<typed_words, std::vector<std::string>>> sweeps;
  for (const auto& p : points) {
    const auto words = words_of(p);
    auto at = std::ranges::find(sweeps, words, &std::pair<typed_words, std::vector<std::string>>::first);
    if (at == sweeps.end()) at = sweeps.insert(at, {words, {}});
    if (std::ranges::find(at->second, subject_of(p)) == at->second.end()) at->second.push_back(subject_of(p));
  }
  std::vector<typed_words> all;
  for (auto& [words, subjects] : sweeps) {
    words["backend"] = std::move(subjects);
    all.push_back(std::move(words));
  }
  return all;
}

std::vector<typed_words> sweeps_of_file(const std::string& name) {
  std::vector<point> points;
  for (auto& r : read_result_file(name).document.results)
    if (r.point.study == default_study) points.push_back(std::move(r.point));
  if (points.empty())
    throw usage_error(fmt::format("--points {}: there is no point of study {} in it", name, default_study));
  return sweeps_of(points);
}

}  // namespace mgsync
