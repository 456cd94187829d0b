#include "src/app/commands.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/audit/bounded_question.hpp"
#include "src/audit/file.hpp"
#include "src/base/demangled.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

using json = nlohmann::ordered_json;
using audit::severity;
using answer_kind = audit::bounded_answer::kind;

using model_answers = std::vector<audit::bounded_answer>;

constexpr std::size_t most_places = 4;  // places that the text lists for one open question, or functions

struct totals {
  std::size_t functions = 0, judged = 0, waits = 0, clocks = 0, faults = 0, doubts = 0;
};

std::string_view name_of(severity how) { return how == severity::fault ? "fault" : "doubt"; }

// Whether the report has nothing to show: no waits, no timed code, no findings and no open questions.
bool says_nothing(const audit::report& r) {
  return r.waits.empty() && r.clocks < 2 && r.findings.empty() && r.not_known.empty();
}

totals count(const audit::audited_file& all) {
  totals sum;
  for (const auto& part : all.parts)
    for (const auto& r : part.reports) {
      ++sum.functions;
      sum.judged += r.has_judged();
      sum.waits += r.waits.size();
      sum.clocks += r.clocks;
      for (const auto& f : r.findings) ++(f.how == severity::fault ? sum.faults : sum.doubts);
    }
  return sum;
}

// A line for each of the first ones.
std::string first_of(const std::vector<std::string>& all, std::string_view indent) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most_places); ++i)
    text += fmt::format("{}{}\n", indent, all[i]);
  if (all.size() > most_places) text += fmt::format("{}and {} more\n", indent, all.size() - most_places);
  return text;
}

std::string text_of(const audit::function& f, const audit::report& r) {
  std::string text = fmt::format("\n  {}: {} on memory, {}", demangled(f.name),
                                 counted(r.waits.size(), "wait"), counted(r.flags, "flag"));
  if (r.clocks != 0) text += fmt::format(", {}", counted(r.clocks, "clock read"));
  text += "\n";
  for (const auto& one : r.findings)
    text += fmt::format("    {}: {}\n      {}: {}\n", name_of(one.how), place(f, one.step), one.broken->name,
                        one.what);
  std::vector<std::string> unbounded;
  for (const auto& one : r.waits)
    if (!one.has_bound) unbounded.push_back(place(f, one.poll));
  if (!unbounded.empty())
    text += "    note: no bound: this spins for ever where somebody does not come\n" +
            first_of(unbounded, "      ");
  for (const auto& one : r.not_known) {
    text += fmt::format("    not known: {}\n", one.what);
    std::vector<std::string> places;
    for (const std::size_t at : one.at) places.push_back(place(f, at));
    text += first_of(places, "      ");
  }
  return text;
}

// The functions in which there was nothing to judge, by the reason.
std::string not_judged(const audit::audited_file& all) {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& part : all.parts)
    for (std::size_t i = 0; i < part.reports.size(); ++i)
      if (const auto& why = part.reports[i].not_judged; !why.empty())
        names[why].insert(demangled(part.functions[i].name));
  std::string text;
  for (const auto& [why, some] : names)
    text += fmt::format("not judged: {}\n{}", why, first_of({some.begin(), some.end()}, "  "));
  return text;
}

// Each rule that was broken, once.
std::string rules_of(const audit::audited_file& all) {
  std::set<const audit::rule*> broken;
  for (const auto& part : all.parts)
    for (const auto& r : part.reports)
      for (const auto& f : r.findings) broken.insert(f.broken);
  std::string text;
  for (const auto& rule : audit::all_rules())
    if (broken.count(&rule) != 0)
      text += fmt::format("\n{} ({})\n  why: {}\n  instead: {}\n", rule.name, rule.source, rule.why,
                          rule.instead);
  return text;
}

json places(const audit::function& f, const std::vector<std::size_t>& steps) {
  json all = json::array();
  for (const std::size_t at : steps) {
    const auto& s = f.steps[at];
    all.push_back({{f.is_text ? "line" : "address", s.at}, {"text", s.text}});
    if (!s.source.empty()) all.back()["source"] = s.source;
  }
  return all;
}

json json_of(const audit::function& f, const audit::report& r) {
  std::vector<std::size_t> polls;
  for (const auto& w : r.waits) polls.push_back(w.poll);
  json waits = places(f, polls);
  for (std::size_t i = 0; i < polls.size(); ++i) waits[i]["has_bound"] = r.waits[i].has_bound;
  json findings = json::array(), not_known = json::array();
  for (const auto& one : r.findings)
    findings.push_back({{"severity", name_of(one.how)},
                        {"rule", one.broken->name},
                        {"at", places(f, {one.step}).front()},
                        {"what", one.what},
                        {"source", one.broken->source},
                        {"why", one.broken->why},
                        {"instead", one.broken->instead}});
  for (const auto& one : r.not_known) not_known.push_back({{"what", one.what}, {"at", places(f, one.at)}});
  json made{{"name", f.name},     {"waits", waits},       {"flags", r.flags},
            {"clocks", r.clocks}, {"findings", findings}, {"not_known", not_known}};
  if (!r.not_judged.empty()) made["not_judged"] = r.not_judged;
  return made;
}

