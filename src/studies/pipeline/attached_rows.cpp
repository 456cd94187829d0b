#include "src/studies/pipeline/attached_rows.hpp"

#include <fmt/format.h>

#include "src/studies/pipeline/kernel_checkers.hpp"
#include "src/studies/pipeline/shown_study.hpp"

namespace mgsync::pipeline {

std::map<std::string, measured_study> studies_in(std::span<const result> results) {
  std::map<std::string, measured_study> all;
  const auto take = [&](auto rows, auto member) {
    measured_study& study = all[rows.facts.name];
    auto& into = study.*member;
    study.facts = rows.facts;
    into.insert(into.end(), rows.rows.begin(), rows.rows.end());
  };
  for (const auto& r : results) {
    if (r.point.study != "pipeline") continue;
    for (const auto& a : r.attachments) {
      const auto source = fmt::format("{} of {}", a.name, name_of(r.point));
      if (a.name == stamps_attachment) take(read_rows<stamp_row>(a.content, source), &measured_study::stamps);
      else if (a.name == recorded_attachment)
        take(read_rows<recorded_row>(a.content, source), &measured_study::recorded);
      else if (a.name == rows_attachment && r.point.subject == synthetic_kernel_name)
        take(read_rows<synthetic_row>(a.content, source), &measured_study::synthetic);
      else if (a.name == rows_attachment)
        take(read_rows<product_row>(a.content, source), &measured_study::products);
    }
  }
  return all;
}

evaluation evaluate_results(std::span<const result> results) {
  evaluation e;
  const auto all = studies_in(results);
  for (const auto& [name, study] : all) show(study, all.size() == 1 ? "" : name, e);
  return e;
}

}  // namespace mgsync::pipeline
