// A backend of broken barriers, for tests only: each variant has one fault that the check must reject. Named after
// real reports (open-mpi/ompi 9343, rapidsai/rapidsmpf 857, rapidsai/cuml 458, vllm 14125, pmodels/mpich 6227).
#include <utility>

#include "barriers/backend.hpp"
#include "barriers/round_loop/host_crew.hpp"
#include "src/base/worker_pool.hpp"
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

 private:
  host_policy policy_;
  host_lines lines_;
  place at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

template <class Fault>
class planted_barrier final : public barrier {
 public:
  planted_barrier(const topology::group& group, unsigned blocks, session& where,
                  std::unique_ptr<symmetric_memory> flags, std::unique_ptr<symmetric_memory> board)
      : flags_(std::move(flags)), crew_(group, blocks, where, std::move(board), Fault::bounded, "planted"),
        pool_(crew_.cpus()) {
    const auto members = static_cast<unsigned>(group.members.size());
    for (unsigned m = 0; m < members; ++m) parts_.push_back(reinterpret_cast<std::uint32_t*>(flags_->part(m)));
    for (const auto& w : crew_.workers()) {
      passes_.emplace_back(parts_.data(), place{w.member, members, w.block, blocks});
      if (w.block == 0) start_epochs(w.member, members, blocks);
    }
    where.ranks().barrier("zeroing the flags of a planted barrier");
  }

  trial run(const run_request& request) override {
    return crew_.run(request, passes_, [this](const auto& work) { pool_.run(work); });
  }

 private:
  void start_epochs(unsigned member, unsigned members, unsigned blocks) const {
    const algorithm::layout lines{members};
    const host_lines memory{parts_.data()};
    for (unsigned l = 0; l < lines.lines(); ++l) memory.line(member, l) = round_loop::first_epoch;
    memory.line(member, lines.arrivals()) = algorithm::counter_start(blocks, round_loop::first_epoch);
    memory.line(member, lines.center()) = algorithm::counter_start(members, round_loop::first_epoch);
  }

  std::unique_ptr<symmetric_memory> flags_;
  std::vector<std::uint32_t*> parts_;
  round_loop::host_crew crew_;
  worker_pool pool_;
  std::vector<pass<Fault>> passes_;
};

template <class Fault>
creation make(const topology::group& group, unsigned blocks, session& where) {
  const algorithm::layout lines{static_cast<unsigned>(group.members.size())};
  auto flags = allocate_host_memory(group, lines.lines() * algorithm::line_bytes, reach::group, where);
  if (!flags.memory) return {nullptr, flags.reason, {}, {}};
  auto board = allocate_host_memory(group, round_loop::host_crew::board_bytes(blocks), reach::group, where);
  std::string provider(flags.memory->provider());
  return {std::make_unique<planted_barrier<Fault>>(group, blocks, where, std::move(flags.memory), std::move(board.memory)),
          {}, Fault::name, std::move(provider)};
}

using maker = creation (*)(const topology::group&, unsigned, session&);

template <class... Faults>
struct list {
  static constexpr std::string_view names[] = {Faults::name...};
  static constexpr maker makers[] = {make<Faults>...};
};
using all = list<planted::no_op, planted::leaves_at_all_but_one, planted::root_leaves_at_once, planted::arrival_left_out,
                 planted::one_step_short, planted::one_flag_for_two_epochs, planted::counter_reset_too_early,
                 planted::rare_early_exit, planted::forgets_its_epoch, planted::wraps_wrongly, planted::broken_above_four,
                 planted::never_released, planted::hangs>;

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  return group.device == topology::device::host ? support::yes() : support::no("for host members");
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  for (std::size_t i = 0; i < std::size(all::names); ++i)
    if (all::names[i] == wanted.variant) return all::makers[i](group, wanted.blocks_per_sm.value_or(1), where);
  return {nullptr, "no such fault", {}, {}};
}

}  // namespace

extern const backend planted_backend;
const backend planted_backend{"planted", "barriers broken on purpose", all::names, level::group, false, can_run, create};

}  // namespace mgsync
