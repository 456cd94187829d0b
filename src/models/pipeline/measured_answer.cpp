#include "src/models/pipeline/measured_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/units.hpp"
#include "src/models/pipeline/answer.hpp"

namespace mgsync::pipeline {

namespace {

using json = nlohmann::ordered_json;

constexpr int usual_buffers = 4;        // with which most products were measured
constexpr double no_gain = 0.995;       // of the time: more is no reason to leave the usual number of buffers
constexpr std::size_t most_others = 8;  // in the text; the documents have all

template <class Value>
bool wants(const std::vector<Value>& these, const Value& one) {
  return these.empty() || std::ranges::find(these, one) != these.end();
}

int room_for_buffers(const machine& m, const tile_profile& p) {
  return static_cast<int>(
      std::min<std::int64_t>(8, m.shared_bytes / buffer_bytes(m, {p.tile, {1, 1, 1, true}})));
}

// The numbers of buffers that fit, the usual one first.
std::vector<int> buffers_of(const measured_question& asked, const tile_profile& p) {
  std::vector<int> all;
  const int most = room_for_buffers(asked.on, p), usual = std::min(usual_buffers, most);
  for (int buffers = 1; buffers <= most; ++buffers)
    if (wants(asked.of.buffers, buffers)) all.push_back(buffers);
  std::ranges::stable_sort(all, {}, [&](int buffers) { return std::abs(buffers - usual); });
  return all;
}

measured_choice timed(const measured_question& asked, const tile_profile& p, int buffers) {
  measured_choice one{&p, staying(asked.size, p.tile, asked.on.sms, buffers), {}};
  one.time = time_with(p, asked.size, one.form, asked.on.sms);
  if (const double least = ceiling_ns(asked.on, asked.size); one.time.total < least) {
    one.time.ends += least - one.time.total;
    one.time.total = least;
    one.held = true;
  }
  return one;
}

int largest_side(extent size) { return std::max({size.m, size.n, size.k}); }

// The smallest kind of products that this one belongs to, else the largest kind.
const known_error* error_for(const machine& m, extent size, const tile_profile& p) {
  const known_error* found = nullptr;
  for (const known_error& e : m.errors) {
    if (e.kernel != p.family || e.producers != p.producers) continue;
    const bool covers = e.largest_side >= largest_side(size);
    if (found == nullptr) found = &e;
    else if (const bool found_covers = found->largest_side >= largest_side(size); covers != found_covers)
      found = covers ? &e : found;
    else if (covers == (e.largest_side < found->largest_side)) found = &e;
  }
  return found;
}

std::string duration(double ns) {
  return ns < 1e9 ? fmt::format("{:.3f} us", ns * 1e-3) : fmt::format("{:.6f} s", ns * 1e-9);
}

double tflops(extent size, double ns) { return 2e-3 * size.m * size.n * size.k / ns; }

std::string name_of(const tile_profile& p) {
  return fmt::format("kernel {}, tile {}, {}, {}", p.family, text(p.tile), counted(p.producers, "producer"),
                     p.consumers == 2 ? "2 consumers (ping-pong)"
                                      : fmt::format("1 consumer of {}", counted(p.math_warps, "warp")));
}

struct part {
  const char* name;
  double product_time::*ns;
};
constexpr std::array<part, 4> all_parts{{{"launch", &product_time::launch},
                                         {"filling", &product_time::filling},
                                         {"stages", &product_time::stages},
                                         {"stores and turns", &product_time::ends}}};

double active_sms(const measured_question& asked, const tile_profile& p) {
  return static_cast<double>(std::min<std::int64_t>(output_tiles(asked.size, p.tile), asked.on.sms));
}

double stage_at(const by_active& of, const measured_question& asked, const tile_profile& p) {
  return of.at(active_sms(asked, p));
}

double period_of(const measured_question& asked, const tile_profile& p, int buffers) {
  return buffers == 1 ? stage_at(p.round, asked, p)
                      : stage_ns(p, asked.size, active_sms(asked, p), asked.on.sms);
}

// The same with rows that begin with lines of the L2 cache, where they do not.
double padded_ns(const measured_question& asked, const measured_choice& best) {
  constexpr int step = 64;
  const int k = asked.size.k, padded = k + (step - k % step) % step;
  if (padded == k || best.kernel->row_starts.empty()) return 0;
  const measured_question other{{asked.size.m, asked.size.n, padded}, asked.on, asked.of};
  const double ns = timed(other, *best.kernel, best.form.buffers).time.total;
  return ns < best.time.total ? ns : 0;
}

std::string error_line(const measured_question& asked, const measured_answer& a) {
  const auto& best = a.ranked.front();
  if (a.error == nullptr)
    return "unknown: no product was predicted on this machine that the model had not seen";
  const known_error& e = *a.error;
  const double off = e.ninety_percent / 100;
  std::string words =
      fmt::format("{:.1f} % in the mean, 90 % within {:.1f} %, {:.1f} % at worst, of {} measured products of "
                  "{} with sides "
                  "of at most {} that the model never saw",
                  e.mean_percent, e.ninety_percent, e.largest_percent, e.products, e.kernel, e.largest_side);
  if (a.error_is_of_smaller) return words + "; none as large as this one was measured";
  const double ns = best.time.total;
  return words + fmt::format(": {} to {}",
                             duration(std::max(ns / (1 + off), ceiling_ns(asked.on, asked.size))),
                             duration(off < 1 ? ns / (1 - off) : ns * 2));
}

json of(const measured_question& asked, const measured_choice& c) {
  const tile_profile& p = *c.kernel;
  return {{"kernel", p.family},
          {"tile", text(p.tile)},
          {"buffers", c.form.buffers},
          {"producers", p.producers},
          {"consumers", p.consumers},
          {"persistent", true},
          {"measured", true},
          {"time_us", c.time.total * 1e-3},
          {"tflops", tflops(asked.size, c.time.total)},
          {"parts_us",
           {{"launch", c.time.launch * 1e-3},
            {"filling", c.time.filling * 1e-3},
            {"stages", c.time.stages * 1e-3},
            {"ends", c.time.ends * 1e-3}}},
          {"held_to_the_ceiling", c.held}};
}

}  // namespace

double filled_share(extent size, extent tile) {
  const double all = static_cast<double>(output_tiles(size, tile)) * tile.m * tile.n *
                     static_cast<double>(stages(size, tile)) * tile.k;
  return static_cast<double>(size.m) * size.n * size.k / all;
}

double busy_share(extent size, extent tile, int sms) {
  return static_cast<double>(output_tiles(size, tile)) / (static_cast<double>(waves(size, tile, sms)) * sms);
}

measured_answer answer(const measured_question& asked) {
  measured_answer a;
  for (const tile_profile& p : asked.on.tiles) {
    if (!wants(asked.of.kernels, p.family) || !wants(asked.of.tiles, p.tile) ||
        !wants(asked.of.producers, p.producers) || !wants(asked.of.consumers, p.consumers))
      continue;
    if (auto why = lacks_registers(p); !why.empty()) {
      a.left_out.emplace_back(&p, std::move(why));
      continue;
    }
    std::optional<measured_choice> best;
    for (const int buffers : buffers_of(asked, p)) {
      const auto one = timed(asked, p, buffers);
      if (!best || one.time.total < best->time.total * no_gain) best = one;
      ++a.searched;
    }
    if (best) a.ranked.push_back(*best);
  }
  if (a.ranked.empty()) {
    std::vector<std::string> known;
    for (const tile_profile& p : asked.on.tiles)
      known.push_back(fmt::format("{} {} with {} and {}, at most {}", p.family, text(p.tile),
                                  counted(p.producers, "producer"), counted(p.consumers, "consumer"),
                                  counted(room_for_buffers(asked.on, p), "buffer")));
    throw usage_error(fmt::format("--gemm: no kernel that was compiled and measured on {} is of this kernel, "
                                  "tile, and number of buffers, producers and consumers; accepted: {}",
                                  asked.on.name, fmt::join(known, "; ")) +
                      (a.left_out.empty() ? ""
                                          : fmt::format("; of {}, {}", name_of(*a.left_out.front().first),
                                                        a.left_out.front().second)));
  }
  std::ranges::stable_sort(a.ranked, {}, [](const measured_choice& c) { return c.time.total; });
  const auto& best = a.ranked.front();
  a.error = error_for(asked.on, asked.size, *best.kernel);
  a.error_is_of_smaller = a.error != nullptr && a.error->largest_side < largest_side(asked.size);
  a.padded_ns = padded_ns(asked, best);
  const bool stay = best.form.blocks < output_tiles(asked.size, best.kernel->tile);
  a.schedule = first_stages(work_with(*best.kernel, asked.size, best.form, asked.on.sms),
                            {1, stay ? best.kernel->consumers : 1, best.form.buffers, stay});
  return a;
}

std::string difference(const measured_question& asked, const measured_choice& best,
                       const measured_choice& other) {
  const auto apart = [&](const part& p) { return other.time.*p.ns - best.time.*p.ns; };
  const part& most = *std::ranges::max_element(all_parts, {}, apart);
  std::string words = fmt::format("{} {:+.3f} us", most.name, apart(most) * 1e-3);
  if (most.ns != &product_time::stages) return words;
  const auto stages_of = [&](const tile_profile& p) {
    return fmt::format("{} x {} of {:.0f} ns", waves(asked.size, p.tile, asked.on.sms),
                       stages(asked.size, p.tile), period_of(asked, p, other.form.buffers));
  };
  return words + fmt::format(": {}, in place of {}", stages_of(*other.kernel), stages_of(*best.kernel));
}

std::string to_text(const measured_question& asked, const measured_answer& a) {
  const machine& on = asked.on;
  const auto& best = a.ranked.front();
  const tile_profile& p = *best.kernel;
  const extent size = asked.size;
  std::string out = fmt::format("C = A B, {} on {}, {} SMs\n", text(size), on.name, on.sms);
  const auto line = [&](const char* what, const std::string& words) {
    out += fmt::format("  {:<12} {}\n", what, words);
  };
  if (!on.from.empty()) line("machine", on.from);
  line("best", fmt::format("{}, {}", name_of(p), counted(best.form.buffers, "buffer")));
  line("time", fmt::format("{}: {:.2f} TFLOP/s", duration(best.time.total), tflops(size, best.time.total)));
  line("error", error_line(asked, a));
  if (best.held)
    line("ceiling", "this is the least that the hardware's peaks allow; the model would have said less");
  if (on.peak_tflops <= 0)
    line("ceiling",
         "unknown of this machine: nothing holds the time against it (\"peak_tflops\" in a machine "
         "file)");
  line("made of",
       fmt::format("launch {}, filling {}, stages {}, stores and turns {}", duration(best.time.launch),
                   duration(best.time.filling), duration(best.time.stages), duration(best.time.ends)));
  line("a stage", fmt::format("{:.1f} ns: loading alone {:.1f}, multiplying alone {:.1f}",
                              period_of(asked, p, best.form.buffers), stage_at(p.load, asked, p),
                              stage_at(p.math, asked, p)));
  if (const extent taken{size.m, aligned_side(size.n), aligned_side(size.k)}; taken != size)
    line("taken as", fmt::format("{}: bulk copies need N and K to be multiples of 8", text(taken)));
  if (a.padded_ns > 0)
    line("rows",
         fmt::format("of A and B begin at multiples of {} bytes only; with K padded to a multiple of 64 it "
                     "would take {}",
                     row_start_bytes(size.k), duration(a.padded_ns)));
  line("schedule",
       fmt::format("{} in {}, {} each: SMs have a tile {:.1f} % of the time, and C fills {:.1f} % of "
                   "the tiles",
                   counted(output_tiles(size, p.tile), "output tile"),
                   counted(waves(size, p.tile, on.sms), "wave"), counted(stages(size, p.tile), "stage"),
                   100 * busy_share(size, p.tile, on.sms), 100 * filled_share(size, p.tile)));
  const auto used = buffer_bytes(on, {p.tile, {1, 1, best.form.buffers, true}});
  line("memory", fmt::format("{} of {} bytes of shared memory", used, on.shared_bytes));
  line("registers", fmt::format("{} of a consumer's thread hold C{}{}", accumulators(p),
                                p.registers > 0 ? fmt::format(", of {} that it may use", p.registers) : "",
                                p.producer_registers > 0
                                    ? fmt::format("; setmaxnreg leaves a producer's {}", p.producer_registers)
                                    : ""));
  for (const auto& [kernel, why] : a.left_out) line("left out", fmt::format("{}: {}", name_of(*kernel), why));
  for (std::size_t i = 1; i < a.ranked.size() && i <= most_others; ++i) {
    const auto& other = a.ranked[i];
    line(i == 1 ? "others" : "",
         fmt::format("{} ({:+.1f} %): {}, {}; {}", duration(other.time.total),
                     100 * (other.time.total / best.time.total - 1), name_of(*other.kernel),
                     counted(other.form.buffers, "buffer"), difference(asked, best, other)));
  }
  if (a.ranked.size() > most_others + 1)
    line("", fmt::format("{} slower ones: --csv, --json", a.ranked.size() - most_others - 1));
  line("searched",
       fmt::format("{} of kernels that are compiled and were measured on this machine ({} with their "
                   "tiles and producers); --all-tiles: others too, by lines",
                   counted(a.searched, "configuration"), a.ranked.size()));
  return out;
}

json to_document(const measured_question& asked, const measured_answer& a) {
  machine lines = asked.on;
  lines.tiles.clear();
  const auto& best = a.ranked.front();
  const tile_profile& p = *best.kernel;
  json found{{"by", "measured kernels"}, {"outcome", "optimal"}, {"configurations", a.searched}};
  found["best"] = of(asked, best);
  found.update({{"time_us", best.time.total * 1e-3},
                {"launch_us", best.time.launch * 1e-3},
                {"tflops", tflops(asked.size, best.time.total)},
                {"error", a.error == nullptr ? json() : mgsync::to_json(*a.error)},
                {"error_is_of_smaller", a.error_is_of_smaller},
                {"output_tiles", output_tiles(asked.size, p.tile)},
                {"waves", waves(asked.size, p.tile, asked.on.sms)},
                {"stages", stages(asked.size, p.tile)},
                {"stage_ns",
                 {{"period", period_of(asked, p, best.form.buffers)},
                  {"loading", stage_at(p.load, asked, p)},
                  {"multiplying", stage_at(p.math, asked, p)}}},
                {"busy_share", busy_share(asked.size, p.tile, asked.on.sms)},
                {"filled_share", filled_share(asked.size, p.tile)},
                {"row_start_bytes", row_start_bytes(asked.size.k)},
                {"padded_time_us", a.padded_ns > 0 ? json(a.padded_ns * 1e-3) : json()},
                {"buffer_bytes", buffer_bytes(asked.on, {p.tile, {1, 1, best.form.buffers, true}})},
                {"registers",
                 {{"accumulators", accumulators(p)},
                  {"consumer", p.registers > 0 ? json(p.registers) : json()},
                  {"producer", p.producer_registers > 0 ? json(p.producer_registers) : json()}}}});
  found["compared"] = json::array();
  for (const auto& one : a.ranked) {
    found["compared"].push_back(of(asked, one));
    if (&one != &best) found["compared"].back()["why"] = difference(asked, best, one);
  }
  found["left_out"] = json::array();
  for (const auto& [kernel, why] : a.left_out)
    found["left_out"].push_back({{"kernel", kernel->family},
                                 {"tile", text(kernel->tile)},
                                 {"producers", kernel->producers},
                                 {"consumers", kernel->consumers},
                                 {"why", why}});
  return {{"schema", "mgsync-gemm/1"}, {"gemm", text(asked.size)},  {"machine", to_json(lines)},
          {"impossible", nullptr},     {"warnings", json::array()}, {"answer", found},
          {"solver", nullptr}};
}

std::string to_csv(const measured_question& asked, const measured_answer& a) {
  std::string out = "gemm,kernel,tile,buffers,producers,consumers,measured,time_us,launch_us,filling_us,"
                    "stages_us,ends_us,tflops,"
                    "error_mean_percent,error_90_percent,error_largest_percent,error_largest_side\n";
  for (const auto& c : a.ranked) {
    const auto* e = error_for(asked.on, asked.size, *c.kernel);
    out += fmt::format("{},{},{},{},{},{},yes,{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.2f},", text(asked.size),
                       c.kernel->family, text(c.kernel->tile), c.form.buffers, c.kernel->producers,
                       c.kernel->consumers, c.time.total * 1e-3, c.time.launch * 1e-3, c.time.filling * 1e-3,
                       c.time.stages * 1e-3, c.time.ends * 1e-3, tflops(asked.size, c.time.total));
    out += e == nullptr ? ",,,\n"
                        : fmt::format("{:.2f},{:.2f},{:.2f},{}\n", e->mean_percent, e->ninety_percent,
                                      e->largest_percent, e->largest_side);
  }
  return out;
}

}  // namespace mgsync::pipeline
