#include "src/harness/checks.hpp"
#include "src/studies/model/block_runs.hpp"
#include "src/studies/model/model_evaluation.hpp"

namespace mgsync::model {
namespace {

using machine_code::counts;
using machine_code::expected_code;

// The expected code of whole sums and loops, which have branches: only that the clock is read twice around
// them. A separate test checks the rest (tests/code).
expected_code read_twice(std::string kernel) {
  expected_code e;
  e.kernel = std::move(kernel);
  e.library_code = true;
  return e;
}

// The expected code of successive steps, after a load of what the first step begins with.
expected_code steps_of(const std::string& kernel, unsigned count, counts per_link, std::string result_of,
                       unsigned side_by_side = 1) {
  expected_code e;
  e.kernel = kernel + "_" + std::to_string(count);
  e.links = count;
  e.per_link = std::move(per_link);
  e.result_of = std::move(result_of);
  e.side_by_side = side_by_side;
  e.extras = {{"LDS", 1}, {"LOP3", 1}, {"ISETP", 1}};
  return e;
}

class block_checker final : public checker {
 public:
  std::optional<step> next() override { return std::nullopt; }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) {
      checks_.add(run);
      for (const char* name : {"expected", "seen"})
        if (const auto found = run.values.find(name); found != run.values.end())
          sums_[name] = {"", found->second};
    }
  }
  verdict judge() const override {
    auto now = checks_.judge(checks_.rounds() > 0 ? verdict_kind::sum : verdict_kind::code);
    now.passed = now.violations == 0;  // no positive control: some ways are there to be found wrong
    return now;
  }
  void add_to(result& r) const override { r.quantities.insert(sums_.begin(), sums_.end()); }

 private:
  checks checks_;
  quantities_by_name sums_;  // of the last run: the expected sum, and the sum that came out
};

}  // namespace

double number_of(unsigned place) { return 1 + (place * 2654435761u >> 16) % 1021; }

double sum_of(unsigned count) {
  double sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += number_of(i);
  return sum;
}

std::vector<expected_code> block_code(unsigned architecture) {
  std::vector<expected_code> all;
  for (const char* kernel : {"sum_as_compiled", "sum_one_load", "loop_as_compiled", "loop_one_load"})
    all.push_back(read_twice(kernel));
  for (const unsigned count : {4u, 8u, 16u}) {
    all.push_back(steps_of("shuffles", count, {{"SHFL", 2}}, "SHFL", 2));
    all.push_back(steps_of("shuffle_steps", count, {{"SHFL", 2}, {"DADD", 1}}, ""));
    all.push_back(steps_of("barriers", count, {{"BAR", 1}}, ""));
    all.push_back(steps_of("tree_steps", count, {{"BAR", 1}, {"LDS", 1}, {"DADD", 1}, {"STS", 1}}, ""));
  }
  for (const char* kernel : {"joins_1", "joins_2", "joins_4"}) all.push_back(read_twice(kernel));
  for (const auto& way : warp_ways)
    if (architecture >= way.oldest) all.push_back(read_twice(std::string(way.kernel)));
  return all;
}

std::unique_ptr<checker> make_block_checker() { return std::make_unique<block_checker>(); }

}  // namespace mgsync::model
