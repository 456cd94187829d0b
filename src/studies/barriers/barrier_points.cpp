#include "src/studies/barriers/barrier_points.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/session.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/studies/barriers/barrier_subject.hpp"
#include "src/studies/barriers/rounds_prover.hpp"

namespace mgsync::barriers {
namespace {

// The ranks that own members of the cell being measured. Cells are measured one after the other, and the
// communicator of one is freed before the next has its own: a large sweep has hundreds, and MPI a limit.
class meeting_place {
 public:
  meeting_place(communicator& job, watchdog& dog, std::chrono::nanoseconds timeout)
      : job_(&job), dog_(&dog), timeout_(timeout) {}

  // Collective over the job.
  void enter(bool has_members) {
    session_.reset();
    part_.reset();
    part_ = job_->split(has_members ? 0 : -1);
    session_.emplace(*job_, part_ ? *part_ : *job_, *dog_, timeout_);
  }
  session& here() { return *session_; }

 private:
  communicator* job_;
  watchdog* dog_;
  std::chrono::nanoseconds timeout_;
  std::optional<communicator> part_;
  std::optional<session> session_;
};

std::vector<unsigned> members_of_rank(const topology::group& group, int rank) {
  std::vector<unsigned> mine;
  for (unsigned m = 0; m < group.members.size(); ++m)
    if (group.members[m].rank == rank) mine.push_back(m);
  return mine;
}

// Member, rank, host, CPU and GPU, as asked for. A thread that is not where it was pinned to ends the
// creation; of host members the prover writes over it where they were.
std::string placed(const topology::group& group) {
  std::vector<std::string> all;
  for (const auto& m : group.members)
    all.push_back(fmt::format(
        "{}: rank {} on {}, {}{}", m.id, m.rank, m.host,
        m.cpus.empty() ? "not pinned"
                       : fmt::format("CPU {}", fmt::join(std::set<int>(m.cpus.begin(), m.cpus.end()), "+")),
        m.gpu >= 0 ? fmt::format(", CUDA's GPU {}", m.gpu) : ""));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::unique_ptr<method> latency(const stopping_rule& stopping) {
  rounds_difference_settings asked;
  asked.stopping = stopping;
  asked.beside = {load_rate};
  return std::make_unique<rounds_difference>(asked);
}

}  // namespace

std::size_t points_to_measure(const plan& planned) {
  std::size_t points = 0;
  for (const auto& c : planned.cells)
    points += static_cast<std::size_t>(
        std::ranges::count_if(c.points, [](const auto& p) { return p.waived.empty(); }));
  return points;
}

std::chrono::nanoseconds default_max_time(std::size_t points) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::nanoseconds>(
      std::chrono::nanoseconds(16s) / std::max<std::size_t>(points, 1), 60ms, 2s);
}

std::vector<measurement> points_of(const plan& planned, const settings& asked, communicator& job,
                                   watchdog& dog) {
  const auto meeting = std::make_shared<meeting_place>(job, dog, asked.timeout);
  std::vector<measurement> all;
  for (std::size_t i = 0; i < planned.cells.size(); ++i) {
    const cell& where = planned.cells[i];
    const auto mine = members_of_rank(where.group, job.rank());
    for (const planned_point& each : where.points) {
      measurement m;
      m.point = each.point;
      m.waived = each.waived;
      m.cell = fmt::format("{}", i);
      m.enter_cell = [meeting, has_members = !mine.empty()] { meeting->enter(has_members); };
      m.speaker = where.group.members.empty() ? 0 : where.group.members.front().rank;
      m.notes = where.notes;
      m.create = [&where, &each, &job, meeting, mine, asked] {
        creation made;
        if (!mine.empty())
          made = each.choice.variant->make.of(where.group.device)(where.group, each.configuration,
                                                                  meeting->here());
        subject_creation out;
        out.reason = made.reason;
        if (made.reason.empty()) out.found["placed"] = placed(where.group);
        if (!made.algorithm.empty()) out.found["algorithm"] = made.algorithm;
        if (!made.peer_memory.empty()) out.found["peer_memory"] = made.peer_memory;
        out.subject = std::make_unique<barrier_subject>(job, each.point, where, mine, std::move(made.barrier),
                                                        asked.seed, asked.timeout);
        return out;
      };
      m.method = [stopping = asked.stopping] { return latency(stopping); };
      m.prover = [&where, &each, asked] {
        return std::make_unique<rounds_prover>(each.point, where.group, asked.check ? asked.check_rounds : 0,
                                               asked.seed, !each.choice.variant->facts.joins_all());
      };
      all.push_back(std::move(m));
    }
  }
  return all;
}

}  // namespace mgsync::barriers
