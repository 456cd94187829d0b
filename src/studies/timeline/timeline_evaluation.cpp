#include "src/studies/timeline/timeline_evaluation.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "src/results/frame/paper_numbers.hpp"
#include "src/studies/timeline/barrier_rounds.hpp"
#include "src/studies/timeline/instruction_overlap.hpp"

namespace mgsync::timelines {

namespace {

const attachment* find(const result& r, std::string_view name) {
  const auto found =
      std::ranges::find_if(r.attachments, [name](const attachment& a) { return a.name == name; });
  return found == r.attachments.end() ? nullptr : &*found;
}

std::string plain_name(const point& p) {
  auto name = fmt::format("timeline-{}-{}", subject_of(p), count_of_members(p));
  if (const auto shape = format_shape(p); !shape.empty()) name += "-" + shape;
  if (const auto late = p.number("late").value_or(0); late > 0) name += fmt::format("-late-{}", late);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == ' '; }, '-');
  return name;
}

std::string sentence_of(const recorder_cost& c) {
  const auto percent = [](double share) { return fmt::format("{:+.1f} %", 100 * share); };
  const auto both = fmt::format("a round takes {:.0f} ns with the recorder and {:.0f} ns without",
                                c.with_us * 1e3, c.without_us * 1e3);
  if (!c.is_decidable()) return both + ", of too few batches to say how much that is";
  return fmt::format("{} ({} by pairs of batches, {} to {} with {:.0f} % confidence)", both,
                     percent(c.relative.estimate), percent(c.relative.low), percent(c.relative.high),
                     100 * c.relative.confidence);
}

std::string_view word_of(const recorder_cost& c) {
  if (!c.is_decidable()) return "what the recorder costs is not decided";
  if (c.relative.low > small_shift) return "the recorder shows in the picture";
  if (c.relative.low > -small_shift && c.relative.high <= small_shift) return "the recorder costs little";
  return "what the recorder costs is not decided";
}

// How often each worker came last in rounds back to back, as far as the clocks can tell.
std::string who_waits(const recording& r, std::span<const barrier_round> rounds) {
  std::size_t untold = 0;
  std::vector<std::size_t> last(r.workers.size());
  for (const auto& round : rounds) {
    if (round.last.size() == 1) ++last[round.last.front()];
    else ++untold;
  }
  const auto most = std::ranges::max_element(last);
  if (untold == rounds.size()) return "who came last is within what is known of the clocks";
  return fmt::format("{} came last in {} of {} rounds{}",
                     r.workers[static_cast<std::size_t>(most - last.begin())], *most, rounds.size(),
                     untold == 0 ? std::string() : fmt::format(", in {} the clocks do not tell", untold));
}

void add(const result& r, std::span<const result> all, evaluation& e) {
  const auto* kept = find(r, "recording.json");
  if (kept == nullptr) return;
  const auto what = recording_from_json(kept->content, "recording.json of " + name_of(r.point));
  const auto rounds = rounds_of(what);
  if (rounds.empty()) return;
  const auto cost = cost_of_recorder(all, r);
  const auto name = plain_name(r.point);
  const double late = r.point.number("late").value_or(0);
  const auto shape = r.point.device == topology::device::gpu ? format_shape(r.point) : std::string();
  const auto title = fmt::format("{} on {}{}{}", subject_of(r.point), count_of_members(r.point),
                                 shape.empty() ? "" : ", " + shape,
                                 late > 0 ? fmt::format(", the last comes {:.0f} us later", late) : "");
  auto caption = fmt::format(
      "The last {} rounds of the median run. Between two members no order is claimed within {:.0f} ns.",
      rounds.size(), what.uncertainty);
  if (cost) caption += fmt::format(" The recorder is part of it: {}.", sentence_of(*cost));
  e.sentences.push_back(fmt::format(
      "{}: {}; the last to arrive set all free within {:.0f} ns (median of {} rounds, clocks known to within "
      "{:.0f} ns).",
      title, who_waits(what, rounds),
      [&] {
        std::vector<double> took;
        for (const auto& round : rounds) took.push_back(round.release());
        std::ranges::sort(took);
        return took[took.size() / 2];
      }(),
      rounds.size(), what.uncertainty));
  if (cost) e.sentences.push_back(fmt::format("{}: {}: {}.", title, word_of(*cost), sentence_of(*cost)));
  e.figures.push_back(picture_of_rounds(what, rounds, {name, title, caption}));
  e.tables.push_back(table_of_rounds(what, rounds,
                                     {name + "-rounds", "Rounds of " + title + ", in ns",
                                      "first waited: from the first arrival to the last; first left, last "
                                      "left, after the last arrival; all in: from the first "
                                      "arrival until all had left."}));
  if (what.workers.size() > 2)
    e.tables.push_back(
        table_of_members(what, rounds.back(),
                         {name + "-members", fmt::format("Round {} of {}, in ns from its first arrival",
                                                         rounds.back().number, title)}));
}

