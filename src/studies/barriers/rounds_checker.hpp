// Is it a barrier? (docs/method.md): many rounds that nobody may leave early, a positive control after the
// first of them, and a look at every timed run for who comes last and what the load beside it was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/harness/checker.hpp"
#include "src/studies/barriers/trial_exchange.hpp"
#include "src/studies/barriers/verdict.hpp"
#include "topology/group.hpp"

namespace mgsync::barriers {

class rounds_checker final : public checker {
 public:
  // At least `rounds` rounds are checked; 0: none. `piece`: a piece of a barrier has nothing to check. The
  // group must outlive the checker.
  rounds_checker(const point&, const topology::group&, std::uint64_t rounds, std::uint64_t seed, bool piece);

  std::optional<step> next() override;
  void take(const step&, std::span<const seen>) override;
  verdict judge() const override { return verdict_; }
  std::string refuted() const override { return refuted_; }
  std::string void_because() const override { return void_because_; }
  void add_to(result&) const override;

 private:
  void take_control(const seen&);
  void take_rounds(const seen&);
  void take_sample(const seen& longer);

  point point_;
  const topology::group* group_;
  std::uint64_t seed_;
  check_reach reach_;
  bool trivial_ = false;
  std::uint32_t control_rounds_ = 256;  // of the next positive control; each one has four times as many
  std::uint64_t launches_left_ = 0;     // how many runs of the check are left
  std::uint64_t per_launch_ = 0;        // rounds of such a run
  verdict verdict_;
  std::string refuted_, void_because_;
  std::vector<std::string> notes_;
  std::vector<unsigned> times_slowest_;                // by member
  std::map<unsigned, ran_at> ran_;                     // by member: over all timed runs
  std::map<unsigned, std::vector<double>> load_gbps_;  // by member, of the longer runs
};

}  // namespace mgsync::barriers
