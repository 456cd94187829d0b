#include "src/report/advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"

namespace mgsync::report {
namespace {

// Where a point lies: distances are in logarithms.
struct place {
  int members = 1;
  std::string shape;
  double blocks = 1, threads = 1;
  bool one_block = false;  // per GPU, of all
};

place place_of(const point& p) {
  const auto in_all = p.number(axes::blocks);
  return {p.members, format_shape(p), in_all ? *in_all : p.number(axes::blocks_per_sm).value_or(1), p.number(axes::threads_per_block).value_or(1), in_all.has_value()};
}

double between(const place& a, const place& b) {
  const double by_blocks = std::log2(a.blocks / b.blocks), by_threads = std::log2(a.threads / b.threads);
  return std::sqrt(by_blocks * by_blocks + 0.25 * by_threads * by_threads) + (a.one_block != b.one_block ? 4 : 0);
}
double between(int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); }

struct known {
  place at;
  const result* of = nullptr;
  double us() const { return of->metrics.front().median; }
  // Of too few batches there is no interval, and that of a noisy short one may begin below zero: half and double stand for it.
  double low_us() const { return of->metrics.front().ci95_low > 0 ? of->metrics.front().ci95_low : us() / 2; }
  double high_us() const { return of->metrics.front().ci95_high >= us() ? of->metrics.front().ci95_high : us() * 2; }
};

bool is_driven_by_host(const point& p) {
  return p.device == topology::device::gpu && (p.subject == "kernel-boundary" || p.subject == "nccl" || p.subject == "openmp" || p.subject == "mpi");
}

// Beside how much work a point was measured counts for what the host drives: launches hide behind work.
bool is_usable(const result& r, const step& asked) {
  if (r.point.study != "barriers" || r.point.device != asked.device || !r.has_metrics() || !r.verdict.passed || !(r.metrics.front().median > 0)) return false;
  if (r.metrics.front().unit != "us" || r.point.word(axes::load, "idle") != "idle" || r.point.find(axes::late) != nullptr || r.point.placement != "near") return false;
  const double work = r.point.number(axes::work).value_or(0);
  return work == 0 || (is_driven_by_host(r.point) && asked.work_us > 0 && std::abs(std::log(work / asked.work_us)) < std::log(3));
}

using by_barrier = std::map<std::string, std::vector<known>>;

by_barrier what_is_known(std::span<const result> all, const step& asked) {
  bool one_process = false;
  for (const auto& r : all) one_process = one_process || (is_usable(r, asked) && r.point.ranks == 1 && r.point.members > 1);
  by_barrier found;
  for (const auto& r : all) {
    if (!is_usable(r, asked) || (one_process && r.point.ranks > 1)) continue;
    auto& points = found[subject_of(r.point)];
    const auto at = place_of(r.point);
    const auto same = std::find_if(points.begin(), points.end(), [&](const known& k) { return k.at.members == at.members && k.at.shape == at.shape; });
    if (same == points.end()) points.push_back({at, &r});
    else if (r.point.find(axes::work) != nullptr) same->of = &r;
  }
  return found;
}

const known* find(const std::vector<known>& points, int members, const std::string& shape) {
  for (const auto& k : points)
    if (k.at.members == members && k.at.shape == shape) return &k;
  return nullptr;
}

// The straight line of log latency over log members through the two nearest counts on either side; the nearest alone, at
// the ends.
std::optional<double> along_members(const std::vector<known>& points, const place& wanted) {
  const known *below = nullptr, *above = nullptr;
  for (const auto& k : points) {
    if (k.at.shape != wanted.shape) continue;
    if (k.at.members < wanted.members && (below == nullptr || k.at.members > below->at.members)) below = &k;
    if (k.at.members > wanted.members && (above == nullptr || k.at.members < above->at.members)) above = &k;
  }
  if (below == nullptr && above == nullptr) return std::nullopt;
  if (below == nullptr || above == nullptr) return std::log((below != nullptr ? below : above)->us());
  const double share = between(wanted.members, below->at.members) / between(above->at.members, below->at.members);
  return std::log(below->us()) * (1 - share) + std::log(above->us()) * share;
}

struct estimate {
  double log_us = 0, weight = 0;
};

// L(n, s) = L(n, s') L(n', s) / L(n', s') for every other count and shape of which the three are known.
std::vector<estimate> estimates(const std::vector<known>& points, const place& wanted) {
  std::vector<estimate> all;
  for (const auto& shape_other : points) {
    if (shape_other.at.members != wanted.members || shape_other.at.shape == wanted.shape) continue;
    for (const auto& members_other : points) {
      if (members_other.at.shape != wanted.shape || members_other.at.members == wanted.members) continue;
      const auto* corner = find(points, members_other.at.members, shape_other.at.shape);
      if (corner == nullptr) continue;
      const double apart = between(wanted.members, members_other.at.members) + 0.3 * between(wanted, shape_other.at);
      all.push_back({std::log(shape_other.us() * members_other.us() / corner->us()), 1 / (0.05 + apart * apart)});
    }
  }
  if (const auto line = along_members(points, wanted)) all.push_back({*line, 2});
  if (!all.empty()) return all;
  for (const auto& k : points)
    if (k.at.members == wanted.members) {
      const double apart = between(wanted, k.at);
      all.push_back({std::log(k.us()), 1 / (0.05 + apart * apart * apart * apart)});
    }
  return all;
}

// By how much the logarithm of a latency grows with each doubling, from the least to the most.
struct growth {
  double least = 0, most_by_blocks = 0, most_by_threads = 0, most_by_members = 0;
};

// Bounds that hold 95 % and more of what is left out of the committed results (docs/report.md): a barrier gets no faster
// with more to synchronize, apart from noise, and its latency grows with the blocks no faster than their number; with
// several GPUs, part of it does not grow with them at all. Host members have threads where GPUs have blocks.
growth growth_of(const point& p) {
  if (p.device == topology::device::host) return {-0.03, 1, 1, 1};
  return {-0.03, p.members == 1 ? 0.7 : 0.55, 0.25, is_driven_by_host(p) ? 1.4 : 0.8};
}

// Nothing kept the steepest growth for more than three doublings.
double most_growth(double doublings, double most) { return most * (std::min(doublings, 3.0) + 0.4 * std::max(doublings - 3, 0.0)); }

// Of all blocks of a GPU, which has about 128 multiprocessors: one block of all is seven doublings from one on each.
double blocks_in_doublings(const place& at) { return std::log2(at.blocks) + (at.one_block ? 0 : 7); }

struct log_interval {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  const known* nearest = nullptr;  // what bounds it most closely by itself
};

// What each known point allows there, and of this what all of them allow. Where they contradict each other, as noise may
// make two, it is what any of them allows.
log_interval bounds(const std::vector<known>& points, const place& wanted, const growth& by) {
  log_interval all, any{all.high, all.low, nullptr};
  double narrowest = all.high;
  for (const auto& k : points) {
    double low = std::log(k.low_us()), high = std::log(k.high_us());
    const auto grow = [&](double doublings, double most) {
      const double least = std::abs(doublings) * by.least, steepest = most_growth(std::abs(doublings), most);
      low += doublings < 0 ? -steepest : least;
      high += doublings < 0 ? -least : steepest;
    };
    grow(blocks_in_doublings(wanted) - blocks_in_doublings(k.at), by.most_by_blocks);
    grow(std::log2(wanted.threads / k.at.threads), by.most_by_threads);
    grow(std::log2(static_cast<double>(wanted.members) / k.at.members), by.most_by_members);
    all.low = std::max(all.low, low), all.high = std::min(all.high, high);
    any.low = std::min(any.low, low), any.high = std::max(any.high, high);
    if (any.nearest == nullptr || high - low < narrowest) narrowest = high - low, any.nearest = all.nearest = &k;
  }
  return all.low <= all.high ? all : any;
}

std::optional<prediction> predict_one(const std::string& name, std::vector<known> points, const place& wanted) {
  // What one member does by itself says nothing of several, and the other way round: it may not even run there.
  std::erase_if(points, [&](const known& k) { return (k.at.members == 1) != (wanted.members == 1); });
  if (points.empty()) return std::nullopt;
  prediction p{name, 0, 0, 0, false, false, false, is_driven_by_host(points.front().of->point), ""};
  if (const auto* exact = find(points, wanted.members, wanted.shape)) {
    const auto& m = exact->of->metrics.front();
    p.us = m.median, p.low = m.ci95_low, p.high = m.ci95_high, p.measured = true, p.source = short_key(exact->of->point);
    return p;
  }
  const auto all = estimates(points, wanted);
  if (all.empty()) return std::nullopt;
  double sum = 0, weights = 0;
  for (const auto& e : all) sum += e.weight * e.log_us, weights += e.weight;
  const auto where = bounds(points, wanted, growth_of(points.front().of->point));
  const double mean = std::clamp(sum / weights, where.low, where.high);
  // Not surer than what it comes from, nor than one process is of another.
  const auto& nearest = *where.nearest;
  const double low = std::max(0.03, std::log(nearest.us() / nearest.low_us())), high = std::max(0.03, std::log(nearest.high_us() / nearest.us()));
  p.us = std::exp(mean), p.low = std::exp(std::min(where.low, mean - low)), p.high = std::exp(std::max(where.high, mean + high));
  const auto lies_outside = [&](auto of_place) {
    const auto [least, most] = std::ranges::minmax(points, {}, [&](const known& k) { return of_place(k.at); });
    return of_place(wanted) < of_place(least.at) || of_place(wanted) > of_place(most.at);
  };
  p.beyond_members = lies_outside([](const place& at) { return static_cast<double>(at.members); });
  p.beyond_shape = lies_outside(blocks_in_doublings) || lies_outside([](const place& at) { return at.threads; });
  return p;
}

// The place of a shape's words, as some result has it; of a shape that none has, from its digits.
place place_named(std::span<const result> all, const step& asked) {
  for (const auto& r : all)
    if (r.point.device == asked.device && format_shape(r.point) == asked.shape) {
      auto at = place_of(r.point);
      at.members = asked.members;
      return at;
    }
  place at{asked.members, asked.shape, 1, 1, asked.shape.starts_with('b')};
  const auto digits = at.one_block ? asked.shape.substr(1) : asked.shape;
  const auto cross = digits.find('x');
  at.blocks = std::max(1.0, std::strtod(digits.c_str(), nullptr));
  if (cross != std::string::npos) at.threads = std::max(1.0, std::strtod(digits.c_str() + cross + 1, nullptr));
  return at;
}

std::string smallest_shape(std::span<const result> all, const step& asked) {
  std::map<std::tuple<bool, double, double>, std::string> shapes;
  for (const auto& r : all)
    if (is_usable(r, asked)) {
      const auto at = place_of(r.point);
      shapes[{at.one_block, at.blocks, at.threads}] = at.shape;
    }
  return shapes.empty() ? "" : shapes.begin()->second;
}

double transfer_us(const step& s, int members) { return members > 1 && s.gbps > 0 ? s.bytes / (s.gbps * 1e3) : 0; }

std::string word_for(const step& s, int members) {
  const bool gpus = s.device == topology::device::gpu;
  return fmt::format("{} {}{}", members, gpus ? "GPU" : "host member", members == 1 ? "" : "s");
}

void add_counts(advice& a, std::span<const result> all) {
  std::set<int> counts{1, a.asked.members};
  for (const auto& [name, points] : what_is_known(all, a.asked))
    for (const auto& k : points) counts.insert(k.at.members);
  const double work = a.asked.work_us * a.asked.members;
  for (const int n : counts) {
    auto on = a.asked;
    on.members = n;
    const auto best = predict(all, on);
    if (best.empty() && n > 1) continue;
    // One member needs no barrier across members.
    const double barrier = n == 1 ? 0 : best.front().us;
    a.over_members.push_back({n, work / n + barrier + transfer_us(a.asked, n), n == 1 ? "none" : best.front().barrier});
  }
  const auto least = std::min_element(a.over_members.begin(), a.over_members.end(), [](const auto& x, const auto& y) { return x.step_us < y.step_us; });
  a.best_members = least->members;
}

std::string_view origin_of(const prediction& p) {
  if (p.measured) return "measured there";
  if (p.beyond_members && p.beyond_shape) return "a guess: nothing of so many members, nor of such a shape, was measured";
  if (p.beyond_members) return "a guess: nothing of so many members was measured";
  if (p.beyond_shape) return "a guess: its shape lies outside of those that were measured";
  return "from what was measured around it";
}

void add_changes(advice& a, std::span<const result> all) {
  const auto& best = a.barriers.front();
  std::vector<std::string> ties;
  for (const auto& p : a.barriers)
    if (&p != &best && p.low <= best.high) ties.push_back(p.barrier);
  constexpr std::size_t most_ties = 4;
  const std::span named(ties.begin(), std::min(ties.size(), most_ties));
  if (!ties.empty()) a.sentences.push_back(fmt::format("No difference was shown to {}{}.", fmt::join(named, ", "), ties.size() > most_ties ? fmt::format(" and {} more", ties.size() - most_ties) : ""));
  if (a.in_kernel && a.by_host) {
    const double more = a.by_host->us - a.in_kernel->us;
    a.sentences.push_back(more > 0 ? fmt::format("Ending the kernel, or leaving it to the host, costs {:.3g} us at best ({}), {:.3g} us more than {}: do it where it saves more than that in each step.",
                                                 a.by_host->us, a.by_host->barrier, more, a.in_kernel->barrier)
                                   : fmt::format("The host's way is the cheaper one here: {} takes {:.3g} us, the best inside a kernel {} {:.3g} us.", a.by_host->barrier, a.by_host->us,
                                                 a.in_kernel->barrier, a.in_kernel->us));
  }
  a.sentences.push_back(fmt::format("The barrier takes less than 10 % of a step from {:.3g} us of work on, less than 1 % from {:.3g} us.", 9 * best.us, 99 * best.us));
  std::map<std::string, std::pair<std::string, bool>> winners;
  for (const auto& r : all)
    if (is_usable(r, a.asked) && format_shape(r.point) != a.asked.shape) {
      auto other = a.asked;
      other.shape = format_shape(r.point);
      if (winners.contains(other.shape)) continue;
      const auto there = predict(all, other);
      if (!there.empty()) winners[other.shape] = {there.front().barrier, there.front().measured};
    }
  for (const auto& [shape, winner] : winners)
    if (const auto& name = winner.first; name != best.barrier && std::find(ties.begin(), ties.end(), name) == ties.end())
      a.sentences.push_back(fmt::format("With shape {} it would {}be {}.", shape, winner.second ? "" : "perhaps ", name));
  double idle = 0, loaded = 0;
  std::string beside;
  for (const auto& r : all)
    if (r.has_metrics() && r.point.device == a.asked.device && subject_of(r.point) == best.barrier && r.point.members > 1)
      for (const auto& other : all)
        if (other.has_metrics() && subject_of(other.point) == best.barrier && other.point.members == r.point.members && format_shape(other.point) == format_shape(r.point) &&
            r.point.word(axes::load, "idle") == "idle" && other.point.word(axes::load, "idle") != "idle" && other.metrics.front().median > loaded)
          idle = r.metrics.front().median, loaded = other.metrics.front().median, beside = other.point.word(axes::load);
  if (idle > 0 && loaded > idle)
    a.sentences.push_back(fmt::format("Beside traffic it takes longer: up to {:.2g} times as long ({}).", loaded / idle, beside));
}

}  // namespace

