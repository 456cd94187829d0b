// The products of paper 003's table 2: what the paper has of them, and what they took here.
#include <fmt/format.h>

#include "src/results/frame/frame.hpp"
#include "src/results/frame/paper_numbers.hpp"
#include "src/studies/pipeline/shown_study.hpp"

namespace mgsync::pipeline {

void add_paper_products(const measured_study& study, const std::map<profile_key, tile_profile>& profiles,
                        const std::string& name, evaluation& e) {
  const auto is_product = [](const paper_number& one) {
    return one.paper == "003" && one.place == "table 2" && one.quantity == "predicted";
  };
  const auto key = [](const product_row& r) { return fmt::format("{} by {}", text(r.size), text(r.tile)); };
  const auto grid = where(study.products, [&](const product_row& r) {
    return r.set.starts_with("grid") && profiles.contains({r.family, r.instance, r.producers}) &&
           published("003", "table 2", key(r), "A6000", "measured") != nullptr;
  });
  if (grid.empty()) return;
  const auto kernels = by(grid, [](const product_row& r) { return kernel_name(r.family, r.producers); });
  table t{
      {name, "Products of paper 003's table 2, there and here",
       "In us; the paper's, which are printed in s, are ms. Errors are (predicted - measured) / measured, "
       "the paper's over what was predicted. Of several kernels with one tile the fastest."},
      {"product and tile", "A6000: predicted | .2f", "measured | .2f", "error | .2f %"}};
  for (const auto& [kernel, _] : kernels) {
    t.columns.emplace_back(kernel + ": predicted", ".2f");
    t.columns.emplace_back("measured", ".2f");
    t.columns.emplace_back("error", ".2f %");
  }
  for (const auto* one : where(paper_numbers(), is_product)) {
    const auto printed = [one](const char* what) {
      return number_of(one->paper, one->place, one->row, one->machine, what);
    };
    std::vector<table_entry> entries{one->row, printed("predicted") * 1e3, printed("measured") * 1e3,
                                     printed("error") / 100};
    for (const auto& [_, rows] : kernels) {
      const auto* here = least(where(rows, [&](const product_row& r) { return key(r) == one->row; }),
                               [](const product_row& r) { return r.median_ns; });
      const double foretold =
          here == nullptr ? 0
                          : simulated_ns(*here, profiles.at({here->family, here->instance, here->producers}),
                                         study.facts.sms);
      if (here == nullptr) entries.insert(entries.end(), 3, missing{});
      else
        for (const double number : {foretold * 1e-3, here->median_ns * 1e-3, foretold / here->median_ns - 1})
          entries.emplace_back(number);
    }
    t.add(entries);
  }
  e.add(std::move(t));
}

}  // namespace mgsync::pipeline
