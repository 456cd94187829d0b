#include "barriers/nodes/gpu_nodes.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "barriers/nodes/faster_form.hpp"
#include "barriers/nodes/gpu_node_part.hpp"
#include "barriers/nodes/speaker.hpp"
#include "barriers/parts/gpu_team/local_gpus.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/watchdog.hpp"

namespace mgsync::nodes {

namespace {

namespace across = algorithm::across_nodes;
using algorithm::first_gpu_epoch;
using algorithm::host_lines;

// The members on this rank's node, as a group of their own.
topology::group members_near(const topology::group& group, const node_group& nodes) {
  auto near = group;
  near.members.clear();
  for (const auto m : nodes.here().members) near.members.push_back(group.members[m]);
  return near;
}

// A rank's part of the barrier: what its GPUs do is the node's alone, and its proxy speaks meanwhile.
class gpu_nodes_barrier final : public barrier {
 public:
  gpu_nodes_barrier(const topology::group& group, session& where, form wanted)
      : what_(wanted == form::leader ? "nodes (leader)" : "nodes (rail)"),
        where_(where),
        nodes_(by_nodes(group, where.rank())),
        near_(members_near(group, nodes_)),
        node_ranks_(*where.ranks().split(static_cast<int>(nodes_.own))),
        node_session_(where.job(), node_ranks_, where.watchdog(), where.timeout()) {
    place_.group = nodes_;
    if (wanted == form::rail) place_.proxies = static_cast<unsigned>(nodes_.here().ranks.size());
    for (unsigned m = 0; m < near_.members.size(); ++m)
      if (near_.members[m].rank == where.rank()) own_.push_back(m);
  }

  // Makes all of it, or says why not, alike on all ranks. Collective over the session's ranks.
  creation make(configuration wanted) {
    const auto gpus = gpu_team::gpus_of(near_, where_.rank());
    place_.blocks = gpu_team::blocks_of(wanted, gpus, where_);
    wanted.blocks = place_.blocks;
    part_.board = {place_.blocks, static_cast<unsigned>(nodes_.nodes.size())};
    part_.node = nodes_.own;
    part_.proxies = place_.proxies;
    part_.members = nodes_.here().members;
    part_.members_in_all = static_cast<unsigned>(nodes_.node_of_member.size());
    if (auto why = first_complaint(where_, allocate()); !why.empty()) return creation::none(std::move(why));
    start();
    const unsigned proxy = place_.number_of(where_.rank());
    const bool speaks = proxy < place_.proxies;
    place_.yields = are_too_many(where_, static_cast<unsigned>(gpus.size()) + (speaks ? 1 : 0));
    auto rail = where_.ranks().split(speaks ? static_cast<int>(proxy) : -1);
    if (speaks) speaker_.emplace(place_, proxy, std::move(*rail), first_gpu_epoch);
    auto request = round_loop::request_of(near_, wanted, node_session_, "nodes");
    if (speaks) request.beside = [this](const run_request& run, std::uint32_t* abort) { speak(run, abort); };
    auto made =
        make_node_part(request, what_.substr(what_.find('(') + 1, what_.size() - what_.find('(') - 2), part_);
    made.reason = first_complaint(where_, made.reason);
    if (!made.reason.empty()) return creation::none(std::move(made.reason));
    inner_ = std::move(made.barrier);
    return made;
  }

  trial run(const run_request& request) override {
    where_.ranks().barrier("starting a run over nodes");
    auto near = request;
    const auto& here = nodes_.here().members;
    near.fault.member = static_cast<unsigned>(std::ranges::find(here, request.fault.member) - here.begin());
    if (here.back() + 1 != nodes_.node_of_member.size()) near.late_units = 0;
    auto seen = inner_->run(near);
    for (auto& one : seen.arrivals) one.worker.member = here[one.worker.member];
    for (auto& one : seen.records) one.worker.member = here[one.worker.member];
    if (seen.first_violation)
      for (auto* const who : {&seen.first_violation->reader, &seen.first_violation->offender})
        who->member = here[who->member];
    if (is_checked(request)) add_what_was_seen(seen);
    return seen;
  }

  bool shares_gpus(const topology::group& group) const {
    std::set<std::string> uuids;
    for (const auto& m : group.members)
      if (!m.uuid.empty() && !uuids.insert(m.uuid).second) return true;
    return false;
  }