std::string what_there_is(std::span<const result> all) {
  std::set<std::string> there;
  std::size_t barriers = 0;
  for (const auto& r : all) {
    if (r.point.study != "barriers") continue;
    ++barriers;
    step same;
    same.device = r.point.device;
    if (is_usable(r, same)) there.insert(count_of_members(r.point));
  }
  if (!there.empty()) return fmt::format("these results are of {}", fmt::join(there, ", "));
  if (barriers == 0) return "these results are of no barrier that was measured to its end";
  return fmt::format("of {} result{} of barriers here none was measured to its end, idle, and passed its check", barriers, barriers == 1 ? "" : "s");
}

std::vector<prediction> predict(std::span<const result> all, const step& asked) {
  std::vector<prediction> found;
  const auto wanted = place_named(all, asked);
  for (const auto& [name, points] : what_is_known(all, asked))
    if (auto p = predict_one(name, points, wanted)) found.push_back(std::move(*p));
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.us < b.us; });
  return found;
}

advice advise(std::span<const result> all, step asked) {
  // The B of a shape BxT is a host member's threads; it has no T.
  if (asked.device == topology::device::host) {
    asked.shape.resize(std::min(asked.shape.size(), asked.shape.find('x')));
    if (asked.shape.starts_with('b')) asked.shape.erase(0, 1);
  }
  if (asked.shape.empty()) asked.shape = smallest_shape(all, asked);
  advice a{asked, predict(all, asked), {}, {}, 0, 0, 0, {}, 1, {}};
  if (a.barriers.empty()) {
    throw usage_error(fmt::format("nothing is known of barriers of {}; {}", word_for(asked, asked.members), what_there_is(all)));
  }
  for (const auto& p : a.barriers) {
    auto& kind = p.by_host ? a.by_host : a.in_kernel;
    if (!kind) kind = p;
  }
  const auto& best = a.barriers.front();
  const double rest = asked.work_us + transfer_us(asked, asked.members);
  a.share = best.us / (best.us + rest), a.share_low = best.low / (best.low + rest), a.share_high = best.high / (best.high + rest);
  add_counts(a, all);
  a.sentences.push_back(fmt::format("For {}{}, take {}: {:.4g} us ({:.4g} - {:.4g}, {}).", word_for(asked, asked.members), asked.shape.empty() ? "" : ", shape " + asked.shape, best.barrier, best.us,
                                    best.low, best.high, origin_of(best)));
  if (best.beyond()) {
    const bool gpus = asked.device == topology::device::gpu;
    const auto shape = asked.shape.empty() ? "" : fmt::format(" --shape {}{}", asked.shape, gpus ? "" : "x1");
    a.sentences.push_back(fmt::format("Beyond what was measured the figure is that of the nearest, and the interval how barriers have grown elsewhere; to know: mgsync {} {}{} --backend {}.",
                                      gpus ? "--gpus" : "--device host --members", asked.members, shape, best.barrier));
  }
  if (rest > 0) a.sentences.push_back(fmt::format("It takes {:.2g} % of a step of {:.4g} us of work ({:.2g} - {:.2g} %).", 100 * a.share, asked.work_us, 100 * a.share_low, 100 * a.share_high));
  if (asked.bytes > 0 && !(asked.gbps > 0)) a.sentences.push_back("No file says how fast bytes move here, so they are not counted: add a machine description (mgsync topology --format description).");
  if (asked.work_us > 0 && a.over_members.size() > 1) {
    std::vector<std::string> words;
    for (const auto& one : a.over_members) words.push_back(fmt::format("{}: {:.4g} us", one.members, one.step_us));
    a.sentences.push_back(fmt::format("The same work spread over other numbers takes, a step on {}; {} {} best.", fmt::join(words, ", "), a.best_members, a.best_members == 1 ? "is" : "are"));
  }
  add_changes(a, all);
  return a;
}

