#include "src/app/reference_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/results/files/packed_text.hpp"
#include "topology/description.hpp"

namespace mgsync {
namespace {

namespace fs = std::filesystem;

// What people put beside results: a README, notes, what an editor hides.
bool is_a_text(const fs::path& p) {
  const auto name = p.filename().string();
  return name.starts_with('.') || name.starts_with("README") || p.extension() == ".md" ||
         p.extension() == ".txt";
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code missing;
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder, missing))
    if (entry.is_regular_file(missing) && !is_a_text(entry.path()))
      all.push_back(entry.path().lexically_normal());
  std::ranges::sort(all);
  return all;
}

// MGSYNC_REFERENCE, or what is installed with this program, or is in its build folder.
std::vector<fs::path> reference_files() {
  if (const char* named = std::getenv("MGSYNC_REFERENCE"); named != nullptr) {
    auto all = files_in(named);
    if (all.empty())
      throw usage_error(
          fmt::format("MGSYNC_REFERENCE is '{}', which is no folder with results in it; accepted: a folder "
                      "of files of --json, or without the variable what came with mgsync",
                      named));
    return all;
  }
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  auto all = files_in(program / ".." / "share" / "mgsync" / "reference");
  return all.empty() ? files_in(program / "reference") : all;
}

}  // namespace

std::string kind_of(const machine_record& m) {
  return m.gpus.empty() ? fmt::format("{} cores of {}", m.cores, m.cpu_model)
                        : fmt::format("{} x {}, {} cores of {}", m.gpus.size(), m.gpus.front().name, m.cores,
                                      m.cpu_model);
}

references references_for(const machine_record& now, const std::string& whose) {
  references found;
  std::set<std::string> kinds;
  for (const auto& path : reference_files()) {
    if (path.extension() == ".machine") {
      found.machines.push_back(
          topology::read_description(read_text(path, "a machine description"), path.string()));
      continue;
    }
    auto file = read_result_file(path.string());
    kinds.insert(kind_of(file.document.machine));
    if (has_more_gpus(file.document.machine, now))
      found.most_gpus = std::max(found.most_gpus, file.document.machine.gpus.size());
    if (likeness_of(file.document.machine, now).level != across::machines)
      found.alike.push_back(std::move(file));
  }
  if (kinds.empty())
    found.why_none = "no reference results came with this mgsync: name their folder in MGSYNC_REFERENCE, or "
                     "compare with a file of a node that is known to be good";
  else if (found.alike.empty())
    found.why_none = fmt::format("there is no reference of the kind of machine that {} is of; there are "
                                 "results of: {}. MGSYNC_REFERENCE names a folder with your own",
                                 whose, fmt::join(kinds, "; "));
  // A machine without any GPU may be meant to have none.
  if (!found.alike.empty() || now.gpus.empty()) found.most_gpus = 0;
  return found;
}

references references_named(std::string_view list, const machine_record& now, bool of_host, across allowed) {
  references found;
  std::optional<result_file> larger;
  for (const auto named : split_at_commas(list)) {
    const std::string name(named);
    if (name.ends_with(".machine")) {
      found.machines.push_back(topology::read_description(read_text(name, "a machine description"), name));
      continue;
    }
    auto file = read_result_file(name);
    auto of_file = file.document.machine;
    const bool of_gpus = std::ranges::any_of(
        file.document.results, [](const result& r) { return r.point.device == topology::device::gpu; });
    if (now.gpus.empty() && (of_host || !of_gpus)) of_file.gpus.clear();
    if (allowed != across::machines && has_more_gpus(of_file, now)) {
      found.most_gpus = std::max(found.most_gpus, of_file.gpus.size());
      larger = std::move(file);
      continue;
    }
    refuse_unless_alike(of_file, name, now, "this machine", allowed);
    found.alike.push_back(std::move(file));
  }
  if (larger && !found.alike.empty())
    refuse_unless_alike(larger->document.machine, larger->name, now, "this machine", allowed);
  if (!larger && found.alike.empty())
    found.why_none = "--against names machine descriptions alone; accepted: with them files of --json";
  return found;
}

void point_to_references(std::span<const std::string> files, bool lists) {
  const auto folder_and_name = [](const fs::path& p) { return p.parent_path().filename() / p.filename(); };
  for (const auto& typed : files)
    for (const fs::path name : lists ? split_at_commas(typed) : std::vector<std::string_view>{typed}) {
      std::error_code ignored;
      if (name.empty() || fs::exists(name, ignored)) continue;
      for (const auto& known : reference_files())
        if (folder_and_name(known) == folder_and_name(name))
          throw usage_error(fmt::format("{}: there is no such file; accepted: {}, which came with mgsync",
                                        name.string(), known.string()));
    }
}

}  // namespace mgsync
