#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/report/advice.hpp"

namespace mgsync::report {
namespace {

std::string to_line(const prediction& p) {
  return fmt::format("{:<36}{:>8.4g}{:>22}  {}{}\n", p.barrier, p.us,
                     fmt::format("{:.4g} - {:.4g}", p.low, p.high),
                     p.one_batch  ? "one batch"
                     : p.measured ? "measured"
                     : p.beyond() ? "a guess"
                                  : "neighbours",
                     p.facts.by_host  ? ", by the host"
                     : p.inside_nodes ? ", memory inside nodes"
                                      : "");
}

}  // namespace

std::string to_text(const advice& a) {
  std::string text;
  for (const auto& sentence : a.sentences) text += sentence + "\n";
  text += fmt::format("\n{:<36}{:>8}{:>22}  {}\n", "barrier", "us", "interval", "from");
  constexpr std::size_t most_of_a_kind = 10;
  std::size_t shown = 0;
  for (const bool callable : {true, false}) {
    std::vector<const prediction*> kind;
    for (const auto& p : a.barriers)
      if (p.is_callable() == callable) kind.push_back(&p);
    if (!callable && !kind.empty())
      text += shown == 0 ? "nothing that a program can call:\n" : "\nnothing that a program can call:\n";
    for (const auto* p : std::span(kind).first(std::min(kind.size(), most_of_a_kind)))
      text += to_line(*p), ++shown;
    if (kind.size() > most_of_a_kind)
      text += fmt::format("and {} more (--json)\n", kind.size() - most_of_a_kind);
  }
  return text;
}

nlohmann::ordered_json to_json(const advice& a) {
  nlohmann::ordered_json out{{"schema", "mgsync-advice/1"},
                             {"asked",
                              {{"device", to_string(a.asked.device)},
                               {"members", a.asked.members},
                               {"work_us", a.asked.work_us},
                               {"bytes", a.asked.bytes},
                               {"gbps", a.asked.gbps},
                               {"shape", a.asked.shape ? to_string(*a.asked.shape) : ""}}},
                             {"share", {{"of_step", a.share}, {"low", a.share_low}, {"high", a.share_high}}},
                             {"best_members", a.best_members}};
  for (const auto& p : a.barriers)
    out["barriers"].push_back({{"barrier", p.barrier},
                               {"us", p.us},
                               {"low", p.low},
                               {"high", p.high},
                               {"measured", p.measured},
                               {"one_batch", p.one_batch},
                               {"beyond", p.beyond()},
                               {"by_host", p.facts.by_host},
                               {"memory_inside_nodes", p.inside_nodes},
                               {"known", p.facts.known},
                               {"call", p.facts.call},
                               {"needs", p.facts.needs},
                               {"point", p.source}});
  for (const auto& one : a.over_members)
    out["over_members"].push_back(
        {{"members", one.members}, {"step_us", one.step_us}, {"barrier", one.barrier}});
  out["sentences"] = a.sentences;
  return out;
}

}  // namespace mgsync::report