std::string to_text(const advice& a) {
  std::string text;
  for (const auto& sentence : a.sentences) text += sentence + "\n";
  text += fmt::format("\n{:<34}{:>10}{:>22}  {}\n", "barrier", "us", "interval", "from");
  std::size_t shown = 0;
  for (const auto& p : a.barriers) {
    if (++shown > 12) break;
    text += fmt::format("{:<34}{:>10.4g}{:>22}  {}{}\n", p.barrier, p.us, fmt::format("{:.4g} - {:.4g}", p.low, p.high), p.measured ? "measured" : p.beyond() ? "a guess" : "neighbours", p.by_host ? ", by the host" : "");
  }
  return text;
}

nlohmann::ordered_json to_json(const advice& a) {
  nlohmann::ordered_json out{{"schema", "mgsync-advice/1"},
                             {"asked", {{"device", to_string(a.asked.device)}, {"members", a.asked.members}, {"work_us", a.asked.work_us}, {"bytes", a.asked.bytes}, {"gbps", a.asked.gbps}, {"shape", a.asked.shape}}},
                             {"share", {{"of_step", a.share}, {"low", a.share_low}, {"high", a.share_high}}},
                             {"best_members", a.best_members}};
  for (const auto& p : a.barriers)
    out["barriers"].push_back({{"barrier", p.barrier}, {"us", p.us}, {"low", p.low}, {"high", p.high}, {"measured", p.measured}, {"beyond", p.beyond()}, {"by_host", p.by_host}, {"point", p.source}});
  for (const auto& one : a.over_members) out["over_members"].push_back({{"members", one.members}, {"step_us", one.step_us}, {"barrier", one.barrier}});
  out["sentences"] = a.sentences;
  return out;
}

}  // namespace mgsync::report
