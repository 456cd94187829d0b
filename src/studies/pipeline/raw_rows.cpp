#include "src/studies/pipeline/raw_rows.hpp"

#include <fmt/format.h>

#include "src/studies/pipeline/kernel_provers.hpp"
#include "src/studies/pipeline/shown_study.hpp"

namespace mgsync::pipeline {
namespace {

bool has_header(std::string_view text, std::string_view header) {
  return text.starts_with(header) || text.find(fmt::format("\n{}", header)) != std::string_view::npos;
}

evaluation shown(const std::map<std::string, measured_study>& all) {
  evaluation e;
  for (const auto& [name, study] : all) show(study, all.size() == 1 ? "" : name, e);
  return e;
}

}  // namespace

bool knows_rows(std::string_view text) {
  return has_header(text, "family,instance,") || has_header(text, "timeline,") ||
         has_header(text, "semaphore,");
}

std::map<std::string, measured_study> read_studies(std::span<const raw_file> files) {
  std::map<std::string, measured_study> all;
  const auto take = [&](auto rows, auto member) {
    measured_study& study = all[rows.facts.name];
    auto& into = study.*member;
    study.facts = rows.facts;
    into.insert(into.end(), rows.rows.begin(), rows.rows.end());
  };
  for (const auto& f : files) {
    // What the kernels compute was once checked in files of their own, with another column in place of times.
    if (f.text.find(",verdict\n") != std::string::npos) continue;
    if (has_header(f.text, "family,instance,"))
      take(read_product_rows(f.text, f.name), &measured_study::products);
    else if (has_header(f.text, "timeline,")) take(read_stamp_rows(f.text, f.name), &measured_study::stamps);
    else take(read_synthetic_rows(f.text, f.name), &measured_study::synthetic);
  }
  return all;
}

std::map<std::string, measured_study> studies_in(std::span<const result> results) {
  std::vector<raw_file> files;
  for (const auto& r : results)
    if (r.point.study == "pipeline")
      for (const auto& a : r.attachments)
        if (a.name == rows_attachment || a.name == stamps_attachment)
          files.push_back({fmt::format("{} of {}", a.name, name_of(r.point)), a.content});
  return read_studies(files);
}

raw_evaluation evaluate_rows(std::span<const raw_file> files) { return {shown(read_studies(files)), {}}; }

evaluation evaluate_results(std::span<const result> results) { return shown(studies_in(results)); }

}  // namespace mgsync::pipeline
