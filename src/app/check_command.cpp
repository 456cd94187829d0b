#include "src/app/commands.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "barriers/user/tried_file.hpp"
#include "mgsync/version.hpp"
#include "src/base/closest_word.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/pinning.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

using json = nlohmann::ordered_json;

// Without --timeout; once a barrier was stuck, what comes after it is waited for less long.
constexpr std::chrono::seconds default_patience(10), patience_after_a_hang(3);

// Many times what rounds take on an idle machine; beside busy threads each may take tens of milliseconds.
std::chrono::milliseconds enough_for(const user::scenario& s) {
  return std::chrono::seconds(20) + std::chrono::milliseconds(1) * s.launches * s.rounds;
}

struct tried_scenario {
  user::scenario of;
  user::tried came;
};
struct tried_barrier {
  user::told_barrier of;
  std::vector<tried_scenario> scenarios;
};
struct tried_word {
  user::told_file of;
  std::vector<tried_barrier> barriers;
};

struct scenario_counts {
  std::size_t passed = 0, refused = 0, waived = 0;
  std::vector<std::string> failed;  // names of scenarios
  std::uint64_t rounds = 0;
  std::size_t judged() const { return passed + failed.size(); }
};

scenario_counts count(const tried_barrier& all) {
  scenario_counts sum;
  for (const auto& [s, came] : all.scenarios) {
    sum.rounds += came.rounds;
    if (came.failed()) sum.failed.push_back(s.name);
    else
      ++(came.how == user::ending::passed    ? sum.passed
         : came.how == user::ending::refused ? sum.refused
                                             : sum.waived);
  }
  return sum;
}

std::vector<user::scenario> scenarios_of(const options& asked, std::uint32_t seed) {
  auto all = user::host_scenarios(static_cast<std::uint32_t>(asked.check_rounds));
  const auto wanted = split_at_commas(asked.scenarios);
  std::vector<std::string_view> names;
  for (const auto& s : all) names.push_back(s.name);
  for (const auto& word : wanted)
    if (!asked.scenarios.empty() && std::ranges::find(names, word) == names.end()) {
      const auto meant = closest(word, names);
      throw usage_error(fmt::format("--scenario: there is no scenario '{}'{}; accepted: {}", word,
                                    meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                    fmt::join(names, ", ")));
    }
  std::vector<user::scenario> chosen;
  for (auto& s : all) {
    if (!asked.scenarios.empty() && std::ranges::find(wanted, s.name) == wanted.end()) continue;
    s.seed = seed;
    s.enough = enough_for(s);
    if (s.fault != round_loop::host_run::never_arrive)
      s.patience = asked.given.contains("timeout")
                       ? std::chrono::duration_cast<std::chrono::milliseconds>(asked.timeout)
                       : default_patience;
    chosen.push_back(std::move(s));
  }
  return chosen;
}

// Why nobody tries it; empty: it is tried.
std::string why_waived(const user::scenario& s) {
  if (user::finds_races && s.fault == round_loop::host_run::arrive_early)
    return "races on purpose, which this build for ThreadSanitizer would report";
  return {};
}

std::string verdict_of(const user::tried& came) {
  std::string word(to_string(came.how));
  if (came.failed())
    std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  return word;
}

std::string line_of(const tried_scenario& one) {
  const auto& came = one.came;
  auto text = fmt::format("  {:<18} {:<9} {}\n", one.of.name, verdict_of(came), one.of.about);
  if (!came.sentence.empty())
    text += fmt::format("    {}{}\n",
                        came.failed() && came.rounds != 0 ? fmt::format("round {}: ", came.rounds) : "",
                        came.sentence);
  return text;
}

std::string summary_of(const tried_word& in, const tried_barrier& one, std::uint64_t seed) {
  const auto sum = count(one);
  const auto left_out = fmt::format("{}{}", sum.refused == 0 ? "" : fmt::format(", {} refused", sum.refused),
                                    sum.waived == 0 ? "" : fmt::format(", {} waived", sum.waived));
  if (sum.judged() == 0) return fmt::format("{}: nothing could be judged{}\n", one.of.name, left_out);
  const bool by_tsan = dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
  if (sum.failed.empty())
    return fmt::format("{}: no fault was seen in {} and {}{}. That is no certificate: what is looked for, "
                       "and what not, is in "
                       "docs/check.md{}\n",
                       one.of.name, counted(sum.passed, "scenario"), counted(sum.rounds, "round"), left_out,
                       one.of.on_gpu ? "; mgsync audit reads the kernel's memory order"
                       : by_tsan     ? ""
                                 : "; orders that are too weak may not show on this processor: compile with "
                                   "-fsanitize=thread as well");
  return fmt::format(
      "{}: {} of {} failed{}\n  again, the first of them: mgsync check {}:{} --scenario {} --seed {}\n",
      one.of.name, sum.failed.size(), counted(sum.judged(), "scenario"), left_out, in.of.path, one.of.name,
      sum.failed.front(), seed);
}

