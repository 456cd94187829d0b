#include "src/report/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "src/results/frame/frame.hpp"
#include "src/results/frame/lines.hpp"

namespace mgsync::report {
namespace {

// A position among the points; distances are differences of logarithms.
struct coordinates {
  int members = 1;
  member_shape shape{};
  double threads() const { return shape.threads.value_or(1); }
};

coordinates coordinates_of(const point& p) { return {p.members, shape_of(p).value_or(member_shape{})}; }

bool is_alone(const coordinates& at) { return at.members == 1 && at.shape.in_all && at.shape.blocks == 1; }

double between(const coordinates& a, const coordinates& b) {
  const double by_blocks = std::log2(a.shape.blocks / b.shape.blocks),
               by_threads = std::log2(a.threads() / b.threads());
  return std::sqrt(by_blocks * by_blocks + 0.25 * by_threads * by_threads) +
         (a.shape.in_all != b.shape.in_all ? 4 : 0);
}
double between(int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); }

struct known {
  coordinates at;
  const result* of = nullptr;
  double us() const { return of->metrics.front().median; }
  // Too few batches give no interval, and the interval of a short noisy point may begin below zero; half and
  // double the median are taken instead.
  bool has_interval() const { return !of->metrics.front().of_one_batch(); }
  double low_us() const {
    return has_interval() && of->metrics.front().ci95_low > 0 ? of->metrics.front().ci95_low : us() / 2;
  }
  double high_us() const {
    return has_interval() && of->metrics.front().ci95_high >= us() ? of->metrics.front().ci95_high : us() * 2;
  }
};

// Whether a point has no load, near placement and no late member.
bool is_plain(const point& p) {
  return p.word(axes::load, "idle") == "idle" && p.find(axes::late) == nullptr && p.placement == "near";
}

using by_barrier = std::map<std::string, std::vector<known>>;

by_barrier what_is_known(std::span<const result> all, const step& asked, facts_of_point facts_of) {
  const auto usable = where(all, [&](const result& r) { return is_usable(r, asked, facts_of); });
  const bool one_process =
      first(usable, [](const result& r) { return r.point.ranks == 1 && r.point.members > 1; }) != nullptr;
  // A barrier over nodes orders less of memory, and messages between them take their time.
  const bool one_node = first(usable, std::not_fn(&result::orders_inside_nodes)) != nullptr;
  // How far the work beside which it was measured is from that of the step; without work comes last.
  const auto off = [&](const result& r) {
    const double work = r.point.number(axes::work).value_or(0);
    return work > 0 ? std::abs(std::log(work / asked.work_us)) : std::numeric_limits<double>::infinity();
  };
  by_barrier found;
  for (const auto* r : where(usable, [=](const result& one) {
         return (!one_process || one.point.ranks <= 1) && !(one_node && one.orders_inside_nodes());
       })) {
    auto& points = found[subject_of(r->point)];
    const auto at = coordinates_of(r->point);
    const auto same = std::find_if(points.begin(), points.end(), [&](const known& k) {
      return k.at.members == at.members && k.at.shape == at.shape;
    });
    if (same == points.end()) points.push_back({at, r});
    else if (off(*r) < off(*same->of)) same->of = r;
  }
  return found;
}

const known* find(const std::vector<known>& points, int members, const member_shape& shape) {
  for (const auto& k : points)
    if (k.at.members == members && k.at.shape == shape) return &k;
  return nullptr;
}

// The straight line of log latency over log members through the two nearest counts on either side; the
// nearest alone, at the ends.
std::optional<double> along_members(const std::vector<known>& points, const coordinates& wanted) {
  std::map<double, double> us_of;
  for (const auto& k : points)
    if (k.at.shape == wanted.shape) us_of[k.at.members] = k.us();
  if (us_of.empty()) return std::nullopt;
  if (const auto us = between_points(us_of, wanted.members)) return std::log(*us);
  const auto& nearest = wanted.members < us_of.begin()->first ? *us_of.begin() : *us_of.rbegin();
  return std::log(nearest.second);
}

struct estimate {
  double log_us = 0, weight = 0;
};

// L(n, s) = L(n, s') L(n', s) / L(n', s') for every other count and shape of which the three are known.
std::vector<estimate> estimates(const std::vector<known>& points, const coordinates& wanted) {
  std::vector<estimate> all;
  for (const auto& shape_other : points) {
    if (shape_other.at.members != wanted.members || shape_other.at.shape == wanted.shape) continue;
    for (const auto& members_other : points) {
      if (members_other.at.shape != wanted.shape || members_other.at.members == wanted.members) continue;
      const auto* corner = find(points, members_other.at.members, shape_other.at.shape);
      if (corner == nullptr) continue;
      const double apart =
          between(wanted.members, members_other.at.members) + 0.3 * between(wanted, shape_other.at);
      all.push_back(
          {std::log(shape_other.us() * members_other.us() / corner->us()), 1 / (0.05 + apart * apart)});
    }
  }
  if (const auto line = along_members(points, wanted)) all.push_back({*line, 2});
  if (!all.empty()) return all;
  const bool of_as_many =
      std::ranges::any_of(points, [&](const known& k) { return k.at.members == wanted.members; });
  for (const auto& k : points) {
    if (of_as_many && k.at.members != wanted.members) continue;
    const double apart = between(wanted, k.at) + between(wanted.members, k.at.members);
    all.push_back({std::log(k.us()), 1 / (0.05 + apart * apart * apart * apart)});
  }
  return all;
}

// The least and the largest growth of a latency's logarithm for each doubling.
struct growth {
  double least = 0, most_by_blocks = 0, most_by_threads = 0, most_by_members = 0;
};

// Bounds that hold 95 % and more of what is left out of the committed results (docs/report.md): a barrier
// gets no faster with more to synchronize, apart from noise, and its latency grows with the blocks no faster
// than their number; with several GPUs, part of it does not grow with them at all. Host members have threads
// where GPUs have blocks.
growth growth_of(const point& p, bool by_host) {
  if (p.device == topology::device::host) return {-0.03, 1, 1, 1};
  return {-0.03, p.members == 1 ? 0.7 : 0.55, 0.25, by_host ? 1.4 : 0.8};
}

// No barrier of the committed results keeps its steepest growth for more than three doublings.
double most_growth(double doublings, double most) {
  return most * (std::min(doublings, 3.0) + 0.4 * std::max(doublings - 3, 0.0));
}

// The blocks of a whole GPU, taken to have 128 multiprocessors: from one block per GPU to one per SM are
// seven doublings.
double blocks_in_doublings(const coordinates& at) {
  return std::log2(at.shape.blocks) + (at.shape.in_all ? 0 : 7);
}

struct log_interval {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  const known* nearest = nullptr;  // the point that gives the narrowest bounds
};

// The intersection of the bounds that each known point gives. Where the intersection is empty, because of
// noise, the union.
log_interval bounds(const std::vector<known>& points, const coordinates& wanted, const growth& by) {
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
    grow(std::log2(wanted.threads() / k.at.threads()), by.most_by_threads);
    grow(std::log2(static_cast<double>(wanted.members) / k.at.members), by.most_by_members);
    all.low = std::max(all.low, low), all.high = std::min(all.high, high);
    any.low = std::min(any.low, low), any.high = std::max(any.high, high);
    if (any.nearest == nullptr || high - low < narrowest)
      narrowest = high - low, any.nearest = all.nearest = &k;
  }
  return all.low <= all.high ? all : any;
}

