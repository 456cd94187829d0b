#include "topology/grouping.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "topology/cpu_list.hpp"
#include "topology/gpu_assignment.hpp"
#include "topology/placement.hpp"

namespace mgsync::topology {
namespace {

using slots = std::vector<const rank_view*>;  // the view of the rank that runs each member

int per_rank(std::span<const rank_view> views, int asked, int members) {
  if (asked > 0) return asked;
  return views.size() == 1 ? members : 1;
}

slots slots_of(std::span<const rank_view> views, const grouping_request& request) {
  if (views.empty()) throw usage_error("no rank can take part");
  if (request.members < 1) throw usage_error(fmt::format("{} members; accepted: 1 or more", request.members));
  if (request.threads_per_member < 1)
    throw usage_error(fmt::format("{} threads per member; accepted: 1 or more", request.threads_per_member));
  const auto each = static_cast<std::size_t>(per_rank(views, request.members_per_rank, request.members));
  const auto members = static_cast<std::size_t>(request.members);
  if (members > each * views.size())
    throw usage_error(fmt::format(
        "more members than {} with {} each hold; accepted: {}, or more ranks, or a larger --members-per-rank",
        counted(views.size(), "rank"), each,
        each * views.size() == 1 ? "1" : fmt::format("1-{}", each * views.size())));
  slots result;
  for (std::size_t i = 0; i < members; ++i) result.push_back(&views[i / each]);
  return result;
}

// The slots of each machine, by index, machines in the order of their first member. Hosts that share a kernel
// share their cores and GPUs.
std::vector<std::vector<std::size_t>> by_machine(const slots& all) {
  std::vector<std::vector<std::size_t>> result;
  std::map<std::pair<bool, std::string>, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool known = !all[i]->kernel.empty();
    const auto [entry, fresh] =
        place.emplace(std::pair{known, known ? all[i]->kernel : all[i]->seen.host}, result.size());
    if (fresh) result.emplace_back();
    result[entry->second].push_back(i);
  }
  return result;
}

// The same by the hosts' names.
std::vector<std::vector<std::size_t>> by_host(const slots& all) {
  std::vector<std::vector<std::size_t>> result;
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [entry, fresh] = place.emplace(all[i]->seen.host, result.size());
    if (fresh) result.emplace_back();
    result[entry->second].push_back(i);
  }
  return result;
}

// The members of one machine while its threads are placed.
struct host_plan {
  std::span<const std::size_t> members;  // indices in the group
  std::vector<std::vector<int>> masks;   // of its ranks, sorted
  std::vector<int> mask_of;              // by member of this host
  std::vector<int> allowed;              // CPUs that some rank may use, sorted
  std::span<const core> cores;           // of the host

  bool allows(int cpu) const { return std::ranges::binary_search(allowed, cpu); }
  std::ptrdiff_t usable_cpus() const {
    std::ptrdiff_t count = 0;
    for (const auto& c : cores)
      count += std::ranges::count_if(c.cpus, [this](int cpu) { return allows(cpu); });
    return count;
  }
};

// Cores of which some rank may use a hardware thread.
std::vector<core> usable_cores(const host_plan& plan) {
  std::vector<core> usable;
  for (const auto& c : plan.cores)
    if (std::ranges::any_of(c.cpus, [&](int cpu) { return plan.allows(cpu); })) usable.push_back(c);
  return usable;
}

host_plan plan_of(const slots& all, std::span<const std::size_t> members) {
  host_plan plan{members, {}, {}, {}, all[members.front()]->seen.cores};
  std::map<int, int> mask_of_rank;
  for (const auto i : members) {
    const auto [entry, fresh] = mask_of_rank.emplace(all[i]->rank, static_cast<int>(plan.masks.size()));
    if (fresh) {
      plan.masks.push_back(all[i]->seen.allowed_cpus);
      std::ranges::sort(plan.masks.back());
      plan.allowed.insert(plan.allowed.end(), plan.masks.back().begin(), plan.masks.back().end());
    }
    plan.mask_of.push_back(entry->second);
  }
  std::ranges::sort(plan.allowed);
  return plan;
}

std::vector<int> ids_of(std::span<const core> cores) {
  std::vector<int> ids;
  for (const auto& c : cores) ids.push_back(c.id);
  return ids;
}

// A list names one core per thread of the host, in the order of the members.
std::vector<int> listed_core(std::span<const core> usable, const placement& wanted, std::size_t thread,
                             std::size_t threads) {
  const auto ids = ids_of(usable);
  if (wanted.list.size() < threads)
    throw usage_error(
        fmt::format("--placement list names {} cores for {} threads on one host; accepted: one core for "
                    "each, of {}",
                    wanted.list.size(), threads, write_cpu_list(ids)));
  const int id = wanted.list[thread];
  if (std::find(ids.begin(), ids.end(), id) == ids.end())
    throw usage_error(fmt::format("--placement list: core {} is not in this process's mask; accepted: {}", id,
                                  write_cpu_list(ids)));
  return {id};
}

