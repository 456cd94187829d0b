#include "src/app/commands.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "src/app/this_machine.hpp"
#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/printable.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/terminal.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync {
namespace {

// What turns SVG into PNG, the best first; empty: there is none.
std::vector<std::string> converter(const std::string& svg, const std::string& png) {
  if (const auto program = find_in_path("rsvg-convert"); !program.empty()) return {program, "-o", png, svg};
  for (const char* name : {"magick", "convert"})
    if (const auto program = find_in_path(name); !program.empty())
      return {program, "svg:" + svg, "png:" + png};
  if (const auto program = find_in_path("inkscape"); !program.empty()) return {program, "-o", png, svg};
  return {};
}

// A folder of its own, which goes when it is done with.
struct own_folder {
  std::string path = (std::filesystem::temp_directory_path() / "mgsync-XXXXXX").string();
  own_folder() {
    if (mkdtemp(path.data()) == nullptr)
      throw usage_error(fmt::format("--png: no file can be made in {}; accepted: TMPDIR that names a folder "
                                    "in which files can be made",
                                    std::filesystem::temp_directory_path().string()));
  }
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
};

// Through a file of ours, so that a converter that fails leaves no half of a picture behind.
void write_png(const std::string& file, const topology::machine& m) {
  const own_folder folder;
  const auto svg = folder.path + "/machine.svg", png = folder.path + "/machine.png";
  const auto command = converter(svg, png);
  if (command.empty())
    throw usage_error(
        fmt::format("--png {}: none of rsvg-convert, magick, convert and inkscape is in PATH to make a "
                    "PNG; accepted: --format svg, whose picture a browser shows",
                    file));
  std::ofstream(svg) << topology::write_svg(m);
  const auto end = run_child({.command = command, .longest = std::chrono::seconds(60)});
  std::error_code problem;
  if (!end.death.empty() || !std::filesystem::exists(png, problem))
    throw usage_error(fmt::format("--png {}: {} made no PNG: {}", file, command.front(),
                                  one_line(end.err.empty() ? end.death : end.err)));
  std::filesystem::copy_file(png, file, std::filesystem::copy_options::overwrite_existing, problem);
  if (problem)
    throw usage_error(
        fmt::format("--png {}: it cannot be written: {}; accepted: a file in a folder that exists", file,
                    problem.message()));
}

}  // namespace

int topology_command(const options& asked, communicator& job, topology::machine mine) {
  const auto views = gather_views(job, std::move(mine));
  const auto screen = terminal_at(1);
  // All ranks have the same views and the same options, so a usage error is thrown by all of them together.
  const auto report = topology::write_report(
      views,
      {asked.format, asked.members_per_rank, asked.pin, {screen.columns, screen.unicode}, screen.window});
  if (job.rank() != 0) return 0;
  if (!asked.png.empty()) write_png(asked.png, views.front().seen);
  tell("{}", report);
  return 0;
}

}  // namespace mgsync