json json_of(const audit::bounded_answer& one) {
  const std::string_view what = one.what == answer_kind::no_execution   ? "no execution"
                                : one.what == answer_kind::an_execution ? "an execution"
                                                                        : "not known";
  return {{"barrier", one.barrier},
          {"bound", {{"gpus", one.at.gpus}, {"blocks", one.at.blocks}, {"threads", one.at.threads}}},
          {"answer", what},
          {"said", one.said},
          {"story", one.story}};
}

std::string document_of(const audit::audited_file& all, const model_answers& model, const options& asked) {
  json parts = json::array();
  for (const auto& part : all.parts) {
    json functions = json::array();
    for (std::size_t i = 0; i < part.functions.size(); ++i)
      functions.push_back(json_of(part.functions[i], part.reports[i]));
    parts.push_back({{"name", part.name}, {"functions", functions}});
  }
  json document{{"schema", "mgsync-audit/1"},
                {"command", asked.typed},
                {"across_gpus", asked.across_gpus},
                {"parts", parts},
                {"not_known", all.not_known}};
  if (asked.model) {
    document["model"] = json::array();
    for (const auto& one : model) document["model"].push_back(json_of(one));
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

exit_code code_for(const totals& sum, const model_answers& model) {
  const auto is = [](answer_kind what) { return [what](const auto& one) { return one.what == what; }; };
  if (sum.faults != 0 || std::ranges::any_of(model, is(answer_kind::an_execution)))
    return exit_code::barrier_failed;
  if (!model.empty() && std::ranges::all_of(model, is(answer_kind::not_known))) return exit_code::all_waived;
  return sum.judged == 0 ? exit_code::all_waived : exit_code::success;
}

std::string summary(const totals& sum) {
  if (sum.judged == 0)
    return fmt::format("nothing to judge: of {} none waits on memory in a loop that was recognized, or reads "
                       "the clock twice\n",
                       counted(sum.functions, "function"));
  return fmt::format("{}, {} in {} that {}, of {}. What has no finding is not thereby right: what is "
                     "looked for, and what not, is in docs/audit.md\n",
                     counted(sum.faults, "fault"), counted(sum.doubts, "doubt"),
                     counted(sum.judged, "function"),
                     sum.judged == 1 ? "waits or reads the clock" : "wait or read the clock", sum.functions);
}

// What the memory model says about each barrier that is written for `mgsync check`.
model_answers ask_model(const audit::audited_file& all) {
  if (!audit::has_model())
    throw usage_error(
        "--model asks a solver, and this mgsync was built without it: -DMGSYNC_Z3=ON builds it in");
  model_answers found;
  for (const auto& part : all.parts) {
    auto some = audit::ask_model(part.text);
    std::ranges::move(some, std::back_inserter(found));
  }
  if (found.empty())
    throw usage_error(
        "--model asks about barriers that include <mgsync/check.cuh>, in PTX: `nvcc -ptx` makes it. "
        "There is none in what was named");
  return found;
}

void tell_answers(const model_answers& model) {
  for (const auto& one : model) {
    tell("{}, {}: {}\n", one.barrier, audit::to_string(one.at), one.said);
    for (const std::string& line : one.story) tell("    {}\n", line);
  }
  if (!model.empty()) tell("What is asked, and what is assumed, is in docs/memory-order.md\n\n");
}

}  // namespace

int audit_command(const options& asked) {
  prepare_files(asked, asked.files);
  const auto all = audit::audit_files(asked.files, {.across_gpus = asked.across_gpus});
  const auto sum = count(all);
  const model_answers model = asked.model ? ask_model(all) : model_answers{};
  const int code = static_cast<int>(code_for(sum, model));
  if (!asked.json.empty()) write_json(asked, document_of(all, model, asked));
  if (asked.json == "-") return code;
  for (const auto& part : all.parts) {
    tell("{}\n", part.name);
    for (std::size_t i = 0; i < part.functions.size(); ++i)
      if (!says_nothing(part.reports[i])) tell("{}", text_of(part.functions[i], part.reports[i]));
    tell("\n");
  }
  for (const auto& sentence : all.not_known) tell("not known: {}\n", sentence);
  tell("{}", not_judged(all));
  tell_answers(model);
  tell("{}{}", summary(sum), rules_of(all));
  return code;
}

}  // namespace mgsync