std::vector<thread_request> host_requests(const host_plan& plan, std::span<const core> usable,
                                          const placement& wanted, int threads) {
  std::vector<thread_request> requests;
  const auto count = static_cast<int>(plan.members.size());
  preferred_cores preferred(usable, wanted.kind, count, threads);
  for (int i = 0; i < count; ++i)
    for (int t = 0; t < threads; ++t) {
      thread_request r{plan.mask_of[static_cast<std::size_t>(i)], {}};
      r.preferred = wanted.kind == placement_kind::list
                        ? std::make_shared<const std::vector<int>>(listed_core(
                              usable, wanted, requests.size(), static_cast<std::size_t>(count * threads)))
                        : preferred.of(i);
      requests.push_back(std::move(r));
    }
  return requests;
}

// One thread per GPU, on a core near it.
std::vector<thread_request> gpu_requests(const host_plan& plan, std::span<const core> usable,
                                         std::span<const gpu_choice> chosen) {
  std::vector<thread_request> requests;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::set<int> near(chosen[i].near_cpus.begin(), chosen[i].near_cpus.end());
    std::vector<int> preferred;
    for (const auto& c : usable)
      if (std::any_of(c.cpus.begin(), c.cpus.end(), [&](int cpu) { return near.contains(cpu); }))
        preferred.push_back(c.id);
    requests.push_back({plan.mask_of[i], std::make_shared<const std::vector<int>>(std::move(preferred))});
  }
  return requests;
}

void note_placement(grouping& result, const std::string& host, const thread_placement& placed,
                    std::ptrdiff_t usable_cpus) {
  if (placed.sharing_core > 0)
    result.notes.push_back(
        fmt::format("On {}, {} of the threads share a core with another one: there are fewer cores than "
                    "threads.",
                    host, placed.sharing_core));
  if (placed.sharing_cpu == 0 && usable_cpus > 1 && std::ssize(placed.cpus) == usable_cpus)
    result.notes.push_back(
        fmt::format("all {} CPUs{} taken", usable_cpus, host.empty() ? "" : " of " + host));
  if (placed.sharing_cpu == 0) return;
  result.chosen.oversubscribed = true;
  result.notes.push_back(
      fmt::format("On {}, {} of the threads share a CPU with another one: oversubscribed, waits yield. "
                  "Start fewer members or ranks, or allow more CPUs.",
                  host, placed.sharing_cpu));
}

// Waiting host members spin, so together they need as much CPU time as there are threads. (The thread of a
// GPU sleeps.)
void compare_with_quotas(grouping& result, const slots& all, const host_plan& plan, int threads_per_member) {
  std::map<std::string, std::pair<double, int>>
      cgroups;  // the processors' time of each cgroup, and the number of threads in it
  for (const auto i : plan.members)
    if (const auto& quota = all[i]->seen.quota) {
      auto& [cpus, threads] = cgroups.try_emplace(quota->cgroup, quota->cpus, 0).first->second;
      threads += threads_per_member;
    }
  for (const auto& [cgroup, taken] : cgroups) {
    if (taken.second <= taken.first) continue;
    result.chosen.oversubscribed = result.over_quota = true;
    result.notes.push_back(
        fmt::format("On {}, {} threads share the time of {:.3g} CPU(s), a cgroup quota: they are stopped "
                    "again and again.",
                    all[plan.members.front()]->seen.host, taken.second, taken.first));
  }
}

void set_cpus(grouping& result, const slots& all, const host_plan& plan, std::span<const core> usable,
              std::span<const thread_request> requests, const grouping_request& request) {
  const auto& host = all[plan.members.front()]->seen.host;
  if (usable.empty()) {
    result.notes.push_back(
        fmt::format("The cores{} are unknown: nothing is pinned there.", host.empty() ? "" : " of " + host));
    return;
  }
  const auto placed = place_threads(usable, plan.masks, requests);
  note_placement(result, host, placed, plan.usable_cpus());
  if (!request.pin) return;
  const std::size_t threads = requests.size() / plan.members.size();
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    auto& cpus = result.chosen.members[plan.members[i]].cpus;
    for (std::size_t t = 0; t < threads; ++t)
      if (const auto& cpu = placed.cpus[i * threads + t]) cpus.push_back(*cpu);
    if (cpus.size() != threads) cpus.clear();
  }
}

member member_of(const rank_view& view, int id) {
  member m;
  m.id = id;
  m.rank = view.rank;
  m.host = view.seen.host;
  return m;
}

// Whether some of the host's threads share a CPU, wherever they go.
bool are_too_many(const host_plan& plan, int threads_per_member) {
  const auto cpus = plan.usable_cpus();
  return cpus != 0 && std::ssize(plan.members) * threads_per_member > cpus;
}

