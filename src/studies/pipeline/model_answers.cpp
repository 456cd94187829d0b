#include "src/studies/pipeline/model_answers.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "src/models/pipeline/answer.hpp"
#include "src/models/pipeline/attention.hpp"
#include "src/results/files/json_document.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/studies/pipeline/attached_rows.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"
#include "src/studies/pipeline/skeleton.hpp"

namespace mgsync::pipeline {
namespace {

constexpr std::chrono::milliseconds solver_limit{4000};

bool is_file(const std::string& machine) { return machine != "h200" && machine != "paper"; }

figure picture_of(const std::string& what, const std::string& from, const timeline& schedule) {
  mgsync::timeline picture{
      {"pipeline-schedule", fmt::format("Loads and products of one SM: {}", what), from}, "ns", {}};
  std::map<std::string, std::size_t> places;
  for (const auto& span : schedule) {
    const auto [place, is_new] = places.try_emplace(span.track, picture.tracks.size());
    if (is_new) picture.tracks.push_back({span.track, {}});
    picture.tracks[place->second].events.push_back(
        {span.event.substr(0, span.event.find(' ')), span.begin, span.end});
  }
  return picture;
}

// The machine that these results were measured on: its kernels, how far off the model was, and lines over the
// tiles of one kernel.
machine machine_of(const measured_study& study, const considered& of) {
  machine on;
  std::vector<tile_profile> all;
  for (const gemm_family* family : {&wgmma_family, &mma_family}) {
    if (!of.kernels.empty() && std::ranges::find(of.kernels, family->name) == of.kernels.end()) continue;
    std::vector<tile_profile> first;
    for (const auto& [key, profile] : profiles_of(study.products, study.facts.sms))
      if (profile.family == family->name) {
        all.push_back(rounded(with_registers(profile, *family)));
        if (profile.producers == 1) first.push_back(profile);
      }
    if (on.sms == 1 && first.size() >= 2) {
      on = fit_machine(first, study.facts).on;
      on.assumptions.insert(on.assumptions.begin(), fmt::format("the lines are of kernel {}", family->name));
    }
  }
  if (on.name.empty()) return on;
  on.tiles = std::move(all);
  for (const auto& e : known_errors(study))
    if (std::ranges::any_of(on.tiles, [&](const tile_profile& p) { return p.family == e.kernel; }))
      on.errors.push_back(e);
  return on;
}

machine machine_from_results(std::span<const std::string> names, std::span<const std::string> texts,
                             const considered& of) {
  std::vector<result> results;
  std::vector<std::string> from;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto document = parse_json(texts[i], names[i]);
    from.push_back(fmt::format("{}, measured {} by mgsync {}", names[i],
                               document.started.substr(0, document.started.find('T')),
                               document.machine.mgsync));
    std::ranges::move(document.results, std::back_inserter(results));
  }
  const auto studies = studies_in(results);
  if (studies.size() > 1)
    throw usage_error(fmt::format("--machine {}: these results are of several GPUs; accepted: results of one",
                                  fmt::join(names, ",")));
  for (const auto& [_, study] : studies)
    if (auto on = machine_of(study, of); !on.name.empty()) {
      on.from = fmt::format("{}", fmt::join(from, "; "));
      return on;
    }
  const auto wanted = of.kernels.empty() ? std::vector<std::string>{"wgmma", "mma"} : of.kernels;
  throw usage_error(fmt::format("--machine {}: these results hold no two tiles of {}; accepted: {}",
                                fmt::join(names, ","), fmt::join(wanted, ", "), machine_files));
}

machine machine_from(const model_request& asked) {
  const auto& names = asked.machines;
  if (names.size() == 1 && !is_file(names.front())) return names.front() == "paper" ? rtx_a6000() : h200();
  std::vector<std::string> texts;
  for (const auto& name : names) {
    texts.push_back(is_file(name) ? read_text(name, machine_files) : "");
    if (names.size() > 1 && texts.back().find(results_schema) == std::string::npos)
      throw usage_error(fmt::format("--machine {}: only results can be put together, and {} holds none; "
                                    "accepted: {}",
                                    fmt::join(names, ","), name, machine_files));
  }
  if (texts.front().find(results_schema) != std::string::npos)
    return machine_from_results(names, texts, asked.of);
  auto read = read_machine(texts.front(), names.front());
  read.from = read.from.empty() ? names.front() : fmt::format("{}: {}", names.front(), read.from);
  return read;
}

// Leaves in a list of a search space what was asked for.
template <class Value>
void keep(std::vector<Value>& all, const std::vector<Value>& asked) {
  if (!asked.empty())
    std::erase_if(all, [&](const Value& v) { return std::ranges::find(asked, v) == asked.end(); });
}

std::vector<named_text> written(const model_request& asked, const skeleton_of& best) {
  if (asked.skeleton.empty()) return {};
  return {{"skeleton", asked.skeleton, skeleton(best)}};
}

// The best configuration by lines, where a kernel with it was compiled and measured.
std::vector<named_text> written(const model_request& asked, const machine& on, const gemm_answer& answered) {
  if (asked.skeleton.empty()) return {};
  const auto& [tile, warps] = answered.best.best;
  const auto found = std::ranges::find_if(on.tiles, [&tile = tile, &warps = warps](const tile_profile& p) {
    return p.tile == tile && p.consumers == warps.consumers && p.producers == warps.producers;
  });
  if (answered.best.how != search_answer::outcome::optimal || found == on.tiles.end())
    throw usage_error(fmt::format(
        "--skeleton {}: no kernel with the configuration that is best by lines ({}) was compiled and "
        "measured; accepted: {}",
        asked.skeleton,
        answered.best.how == search_answer::outcome::optimal
            ? fmt::format("tile {}, {}", text(tile), counted(warps.consumers, "consumer"))
            : "none",
        on.tiles.empty() ? "with a machine whose kernels were measured" : "without --all-tiles"));
  return written(asked, {*asked.size, *found, warps.buffers,
                         static_cast<double>(answered.best.time.total) / (1000.0 * ticks_per_ns), on, true});
}

study_answer by_lines(const model_request& asked, const machine& on, std::vector<std::string> read) {
  if (!asked.of.producers.empty() && asked.of.producers != std::vector<int>{on.producers})
    throw usage_error(fmt::format("--producers: the lines of this machine are of {}; accepted: {}",
                                  on.producers, on.producers));
  gemm_question question{*asked.size, on, asked.machines.front() == "paper" ? paper_space() : wide_space()};
  keep(question.space.tiles, asked.of.tiles);
  keep(question.space.buffers, asked.of.buffers);
  keep(question.space.consumers, asked.of.consumers);
  if (asked.solver) question.solver_limit = solver_limit;
  const auto answered = answer(question);
  return {to_text(question, answered),
          {picture_of(text(*asked.size), fmt::format("Simulated, on {}.", on.name), answered.schedule)},
          std::make_shared<const nlohmann::ordered_json>(to_document(question, answered)),
          to_csv(question, answered),
          std::move(read),
          written(asked, on, answered)};
}

study_answer by_measured_kernels(const model_request& asked, const machine& on,
                                 std::vector<std::string> read) {
  if (asked.solver)
    throw usage_error("--solver: it checks an answer by lines, and this machine's kernels were measured; "
                      "accepted: with --all-tiles");
  const measured_question question{*asked.size, on, asked.of};
  const auto answered = answer(question);
  const auto& best = answered.ranked.front();
  return {to_text(question, answered),
          {picture_of(text(*asked.size), fmt::format("Simulated, on {}.", on.name), answered.schedule)},
          std::make_shared<const nlohmann::ordered_json>(to_document(question, answered)),
          to_csv(question, answered),
          std::move(read),
          written(asked, {*asked.size, *best.kernel, best.form.buffers, best.time.total * 1e-3, on})};
}

ticks ticks_of(double ns) { return static_cast<ticks>(ns * ticks_per_ns + 0.5); }

study_answer by_simulated_attention(const model_request& asked, const machine& on,
                                    std::vector<std::string> read) {
  const auto& [load, qk, softmax, pv] = *asked.attention;
  attention_question question;
  question.times = {{ticks_of(load), ticks_of(load + on.dma_latency_ns)},
                    ticks_of(qk),
                    ticks_of(softmax),
                    ticks_of(pv),
                    ticks_of(on.handover_ns)};
  question.stages = asked.stages.value_or(question.stages);
  question.buffers = asked.of.buffers;
  for (const int consumers : asked.of.consumers)
    question.schedules.push_back(consumers == 1 ? attention_schedule::cooperative
                                                : attention_schedule::ping_pong);
  question.machine = on.name;
  if (asked.solver) question.solver_limit = solver_limit;
  const auto answered = answer(question);
  return {to_text(question, answered),
          {picture_of("attention", "Simulated; nothing was measured.", answered.schedule)},
          nullptr,
          to_csv(question, answered),
          std::move(read)};
}

void refuse_beside_attention(const model_request& asked) {
  const std::pair<const char*, bool> others[] = {
      {"gemm", asked.size.has_value()},  {"kernel", !asked.of.kernels.empty()},
      {"tile", !asked.of.tiles.empty()}, {"producers", !asked.of.producers.empty()},
      {"all-tiles", asked.all_tiles},    {"skeleton", !asked.skeleton.empty()}};
  for (const auto& [option, typed] : others)
    if (typed)
      throw usage_error(
          fmt::format("--{}: it is about one product, and --attention about two with a softmax "
                      "between; accepted beside it: --stages, --buffers, --consumers, --machine, --solver",
                      option));
}

void refuse_without_size(const model_request& asked) {
  const std::pair<const char*, bool> only_with_size[] = {{"tile", !asked.of.tiles.empty()},
                                                         {"buffers", !asked.of.buffers.empty()},
                                                         {"producers", !asked.of.producers.empty()},
                                                         {"consumers", !asked.of.consumers.empty()},
                                                         {"all-tiles", asked.all_tiles},
                                                         {"solver", asked.solver},
                                                         {"skeleton", !asked.skeleton.empty()}};
  for (const auto& [option, typed] : only_with_size)
    if (typed)
      throw usage_error(
          fmt::format("--{}: it is about the answer to --gemm; accepted: with --gemm MxNxK", option));
}

}  // namespace

study_answer answer_to(const model_request& asked) {
  std::vector<std::string> read;
  std::ranges::copy_if(asked.machines, std::back_inserter(read), is_file);
  if (asked.stages && !asked.attention)
    throw usage_error("--stages: it is about attention; accepted: with --attention LOAD,QK,SOFTMAX,PV");
  if (asked.attention) refuse_beside_attention(asked);
  else if (!asked.size) refuse_without_size(asked);
  const machine on = machine_from(asked);
  if (asked.attention) return by_simulated_attention(asked, on, std::move(read));
  if (!asked.size) return {write_machine(on), {}, nullptr, "", read};
  if (!on.tiles.empty() && !asked.all_tiles) return by_measured_kernels(asked, on, std::move(read));
  const bool chosen = read.size() == asked.machines.size() && !on.tiles.empty();
  if (!asked.of.kernels.empty() && !chosen)
    throw usage_error(fmt::format("--kernel: the lines of this machine are of no other kernel; accepted: "
                                  "with results of `mgsync study pipeline` in --machine{}",
                                  on.tiles.empty() ? "" : ", or without --all-tiles"));
  return by_lines(asked, on, std::move(read));
}

}  // namespace mgsync::pipeline
