#include "topology/findings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/comma_list.hpp"
#include "src/base/units.hpp"
#include "topology/connection.hpp"
#include "topology/cpu_list.hpp"
#include "topology/gpu_assignment.hpp"

namespace mgsync::topology {
namespace {

using host_views = std::vector<const rank_view*>;

std::string who(const rank_view& v, bool several) {
  return several ? fmt::format("Rank {} on {}", v.rank, v.seen.host) : "This process";
}

// "GPUs 0 and 1", or the first pair and the number of all.
std::string pairs_text(const std::vector<std::pair<int, int>>& pairs) {
  const auto first = fmt::format("GPUs {} and {}", pairs.front().first, pairs.front().second);
  return pairs.size() == 1 ? first : fmt::format("{} pairs of GPUs ({}, ...)", pairs.size(), first);
}

int members_of(const rank_view& v, std::size_t ranks, int members_per_rank) {
  if (members_per_rank > 0) return members_per_rank;
  return ranks > 1 ? 1 : static_cast<int>(visible_gpus(v.seen).size());
}

void shared_gpu(std::vector<finding>& out, const host_views& host, int each) {
  host_views slots;
  for (const auto* v : host)
    for (int i = 0; i < each; ++i) slots.push_back(v);
  const bool some =
      std::any_of(host.begin(), host.end(), [](auto* v) { return !visible_gpus(v->seen).empty(); });
  if (!some || host.size() < 2) return;
  if (const auto assigned = assign_gpus(slots, static_cast<int>(slots.size()), {}); !assigned.failure.empty())
    out.push_back(
        {"shared-gpu", "Not every member has a GPU of its own: " + assigned.failure + ".",
         "one rank per GPU: mpirun -n <GPUs>, srun --ntasks-per-node=<GPUs>; never --gpus-per-task=1 with "
         "--overcommit"});
}

std::set<std::string> words_of(const std::string& list) {
  const auto words = split_at_commas(list);
  return {words.begin(), words.end()};
}

// Found from the launcher's variables, even where no GPU is visible any more.
bool gpus_per_task(std::vector<finding>& out, const host_views& host) {
  constexpr const char* change =
      "ask for GPUs per node, not per task: --gpus-per-node=N for the job and srun --gpu-bind=none";
  if (host.size() < 2) return false;
  for (const auto* v : host) {
    if (v->binding.per_task.empty()) continue;
    out.push_back(
        {"gpus-per-task",
         fmt::format("Slurm gave the GPUs per task ({} on rank {} on {}): a rank sees its own only, and peer "
                     "access to the others is impossible.",
                     v->binding.per_task, v->rank, v->seen.host),
         change});
    return true;
  }
  const auto& first = *host.front();
  for (const auto* v : host) {
    if (!first.binding.visible || !v->binding.visible) continue;
    if (words_of(*v->binding.visible) == words_of(*first.binding.visible)) continue;
    out.push_back(
        {"gpus-per-task",
         fmt::format("CUDA_VISIBLE_DEVICES is '{}' on rank {} and '{}' on rank {} on {}: they see different "
                     "GPUs, and peer access to a hidden GPU is impossible.",
                     *first.binding.visible, first.rank, *v->binding.visible, v->rank, v->seen.host),
         std::string(change) + "; else leave CUDA_VISIBLE_DEVICES alone"});
    return true;
  }
  return false;
}

void hidden_gpus(std::vector<finding>& out, const host_views& host) {
  std::set<std::string> all;
  for (const auto* v : host)
    for (const auto& g : v->seen.gpus) all.insert(identity_of(g));
  for (const auto* v : host) {
    const auto visible = visible_gpus(v->seen).size();
    if (visible >= all.size()) continue;
    const auto& why = v->seen.cuda_problem;
    finding f{"hidden-gpus", "", ""};
    if (host.size() > 1 && why.empty()) {
      f.what = fmt::format(
          "Rank {} on {} sees {} of {} GPUs: binding per task hides the others, and peer access to a "
          "hidden GPU is impossible.",
          v->rank, v->seen.host, visible, all.size());
      f.change = "Slurm: --gpus-per-node=N --gpu-bind=none instead of --gpus-per-task; else leave "
                 "CUDA_VISIBLE_DEVICES "
                 "alone and let mgsync pick by local rank";
    } else {
      f.what =
          fmt::format("CUDA shows {} of {} GPUs on {}{}", visible == 0 ? "none" : std::to_string(visible),
                      all.size(), v->seen.host, why.empty() ? "." : ": " + why);
      f.change = "CUDA_VISIBLE_DEVICES, or the GPUs that the job asked for (--gpus-per-node)";
    }
    out.push_back(f);
    return;  // one is enough: the others are alike
  }
}

void lost_gpus(std::vector<finding>& out, const host_views& host) {
  for (const auto* v : host) {
    const auto& unseen = v->seen.unseen_gpus;
    if (unseen.empty()) continue;
    out.push_back(
        {"lost-gpus",
         fmt::format(
             "{} has {} NVIDIA GPU(s) that no driver shows here ({}): lost, or not given to this job or "
             "container.",
             v->seen.host, unseen.size(), fmt::join(unseen, ", ")),
         "dmesg (Xid) and nvidia-smi -q tell of a lost one; else --gpus-per-node=N, docker --gpus all"});
    return;
  }
}

void cpu_quotas(std::vector<finding>& out, const host_views& host) {
  for (const auto* v : host) {
    const auto& quota = v->seen.quota;
    const auto cpus = v->seen.allowed_cpus.size();
    if (!quota || quota->cpus >= static_cast<double>(cpus)) continue;
    out.push_back(
        {"cpu-quota",
         fmt::format(
             "A cgroup quota leaves {} the time of {:.3g} CPU(s), fewer than the {} of its mask: threads "
             "that spin beyond it are stopped.",
             v->seen.host, quota->cpus, cpus),
         "a larger quota (docker --cpus, the CPU limit of the pod), or none"});
    return;
  }
}

void part_of_machine(std::vector<finding>& out, const host_views& host) {
  const auto& m = host.front()->seen;
  std::set<int> cpus, all;
  for (const auto* v : host) cpus.insert(v->seen.allowed_cpus.begin(), v->seen.allowed_cpus.end());
  for (const auto& c : m.cores) all.insert(c.cpus.begin(), c.cpus.end());
  if (cpus.empty() || cpus.size() >= all.size()) return;
  out.push_back(
      {"part-of-machine",
       fmt::format(
           "{} of the {} hardware threads of {} may be used (CPUs {}): others may keep the rest busy.",
           cpus.size(), all.size(), m.host, write_cpu_list(std::vector<int>(cpus.begin(), cpus.end()))),
       "the whole node (sbatch --exclusive, docker without --cpuset-cpus, mpirun --bind-to none)"});
}

// The cores of which a hardware thread is in the mask.
int cores_in(const machine& m, const std::set<int>& mask) {
  return static_cast<int>(std::count_if(m.cores.begin(), m.cores.end(), [&](auto& c) {
    return std::any_of(c.cpus.begin(), c.cpus.end(), [&](int cpu) { return mask.contains(cpu); });
  }));
}

void small_mask(std::vector<finding>& out, const host_views& host, std::size_t ranks, int members_per_rank) {
  for (const auto* v : host) {
    if (v->seen.cores.empty() || v->seen.allowed_cpus.empty()) continue;
    const auto& mask = v->seen.allowed_cpus;
    const int cores = cores_in(v->seen, {mask.begin(), mask.end()});
    const int members = members_of(*v, ranks, members_per_rank);
    if (members <= cores) continue;
    out.push_back(
        {"small-mask",
         fmt::format("{} may use {} core(s) (CPUs {}) for {} members: their threads would share cores.",
                     who(*v, ranks > 1), cores, write_cpu_list(mask), members),
         "srun --cpus-per-task=<members>, mpirun --bind-to none or --map-by slot:PE=<members>"});
    return;
  }
}

void wrong_node(std::vector<finding>& out, const host_views& host, int each) {
  host_views slots;
  for (const auto* v : host)
    for (int i = 0; i < std::min(each, static_cast<int>(visible_gpus(v->seen).size())); ++i)
      slots.push_back(v);
  const auto assigned = assign_gpus(slots, static_cast<int>(slots.size()), {});
  for (std::size_t i = 0; i < assigned.chosen.size(); ++i) {
    const auto& near = assigned.chosen[i].near_cpus;
    const auto& mask = slots[i]->seen.allowed_cpus;
    if (near.empty() || mask.empty()) continue;
    if (std::any_of(near.begin(), near.end(),
                    [&](int cpu) { return std::binary_search(mask.begin(), mask.end(), cpu); }))
      continue;
    out.push_back(
        {"wrong-node",
         fmt::format(
             "{} may use CPUs {}, none of which is near its GPU {} (CPUs {}): launches and polls cross "
             "the sockets.",
             who(*slots[i], host.size() > 1), write_cpu_list(mask), assigned.chosen[i].id,
             write_cpu_list(near)),
         "srun --cpu-bind=map_ldom, mpirun --map-by numa, or --bind-to none"});
    return;
  }
}

void peers(std::vector<finding>& out, const machine& m) {
  const connection_table connections(m);
  std::vector<std::pair<int, int>> off, by_pcie, no_atomics, suspected, unknown;
  for (int a = 0; a < connections.size(); ++a)
    for (int b = a + 1; b < connections.size(); ++b) {
      const auto& c = connections(a, b);
      const auto& back = connections(b, a);
      if (c.between_domains) unknown.emplace_back(a, b);
      if (c.access == false || back.access == false) {
        off.emplace_back(a, b);
        if (c.path == pcie_path::pix || c.path == pcie_path::pxb || c.path == pcie_path::phb)
          suspected.emplace_back(a, b);
      } else if (c.access == true) {
        if (!c.by_nvlink() && !c.between_domains) by_pcie.emplace_back(a, b);
        if (c.atomics == false || back.atomics == false) no_atomics.emplace_back(a, b);
      }
    }
  if (!off.empty())
    out.push_back(
        {"no-peer-access",
         fmt::format("{} cannot reach each other's memory: no barrier through peer memory.", pairs_text(off)),
         "--placement near or list:... to choose GPUs that can; methods over the host (openmp, mpi) still "
         "work"});
  if (!unknown.empty())
    out.push_back(
        {"unknown-links",
         fmt::format(
             "The GPUs' NVLinks end in {} domains of NVSwitches, and nothing here tells of links between "
             "these: what joins {} is unknown.",
             switch_domains(m), pairs_text(unknown)),
         "links between switches in a description (mgsync topology --format description, then --topology "
         "FILE)"});
  if (!by_pcie.empty())
    out.push_back({"pcie-only",
                   fmt::format("{} reach each other over PCIe only, not NVLink.", pairs_text(by_pcie)),
                   "--placement near to prefer NVLink; nothing where there is none"});
  if (!no_atomics.empty())
    out.push_back({"no-peer-atomics",
                   fmt::format("{} have no native atomics on each other's memory: barriers that add "
                               "to a remote counter cannot run.",
                               pairs_text(no_atomics)),
                   "--backend multigrid:inbox,multigrid:dissemination, which only store flags"});
  if (!suspected.empty())
    out.push_back({"acs-or-iommu",
                   fmt::format("{} share a PCIe root but have no peer access: ACS or an IOMMU may send "
                               "their traffic through the host (or the GPU model forbids it).",
                               pairs_text(suspected)),
                   "disable ACS on the PCIe switches (BIOS, setpci), boot with iommu=pt; check nvidia-smi "
                   "topo -p2p r"});
}

void oversubscribed(std::vector<finding>& out, const host_views& host, std::size_t ranks,
                    int members_per_rank) {
  std::set<int> cpus;
  int threads = 0;
  for (const auto* v : host) {
    cpus.insert(v->seen.allowed_cpus.begin(), v->seen.allowed_cpus.end());
    threads += std::max(1, members_of(*v, ranks, members_per_rank));
  }
  if (cpus.empty() || threads <= static_cast<int>(cpus.size())) return;
  out.push_back(
      {"oversubscribed",
       fmt::format(
           "{}: {} threads of {} share {} CPUs ({}): a spinning wait stops the thread that it waits for.",
           host.front()->seen.host, threads, counted(host.size(), "rank"), cpus.size(),
           write_cpu_list(std::vector<int>(cpus.begin(), cpus.end()))),
       "start fewer ranks, or ask for more CPUs (srun --cpus-per-task, a larger container)"});
}

// The fields of one view as texts, to compare with another view.
std::string difference(const machine& a, const machine& b) {
  const auto uuids = [](const machine& m) {
    std::vector<std::string> result;
    for (const int id : visible_gpus(m)) result.push_back(m.gpus[static_cast<std::size_t>(id)].uuid);
    return result;
  };
  if (a.cores != b.cores)
    return fmt::format("{} cores instead of {}, or others", b.cores.size(), a.cores.size());
  if (a.allowed_cpus != b.allowed_cpus)
    return fmt::format("CPUs {} instead of {}", write_cpu_list(b.allowed_cpus),
                       write_cpu_list(a.allowed_cpus));
  if (uuids(a) != uuids(b))
    return fmt::format("CUDA shows {} GPU(s) [{}] instead of {} [{}], or in another order",
                       visible_gpus(b).size(), write_cpu_list(visible_gpus(b)), visible_gpus(a).size(),
                       write_cpu_list(visible_gpus(a)));
  if (a.gpus != b.gpus) return fmt::format("{} GPUs instead of {}, or others", b.gpus.size(), a.gpus.size());
  if (a.links != b.links || a.switches != b.switches) return "other NVLinks";
  if (a.peers != b.peers) return "other peer access";
  if (a.source != b.source) return fmt::format("read from {} instead of {}", b.source, a.source);
  return {};
}

// Hosts may differ in names, UUIDs and bus ids, but a measurement over both assumes that their shapes are
// equal.
std::string shape_difference(const machine& a, const machine& b) {
  if (a.cores.size() != b.cores.size() || a.packages.size() != b.packages.size())
    return fmt::format("{} packages with {} cores instead of {} with {}", b.packages.size(), b.cores.size(),
                       a.packages.size(), a.cores.size());
  if (a.gpus.size() != b.gpus.size())
    return fmt::format("{} GPUs instead of {}", b.gpus.size(), a.gpus.size());
  const connection_table x(a), y(b);
  for (int i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (a.gpus[at].name != b.gpus[at].name)
      return fmt::format("GPU {} is {} instead of {}", i, b.gpus[at].name, a.gpus[at].name);
    for (int j = 0; j < x.size(); ++j)
      if (matrix_word(x(i, j)) != matrix_word(y(i, j)))
        return fmt::format("GPUs {} and {} are connected by {} instead of {}", i, j, matrix_word(y(i, j)),
                           matrix_word(x(i, j)));
  }
  return {};
}

}  // namespace

std::vector<int> visible_gpus(const machine& m) {
  std::vector<std::pair<int, int>> found;
  for (const auto& g : m.gpus)
    if (g.cuda_ordinal) found.emplace_back(*g.cuda_ordinal, g.id);
  std::sort(found.begin(), found.end());
  std::vector<int> ids;
  for (const auto& [ordinal, id] : found) ids.push_back(id);
  return ids;
}

std::vector<std::vector<const rank_view*>> views_by_host(std::span<const rank_view> views) {
  std::vector<std::vector<const rank_view*>> hosts;
  for (const auto& v : views) {
    const auto known = std::find_if(hosts.begin(), hosts.end(),
                                    [&](auto& h) { return h.front()->seen.host == v.seen.host; });
    if (known != hosts.end()) {
      known->push_back(&v);
    } else {
      hosts.push_back({&v});
    }
  }
  return hosts;
}

std::vector<finding> find_problems(std::span<const rank_view> views, int members_per_rank) {
  std::vector<finding> found;
  const int each = std::max(1, members_per_rank);
  for (const auto& host : views_by_host(views)) {
    shared_gpu(found, host, each);
    if (!gpus_per_task(found, host)) hidden_gpus(found, host);  // both findings would have the same cause
    lost_gpus(found, host);
    cpu_quotas(found, host);
    part_of_machine(found, host);
    small_mask(found, host, views.size(), members_per_rank);
    const bool all = views.size() == 1 && members_per_rank == 0;
    wrong_node(found, host, all ? static_cast<int>(visible_gpus(host.front()->seen).size()) : each);
    peers(found, host.front()->seen);
    oversubscribed(found, host, views.size(), members_per_rank);
  }
  return found;
}

std::vector<std::string> differences(std::span<const rank_view> views) {
  std::vector<std::string> result;
  const auto hosts = views_by_host(views);
  for (const auto& host : hosts) {
    for (const auto* v : host)
      if (const auto text = difference(host.front()->seen, v->seen); !text.empty())
        result.push_back(fmt::format("Rank {} on {} differs from rank {}: {}.", v->rank, v->seen.host,
                                     host.front()->rank, text));
    if (const auto text = shape_difference(hosts.front().front()->seen, host.front()->seen); !text.empty())
      result.push_back(fmt::format("Host {} is another machine than {}: {}.", host.front()->seen.host,
                                   hosts.front().front()->seen.host, text));
  }
  return result;
}

}  // namespace mgsync::topology