void add_host_members(grouping& result, std::span<const rank_view> views, const grouping_request& request,
                      const placement& wanted) {
  const auto all = slots_of(views, request);
  for (std::size_t i = 0; i < all.size(); ++i)
    result.chosen.members.push_back(member_of(*all[i], static_cast<int>(i)));
  for (const auto& members : by_machine(all)) {
    const auto plan = plan_of(all, members);
    // A list is always looked at, as it may name too few.
    const bool placed = request.with_places || wanted.kind == placement_kind::list;
    if ((!request.oversubscribe || !placed) && wanted.kind != placement_kind::list &&
        are_too_many(plan, request.threads_per_member)) {
      result.chosen.oversubscribed = true;
    } else if (placed) {
      const auto usable = usable_cores(plan);
      set_cpus(result, all, plan, usable, host_requests(plan, usable, wanted, request.threads_per_member),
               request);
    }
    compare_with_quotas(result, all, plan, request.threads_per_member);
  }
}

// A single rank has as many slots as members. With several ranks, each has a fixed number of slots whether or
// not it takes part, so that the GPUs that a rank owns do not change from group to group.
slots owners_of(std::span<const rank_view> views, const grouping_request& request) {
  const auto first = slots_of(views, request);
  if (views.size() == 1) return first;
  const int each = per_rank(views, request.members_per_rank, request.members);
  slots all;
  for (const auto& view : views) all.insert(all.end(), static_cast<std::size_t>(each), &view);
  return all;
}

// Whether each slot of each machine gets a GPU that no other has.
bool have_gpus_of_their_own(const slots& owners, const std::vector<std::vector<std::size_t>>& machines) {
  return std::ranges::all_of(machines, [&](const auto& members) {
    slots here;
    for (const auto i : members) here.push_back(owners[i]);
    return assign_gpus(here, static_cast<int>(here.size()), {}).failure.empty();
  });
}

// Hosts are filled one after the other.
void add_gpu_members(grouping& result, std::span<const rank_view> views, const grouping_request& request,
                     const placement& wanted) {
  const auto owners = owners_of(views, request);
  slots taking_part;
  std::vector<gpu_choice> chosen;
  auto machines = by_machine(owners);
  if (request.share_gpus && !have_gpus_of_their_own(owners, machines)) machines = by_host(owners);
  for (const auto& of_host : machines) {
    const int left = request.members - static_cast<int>(chosen.size());
    if (left == 0) break;
    slots here;
    for (const auto i : of_host) here.push_back(owners[i]);
    const auto assigned = assign_gpus(here, std::min(left, static_cast<int>(here.size())), wanted);
    if (!assigned.failure.empty()) throw usage_error(assigned.failure);
    result.notes.insert(result.notes.end(), assigned.notes.begin(), assigned.notes.end());
    for (const auto& c : assigned.chosen) {
      taking_part.push_back(here[c.slot]);
      chosen.push_back(c);
    }
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    member m = member_of(*taking_part[i], chosen[i].id);
    m.gpu = chosen[i].ordinal;
    m.uuid = chosen[i].uuid;
    result.chosen.members.push_back(std::move(m));
  }
  for (const auto& members : by_machine(taking_part)) {
    const auto plan = plan_of(taking_part, members);
    std::vector<gpu_choice> here;
    for (const auto i : members) here.push_back(chosen[i]);
    const auto usable = usable_cores(plan);
    set_cpus(result, taking_part, plan, usable, gpu_requests(plan, usable, here), request);
  }
}

}  // namespace

grouping make_group(std::span<const rank_view> views, const grouping_request& request) {
  const auto wanted = parse_placement(request.placement);
  grouping result;
  result.chosen.device = request.kind;
  result.chosen.placement = request.placement;
  if (request.kind == device::gpu) add_gpu_members(result, views, request, wanted);
  else add_host_members(result, views, request, wanted);
  return result;
}

int largest_group(std::span<const rank_view> views, device kind, int members_per_rank) {
  if (views.empty()) return 0;
  if (kind == device::host) {
    if (members_per_rank > 0) return members_per_rank * static_cast<int>(views.size());
    if (views.size() > 1) return static_cast<int>(views.size());
    const std::size_t self = 0;
    const slots one{&views.front()};
    const auto plan = plan_of(one, std::span(&self, 1));
    const auto& seen = views.front().seen;
    const auto usable = usable_cores(plan).size();
    const auto places = std::max<std::size_t>(1, usable == 0 ? seen.allowed_cpus.size() : usable);
    const double time = seen.quota ? std::max(1.0, seen.quota->cpus) : static_cast<double>(places);
    return static_cast<int>(std::min(static_cast<double>(places), time));
  }
  int most = 0;
  for (const auto& view : views)
    most =
        std::max(most, static_cast<int>(std::count_if(view.seen.gpus.begin(), view.seen.gpus.end(),
                                                      [](auto& g) { return g.cuda_ordinal.has_value(); })));
  most = per_rank(views, members_per_rank, most) * static_cast<int>(views.size());
  for (; most > 0; --most) {
    grouping_request request;
    request.members = most;
    request.members_per_rank = members_per_rank;
    const auto all = slots_of(views, request);
    if (have_gpus_of_their_own(all, by_machine(all))) return most;
  }
  return 0;
}

}  // namespace mgsync::topology
