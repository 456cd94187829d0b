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

void study_request::settle(declared_axes axes, const typed_words& typed) {
  static_cast<axis_values&>(*this) = settled(axes, typed, device);
}

bool asks_for_answer(const study& of, const typed_words& typed) {
  return of.answer != nullptr && std::ranges::any_of(of.axes, [&](const auto* axis) {
           return axis->asks_model && typed.contains(axis->name);
         });
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
