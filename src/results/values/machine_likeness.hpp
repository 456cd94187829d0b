// Whether results of two machine records may be compared, or merged into one file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "src/base/enum_words.hpp"
#include "src/results/values/machine_record.hpp"

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

// The value of the word; throws usage_error, which names the accepted words.
across across_named(std::string_view option, std::string_view text);

struct likeness {
  across level = across::nothing;  // the lowest level that allows the difference
  std::string difference;          // a sentence for each field that differs and matters; empty when none does
};

likeness likeness_of(const machine_record& base, const machine_record& now);

// Whether `base` is a machine as `now` is, but with more GPUs, of the same model where `now` has any.
bool has_more_gpus(const machine_record& base, const machine_record& now);

// Throws usage_error when `now` differs from `base` by more than `allowed`; it names the difference and the
// option that would allow it.
void refuse_unless_alike(const machine_record& base, const std::string& base_name, const machine_record& now,
                         const std::string& now_name, across allowed);

// Differences that are always allowed but may explain a difference in latency: the software, the CPUs that
// the launcher gave; and of the settings of both those that are versions of software.
std::string software_difference(const machine_record& base, const machine_record& now,
                                const std::map<std::string, std::string>& base_settings = {},
                                const std::map<std::string, std::string>& now_settings = {});
inline constexpr const char* software_settings[] = {"driver", "CUDA toolkit", "NCCL"};

}  // namespace mgsync
