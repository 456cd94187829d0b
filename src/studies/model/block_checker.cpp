#include "src/harness/checks.hpp"
#include "src/studies/model/block_runs.hpp"
#include "src/studies/model/model_evaluation.hpp"

namespace mgsync::model {
namespace {

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

std::span<const warp_way> warp_ways() {
  static const auto ways = [] {
    std::vector<warp_way> all;
    for (const auto& p : probes::probes_of("block_sums"))
      if (!p.numbers.empty()) all.push_back({p.what, &p});
    return all;
  }();
  return ways;
}

std::unique_ptr<checker> make_block_checker() { return std::make_unique<block_checker>(); }

}  // namespace mgsync::model
