#include "src/results/files/numbers_in_text.hpp"

#include <charconv>

namespace mgsync {
namespace {

using words_by_name = std::map<std::string, std::string>;

// The numbers of a text, separated by any of these characters; nothing where it contains anything else.
std::optional<std::vector<double>> numbers_in(std::string_view text, std::string_view between) {
  std::vector<double> all;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (at != end) {
    const auto [next, error] = std::from_chars(at, end, all.emplace_back());
    if (error != std::errc() || (next != end && between.find(*next) == std::string_view::npos))
      return std::nullopt;
    at = next == end ? end : next + 1;
  }
  return all;
}

struct renamed_number {
  const char *was, *is, *unit;
};
constexpr renamed_number of_environment[] = {{"mhz", "clock", "MHz"},
                                             {"blocks", "blocks", ""},
                                             {"cache_bytes", "cache", "B"},
                                             {"theory_gbps", "memory", "GB/s"}};
constexpr renamed_number of_details[] = {{"rounds", "rounds", ""},
                                         {"violations", "violations", ""},
                                         {"wrong_data", "wrong_data", ""},
                                         {"control_rounds", "control_rounds", ""},
                                         {"control_violations", "control_violations", ""},
                                         {"hung_in", "hung_in", ""},
                                         {"seconds", "duration", "s"},
                                         {"named", "named", ""},
                                         {"absent", "absent", ""},
                                         {"expected", "expected", ""},
                                         {"seen", "seen", ""}};
constexpr const char* stamps[] = {"begin", "end", "control_begin", "control_end"};

void take(words_by_name& words, const renamed_number& one, quantities_by_name& into) {
  const auto word = words.find(one.was);
  if (word == words.end()) return;
  auto numbers = numbers_in(word->second, " ,");
  if (!numbers) return;
  into[one.is] = {one.unit, std::move(*numbers)};
  words.erase(word);
}

// "16=387*90,391*6 32=771*96": for each number of links how often each count of cycles was seen.
void take_histograms(words_by_name& words, quantities_by_name& into) {
  const auto word = words.find("cycles");
  if (word == words.end()) return;
  std::vector<double> links, cycles, times;
  std::string_view rest = word->second;
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto numbers = numbers_in(one, "=*,");
    if (!numbers || numbers->size() < 3 || numbers->size() % 2 == 0) return;
    for (std::size_t i = 1; i < numbers->size(); i += 2) {
      links.push_back(numbers->front());
      cycles.push_back((*numbers)[i]);
      times.push_back((*numbers)[i + 1]);
    }
  }
  into["links"] = {"", std::move(links)};
  into["cycles"] = {"cycles", std::move(cycles)};
  into["times"] = {"", std::move(times)};
  words.erase(word);
}

// "365 GB/s of load on 0", a note for each member, which stays.
void take_loads(const std::vector<std::string>& notes, quantities_by_name& into) {
  constexpr std::string_view name = "load_of_members", words = " GB/s of load on ";
  if (into.contains(name)) return;
  for (const auto& note : notes) {
    const auto end = note.find(words);
    const auto number = end == std::string::npos ? std::nullopt : numbers_in(note.substr(0, end), " ");
    if (!number || number->size() != 1) continue;
    auto& all = into[std::string(name)];
    all.unit = "GB/s";
    all.values.push_back(number->front());
  }
}

}  // namespace

void take_numbers_from_text(result& one) {
  take_loads(one.notes, one.quantities);
  auto &environment = one.environment, &details = one.verdict.details;
  for (const auto& each : of_environment) take(environment, each, one.quantities);
  take_histograms(environment, one.quantities);
  for (const auto& each : of_details) take(details, each, one.quantities);
  const auto unit = details.find("stamp_unit");
  if (unit == details.end()) return;
  for (const char* name : stamps) take(details, {name, name, unit->second.c_str()}, one.quantities);
  details.erase(unit);
}

}  // namespace mgsync
