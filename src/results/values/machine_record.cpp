#include "src/results/values/machine_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/json_fields.hpp"

namespace mgsync {

std::string format_notes(const machine_record& machine) {
  std::string text;
  for (const auto& note : machine.notes) text += fmt::format("note: {}\n", note);
  return text.empty() ? text : "\n" + text;
}

std::string difference(const machine_record& was, const machine_record& is) {
  // Field by field over the JSON, so that a new field cannot be forgotten here.
  const auto before = to_json(was);
  const auto now = to_json(is);
  std::vector<std::string> sentences;
  for (const auto& [key, value] : now.items()) {
    if (value == before.at(key)) continue;
    if (key == "gpus" && was.gpus.size() == is.gpus.size())
      sentences.push_back("the GPUs are others, or describe themselves differently");
    else if (key == "gpus")
      sentences.push_back(fmt::format("the number of GPUs is {}, was {}", is.gpus.size(), was.gpus.size()));
    else sentences.push_back(fmt::format("{} is {}, was {}", key, value.dump(), before.at(key).dump()));
  }
  return fmt::format("{}", fmt::join(sentences, "; "));
}

}  // namespace mgsync
