#include "src/results/values/machine_likeness.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"

namespace mgsync {
namespace {

template <class Value>
void note(std::vector<std::string>& sentences, std::string_view what, const Value& was, const Value& is) {
  if (was != is) sentences.push_back(fmt::format("{} is {}, was {}", what, is, was));
}

// Absent where no source reported it; then it is not compared.
bool differ(const std::optional<int>& a, const std::optional<int>& b) { return a && b && *a != *b; }

bool same_model(const topology::gpu& a, const topology::gpu& b) {
  return a.name == b.name && a.mig == b.mig && !differ(a.sm_count, b.sm_count) &&
         !differ(a.compute_major, b.compute_major) && !differ(a.compute_minor, b.compute_minor);
}

std::vector<std::string> hardware_differences(const machine_record& base, const machine_record& now) {
  std::vector<std::string> sentences;
  note(sentences, "the CPU", base.cpu_model, now.cpu_model);
  note(sentences, "the number of cores", base.cores, now.cores);
  note(sentences, "the number of hosts", base.hosts.size(), now.hosts.size());
  note(sentences, "the number of GPUs", base.gpus.size(), now.gpus.size());
  if (base.gpus.size() != now.gpus.size()) return sentences;
  for (std::size_t i = 0; i < now.gpus.size(); ++i)
    if (!same_model(base.gpus[i], now.gpus[i])) {
      sentences.push_back(fmt::format("GPU {} is {}, was {}", i, now.gpus[i].name, base.gpus[i].name));
      break;
    }
  return sentences;
}

std::vector<std::string> host_differences(const machine_record& base, const machine_record& now) {
  std::vector<std::string> sentences;
  std::vector<std::string> was = base.hosts, is = now.hosts;
  std::sort(was.begin(), was.end());
  std::sort(is.begin(), is.end());
  if (was != is)
    sentences.push_back(fmt::format("measured on {}, not {}", fmt::join(is, " "), fmt::join(was, " ")));
  const auto uuids = [](const machine_record& m) {
    std::vector<std::string> list;
    for (const auto& gpu : m.gpus) list.push_back(gpu.uuid);
    std::sort(list.begin(), list.end());
    return list;
  };
  if (was == is && uuids(base) != uuids(now)) sentences.push_back("the GPUs are others of the same model");
  return sentences;
}

}  // namespace

across across_named(std::string_view option, std::string_view text) {
  if (const auto found = from_word<across>(text)) return *found;
  throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, text, accepted_words<across>()));
}

likeness likeness_of(const machine_record& base, const machine_record& now) {
  if (const auto hardware = hardware_differences(base, now); !hardware.empty())
    return {across::machines, fmt::format("{}", fmt::join(hardware, "; "))};
  if (const auto hosts = host_differences(base, now); !hosts.empty())
    return {across::hosts, fmt::format("{}", fmt::join(hosts, "; "))};
  return {};
}

bool has_more_gpus(const machine_record& base, const machine_record& now) {
  auto as_many = base;
  if (base.gpus.size() <= now.gpus.size()) return false;
  as_many.gpus.resize(now.gpus.size());
  return hardware_differences(as_many, now).empty();
}

void refuse_unless_alike(const machine_record& base, const std::string& base_name, const machine_record& now,
                         const std::string& now_name, across allowed) {
  const likeness found = likeness_of(base, now);
  if (found.level <= allowed) return;
  throw usage_error(
      fmt::format("{} and {} are of different machines: {}. --across {} takes them all the same.", base_name,
                  now_name, found.difference, to_string(found.level)));
}

std::string software_difference(const machine_record& base, const machine_record& now,
                                const std::map<std::string, std::string>& base_settings,
                                const std::map<std::string, std::string>& now_settings) {
  std::vector<std::string> sentences;
  note(sentences, "mgsync", base.mgsync, now.mgsync);
  note(sentences, "the compiler", base.compiler, now.compiler);
  note(sentences, "MPI", base.mpi, now.mpi);
  note(sentences, "the kernel", base.kernel, now.kernel);
  for (const char* name : software_settings) {
    const auto was = base_settings.find(name), is = now_settings.find(name);
    if (was != base_settings.end() && is != now_settings.end())
      note(sentences, name, was->second, is->second);
  }
  note(sentences, "the number of allowed CPUs", base.allowed_cpus.size(), now.allowed_cpus.size());
  return fmt::format("{}", fmt::join(sentences, "; "));
}

}  // namespace mgsync
