#include "src/results/comparison/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/comparison/drift.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr std::size_t most_rows = 500;
constexpr std::int16_t all_gpus = -2;        // in the place of a GPU
constexpr std::size_t values_of_a_day = 20;  // from which a day has a median of its own
constexpr double least_deviation = 0.005, least_day = 0.02;

// "n2" before "n10".
bool in_order(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto end = [&](const std::string& s, std::size_t k) {
        while (k < s.size() && digit(s[k])) ++k;
        return k;
      };
      auto x = a.substr(i, end(a, i) - i), y = b.substr(j, end(b, j) - j);
      i += x.size(), j += y.size();
      x.erase(0, std::min(x.find_first_not_of('0'), x.size()));
      y.erase(0, std::min(y.find_first_not_of('0'), y.size()));
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) return a[i] < b[j];
    else ++i, ++j;
  }
  return a.size() - i < b.size() - j;
}

double middle(std::vector<float>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// What the fleet has of one kind of point.
struct usual {
  double centre = 0, limit = 0;  // of logarithms
  std::size_t values = 0;
  std::map<std::string, double> of_day;  // the centre of that day
  double at(const std::string& day) const {
    const auto found = of_day.find(day);
    return found == of_day.end() ? centre : found->second;
  }
};

// Half of the values are within the median deviation; of tails that are heavier than a Gaussian's the 95 %
// point counts.
double deviation_of(std::vector<float> off) {
  for (auto& one : off) one = std::abs(one);
  const double half = middle(off) * 1.4826;
  const auto at = off.begin() + static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(off.size() - 1));
  std::nth_element(off.begin(), at, off.end());
  return std::max({half, *at / 1.96, least_deviation});
}

class analysis {
 public:
  explicit analysis(const fleet& all) : all_(all) {
    find_latest();
    find_usual();
    for (std::size_t i = 0; i < all_.runs().size(); ++i) judge_run(i);
    find_drifts();
  }

  fleet_findings findings() {
    fleet_findings found;
    if (by_node_.size() == 1) {
      found.shown.in_parts = {of_one_node()};
      found.shown.sentences = found.shown.in_parts.front().sentences;
    } else {
      found.shown.sentences = of_several_nodes();
    }
    add_outliers(found.shown);
    add_verdicts(found.shown);
    add_changes(found.shown);
    found.shown.add(drift_table(drifts_));
    add_days(found.shown);
    add_kinds(found.shown);
    add_trend(found.shown);
    for (const auto& [node, runs] : by_node_) found.cells.push_back(cell_of(node, runs));
    std::ranges::sort(found.cells, in_order, &fleet_cell::node);
    found.any_outlier = !outliers_.empty();
    return found;
  }

 private:
  struct outlier {
    std::string node;
    suspect what;
    std::vector<std::size_t> runs;
  };

  void find_latest() {
    for (std::size_t i = 0; i < all_.runs().size(); ++i) by_node_[all_.runs()[i].node].push_back(i);
    for (auto& [node, runs] : by_node_)
      std::ranges::stable_sort(runs, {}, [&](std::size_t i) { return all_.runs()[i].started; });
  }

