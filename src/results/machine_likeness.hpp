// Whether results of two machine records may be set against each other, or put into one file.
#pragma once

#include <string>
#include <string_view>

#include "src/base/enum_words.hpp"
#include "src/results/machine_record.hpp"

namespace mgsync {

// What two records may differ in; each includes the ones before it.
enum class across {
  nothing,  // the same host or hosts with the same devices
  hosts,  // other hosts, or GPUs with other UUIDs, of the same hardware: CPU model, cores, GPU models, number
          // of hosts
  machines,  // anything
};

template <>
struct enum_words<across> {
  static constexpr std::pair<across, std::string_view> list[] = {
      {across::nothing, "nothing"}, {across::hosts, "hosts"}, {across::machines, "machines"}};
};

// What the word means; usage_error names those there are.
across across_named(std::string_view option, std::string_view text);

struct likeness {
  across level = across::nothing;  // the least that covers the difference
  std::string difference;          // a sentence for each field that decides, empty when nothing differs
};

likeness likeness_of(const machine_record& base, const machine_record& now);

// Throws usage_error when `now` is further from `base` than `allowed`: what differs, and the option that
// allows it.
void refuse_unless_alike(const machine_record& base, const std::string& base_name, const machine_record& now,
                         const std::string& now_name, across allowed);

// What else differs and may explain a difference in latency: the software, the CPUs that the launcher gave.
// No refusal.
std::string software_difference(const machine_record& base, const machine_record& now);

}  // namespace mgsync
