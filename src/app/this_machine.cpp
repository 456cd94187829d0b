#include "src/app/this_machine.hpp"

#include <sys/utsname.h>

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "barriers/words.hpp"
#include "mgsync/version.hpp"
#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "topology/description.hpp"
#include "topology/discovery.hpp"

namespace mgsync {

namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GNU {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

topology::machine look_around(const options& asked) {
  topology::discovery_request request;
  if (!asked.topology_file.empty()) request.file = asked.topology_file;
  request.gpus = asked.device != "host";
  return topology::discover(request);
}

std::vector<int> gpus_to_own(const options& asked, const launch& told, const topology::machine& seen) {
  if (!with_cuda || !told.under_mpi || asked.device == "host" || !seen.is_this_machine) return {};
  std::vector<int> visible;
  for (const auto& g : seen.gpus)
    if (g.cuda_ordinal) visible.push_back(*g.cuda_ordinal);
  if (visible.size() < 2) return visible;
  if (!told.local_rank || !told.local_size) return {};
  // The ranks of a host see the same where none was shown a part.
  std::vector<topology::rank_view> views;
  for (int rank = 0; rank < *told.local_size; ++rank) views.push_back({rank, rank, seen});
  const int each = asked.members_per_rank > 0 ? asked.members_per_rank : *told.local_size == 1 ? 0 : 1;
  if (each == 0) return {};
  std::vector<int> own;
  try {
    const topology::grouping_request all{
        topology::device::gpu, each * *told.local_size, each, 1, asked.placements.front(), false};
    for (const auto& m : topology::make_group(views, all).chosen.members)
      if (m.rank == *told.local_rank) own.push_back(m.gpu);
  } catch (const usage_error&) {
    return {};  // said once all ranks can be named
  }
  return own;
}

void must_meet(const launch& told, int ranks) {
  if (const auto why = why_apart(told, ranks, communicator::library_version()); !why.empty())
    throw usage_error(why);
}

namespace {

// What decides which points there are, and what is done for each of them: by name, as a person would type it.
nlohmann::json what_is_asked(const options& asked) {
  using json = nlohmann::json;
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  const auto names = [](const auto& list) {
    std::vector<std::string> all;
    for (const auto& one : list) all.push_back(to_string(one));
    return all;
  };
  return {{"command", static_cast<int>(asked.command)},
          {"study", asked.command == command::study ? asked.files : std::vector<std::string>{}},
          {"--backend", asked.backends},
          {"--members", asked.members},
          {"--shape", asked.shapes},
          {"--placement", asked.placements},
          {"--load", names(asked.loads)},
          {"--work", asked.work},
          {"--late", asked.late},
          {"--device", asked.device},
          {"--members-per-rank", asked.members_per_rank},
          {"--per-node", asked.per_node},
          {"--no-pin", !asked.pin},
          {"--oversubscribe", asked.oversubscribe},
          {"--peer-memory", asked.peer_memory},
          {"--mpi-threads", static_cast<int>(asked.mpi_threads)},
          {"--precision", asked.precision},
          {"--max-time", asked.max_time ? json(seconds(*asked.max_time)) : json()},
          {"--timeout", seconds(asked.timeout)},
          {"--check-rounds", asked.check ? asked.check_rounds : 0},
          {"--dry-run", asked.dry_run},
          {"axes", asked.axes}};
}

}  // namespace

void must_agree(const options& asked, const communicator& job) {
  const auto all = job.all_gather(what_is_asked(asked).dump(), "comparing the ranks' options");
  const auto first = nlohmann::json::parse(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const auto other = nlohmann::json::parse(all[rank]);
    for (const auto& [name, value] : first.items())
      if (other.at(name) != value)
        throw usage_error(fmt::format("the ranks were not given the same options: {} is {} on rank 0 and {} "
                                      "on rank {}; accepted: the same for all of them",
                                      name, value.dump(), other.at(name).dump(), rank));
  }
}

std::vector<topology::rank_view> gather_views(const communicator& job, topology::machine mine) {
  if (job.size() == 1) return {{0, 0, std::move(mine), topology::read_gpu_binding()}};
  const auto texts = job.all_gather(topology::write_description(mine), "gathering what the ranks see");
  const auto told =
      job.all_gather(std::to_string(read_launch().local_rank.value_or(-1)), "gathering the local ranks");
  const auto boots = job.all_gather(boot_id(), "gathering what tells hosts apart");
  const auto bindings =
      job.all_gather(topology::to_text(topology::read_gpu_binding()), "gathering the GPU bindings");
  std::vector<topology::machine> machines;
  std::vector<std::string> names;
  for (int rank = 0; rank < job.size(); ++rank) {
    machines.push_back(
        topology::read_description(texts[static_cast<std::size_t>(rank)], fmt::format("rank {}", rank)));
    names.push_back(machines.back().host);
  }
  const auto hosts = distinct_hosts(names, boots);
  std::vector<topology::rank_view> views;
  for (int rank = 0; rank < job.size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    auto seen = std::move(machines[place]);
    seen.host = hosts[place];
    const auto on_this_host = [&](const auto& v) { return v.seen.host == seen.host; };
    // What the launcher says; a launcher that says nothing has its ranks counted.
    int local = std::stoi(told[place]);
    if (local < 0) local = static_cast<int>(std::count_if(views.begin(), views.end(), on_this_host));
    views.push_back({rank, local, std::move(seen), topology::gpu_binding_from_text(bindings[place])});
  }
  return views;
}

machine_record record_machine(const options& asked, const communicator& job,
                              std::span<const topology::rank_view> views) {
  const auto& seen = views.front().seen;
  machine_record record;
  record.host = seen.host;
  for (const auto& v : views)
    if (std::find(record.hosts.begin(), record.hosts.end(), v.seen.host) == record.hosts.end())
      record.hosts.push_back(v.seen.host);
  record.cpu_model = seen.packages.empty() ? "" : seen.packages.front().model;
  record.cores = static_cast<int>(seen.cores.size());
  record.allowed_cpus = seen.allowed_cpus;
  utsname kernel{};
  if (uname(&kernel) == 0) record.kernel = fmt::format("{} {}", kernel.sysname, kernel.release);
  record.compiler = compiler();
  record.mpi = communicator::library_version();
  record.hwloc = topology::hwloc_version();
  record.mgsync = version_with_commit;
  record.ranks = job.size();
  record.pinning = !asked.pin             ? "none"
                   : seen.is_this_machine ? "one hardware thread per worker"
                                          : "none (foreign topology)";
  record.gpus = seen.gpus;
  return record;
}

std::map<int, std::string> gpu_uuids(const topology::machine& seen) {
  std::map<int, std::string> all;
  for (const auto& gpu : seen.gpus)
    if (!gpu.uuid.empty()) all[gpu.id] = gpu.uuid;
  return all;
}

std::string version_text() {
  return fmt::format("mgsync {}\ncompiler {}\nCUDA {}\nMPI {}\nhwloc {}\n", version_with_commit, compiler(),
                     with_cuda ? "yes" : "no", communicator::library_version(), topology::hwloc_version());
}

}  // namespace mgsync