  void find_usual() {
    std::vector<std::vector<float>> values(all_.kinds().size());
    std::vector<std::map<std::string, std::vector<float>>> of_day(all_.kinds().size());
    for (const auto& run : all_.runs())
      for (const auto& v : run.values) {
        values[v.kind].push_back(v.log_us);
        of_day[v.kind][run.day()].push_back(v.log_us);
      }
    usual_.resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      auto& u = usual_[k];
      u.values = values[k].size();
      auto copy = values[k];
      u.centre = middle(copy);
      std::vector<float> off;
      for (auto& [day, some] : of_day[k]) {
        if (some.size() >= values_of_a_day) u.of_day[day] = middle(some);
        for (const float one : some) off.push_back(static_cast<float>(one - u.at(day)));
      }
      const boost::math::normal gauss;
      const double tail = false_alarms / static_cast<double>(std::max<std::size_t>(u.values, 20));
      u.limit = boost::math::quantile(boost::math::complement(gauss, tail)) * deviation_of(std::move(off));
    }
  }

  void find_drifts() {
    series_of_nodes all;
    for (const auto& run : all_.runs()) {
      std::vector<double> off;
      for (const auto& v : run.values) off.push_back(v.log_us - usual_[v.kind].centre);
      if (!off.empty()) all[run.node][run.day()].push_back(median(off));
    }
    drifts_ = drifts_of(all);
  }

  judged_point judged(const fleet_value& v, const std::string& day) const {
    const auto& kind = all_.kinds()[v.kind];
    judged_point p;
    p.subject = kind.subject, p.shape = kind.shape, p.together = kind.together;
    for (const int gpu : {v.first, v.second})
      if (gpu >= 0) p.members.push_back(gpu);
    if (v.first == all_gpus)
      for (int gpu = 0; gpu < kind.together; ++gpu) p.members.push_back(gpu);
    p.part = p.members.size() == 1   ? fmt::format("GPU {}", v.first)
             : p.members.size() == 2 ? fmt::format("GPUs {} and {}", v.first, v.second)
             : p.members.empty()     ? fmt::format("all {} host members", kind.together)
                                     : fmt::format("all {} GPUs", kind.together);
    p.times = std::exp(v.log_us - usual_[v.kind].at(day));
    p.limit = std::exp(usual_[v.kind].limit);
    p.state = p.times > p.limit ? judged_state::slow : judged_state::ok;
    return p;
  }

  void judge_run(std::size_t i) {
    const auto& run = all_.runs()[i];
    std::vector<judged_point> points;
    bool slow = false;
    for (const auto& v : run.values) {
      points.push_back(judged(v, run.day()));
      slow = slow || points.back().state == judged_state::slow;
    }
    if (!slow) return;
    for (auto& s : suspects_of(points)) {
      const auto same = [&](const outlier& o) { return o.node == run.node && o.what.part == s.part; };
      auto at = std::ranges::find_if(outliers_, same);
      if (at == outliers_.end()) at = outliers_.insert(at, {run.node, s, {}});
      if (s.times / s.limit > at->what.times / at->what.limit) at->what = s;
      at->runs.push_back(i);
    }
    std::ranges::sort(outliers_, std::greater(),
                      [](const outlier& o) { return o.what.times / o.what.limit; });
  }

  // The median of its points over the fleet's of that day.
  double times_of(const fleet_run& run) const {
    std::vector<float> off;
    for (const auto& v : run.values)
      off.push_back(static_cast<float>(v.log_us - usual_[v.kind].at(run.day())));
    return off.empty() ? 1 : std::exp(middle(off));
  }

  bool is_normal(const std::vector<std::size_t>& runs) const {  // by the latest
    return all_.runs()[runs.back()].verdict == node_verdict_kind::normal;
  }
  std::string acceptances() const { return counted(all_.runs().size(), "acceptance"); }
  std::string over_days() const {
    std::set<std::string> days;
    for (const auto& run : all_.runs()) days.insert(run.day());
    return counted(days.size(), "day");
  }

  std::vector<std::string> of_several_nodes() const {
    const auto normal =
        std::ranges::count_if(by_node_, [&](const auto& one) { return is_normal(one.second); });
    std::vector<std::string> said{fmt::format("{}, {} on {}: by its latest one {} of the nodes {} normal.",
                                              counted(by_node_.size(), "node"), acceptances(), over_days(),
                                              normal, normal == 1 ? "is" : "are")};
    if (outliers_.empty()) said.emplace_back("None is an outlier among the others.");
    for (std::size_t i = 0; i < outliers_.size() && i < 5; ++i) {
      const auto& o = outliers_[i];
      said.push_back(
          fmt::format("{}, {}: {:.2f} times the fleet's median, where {:.2f} may be, in {} of its {}.",
                      o.node, o.what.part, o.what.times, o.what.limit, o.runs.size(),
                      counted(by_node_.at(o.node).size(), "run")));
    }
    if (outliers_.size() > 5)
      said.push_back(fmt::format("{} more outliers are in the table.", outliers_.size() - 5));
    for (std::size_t i = 0; i < drifts_.size() && i < 3; ++i)
      said.push_back(fmt::format("{} {}.", drifts_[i].node, words_of(drifts_[i])));
    return said;
  }

  // "n3 (GPU-1a2b, GPU-3c4d)": nodes of one name may have other GPUs. Of many GPUs the first.
  std::string with_gpus(const std::string& node, const std::vector<std::size_t>& runs) const {
    const auto& gpus = all_.runs()[runs.back()].gpus;
    if (gpus.empty()) return node;
    constexpr std::size_t most = 2;
    const std::span shown(gpus.begin(), std::min(gpus.size(), most));
    return fmt::format("{} ({}{})", node, fmt::join(shown, ", "), gpus.size() > most ? ", ..." : "");
  }

  static std::string_view words_on_reference(std::string_view against) {
    return against == on_this_machine
               ? ", measured on this machine itself: they tell whether it has changed, "
                 "not whether it is like "
                 "others."
           : against == on_other_machines
               ? ", measured on other machines."
               : "; on which machine they were measured these acceptances do not say.";
  }

  // How often a single node was found normal; and by which reference, and how near it came to a limit.
  told_in_parts of_one_node() const {
    const auto& [node, runs] = *by_node_.begin();
    told_in_parts all{
        {},
        fmt::format("{} of the node {} on {}: {} of them found it normal, the latest one {}.", acceptances(),
                    with_gpus(node, runs), over_days(),
                    std::ranges::count(all_.runs(), node_verdict_kind::normal, &fleet_run::verdict),
                    is_normal(runs) ? "too" : "not")};
    for (const auto& one : drifts_) all.words += fmt::format(" It {}.", words_of(one));
    auto& against = all.parts.emplace_back("against what", "The same points of reference results");
    const auto nearest = std::ranges::max_element(all_.references(), {}, [](const auto& one) {
      return one.most_times / std::max(one.least_limit, 1.0);
    });
    const auto own = words_on_reference(all_.runs()[runs.back()].against);
    if (nearest == all_.references().end() || !(nearest->most_times > 0)) against.second += own;
    else {
      const auto& kind = all_.kinds()[static_cast<std::size_t>(nearest - all_.references().begin())];
      const bool beyond = nearest->most_times > nearest->least_limit;
      against.second += fmt::format(
          " of this kind of machine ({}){} {} {} at {}: {:.2f} times the reference; up to {:.2f} is normal.",
          kind.machine, own, beyond ? "Furthest beyond its limit was" : "Nearest to its limit came",
          kind.subject, kind.shape, nearest->most_times, nearest->least_limit);
    }
    all.sentences = {all.words + " " + against.second};
    return all;
  }

  void add_outliers(evaluation& e) const {
    table t{{"fleet-outliers", "Outliers by node, GPU and pair",
             "Beyond the fleet's own spread of that point on that day; slow in so many of the node's runs."},
            {"node", "part", "times | .2f", "may be | .2f", "runs", "of", "first seen", "last seen",
             "look further"}};
    for (std::size_t i = 0; i < outliers_.size() && i < most_rows; ++i) {
      const auto& o = outliers_[i];
      const auto when = [&](std::size_t run) { return all_.runs()[run].started; };
      const auto [first, last] = std::ranges::minmax(o.runs, {}, when);
      t.add({o.node, o.what.part, o.what.times, o.what.limit, fmt::format("{}", o.runs.size()),
             fmt::format("{}", by_node_.at(o.node).size()), when(first), when(last), o.what.command});
    }
    e.add(std::move(t));
  }

  void add_verdicts(evaluation& e) const {
    table t{{"fleet-not-normal", "Nodes that are not normal by their latest acceptance", ""},
            {"node", "verdict", "when", "sentence"}};
    for (const auto& [node, runs] : by_node_) {
      const auto& run = all_.runs()[runs.back()];
      if (run.verdict != node_verdict_kind::normal && t.rows.size() < most_rows)
        t.add({node, to_string(run.verdict), run.started, run.sentence});
    }
    e.add(std::move(t));
  }

  // Nodes whose latest run differs from all their earlier ones.
  void add_changes(evaluation& e) const {
    table t{{"fleet-changed", "Nodes that have changed",
             "The median of its points over the fleet's of the same day, before and in its latest run."},
            {"node", "before | .3f", "now | .3f", "since"}};
    std::vector<double> limits;
    for (const auto& u : usual_) limits.push_back(u.limit);
    const double apart = limits.empty() ? 0 : median(limits);
    for (const auto& [node, runs] : by_node_) {
      if (runs.size() < 2 || t.rows.size() >= most_rows) continue;
      std::vector<double> before;
      for (std::size_t i = 0; i + 1 < runs.size(); ++i) before.push_back(times_of(all_.runs()[runs[i]]));
      const double was = median(before), is = times_of(all_.runs()[runs.back()]);
      if (std::abs(std::log(is / was)) > apart) t.add({node, was, is, all_.runs()[runs.back()].started});
    }
    e.add(std::move(t));
  }

  struct day_of_fleet {
    std::size_t runs = 0, normal = 0;
    std::map<int, std::vector<double>> off;  // by how many GPUs are together: 1, 2, more
  };
  std::map<std::string, day_of_fleet> days() const {
    std::map<std::string, day_of_fleet> all;
    for (const auto& run : all_.runs()) {
      auto& d = all[run.day()];
      ++d.runs;
      d.normal += run.verdict == node_verdict_kind::normal;
      for (const auto& v : run.values)
        d.off[v.second >= 0 ? 2 : v.first >= 0 ? 1 : 3].push_back(std::exp(v.log_us - usual_[v.kind].centre));
    }
    return all;
  }

  void add_days(evaluation& e) const {
    table t{
        {"fleet-days", "Days",
         "Runs: the acceptances of that day. Normal: how many of them found their node normal. Times: how "
         "long their points took, as the median of all of them over that of all days; 1.02 is 2 % longer."},
        {"day", "runs | >", "normal | >", "times | .3f", "note"}};
    for (const auto& [name, d] : days()) {
      std::vector<double> off;
      for (const auto& [together, some] : d.off) off.insert(off.end(), some.begin(), some.end());
      const double times = off.empty() ? 1 : median(off);
      const bool apart = off.size() >= values_of_a_day && std::abs(std::log(times)) > least_day;
      t.add({name, d.runs, d.normal, times,
             !apart      ? ""
             : times > 1 ? "the whole fleet is slower"
                         : "the whole fleet is faster"});
    }
    e.add(std::move(t));
  }

  void add_kinds(evaluation& e) const {
    table t{
        {"fleet-points",
         fmt::format("What the {} of each point", by_node_.size() == 1 ? "node has" : "fleet has"),
         "Together: how many GPUs, or host members, meet in it. Values: how often it was measured, by all "
         "acceptances and on all GPUs or pairs, and their median in us. Reference, us: what it was held "
         "against, by the latest acceptance: the median of results of this kind of machine, which came "
         "with mgsync or were given by --against. Times: the most of all values over their reference; "
         "limit: the most that may be, or the node is not normal. Among themselves: how many times the "
         "median here a value may be, or it is an outlier among these."},
        {"machine", "barrier", "shape", "together | >", "values | >", "median, us | .3f",
         "reference, us | .3f", "times | .2f", "limit | .2f", "among themselves | .2f"}};
    const bool several = std::ranges::any_of(
        all_.kinds(), [&](const auto& one) { return one.machine != all_.kinds().front().machine; });
    if (!several) t.columns.erase(t.columns.begin());
    for (std::size_t k = 0; k < usual_.size(); ++k) {
      const auto& kind = all_.kinds()[k];
      const auto& held = all_.references()[k];
      const auto known = [](double value) { return value > 0 ? table_entry(value) : table_entry(missing{}); };
      std::vector<table_entry> row;
      if (several) row.emplace_back(kind.machine);
      for (const auto& one :
           {table_entry(kind.subject), table_entry(kind.shape), table_entry(kind.together),
            table_entry(usual_[k].values), table_entry(std::exp(usual_[k].centre)), known(held.reference_us),
            known(held.most_times), known(held.least_limit), table_entry(std::exp(usual_[k].limit))})
        row.push_back(one);
      t.add(row);
    }
    e.add(std::move(t));
  }

  void add_trend(evaluation& e) const {
    const auto all = days();
    if (all.size() < 2) return;
    chart trend{{"fleet-trend", "The fleet over the days",
                 "Latency over the median of all days: the median of a day's nodes, in a band of nine tenths "
                 "of them."},
                {.label = "day"},
                {.label = "times the fleet's median"},
                {}};
    for (const auto& [name, d] : all) trend.x.categories.push_back(name);
    for (const auto& [together, name] :
         {std::pair{1, "single GPUs"}, std::pair{2, "pairs"}, std::pair{3, "all of a node"}}) {
      curve line{name};
      double x = 0;
      for (const auto& [day_name, d] : all) {
        if (const auto found = d.off.find(together); found != d.off.end())
          line.points.push_back(
              {x, median(found->second), quantile(found->second, 0.05), quantile(found->second, 0.95)});
        ++x;
      }
      if (!line.points.empty()) trend.curves.push_back(std::move(line));
    }
    e.figures.emplace_back(std::move(trend));
  }

  fleet_cell cell_of(const std::string& node, const std::vector<std::size_t>& runs) const {
    const auto& run = all_.runs()[runs.back()];
    fleet_cell cell{node, "", run.verdict, false, times_of(run)};
    cell.tip =
        fmt::format("{}: {}, {:.3f} times the fleet's median", node, to_string(run.verdict), cell.times);
    for (const auto& o : outliers_)
      if (o.node == node) {
        cell.outlier = true;
        cell.tip += fmt::format("; {} {:.2f} times", o.what.part, o.what.times);
      }
    return cell;
  }

  const fleet& all_;
  std::map<std::string, std::vector<std::size_t>> by_node_;  // its runs in time
  std::vector<usual> usual_;
  std::vector<outlier> outliers_;  // the worst first
  std::vector<drift> drifts_;      // the largest first
};

}  // namespace

