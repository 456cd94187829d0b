// A backend of broken barriers, for tests only: each variant has one fault that the check must reject. Named
// after real reports (open-mpi/ompi 9343, rapidsai/rapidsmpf 857, rapidsai/cuml 458, vllm 14125,
// pmodels/mpich 6227).
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/host_barrier.hpp"
#include "src/base/errors.hpp"
#include "tests/conformance/planted/faults.hpp"

namespace mgsync {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::place;

template <class Fault>
class pass {
 public:
  pass(std::uint32_t* const* parts, const place& at) : lines_{parts}, at_(at) {}
  void begin(const algorithm::host_limits& limits) {
    policy_ = host_policy(limits);
    if constexpr (Fault::forgets) epoch_ = round_loop::first_epoch;
  }
  bool operator()() {
    ++epoch_;
    return Fault::arrive_and_wait(policy_, lines_, at_, epoch_);
  }

  static unsigned lines(unsigned members) { return algorithm::layout{members}.lines(); }
  static void start(const host_lines& memory, unsigned member, unsigned members, unsigned blocks) {
    round_loop::start_flags(memory, member, members, blocks);
  }

 private:
  host_policy policy_;
  host_lines lines_;
  place at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

template <class Fault>
creation make(const topology::group& group, unsigned blocks, session& where) {
  return round_loop::make_host_barrier<pass<Fault>>(group, blocks, where, "planted", Fault::name,
                                                    Fault::bounded);
}

using maker = creation (*)(const topology::group&, unsigned, session&);

template <class... Faults>
struct list {
  static constexpr std::string_view names[] = {Faults::name...};
  static constexpr maker makers[] = {make<Faults>...};
};
using all = list<planted::no_op, planted::leaves_at_all_but_one, planted::root_leaves_at_once,
                 planted::arrival_left_out, planted::one_step_short, planted::one_flag_for_two_epochs,
                 planted::counter_reset_too_early, planted::rare_early_exit, planted::forgets_its_epoch,
                 planted::wraps_wrongly, planted::broken_above_four, planted::never_released, planted::hangs,
                 planted::butterfly_skips_peers, planted::accumulating_counter_overflows,
                 planted::epoch_is_not_atomic, planted::once_in_5000_one_short, planted::one_edge_of_all>;

// A good barrier on whose last rank a call fails, in one phase.
class failing final : public barrier {
 public:
  failing(std::unique_ptr<barrier> good, bool fails, run_mode phase)
      : good_(std::move(good)), fails_(fails), phase_(phase) {}
  trial run(const run_request& request) override {
    if (fails_ && request.mode == phase_) throw api_error("planted", "error 42", "failing on purpose");
    return good_->run(request);
  }

 private:
  std::unique_ptr<barrier> good_;
  bool fails_;
  run_mode phase_;
};

// A good barrier whose destruction never ends on the last rank.
class lingering final : public barrier {
 public:
  lingering(std::unique_ptr<barrier> good, bool here) : good_(std::move(good)), here_(here) {}
  ~lingering() override {
    while (here_) pause();
  }
  trial run(const run_request& request) override { return good_->run(request); }

 private:
  std::unique_ptr<barrier> good_;
  bool here_;
};

constexpr std::string_view failures[] = {"fails-in-creation", "fails-in-check", "fails-in-timing",
                                         "hangs-in-destruction"};

creation make_failing(std::string_view phase, const topology::group& group, unsigned blocks, session& where) {
  const bool last = group.members.back().rank == where.rank();
  const bool here = last && group.members.size() > 2;  // a group of two is measured before
  if (here && phase == "fails-in-creation") throw api_error("planted", "error 42", "failing on purpose");
  auto made = make<planted::no_fault>(group, blocks, where);
  if (phase == "hangs-in-destruction") {
    made.barrier = std::make_unique<lingering>(std::move(made.barrier), last);
    return made;
  }
  made.barrier = std::make_unique<failing>(std::move(made.barrier), here,
                                           phase == "fails-in-check" ? run_mode::check : run_mode::time);
  return made;
}

constexpr auto variants = [] {
  std::array<std::string_view, std::size(all::names) + std::size(failures)> names{};
  std::copy(std::begin(failures), std::end(failures),
            std::copy(std::begin(all::names), std::end(all::names), names.begin()));
  return names;
}();

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  return group.device == topology::device::host ? support::yes() : support::no("for host members");
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  for (std::size_t i = 0; i < std::size(all::names); ++i)
    if (all::names[i] == wanted.variant)
      return all::makers[i](group, wanted.blocks_per_sm.value_or(1), where);
  return make_failing(wanted.variant, group, wanted.blocks_per_sm.value_or(1), where);
}

}  // namespace

extern const backend planted_backend;
const backend planted_backend{"planted", "barriers broken on purpose", variants, level::group, false, can_run,
                              create};

}  // namespace mgsync