json json_of(const tried_barrier& one) {
  json all = json::array();
  for (const auto& [s, came] : one.scenarios) {
    json entry{{"scenario", s.name}, {"about", s.about}, {"blocks", s.blocks}};
    entry.update(to_json(came));
    all.push_back(std::move(entry));
  }
  return {{"name", one.of.name},
          {"members", one.of.on_gpu ? "gpu" : "host"},
          {"failed", !count(one).failed.empty()},
          {"scenarios", all}};
}

std::string document_of(const std::vector<tried_word>& all, const options& asked, std::uint64_t seed) {
  json files = json::array();
  for (const auto& each : all) {
    json barriers = json::array();
    for (const auto& one : each.barriers) barriers.push_back(json_of(one));
    files.push_back({{"file", each.of.path}, {"compiler", each.of.compiler}, {"barriers", barriers}});
  }
  const json document{{"schema", "mgsync-check/1"},    {"command", asked.typed},
                      {"mgsync", version_with_commit}, {"seed", seed},
                      {"rounds", asked.check_rounds},  {"files", files}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

exit_code code_for(const std::vector<tried_word>& all) {
  std::size_t judged = 0, failed = 0;
  for (const auto& each : all)
    for (const auto& one : each.barriers) {
      const auto sum = count(one);
      judged += sum.judged();
      failed += sum.failed.size();
    }
  return failed != 0 ? exit_code::barrier_failed : judged == 0 ? exit_code::all_waived : exit_code::success;
}

// Prints each scenario as soon as it is through.
tried_barrier try_all(const user::told_file& file, const user::told_barrier& of,
                      std::vector<user::scenario> scenarios, bool prints) {
  tried_barrier all{of, {}};
  const auto nowhere = of.on_gpu ? user::why_no_gpus() : std::string();
  if (prints)
    tell("{}, of {}\n{}", of.name, of.on_gpu ? "GPUs" : "host threads",
         nowhere.empty() ? "" : fmt::format("  waived: {}\n", nowhere));
  bool hung = false;
  for (auto& s : scenarios) {
    if (hung) s.patience = std::min<std::chrono::milliseconds>(s.patience, patience_after_a_hang);
    const auto why = nowhere.empty() ? why_waived(s) : nowhere;
    const auto came =
        why.empty() ? user::try_in_child(file, of, s) : user::tried{user::ending::waived, 0, why};
    hung = hung || came.how == user::ending::stuck;
    all.scenarios.push_back({std::move(s), came});
    if (prints && nowhere.empty()) put_on_stdout(printable(line_of(all.scenarios.back())));
  }
  return all;
}

}  // namespace

int check_command(const options& asked) {
  std::vector<std::string> paths;
  for (const auto& word : asked.files) paths.push_back(user::read_file_word(word).path);
  prepare_files(asked, paths);
  const auto seed = asked.seed ? static_cast<std::uint32_t>(*asked.seed) : std::random_device{}();
  const auto scenarios = scenarios_of(asked, seed);
  std::vector<user::told_file> files;
  for (const auto& word : asked.files) files.push_back(user::look_into(word));
  const bool prints = asked.json != "-";
  std::vector<tried_word> all;
  for (const auto& file : files) {
    if (prints)
      tell("{}, compiled by {}; mgsync {}, {}; seed {}, {} rounds\n\n", file.path, file.compiler,
           version_with_commit, counted(allowed_cpus().size(), "hardware thread"), seed, asked.check_rounds);
    auto& one = all.emplace_back(tried_word{file, {}});
    for (const auto& of : file.barriers) {
      one.barriers.push_back(try_all(file, of, scenarios, prints));
      if (prints) tell("{}\n", summary_of(one, one.barriers.back(), seed));
    }
  }
  if (!asked.json.empty()) write_json(asked, document_of(all, asked, seed));
  return static_cast<int>(code_for(all));
}

}  // namespace mgsync