 private:
  static bool is_checked(const run_request& request) {
    return request.mode == run_mode::check || request.fault.what == fault::kind::never_arrive;
  }

  std::string allocate() {
    const auto take = [&](std::unique_ptr<pinned_parts>& into, std::vector<std::uint32_t*>& parts,
                          std::size_t lines) {
      auto made = allocate_pinned_parts(near_, lines * algorithm::line_bytes, node_session_);
      into = std::move(made.memory);
      for (unsigned m = 0; m < near_.members.size() && into; ++m)
        parts.push_back(reinterpret_cast<std::uint32_t*>(into->part(m)));
      return made.reason;
    };
    auto why = take(flags_, place_.flags, across::lines{static_cast<unsigned>(near_.members.size())}.count());
    if (why.empty()) why = take(leaves_, place_.leaves, part_.leave_lines());
    part_.flags = place_.flags;
    part_.leaves = place_.leaves;
    return why;
  }

  // What this rank's members find before the first round.
  void start() {
    const across::lines of{place_.members()};
    for (const auto m : own_) {
      for (unsigned l = 0; l < of.count(); ++l) host_lines{place_.flags.data()}.line(m, l) = first_gpu_epoch;
      place_.board().start(m, first_gpu_epoch);
    }
    where_.ranks().barrier("writing the first flags of a barrier over nodes");
  }

  void speak(const run_request& request, std::uint32_t* abort) {
    const algorithm::host_limits limits{request.deadline - awake_clock::now(),
                                        abort,
                                        place_.yields,
                                        [] { return signal_received() != 0; },
                                        awake_clock::ticks,
                                        request.ends.time_since_epoch()};
    speaker_->serve(request.rounds, limits, is_checked(request), what_);
  }

  void add_what_was_seen(trial& into) const {
    for (const auto m : own_)
      for (unsigned b = 0; b < place_.blocks; ++b) {
        const auto& one = *reinterpret_cast<const seen_across*>(
            &host_lines{place_.leaves.data()}.line(m, part_.seen_line(b)));
        into.observations += one.observations;
        into.violations += one.violations;
        into.far_violations += one.violations;
        if (one.violations == 0 || (into.first_violation && into.first_violation->round <= one.round))
          continue;
        const worker_id self{nodes_.here().members[m], b};
        const bool left = one.what == seen_across::arrival;
        into.first_violation = violation{one.round, left ? worker_id{one.left, 0} : self,
                                         self,      one.expected,
                                         one.seen,  left ? "arrival" : "sum"};
      }
  }

  std::string what_;
  session& where_;
  node_group nodes_;
  topology::group near_;
  communicator node_ranks_;
  session node_session_;
  std::unique_ptr<pinned_parts> flags_, leaves_;
  node_place place_;
  node_part part_;
  std::vector<unsigned> own_;  // this rank's members, by their numbers in the node
  std::optional<speaker> speaker_;
  std::unique_ptr<barrier> inner_;  // the node's
};

creation create_on_gpus(const topology::group& group, const configuration& wanted, session& where, form how) {
  if (how == form::rail)
    if (auto why = why_no_rails(group); !why.empty()) return creation::none(why);
  if (auto why = gpu_team::why_not_spin(group, where); !why.empty()) return creation::none(why);
  auto all = std::make_unique<gpu_nodes_barrier>(group, where, how);
  auto made = all->make(wanted);
  if (!made.reason.empty()) return made;
  made.algorithm =
      fmt::format("{} over {} nodes{}", how == form::leader ? "leader" : "rail",
                  topology::hosts_of(group).size(), all->shares_gpus(group) ? ", which share GPUs" : "");
  made.barrier = std::move(all);
  return made;
}

}  // namespace

creation create_gpu_leader(const topology::group& group, const configuration& wanted, session& where) {
  return create_on_gpus(group, wanted, where, form::leader);
}

creation create_gpu_rail(const topology::group& group, const configuration& wanted, session& where) {
  return create_on_gpus(group, wanted, where, form::rail);
}

creation create_gpu_faster(const topology::group& group, const configuration& wanted, session& where) {
  return create_faster_form(create_on_gpus, group, wanted, where);
}

}  // namespace mgsync::nodes
