// What is told of a fleet: sentences, tables, trends.
#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/results/comparison/fleet_analysis.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

constexpr std::size_t most_rows = 500;
constexpr double least_day = 0.02;

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

class told_fleet {
 public:
  explicit told_fleet(const fleet& all) : all_(all), judged_(all) {}

  fleet_findings findings() {
    fleet_findings found;
    if (judged_.by_node().size() == 1) {
      found.shown.in_parts = {of_one_node()};
      found.shown.sentences = found.shown.in_parts.front().sentences;
    } else {
      found.shown.sentences = of_several_nodes();
    }
    add_outliers(found.shown);
    add_verdicts(found.shown);
    add_changes(found.shown);
    found.shown.add(drift_table(judged_.drifts()));
    add_days(found.shown);
    add_kinds(found.shown);
    add_trend(found.shown);
    for (const auto& [node, runs] : judged_.by_node()) found.cells.push_back(cell_of(node, runs));
    std::ranges::sort(found.cells, in_order, &fleet_cell::node);
    found.any_outlier = !judged_.outliers().empty();
    return found;
  }

 private:
  bool is_normal(const std::vector<std::size_t>& runs) const {  // by the latest
    return all_.runs()[runs.back()].verdict == node_verdict_kind::normal;
  }
  std::string acceptances() const { return counted(all_.runs().size(), "acceptance"); }
  std::string over_days() const { return counted(days_.size(), "day"); }

  std::vector<std::string> of_several_nodes() const {
    const auto normal =
        std::ranges::count_if(judged_.by_node(), [&](const auto& one) { return is_normal(one.second); });
    std::vector<std::string> said{fmt::format("{}, {} on {}: by its latest one {} of the nodes {} normal.",
                                              counted(judged_.by_node().size(), "node"), acceptances(),
                                              over_days(), normal, normal == 1 ? "is" : "are")};
    if (judged_.outliers().empty()) said.emplace_back("None is an outlier among the others.");
    for (std::size_t i = 0; i < judged_.outliers().size() && i < 5; ++i) {
      const auto& o = judged_.outliers()[i];
      said.push_back(
          fmt::format("{}, {}: {:.2f} times the fleet's median, where {:.2f} may be, in {} of its {}.",
                      o.node, o.what.part, o.what.times, o.what.limit, o.runs.size(),
                      counted(judged_.by_node().at(o.node).size(), "run")));
    }
    if (judged_.outliers().size() > 5)
      said.push_back(fmt::format("{} more outliers are in the table.", judged_.outliers().size() - 5));
    for (std::size_t i = 0; i < judged_.drifts().size() && i < 3; ++i)
      said.push_back(fmt::format("{} {}.", judged_.drifts()[i].node, words_of(judged_.drifts()[i])));
    return said;
  }

  // "n3 (GPU-1a2b, GPU-3c4d)": nodes of one name may have other GPUs. Of many GPUs the first.
  std::string with_gpus(const std::string& node, const std::vector<std::size_t>& runs) const {
    const auto& gpus = all_.runs()[runs.back()].gpus;
    if (gpus.empty()) return node;
    std::set<std::vector<std::string>> sets;  // more than one: machines of one name, or GPUs were exchanged
    for (const auto i : runs) sets.insert(all_.runs()[i].gpus);
    if (sets.size() > 1) return fmt::format("{} ({} different sets of GPUs)", node, sets.size());
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
    const auto& [node, runs] = *judged_.by_node().begin();
    told_in_parts all{
        {},
        fmt::format("{} of the node {} on {}: {} of them found it normal, the latest one {}.", acceptances(),
                    with_gpus(node, runs), over_days(),
                    std::ranges::count(all_.runs(), node_verdict_kind::normal, &fleet_run::verdict),
                    is_normal(runs) ? "too" : "not")};
    for (const auto& one : judged_.drifts()) all.words += fmt::format(" It {}.", words_of(one));
    auto& against = all.parts.emplace_back("against what", "The same points of reference results");
    const auto nearest = std::ranges::max_element(all_.references(), {}, [](const auto& one) {
      return one.most_times / std::max(one.least_limit, 1.0);
    });
    const auto& latest = all_.runs()[runs.back()].against;
    const bool all_so = std::ranges::all_of(runs, [&](auto i) { return all_.runs()[i].against == latest; });
    const std::string_view own =
        all_so ? words_on_reference(latest) : ", measured on these machines or on others.";
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
    for (std::size_t i = 0; i < judged_.outliers().size() && i < most_rows; ++i) {
      const auto& o = judged_.outliers()[i];
      const auto when = [&](std::size_t run) { return all_.runs()[run].started; };
      const auto [first, last] = std::ranges::minmax(o.runs, {}, when);
      t.add({o.node, o.what.part, o.what.times, o.what.limit, fmt::format("{}", o.runs.size()),
             fmt::format("{}", judged_.by_node().at(o.node).size()), when(first), when(last),
             o.what.command});
    }
    e.add(std::move(t));
  }