// Adds whether paper 002's region is the sum of its parts, and what its twin would have measured.
void add_region(const result& r, evaluation& e) {
  if (!r.has_metrics()) return;
  const auto of = [&](std::string_view name) { return r.find(name) == nullptr ? 0.0 : r.find(name)->median; };
  const auto j = judge({of("store_and_load"), of("barrier"), of("load"), of("load") + of("reads"), 0,
                        of("corrected"), of("as_compiled")});
  e.sentences.push_back(fmt::format(
      "Store, barrier and load of four warps take {:.0f} cycles; the sum of the parts is {:.0f}{}. As "
      "compiled it would have been {:.0f}: {}.",
      of("corrected"), j.sum_of_parts, j.is_the_sum ? "" : ", more than 4 cycles off", of("as_compiled"),
      r.found("twin").empty() ? "the machine code is refused" : r.found("twin")));
  e.sentences.push_back(fmt::format("A load from shared memory takes {:.1f} cycles, each further one beside "
                                    "it {:.1f}; a shuffle beside a load is {:.0f} % hidden.",
                                    of("load_latency"), of("load_interval"), 100 * of("overlap")));
  table t{{"region-parts", "Paper 002's region in cycles",
           "The first two between two clock reads; the parts by link of a chain. What two reads add is seen "
           "around the load."},
          {"region", "cycles | .0f", "paper, sm_75 | >"}};
  for (const auto& [what, cycles] : {std::pair{"as compiled", of("as_compiled")},
                                     {"corrected", of("corrected")},
                                     {"sum of the parts", j.sum_of_parts},
                                     {"store and load of one warp", of("store_and_load")},
                                     {"barrier of 4 warps", of("barrier")},
                                     {"two clock reads", of("reads")},
                                     {"load alone", of("load")}}) {
    const auto* known = published("002", "text", what, "sm_75", "latency");
    t.add({what, cycles, known == nullptr ? "" : known->quoted}, short_key(r.point));
  }
  e.add(std::move(t));
  for (const auto& [file, name, title] :
       {std::tuple{"recording.json", "timeline-region", "Store, barrier, load: corrected"},
        {"recording-as-compiled.json", "timeline-region-as-compiled", "Store, barrier, load: as compiled"}})
    if (const auto* kept = find(r, file); kept != nullptr)
      e.figures.push_back(bars_of(recording_from_json(kept->content, file),
                                  {name, title, "One pass, by the SM's cycle counter (paper 002)."}));
}

}  // namespace

std::optional<recorder_cost> cost_of_recorder(std::span<const result> all, const result& recorded) {
  auto plain = recorded.point;
  plain.set("recorder", std::string("off"));
  const auto* with = recorded.find("latency");
  const auto other = std::ranges::find_if(all, [&](const result& r) { return r.point == plain; });
  const auto* without = other == all.end() ? nullptr : other->find("latency");
  if (with == nullptr || without == nullptr || with->raw.empty() || without->raw.empty() ||
      !(without->median > 0))
    return std::nullopt;
  auto shift = shift_between(without->raw, with->raw);
  for (double* const part : {&shift.estimate, &shift.low, &shift.high}) *part /= without->median;
  return recorder_cost{without->median, with->median, shift};
}

evaluation evaluate(std::span<const result> all) {
  evaluation e;
  for (const auto& r : all)
    if (r.point.study == "timeline") r.point.subject == "region" ? add_region(r, e) : add(r, all, e);
  add_instructions(all, e);
  return e;
}

}  // namespace mgsync::timelines