// The point that would be measured there, with as many members per rank as in the known points.
point point_at(point p, const coordinates& wanted) {
  p.ranks = p.ranks == p.members ? wanted.members : std::min(p.ranks, wanted.members);
  p.members = wanted.members;
  p.group.clear();
  for (const auto axis : {axes::blocks, axes::blocks_per_sm, axes::threads_per_block}) p.remove(axis);
  p.set(wanted.shape.in_all ? axes::blocks : axes::blocks_per_sm, wanted.shape.blocks);
  if (p.device == topology::device::gpu) p.set(axes::threads_per_block, wanted.threads());
  return p;
}

// The reason, where the barrier was tried there and was waived or failed.
std::string why_refused(std::span<const result> all, const point& there, const member_shape& shape) {
  const auto* found = first(all, [&](const result& r) {
    const auto& p = r.point;
    return (r.status == result_status::waived || r.status == result_status::failed) &&
           p.study == there.study && p.subject == there.subject && p.variant == there.variant &&
           p.device == there.device && p.members == there.members && p.ranks == there.ranks &&
           shape_of(p) == shape && is_plain(p);
  });
  return found == nullptr ? "" : why_not(*found);
}

std::optional<prediction> predict_one(std::span<const result> results, const std::string& name,
                                      std::vector<known> points, const coordinates& wanted,
                                      facts_of_point facts_of, std::vector<refusal>* refused) {
  // Points of one member say nothing about several members, nor the other way round.
  std::erase_if(points, [&](const known& k) { return (k.at.members == 1) != (wanted.members == 1); });
  if (points.empty()) return std::nullopt;
  const auto there = point_at(points.front().of->point, wanted);
  prediction p{.barrier = name,
               .ranks = there.ranks,
               .inside_nodes = points.front().of->orders_inside_nodes(),
               .facts = facts_of(there)};
  if (const auto& said = points.front().of->facts;
      said && !p.facts.known)  // the facts of a backend that this build does not have
    p.facts = {.known = true,
               .by_host = is_driven_by_host(there, said),
               .maker = said->maker,
               .call = said->call,
               .needs = said->needs};
  if (p.facts.meets_nobody) return std::nullopt;
  if (const auto* exact = find(points, wanted.members, wanted.shape)) {
    const auto& m = exact->of->metrics.front();
    p.us = m.median, p.low = m.ci95_low, p.high = m.ci95_high, p.measured = true,
    p.source = short_key(exact->of->point);
    p.doubts = exact->of->doubts;
    p.beside_us = exact->of->point.number(axes::work).value_or(0);
    if (p.one_batch = !exact->has_interval(); p.one_batch) p.low = exact->low_us(), p.high = exact->high_us();
    return p;
  }
  if (const auto why = p.facts.never.empty() ? why_refused(results, there, wanted.shape) : p.facts.never;
      !why.empty()) {
    if (refused != nullptr) refused->push_back({why, p.facts.by_host});
    return std::nullopt;
  }
  // Nor do points of one block of one GPU, which synchronizes with nobody.
  std::erase_if(points, [&](const known& k) { return is_alone(k.at) != is_alone(wanted); });
  const auto all = estimates(points, wanted);
  if (all.empty()) return std::nullopt;
  double sum = 0, weights = 0;
  for (const auto& e : all) sum += e.weight * e.log_us, weights += e.weight;
  const auto where = bounds(points, wanted, growth_of(there, p.facts.by_host));
  const double mean = std::clamp(sum / weights, where.low, where.high);
  // The interval is at least as wide as that of the points it comes from, and as the difference between
  // processes.
  const auto& nearest = *where.nearest;
  const double low = std::max(0.03, std::log(nearest.us() / nearest.low_us())),
               high = std::max(0.03, std::log(nearest.high_us() / nearest.us()));
  p.doubts = nearest.of->doubts;
  p.us = std::exp(mean), p.low = std::exp(std::min(where.low, mean - low)),
  p.high = std::exp(std::max(where.high, mean + high));
  const auto lies_outside = [&](auto of_place) {
    const auto [least, most] =
        std::ranges::minmax(points, {}, [&](const known& k) { return of_place(k.at); });
    return of_place(wanted) < of_place(least.at) || of_place(wanted) > of_place(most.at);
  };
  p.beyond_members = lies_outside([](const coordinates& at) { return static_cast<double>(at.members); });
  p.beyond_shape =
      lies_outside(blocks_in_doublings) || lies_outside([](const coordinates& at) { return at.threads(); });
  return p;
}

}  // namespace