  void add_verdicts(evaluation& e) const {
    table t{{"fleet-not-normal", "Nodes that are not normal by their latest acceptance", ""},
            {"node", "verdict", "when", "sentence"}};
    for (const auto& [node, runs] : judged_.by_node()) {
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
    for (const auto& u : judged_.usual()) limits.push_back(u.limit);
    const double apart = limits.empty() ? 0 : median(limits);
    for (const auto& [node, runs] : judged_.by_node()) {
      if (runs.size() < 2 || t.rows.size() >= most_rows) continue;
      std::vector<double> before;
      for (std::size_t i = 0; i + 1 < runs.size(); ++i)
        before.push_back(judged_.times_of(all_.runs()[runs[i]]));
      const double was = median(before), is = judged_.times_of(all_.runs()[runs.back()]);
      if (std::abs(std::log(is / was)) > apart) t.add({node, was, is, all_.runs()[runs.back()].started});
    }
    e.add(std::move(t));
  }

  void add_days(evaluation& e) const {
    table t{
        {"fleet-days", "Days",
         "Runs: the acceptances of that day. Normal: how many of them found their node normal. Times: how "
         "long their points took, as the median of all of them over that of all days; 1.02 is 2 % longer."},
        {"day", "runs | >", "normal | >", "times | .3f", "note"}};
    for (const auto& [name, d] : days_) {
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
         fmt::format("What the {} of each point", judged_.by_node().size() == 1 ? "node has" : "fleet has"),
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
    for (std::size_t k = 0; k < judged_.usual().size(); ++k) {
      const auto& kind = all_.kinds()[k];
      const auto& held = all_.references()[k];
      const auto known = [](double value) { return value > 0 ? table_entry(value) : table_entry(missing{}); };
      std::vector<table_entry> row;
      if (several) row.emplace_back(kind.machine);
      for (const auto& one :
           {table_entry(kind.subject), table_entry(kind.shape), table_entry(kind.together),
            table_entry(judged_.usual()[k].values), table_entry(std::exp(judged_.usual()[k].centre)),
            known(held.reference_us), known(held.most_times), known(held.least_limit),
            table_entry(std::exp(judged_.usual()[k].limit))})
        row.push_back(one);
      t.add(row);
    }
    e.add(std::move(t));
  }

  void add_trend(evaluation& e) const {
    if (days_.size() < 2) return;
    chart trend{{"fleet-trend", "The fleet over the days",
                 "Latency over the median of all days: the median of a day's nodes, in a band of nine tenths "
                 "of them."},
                {.label = "day"},
                {.label = "times the fleet's median"},
                {}};
    for (const auto& [name, d] : days_) trend.x.categories.push_back(name);
    for (const auto& [together, name] :
         {std::pair{1, "single GPUs"}, std::pair{2, "pairs"}, std::pair{3, "all of a node"}}) {
      curve line{name};
      double x = 0;
      for (const auto& [day_name, d] : days_) {
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
    fleet_cell cell{node, "", run.verdict, false, judged_.times_of(run)};
    cell.tip =
        fmt::format("{}: {}, {:.3f} times the fleet's median", node, to_string(run.verdict), cell.times);
    for (const auto& o : judged_.outliers())
      if (o.node == node) {
        cell.outlier = true;
        cell.tip += fmt::format("; {} {:.2f} times", o.what.part, o.what.times);
      }
    return cell;
  }

  const fleet& all_;
  const fleet_analysis judged_;
  const std::map<std::string, day_of_fleet> days_ = judged_.days();
};

}  // namespace

fleet_findings evaluate(const fleet& all) { return told_fleet(all).findings(); }

}  // namespace mgsync
