// Study pipeline: warp specialization (paper 003). Which configuration of a matrix product in stages is best, how long it
// takes and why, on a machine that a file describes or on the paper's.
#include <array>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/harness/study.hpp"
#include "src/studies/pipeline/answer.hpp"
#include "src/studies/pipeline/raw_rows.hpp"

namespace mgsync {
namespace pipeline {
namespace {

constexpr std::array<axis_declaration, 2> axes{{
    {"gemm", "", "MxNxK, as 1024x1024x1024", "the product C = A B whose best configuration is asked for"},
    {"machine", "", "a machine file, as docs/results/h200x1-pipeline-wgmma.machine.json",
     "the machine it runs on; without one the paper's RTX A6000"},
}};

figure picture_of(const gemm_question& asked, const timeline& schedule) {
  mgsync::timeline picture{{"pipeline-schedule", fmt::format("Loads and products of one SM: {}x{}x{}", asked.size.m, asked.size.n, asked.size.k),
                            fmt::format("Simulated, on {}.", asked.on.name)}, "ns", {}};
  std::map<std::string, std::size_t> places;
  for (const auto& span : schedule) {
    const auto [place, is_new] = places.try_emplace(span.track, picture.tracks.size());
    if (is_new) picture.tracks.push_back({span.track, {}});
    picture.tracks[place->second].events.push_back({span.event.substr(0, span.event.find(' ')), span.begin, span.end});
  }
  return picture;
}

std::optional<study_answer> answer_for(const study_request& asked) {
  const auto &size = asked.list("gemm"), &file = asked.list("machine");
  if (size.front().empty()) return std::nullopt;
  if (size.size() > 1 || file.size() > 1) throw usage_error("--gemm and --machine take one word each, as --gemm 1024x1024x1024");
  gemm_question question{read_extent(size.front()), rtx_a6000(), paper_space()};
  if (!file.front().empty()) {
    std::ifstream input(file.front(), std::ios::binary);
    if (!input) throw usage_error(fmt::format("--machine {}: the file cannot be read", file.front()));
    question.on = read_machine(std::string{std::istreambuf_iterator<char>(input), {}}, file.front());
    question.space = wide_space();
  }
  const auto answered = answer(question);
  return study_answer{to_text(question, answered), {picture_of(question, answered.schedule)}};
}

}  // namespace
}  // namespace pipeline

extern const study pipeline_study;
const study pipeline_study{"pipeline", "warp specialization: which configuration of a matrix product in stages, how long it takes, and why",
                           pipeline::axes, nullptr, nullptr, 1.0, pipeline::answer_for, pipeline::knows_rows, pipeline::evaluate_rows};

}  // namespace mgsync
