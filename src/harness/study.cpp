#include "src/harness/study.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mgsync {

const topology::gpu* study_request::first_gpu() const {
  const auto& gpus = machine().gpus;
  const auto shown =
      std::ranges::find_if(gpus, [](const auto& each) { return each.cuda_ordinal.has_value(); });
  return shown != gpus.end() ? &*shown : gpus.empty() ? nullptr : &gpus.front();
}

int study_request::first_ordinal() const {
  const auto* gpu = first_gpu();
  return gpu == nullptr ? 0 : gpu->cuda_ordinal.value_or(0);
}

void study_request::settle(declared_axes axes, const typed_words& typed) {
  static_cast<axis_values&>(*this) = settled(axes, typed, device);
}

bool asks_for_answer(const study& of, const typed_words& typed) {
  return of.answer != nullptr && std::ranges::any_of(of.axes, [&](const auto* axis) {
           return axis->asks_model && typed.contains(axis->name);
         });
}

namespace {

// The study of that point; nullptr: this build does not have it.
const study* know(std::span<const study* const> studies, const point& of, std::optional<known_facts>& facts,
                  bool less_order) {
  const auto found = std::ranges::find(studies, of.study, &study::name);
  const study* its = found == studies.end() ? nullptr : *found;
  if (!facts && its != nullptr && its->facts_of != nullptr) facts = its->facts_of(of);
  if (facts) facts->ranked_anyway = less_order;
  return its;
}

}  // namespace

void know_facts(std::span<const study* const> studies, std::span<result> all, bool less_order) {
  for (auto& one : all)
    if (const study* its = know(studies, one.point, one.facts, less_order);
        its != nullptr && its->renew != nullptr)
      its->renew(one);
}

void know_facts(std::span<const study* const> studies, std::span<measurement> all, bool less_order) {
  for (auto& one : all) know(studies, one.point, one.facts, less_order);
}

std::string_view why_refused(const study& s, std::string_view option) {
  const auto own = std::ranges::find(s.refuses, option, &refused_option::option);
  if (own != s.refuses.end()) return own->why;
  constexpr std::string_view of_ranks[] = {"members-per-rank", "per-node", "mpi-threads"};
  const bool ranks_only = std::ranges::find(of_ranks, option) != std::end(of_ranks);
  return ranks_only && !s.in_ranks ? "it is measured in one process, without MPI" : "";
}

shown_study shown_of(const study& one, const std::function<evaluation()>& evaluate) {
  try {
    return {&one, evaluate()};
  } catch (const std::exception& error) {
    return {&one,
            {{fmt::format("What the study {} makes of these results is missing, since that failed: {}. The "
                          "results themselves are whole.",
                          one.name, error.what())}},
            error.what()};
  }
}

measurement measurement_of(const study_request& asked, std::string_view study, std::string_view subject,
                           std::string_view variant) {
  const auto* gpu = asked.first_gpu();
  measurement m;
  m.point.study = study;
  m.point.subject = subject;
  m.point.variant = variant;
  m.point.device = asked.device;
  m.point.members = 1;
  if (!asked.settings.pin) m.point.set(axes::pinned, "no");
  m.point.group = {asked.device == topology::device::gpu && gpu != nullptr ? gpu->id : 0};
  return m;
}

}  // namespace mgsync
