// What the answer to --gemm costs where it is not the fastest configuration, on sizes that nobody had seen;
// and how the kernels stand beside the vendor's library.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "src/models/pipeline/measured_answer.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"
#include "src/studies/pipeline/shown_study.hpp"

namespace mgsync::pipeline {

namespace {

// A kernel with its producers and buffers.
struct configuration {
  profile_key kernel;
  int buffers = 1;
  auto operator<=>(const configuration&) const = default;
};
using times_by_configuration = std::map<configuration, double>;
using size_key = std::tuple<int, int, int>;
using products_by_size = std::map<size_key, times_by_configuration>;

extent extent_of(const size_key& size) { return {std::get<0>(size), std::get<1>(size), std::get<2>(size)}; }

profile_key vendors_key() { return {std::string(cublas_family.name), 0, 1}; }

bool is_vendors(const product_row& r) { return r.family == cublas_family.name; }

products_by_size fresh_products(const measured_study& study) {
  products_by_size all;
  for (const product_row& r : study.products)
    if (r.set.starts_with("fresh"))
      all[{r.size.m, r.size.n, r.size.k}]
         [{{r.family, r.instance, r.producers}, is_vendors(r) ? 1 : r.buffers}] = r.median_ns;
  return all;
}

bool is_large(extent size) { return std::max({size.m, size.n, size.k}) > 4096; }
bool is_indivisible(extent size) { return size.m % 64 != 0 && size.n % 64 != 0 && size.k % 64 != 0; }

struct group {
  const char* name;
  bool (*has)(extent);
};
constexpr group groups[] = {{"all fresh sizes", [](extent) { return true; }},
                            {"a side above 4096", is_large},
                            {"all sides to 4096", [](extent size) { return !is_large(size); }},
                            {"no side a multiple of 64", is_indivisible}};

// The best of the study's own kernels.
double least_of(const times_by_configuration& times) {
  double least = 0;
  for (const auto& [which, ns] : times)
    if (which.kernel != vendors_key() && (least == 0 || ns < least)) least = ns;
  return least;
}

using chooser = std::map<size_key, configuration>;

// What the answer to --gemm would have been on this machine, of the kernels that were measured here.
chooser answers_of(machine on, const products_by_size& products) {
  std::set<profile_key> measured;
  for (const auto& [_, times] : products)
    for (const auto& one : times) measured.insert(one.first.kernel);
  std::erase_if(on.tiles, [&](const tile_profile& p) {
    return !measured.contains({p.family, p.instance, p.producers});
  });
  chooser all;
  if (on.tiles.empty()) return all;
  for (const auto& [size, _] : products) {
    const auto answered = answer(measured_question{extent_of(size), on, {}});
    const auto& best = answered.ranked.front();
    all[size] = {{best.kernel->family, best.kernel->instance, best.kernel->producers}, best.form.buffers};
  }
  return all;
}

// Of a kernel that was not measured with that many buffers the slowest number that was; nothing: it was not
// measured.
std::optional<double> time_of(const times_by_configuration& times,
                              const std::optional<configuration>& chosen) {
  if (!chosen) return std::nullopt;
  if (const auto found = times.find(*chosen); found != times.end()) return found->second;
  std::optional<double> slowest;
  for (const auto& [which, ns] : times)
    if (which.kernel == chosen->kernel && ns > slowest.value_or(0)) slowest = ns;
  return slowest;
}

// By how many percent the choices are slower than the best, of the sizes at which they were measured.
std::vector<double> slower_by(const products_by_size& products, const group& of,
                              const std::function<std::optional<configuration>(const size_key&)>& chosen) {
  std::vector<double> all;
  for (const auto& [size, times] : products) {
    if (!of.has(extent_of(size))) continue;
    if (const auto ns = time_of(times, chosen(size))) all.push_back(100 * (*ns / least_of(times) - 1));
  }
  return all;
}

// The one configuration that costs the least in the mean, of those measured at every size of the group.
std::optional<configuration> best_fixed(const products_by_size& products, const group& of) {
  std::map<configuration, std::pair<std::size_t, double>> sums;
  std::size_t sizes = 0;
  for (const auto& [size, times] : products) {
    if (!of.has(extent_of(size))) continue;
    ++sizes;
    const double least = least_of(times);
    for (const auto& [which, ns] : times) {
      auto& [count, sum] = sums[which];
      ++count;
      sum += ns / least;
    }
  }
  std::optional<configuration> best;
  for (const auto& [which, seen] : sums)
    if (which.kernel != vendors_key() && seen.first == sizes &&
        (!best || seen.second < sums.at(*best).second))
      best = which;
  return best;
}

std::string name_of(const configuration& which, const std::map<profile_key, tile_profile>& profiles) {
  const auto& p = profiles.at(which.kernel);
  return fmt::format("always {} {}{}, {} buffers", kernel_name(p.family, p.producers), text(p.tile),
                     p.consumers == 2 ? ", ping-pong" : "", which.buffers);
}

}  // namespace

table regret_of(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
                figure_heading heading) {
  heading.title = "How much longer than the fastest configuration the answer takes";
  heading.caption =
      "Sizes drawn after the model was frozen, each measured with every kernel, with the usual number of "
      "buffers "
      "and with all that fit. The fixed configuration is the one that costs the least in the mean.";
  table t{std::move(heading),
          {"sizes", "count | >", "chosen by", "median | .2f %", "mean | .2f %", "90 % within | .2f %",
           "at most 5 % slower | .1f %", "worst | .2f %"}};
  auto products = fresh_products(study);
  std::erase_if(products, [](const auto& one) { return least_of(one.second) == 0; });
  if (products.empty() || profiles.empty()) return t;
  machine today;
  today.sms = study.facts.sms;
  today.shared_bytes = study.facts.shared_bytes - 1024;
  for (const auto& [_, p] : profiles) today.tiles.push_back(p);
  std::vector<std::pair<std::string, chooser>> models{
      {"the model, calibrated here", answers_of(today, products)}};
  if (const machine& known = h200(); known.name == study.facts.name)
    models.emplace_back("the model, built in", answers_of(known, products));
  const auto add = [&](const group& of, const std::string& by, const tile_choice_summary& s) {
    if (s.sizes != 0)
      t.add({of.name, s.sizes, by, s.median_percent / 100, s.mean_percent / 100, s.ninety_percent / 100,
             static_cast<double>(s.within_5_percent) / static_cast<double>(s.sizes), s.worst_percent / 100});
  };
  for (const group& of : groups) {
    for (const auto& [by, choices] : models)
      add(of, by, summarize_choices(slower_by(products, of, [&choices = choices](const size_key& size) {
            const auto found = choices.find(size);
            return found == choices.end() ? std::nullopt : std::optional(found->second);
          })));
    if (const auto fixed = best_fixed(products, of); fixed && profiles.contains(fixed->kernel))
      add(of, name_of(*fixed, profiles),
          summarize_choices(slower_by(products, of, [&](const size_key&) { return fixed; })));
  }
  return t;
}

table vendor_of(const measured_study& study, figure_heading heading) {
  heading.title = "The kernels beside cuBLAS";
  heading.caption = "The time of the study's fastest kernel over that of cublasGemmEx, halves in and 32-bit "
                    "sums out, in the "
                    "same run; below 1 the study's is faster.";
  table t{std::move(heading),
          {"sizes", "count | >", "median | .2f", "least | .2f", "90 % within | .2f", "most | .2f"}};
  const auto products = fresh_products(study);
  for (const group& of : groups) {
    std::vector<double> all;
    for (const auto& [size, times] : products) {
      const auto vendors = times.find({vendors_key(), 1});
      const double least = least_of(times);
      if (vendors != times.end() && least > 0 && of.has(extent_of(size)))
        all.push_back(least / vendors->second);
    }
    std::ranges::sort(all);
    if (!all.empty())
      t.add({of.name, all.size(), all[(all.size() - 1) / 2], all.front(), all[(all.size() * 9 + 9) / 10 - 1],
             all.back()});
  }
  return t;
}

}  // namespace mgsync::pipeline
