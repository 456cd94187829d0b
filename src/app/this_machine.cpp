#include "src/app/this_machine.hpp"

#include <sys/utsname.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "mgsync/version.hpp"
#include "src/base/gpu_start.hpp"
#include "src/base/hosts.hpp"
#include "src/base/loaded_libraries.hpp"
#include "src/base/printable.hpp"
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
  // All ranks of a host see the same GPUs, unless some were given a part of them.
  std::vector<topology::rank_view> views;
  for (int rank = 0; rank < *told.local_size; ++rank) views.push_back({rank, rank, seen});
  const int each = asked.members_per_rank > 0 ? asked.members_per_rank : *told.local_size == 1 ? 0 : 1;
  if (each == 0) return {};
  // The first placement that was typed; "list:0,1" was split at its commas and is put together again.
  auto placement = point{}.placement;
  if (const auto typed = asked.axes.find("placement"); typed != asked.axes.end()) {
    placement = typed->second.front();
    for (std::size_t i = 1;
         i < typed->second.size() && typed->second[i].find_first_not_of("0123456789") == std::string::npos;
         ++i)
      placement += "," + typed->second[i];
  }
  std::vector<int> own;
  try {
    const topology::grouping_request all{
        topology::device::gpu, each * *told.local_size, each, 1, placement, false};
    for (const auto& m : topology::make_group(views, all).chosen.members)
      if (m.rank == *told.local_rank) own.push_back(m.gpu);
  } catch (const usage_error&) {
    return {};  // the error is reported later, when all ranks can be named
  }
  return own;
}

void must_meet(const launch& told, int ranks) {
  if (const auto why = why_apart(told, ranks, communicator::library_version()); !why.empty())
    throw usage_error(why);
}

namespace {

using json = nlohmann::json;

// The options that determine what is measured, by name.
json words_that_decide(const options& asked) {
  json all{{"command", static_cast<int>(asked.command)}, {"words", asked.files}};
  for (const auto& [axis, words] : asked.axes) {
    auto name = axis;
    std::ranges::replace(name, '_', '-');
    all["--" + name] = fmt::format("{}", fmt::join(words, ","));
  }
  constexpr std::string_view of_the_writer[] = {"json",    "store", "figures",  "resume",
                                                "verbose", "seed",  "anonymous"};
  for (const auto& [name, word] : asked.given)
    if (!asked.forms.contains(name) && std::ranges::find(of_the_writer, name) == std::end(of_the_writer))
      all["--" + name] = word;
  return all;
}

// The first of the ranks that cannot go on. It is named unless all of them have the same reason.
ending_word first_wrong(const std::vector<json>& all) {
  for (const auto& one : all) {
    if (!one.contains("wrong")) continue;
    const std::string why = one["wrong"];
    const bool everywhere = std::ranges::all_of(
        all, [&](const json& other) { return other.contains("wrong") && other["wrong"] == why; });
    return {everywhere ? why : fmt::format("{}: {}", one["rank"].get<std::string>(), why),
            static_cast<exit_code>(one["code"].get<int>())};
  }
  return {};
}

}  // namespace

ending_word why_not_together(const options& asked, const ending_word& mine, const communicator& job) {
  auto told = mine.why.empty() ? words_that_decide(asked)
                               : json{{"wrong", one_line(mine.why)},
                                      {"code", static_cast<int>(mine.code)},
                                      {"rank", communicator::this_rank()}};
  std::vector<json> all;
  for (const auto& text : job.all_gather(told.dump(), "comparing the ranks' options"))
    all.push_back(json::parse(text));
  if (auto wrong = first_wrong(all); !wrong.why.empty()) return wrong;
  const auto said = [](const json& of, const std::string& name) {
    return !of.contains(name)        ? "left out"
           : of.at(name).is_string() ? of.at(name).get<std::string>()
                                     : of.at(name).dump();
  };
  const auto& first = all.front();
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    auto either = first;
    either.update(all[rank]);
    for (const auto& [name, value] : either.items())
      if (said(first, name) != said(all[rank], name))
        return {
            fmt::format("the ranks were not given the same options: {} is {} on rank 0 and {} on rank {}; "
                        "accepted: the same for all of them",
                        name, said(first, name), said(all[rank], name), rank)};
  }
  return {};
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
    // From the launcher's variables; where it sets none, the ranks of this host are counted.
    int local = std::stoi(told[place]);
    if (local < 0) local = static_cast<int>(std::count_if(views.begin(), views.end(), on_this_host));
    views.push_back(
        {rank, local, std::move(seen), topology::gpu_binding_from_text(bindings[place]), boots[place]});
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

std::string version_text() {
  std::map<std::string, std::string> gpus;
  if constexpr (with_cuda) gpus = gpu_software();
  const auto or_without = [](const std::string& version) {
    return version.empty() || version == "none" ? "without" : version;
  };
  auto cuda = or_without(gpus["CUDA toolkit"]);
  if (const auto driver = gpus["CUDA driver API"]; !driver.empty())
    cuda += fmt::format(" (driver for {})", driver);
  return fmt::format("mgsync {}\ncompiler {}\nCUDA {}\nNCCL {}\nMPI {}\nOpenMP {}\nhwloc {}\n",
                     version_with_commit, compiler(), cuda, or_without(gpus["NCCL"]),
                     or_without(communicator::library_version()), openmp_runtime(),
                     topology::hwloc_version());
}

}  // namespace mgsync
