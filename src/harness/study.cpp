#include "src/harness/study.hpp"

#include <algorithm>

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

measurement measurement_of(const study_request& asked, std::string_view study, std::string_view subject,
                           std::string_view variant) {
  const auto* gpu = asked.first_gpu();
  measurement m;
  m.point.study = study;
  m.point.subject = subject;
  m.point.variant = variant;
  m.point.device = asked.device;
  m.point.members = 1;
  m.point.group = {asked.device == topology::device::gpu && gpu != nullptr ? gpu->id : 0};
  return m;
}

}  // namespace mgsync