bool is_idle_barrier(const result& r, const step& asked) {
  return r.point.study == default_study && !r.orders_less() && r.point.device == asked.device &&
         r.has_metrics() && r.verdict.passed && r.metrics.front().median > 0 &&
         r.metrics.front().unit == "us" && is_plain(r.point);
}

bool is_usable(const result& r, const step& asked, facts_of_point facts_of) {
  if (!is_idle_barrier(r, asked)) return false;
  const double work = r.point.number(axes::work).value_or(0);
  return work == 0 || (asked.work_us > 0 && std::abs(std::log(work / asked.work_us)) < std::log(3) &&
                       facts_of(r.point).by_host);
}

std::optional<member_shape> smallest_shape(std::span<const result> all, const step& asked,
                                           facts_of_point facts_of) {
  const auto has_shape = [](const result& r) { return shape_of(r.point).has_value(); };
  const auto* smallest =
      least(where(all, has_shape, [&](const result& r) { return is_usable(r, asked, facts_of); }),
            [](const result& r) {
              const auto s = *shape_of(r.point);
              return std::tuple(s.in_all, s.blocks, s.threads);
            });
  return smallest == nullptr ? std::nullopt : shape_of(smallest->point);
}

std::vector<prediction> predict(std::span<const result> all, const step& asked, facts_of_point facts_of,
                                std::vector<refusal>* refused) {
  std::vector<prediction> found;
  const coordinates wanted{asked.members, asked.shape.value_or(member_shape{})};
  for (const auto& [name, points] : what_is_known(all, asked, facts_of))
    if (auto p = predict_one(all, name, points, wanted, facts_of, refused)) found.push_back(std::move(*p));
  std::ranges::stable_sort(found, {},
                           [](const auto& p) { return std::tuple(!p.is_callable(), p.guess_level(), p.us); });
  return found;
}

}  // namespace mgsync::report
