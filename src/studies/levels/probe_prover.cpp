#include "src/studies/levels/probe_prover.hpp"

#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace mgsync::levels {

std::string text_of(const std::map<std::uint64_t, cycle_histogram>& all) {
  std::string text;
  for (const auto& [links, counts] : all) {
    text += fmt::format("{}{}=", text.empty() ? "" : " ", links);
    bool first = true;
    for (const auto& [cycles, times] : counts) {
      text += fmt::format("{}{}*{}", first ? "" : ",", cycles, times);
      first = false;
    }
  }
  return text;
}

std::map<std::uint64_t, cycle_histogram> histograms_from(const std::string& text) {
  std::map<std::uint64_t, cycle_histogram> all;
  std::istringstream lengths(text);
  for (std::string one; lengths >> one;) {
    const auto equals = one.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("no histogram: " + one);
    auto& counts = all[std::stoull(one.substr(0, equals))];
    std::istringstream pairs(one.substr(equals + 1));
    for (std::string pair; std::getline(pairs, pair, ',');) {
      const auto star = pair.find('*');
      if (star == std::string::npos) throw std::invalid_argument("no histogram: " + pair);
      counts[std::stoull(pair.substr(0, star))] += std::stoull(pair.substr(star + 1));
    }
  }
  return all;
}

void probe_prover::take(const step& asked, std::span<const seen> came) {
  if (what_.quantity != quantity::latency || what_.on_every_sm()) return;
  for (std::size_t i = 0; i < came.size(); ++i)
    if (const auto found = came[i].values.find("cycles"); found != came[i].values.end())
      for (const auto& [cycles, times] : histogram_of(found->second))
        histograms_[asked.orders[i].count][cycles] += times;
  for (const auto& each : came)
    if (const auto found = each.values.find("sms_used"); found != each.values.end())
      for (const auto& [sms, times] : histogram_of(found->second)) sms_of_launches_[sms] += times;
  for (const auto& each : came)
    if (const auto found = each.values.find("first_sm"); found != each.values.end())
      for (const auto& [sm, times] : histogram_of(found->second)) first_sms_[sm] += times;
}

verdict probe_prover::judge() const {
  verdict v;
  if (what_.family->kind == kind::library) return v;  // unchecked
  v.kind = verdict_kind::code;
  v.passed = true;  // there is no subject otherwise
  return v;
}

void probe_prover::add_to(result& r) const {
  r.environment["link"] = std::string(link_of(*what_.family));
  if (!histograms_.empty()) r.environment["cycles"] = text_of(histograms_);
  const auto counted = [](const cycle_histogram& all) {
    std::string text;
    for (const auto& [value, launches] : all)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", value, launches);
    return text;
  };
  if (what_.family->cluster > 1 && !sms_of_launches_.empty()) {
    r.environment["sms"] = counted(sms_of_launches_);
    r.environment["first_sm"] = counted(first_sms_);
  }
  if (const auto label = label_of(*what_.family); !label.empty()) r.notes.emplace_back(label);
}

}  // namespace mgsync::levels
