#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/models/pipeline/answer.hpp"

namespace mgsync::pipeline {

namespace {

using json = nlohmann::ordered_json;

constexpr double ticks_per_us = 1000.0 * ticks_per_ns;

json of(const configuration& c) {
  return {{"tile", text(c.tile)},
          {"buffers", c.warps.buffers},
          {"producers", c.warps.producers},
          {"consumers", c.warps.consumers},
          {"persistent", c.warps.persistent}};
}

json list_of(const auto& all, auto one) {
  json list = json::array();
  for (const auto& each : all) list.push_back(one(each));
  return list;
}

const char* word_of(search_answer::outcome how) {
  switch (how) {
  case search_answer::outcome::optimal: return "optimal";
  case search_answer::outcome::nothing_fits: return "nothing fits";
  case search_answer::outcome::time_out: return "time-out";
  case search_answer::outcome::unknown: break;
  }
  return "unknown";
}

// The answer of one search; null where it found nothing.
json of(const search_answer& a) {
  const bool found = a.how == search_answer::outcome::optimal;
  return {{"by", a.by},
          {"outcome", word_of(a.how)},
          {"reason", a.reason},
          {"configurations", a.tried},
          {"seconds", a.seconds},
          {"best", found ? of(a.best) : json()},
          {"time_us", found ? json(static_cast<double>(a.time.total) / ticks_per_us) : json()},
          {"waiting_us", found ? json(static_cast<double>(a.time.waiting) / ticks_per_us) : json()}};
}

}  // namespace

json to_document(const gemm_question& question, const gemm_answer& a) {
  machine lines = question.on;
  lines.tiles.clear();
  const bool found = a.best.how == search_answer::outcome::optimal;
  json out{{"schema", "mgsync-gemm/1"}, {"gemm", text(question.size)},
           {"machine", to_json(lines)}, {"impossible", a.impossible.empty() ? json() : json(a.impossible)},
           {"warnings", a.warnings},    {"answer", of(a.best)}};
  if (found) {
    out["answer"].update(
        {{"launch_us", question.on.launch_ns / 1000},
         {"tflops", a.tflops},
         {"output_tiles", a.output_tiles},
         {"waves", a.waves},
         {"stages", a.stages},
         {"stage_ns",
          {{"period", a.steady_ns},
           {"loading", a.loading_ns},
           {"multiplying", a.multiplying_ns},
           {"buffers_loop", a.loop_ns}}},
         {"buffer_bytes", buffer_bytes(question.on, a.best.best)},
         {"binds", a.binds.empty() ? json() : json(a.binds)},
         {"twice_as_good",
          list_of(a.why,
                  [](const relaxation& r) {
                    return json{{"what", r.what}, {"gain_percent", r.gain_percent}, {"best", of(r.best)}};
                  })},
         {"as_fast", list_of(a.best.ties, [](const configuration& c) { return of(c); })}});
  }
  out["solver"] = a.solver ? of(*a.solver) : json();
  if (a.solver) out["solver"]["agrees"] = a.agree;
  return out;
}

std::string to_csv(const gemm_question& question, const gemm_answer& a) {
  std::string out = "gemm,tile,buffers,producers,consumers,time_us,launch_us,waiting_us,tflops\n";
  if (a.best.how != search_answer::outcome::optimal) return out;
  const configuration& c = a.best.best;
  return out + fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.2f}\n", text(question.size), text(c.tile),
                           c.warps.buffers, c.warps.producers, c.warps.consumers,
                           static_cast<double>(a.best.time.total) / ticks_per_us,
                           question.on.launch_ns / 1000,
                           static_cast<double>(a.best.time.waiting) / ticks_per_us, a.tflops);
}

}  // namespace mgsync::pipeline
