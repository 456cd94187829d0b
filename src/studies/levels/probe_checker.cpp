#include "src/studies/levels/probe_checker.hpp"

#include <fmt/format.h>

namespace mgsync::levels {

void set_histograms(result& r, const by_length& all) {
  if (all.empty()) return;
  mgsync::quantity links, cycles{"cycles", {}}, times;
  for (const auto& [length, counts] : all)
    for (const auto& [count, seen] : counts) {
      links.values.push_back(static_cast<double>(length));
      cycles.values.push_back(static_cast<double>(count));
      times.values.push_back(static_cast<double>(seen));
    }
  r.quantities["links"] = std::move(links);
  r.quantities["cycles"] = std::move(cycles);
  r.quantities["times"] = std::move(times);
}

by_length histograms_of(const result& r) {
  by_length all;
  const auto &links = r.numbers("links"), &cycles = r.numbers("cycles"), &times = r.numbers("times");
  if (cycles.size() != links.size() || times.size() != links.size()) return all;
  for (std::size_t i = 0; i < links.size(); ++i)
    all[static_cast<std::uint64_t>(links[i])][static_cast<std::uint64_t>(cycles[i])] +=
        static_cast<std::uint64_t>(times[i]);
  return all;
}

void probe_checker::take(const step& asked, std::span<const seen> came) {
  if (what_.quantity != quantity::latency || what_.on_every_sm()) return;
  for (std::size_t i = 0; i < came.size(); ++i) {
    const auto count = [&values = came[i].values](const char* name, cycle_histogram& into) {
      if (const auto found = values.find(name); found != values.end())
        for (const auto& [value, times] : histogram_of(found->second)) into[value] += times;
    };
    if (came[i].values.contains("cycles")) count("cycles", histograms_[asked.orders[i].count]);
    count("sms_used", sms_of_launches_);
    count("first_sm", first_sms_);
  }
}

verdict probe_checker::judge() const {
  return what_.family->library ? verdict() : code_checker::judge();  // library code is not checked
}

void probe_checker::add_to(result& r) const {
  r.environment["link"] = std::string(link_of(*what_.family));
  set_histograms(r, histograms_);
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