void fleet::add(const acceptance& a) {
  fleet_run run{a.node,    a.started, a.verdict == node_verdict_kind::normal ? "" : a.sentence,
                a.against, a.gpus,    a.verdict,
                {}};
  for (const auto& p : a.points) {
    if (!(p.us > 0)) continue;
    kind of{a.kind, p.subject, p.shape, p.together};
    const auto [at, fresh] = places_.try_emplace(of, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) kinds_.push_back(std::move(of)), references_.emplace_back();
    auto& held = references_[at->second];
    if (p.base_us > 0) held.reference_us = p.base_us;
    held.most_times = std::max(held.most_times, p.times);
    if (p.limit > 0) held.least_limit = held.least_limit > 0 ? std::min(held.least_limit, p.limit) : p.limit;
    fleet_value v{at->second, -1, -1, static_cast<float>(std::log(p.us))};
    if (p.members.size() > 2) v.first = all_gpus;
    else if (!p.members.empty()) {
      v.first = static_cast<std::int16_t>(p.members[0]);
      if (p.members.size() == 2) v.second = static_cast<std::int16_t>(p.members[1]);
    }
    run.values.push_back(v);
  }
  runs_.push_back(std::move(run));
}

fleet_findings evaluate(const fleet& all) { return analysis(all).findings(); }

}  // namespace mgsync
