// A backend of broken barriers, for tests only: each variant has one fault that the check must reject. Named
// after real reports (open-mpi/ompi 9343, rapidsai/rapidsmpf 857, rapidsai/cuml 458, vllm 14125,
// pmodels/mpich 6227).
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/host_barrier.hpp"
#include "src/base/errors.hpp"
#include "tests/conformance/planted/faults.hpp"

namespace mgsync {

namespace {

using algorithm::host_lines;
using algorithm::host_policy;
using algorithm::position;

template <class Fault>
class pass {
 public:
  pass(std::uint32_t* const* parts, const position& at) : lines_{parts}, at_(at) {}
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
  position at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

template <class Fault>
creation make(const topology::group& group, const configuration& wanted, session& where) {
  return round_loop::make_host_barrier<pass<Fault>>(group, wanted.blocks_per_sm.value_or(1), where, "planted",
                                                    Fault::name, Fault::bounded);
}

// The facts are those of a barrier, which none of them is.
constexpr barrier_variant planted_variant(std::string_view name, makers make) {
  return {.name = name,
          .summary = "broken on purpose",
          .facts = {.origin = fact::origin::ours,
                    .driver = fact::driver::host,
                    .scope = fact::scope::node,
                    .extent = fact::extent::everything,
                    .order = fact::order::both},
          .make = make};
}

template <class Fault>
constexpr barrier_variant with() {
  return planted_variant(Fault::name, makers::of_hosts(make<Fault>));
}

// A good barrier on whose last rank a call fails, in one phase.
class failing final : public barrier {
 public:
  failing(std::unique_ptr<barrier> good, bool fails, run_mode phase, bool exits)
      : good_(std::move(good)), fails_(fails), phase_(phase), exits_(exits) {}
  trial run(const run_request& request) override {
    if (fails_ && exits_ && request.mode == phase_) std::exit(42);  // as a library may
    if (fails_ && request.mode == phase_) throw api_error("planted", "error 42", "failing on purpose");
    return good_->run(request);
  }

 private:
  std::unique_ptr<barrier> good_;
  bool fails_;
  run_mode phase_;
  bool exits_;
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

// Whether this rank is the one that fails: the last, in groups of more than two, which are measured after one
// of two.
bool is_last(const topology::group& group, const session& where) {
  return group.members.back().rank == where.rank();
}
bool fails_here(const topology::group& group, const session& where) {
  return is_last(group, where) && group.members.size() > 2;
}

creation fail_in_creation(const topology::group& group, const configuration& wanted, session& where) {
  if (fails_here(group, where)) throw api_error("planted", "error 42", "failing on purpose");
  return make<planted::no_fault>(group, wanted, where);
}

template <run_mode Phase, bool Exits = false>
creation fail_in(const topology::group& group, const configuration& wanted, session& where) {
  auto made = make<planted::no_fault>(group, wanted, where);
  made.barrier = std::make_unique<failing>(std::move(made.barrier), fails_here(group, where), Phase, Exits);
  return made;
}

creation hang_in_destruction(const topology::group& group, const configuration& wanted, session& where) {
  auto made = make<planted::no_fault>(group, wanted, where);
  made.barrier = std::make_unique<lingering>(std::move(made.barrier), is_last(group, where));
  return made;
}

using namespace planted;
constexpr barrier_variant variants[] = {
    with<no_op>(),
    with<leaves_at_all_but_one>(),
    with<root_leaves_at_once>(),
    with<arrival_left_out>(),
    with<one_step_short>(),
    with<one_flag_for_two_epochs>(),
    with<counter_reset_too_early>(),
    with<rare_early_exit>(),
    with<forgets_its_epoch>(),
    with<wraps_wrongly>(),
    with<broken_above_four>(),
    with<never_released>(),
    with<hangs>(),
    with<butterfly_skips_peers>(),
    with<accumulating_counter_overflows>(),
    with<epoch_is_not_atomic>(),
    with<once_in_5000_one_short>(),
    with<one_edge_of_all>(),
    planted_variant("fails-in-creation", makers::of_hosts(fail_in_creation)),
    planted_variant("fails-in-check", makers::of_hosts(fail_in<run_mode::check>)),
    planted_variant("fails-in-timing", makers::of_hosts(fail_in<run_mode::time>)),
    planted_variant("exits-in-timing", makers::of_hosts(fail_in<run_mode::time, true>)),
    planted_variant("hangs-in-destruction", makers::of_hosts(hang_in_destruction))};

}  // namespace

extern const backend planted_backend;
const backend planted_backend{
    .name = "planted", .summary = "barriers broken on purpose", .variants = variants};

}  // namespace mgsync
