#include "src/studies/barriers/barrier_points.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/session.hpp"
#include "src/harness/methods/rounds_difference.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barrier_subject.hpp"
#include "src/studies/barriers/rounds_checker.hpp"

namespace mgsync::barriers {
namespace {

// The ranks that own members of the current cell. Cells are measured one after the other, and the
// communicator of one is freed before the next is made: a large sweep has hundreds of cells, and MPI limits
// the number of communicators.
class cell_session {
 public:
  explicit cell_session(const session& job) : job_(&job) {}

  // Makes the communicator of a cell. Collective over the job.
  void enter(bool has_members) {
    session_.reset();
    part_.reset();
    part_ = job_->job().split(has_members ? 0 : -1);
    session_.emplace(job_->job(), part_ ? *part_ : job_->job(), job_->watchdog(), job_->timeout());
  }
  session& here() { return *session_; }

 private:
  const session* job_;
  std::optional<communicator> part_;
  std::optional<session> session_;
};

std::vector<unsigned> members_of_rank(const topology::group& group, int rank) {
  std::vector<unsigned> mine;
  for (unsigned m = 0; m < group.members.size(); ++m)
    if (group.members[m].rank == rank) mine.push_back(m);
  return mine;
}

// Where the members were asked to be: member, rank, host, CPU and GPU. For host members the checker later
// replaces this by where they were; a thread that could not be pinned fails the creation.
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

std::vector<measurement> points_of(plan made, const settings& asked, const session* where_we_are) {
  const auto planned = std::make_shared<const plan>(std::move(made));
  const auto meeting = where_we_are == nullptr ? nullptr : std::make_shared<cell_session>(*where_we_are);
  std::vector<measurement> all;
  for (std::size_t i = 0; i < planned->cells.size(); ++i) {
    const cell& where = planned->cells[i];
    const auto mine = members_of_rank(where.group, where_we_are == nullptr ? 0 : where_we_are->rank());
    for (const planned_point& each : where.points) {
      measurement m;
      m.point = each.point;
      m.waived = each.waived;
      m.cell = fmt::format("{}", i);
      m.describe_cell = [planned, &where](detail wanted) { return description_of(where, wanted); };
      m.enter_cell = [meeting, has_members = !mine.empty()] { meeting->enter(has_members); };
      m.speaker = where.group.members.empty() ? 0 : where.group.members.front().rank;
      m.notes = where.notes;
      m.facts = known_facts_of(each.point);
      if (const auto library = each.choice.variant->library;
          m.facts && library != nullptr && m.waived.empty() && where_we_are != nullptr)
        m.facts->library = library();
      m.create = [planned, &where, &each, where_we_are, meeting, mine, asked] {
        creation built;
        if (!mine.empty())
          built = each.choice.variant->make.of(where.group.device)(where.group, each.configuration,
                                                                   meeting->here());
        subject_creation out;
        out.reason = built.reason;
        if (built.reason.empty()) out.found["placed"] = placed(where.group);
        if (!built.algorithm.empty()) out.found["algorithm"] = built.algorithm;
        if (!built.peer_memory.empty()) out.found["peer_memory"] = built.peer_memory;
        if (!built.code.empty()) out.found["code"] = built.code;
        out.subject = std::make_unique<barrier_subject>(where_we_are->job(), each.point, where, mine,
                                                        std::move(built.barrier), asked.seed, asked.timeout);
        return out;
      };
      m.method = [stopping = asked.stopping] { return latency(stopping); };
      m.checker = [planned, &where, &each, asked] {
        return std::make_unique<rounds_checker>(each.point, where.group, asked.check_rounds, asked.seed,
                                                !each.choice.variant->facts.joins_all());
      };
      all.push_back(std::move(m));
    }
  }
  return all;
}

}  // namespace mgsync::barriers
