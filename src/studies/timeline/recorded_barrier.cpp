#include "src/studies/timeline/recorded_barrier.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "src/studies/timeline/barrier_rounds.hpp"

namespace mgsync::timelines {

namespace {

// The command's own watchdog reports and writes what was measured, and ends the process. This handler only
// delays, so that the process also ends should that not happen.
void let_the_command_end(const std::string&) { std::this_thread::sleep_for(std::chrono::seconds(10)); }

// A job of a single rank that owns all members.
struct own_session {
  // The longest wait of a barrier whose waits are bounded. A barrier that cannot time out is ended by the
  // command's watchdog instead.
  static constexpr auto bounded = std::chrono::seconds(20), unbounded = std::chrono::seconds(3600);

  explicit own_session(bool ends_by_itself)
      : patience(ends_by_itself ? bounded : unbounded),
        dog([](const std::string&) {}, let_the_command_end),
        job(communicator::single(patience)),
        ranks(communicator::single(patience)),
        place(job, ranks, dog, patience) {}

  std::chrono::nanoseconds patience;
  watchdog dog;
  communicator job, ranks;
  session place;
};

std::string name_of_worker(const topology::group& group, const worker_id& w, bool several) {
  const auto& m = group.members[w.member];
  const bool gpu = group.device == topology::device::gpu;
  auto name = fmt::format("{} {}", gpu ? "GPU" : "member", m.id);
  if (several) name += fmt::format(" block {}", w.block);
  return name;
}

class recorded_barrier final : public subject {
 public:
  recorded_barrier(const recorded_barrier_settings& given, std::unique_ptr<own_session> where,
                   std::unique_ptr<barrier> made, std::unique_ptr<common_clock> clock)
      : settings_(given), where_(std::move(where)), clock_(std::move(clock)), barrier_(std::move(made)) {}

  seen run(const run_order& asked) override {
    seen came{.done = asked};
    run_request request;
    request.rounds = static_cast<std::uint32_t>(asked.count);
    request.deadline = awake_clock::now() + where_->patience;
    request.mode = settings_.recorder ? run_mode::record : run_mode::time;
    request.late_units = settings_.late_us;
    request.kept_rounds = settings_.kept_rounds;
    request.seed = asked.seed;
    if (asked.fault == "early") {
      request.fault.what = fault::kind::arrive_early;
      request.fault.member = static_cast<unsigned>(settings_.group.members.size() - 1);
    }
    if (settings_.recorder && !clock_->before_run(came.reason)) return cannot_tell(came);
    const auto t = barrier_->run(request);
    if (t.outcome != outcome::completed) {
      came.ended = t.outcome == outcome::aborted ? ending::aborted : ending::stuck;
      came.reason = fmt::format("{} gave up waiting", settings_.backend->name);
      return came;
    }
    if (settings_.recorder && !clock_->after_run(came.reason)) return cannot_tell(came);
    const double worked_us = static_cast<double>(settings_.late_us) * static_cast<double>(asked.count);
    came.values["duration_us"] = {
        std::chrono::duration<double, std::micro>(std::ranges::max(t.elapsed)).count() - worked_us};
    if (settings_.recorder) came.own = recorded(t);
    return came;
  }

  // Whether the backend can record.
  bool records() {
    run_request one;
    one.deadline = awake_clock::now() + where_->patience;
    one.mode = run_mode::record;
    return !barrier_->run(one).records.empty();
  }

 private:
  static seen cannot_tell(seen came) {
    came.ended = ending::died;
    return came;
  }

  recording recorded(const trial& t) const {
    recording r{"ns", settings_.group.device == topology::device::gpu ? "block" : "member",
                {},   kinds_of_rounds(),
                {},   clock_->uncertainty_ns()};
    const bool several = t.records.size() > settings_.group.members.size();
    for (const auto& record : t.records) {
      const auto worker = static_cast<std::uint32_t>(r.workers.size());
      r.workers.push_back(name_of_worker(settings_.group, record.worker, several));
      for (std::uint32_t i = 0; i < record.passages.size(); ++i) {
        const auto& p = record.passages[i];
        const auto add = [&](std::uint32_t kind, const moment& when) {
          r.events.push_back({clock_->at_ns(record.worker, when), worker, kind, record.first_round + i,
                              when.clock, when.timer_ns, record.processor});
        };
        add(arrived, p.arrived);
        if (p.spoke) add(spoke, *p.spoke);
        add(left, p.left);
      }
    }
    return r;
  }

  recorded_barrier_settings settings_;
  std::unique_ptr<own_session> where_;
  std::unique_ptr<common_clock> clock_;
  std::unique_ptr<barrier> barrier_;  // declared last, so that it is destroyed before what it uses
};

}  // namespace

subject_creation make_recorded_barrier(const recorded_barrier_settings& given) {
  auto where = std::make_unique<own_session>(given.variant->bounded);
  auto made = given.variant->make.of(given.group.device)(given.group, given.configuration, where->place);
  if (!made.barrier) return {nullptr, made.reason, {}};
  std::unique_ptr<common_clock> clock;
  if (given.recorder) {
    if (given.group.device == topology::device::host) clock = make_host_clock(given.group);
#if MGSYNC_WITH_CUDA
    else clock = make_gpu_clock(given.group);
#endif
  }
  subject_creation all;
  all.found["algorithm"] = made.algorithm;
  if (!made.peer_memory.empty()) all.found["peer_memory"] = made.peer_memory;
  if (clock) all.found["clock"] = clock->description();
  auto subject =
      std::make_unique<recorded_barrier>(given, std::move(where), std::move(made.barrier), std::move(clock));
  if (given.recorder && !subject->records())
    return {nullptr, fmt::format("{} does not record its rounds", given.backend->name), {}};
  all.subject = std::move(subject);
  return all;
}

}  // namespace mgsync::timelines
