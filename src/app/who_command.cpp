// `mgsync who`: who is late in a job that hangs.
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/parts/recorder/late_blocks.hpp"
#include "src/app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

constexpr double long_seconds = 0.5;  // shorter waits are no news

bool hangs(const group_waits& g) { return g.waiting != 0 && (g.given_up || g.seconds >= long_seconds); }

std::string place_of(const absent_gpu& gpu, std::uint32_t blocks) {
  const auto which =
      gpu.blocks.size() == blocks
          ? fmt::format("all {}", counted(blocks, "block"))
          : fmt::format("block{} {}", gpu.blocks.size() == 1 ? "" : "s", fmt::join(gpu.blocks, ", "));
  return fmt::format("  node {}, process {} (pid {}{}), GPU {} (grid {}): {}\n", gpu.node, gpu.process,
                     gpu.pid, gpu.runs ? "" : ", gone", gpu.ordinal, gpu.grid, which);
}

std::string text_of(const group_waits& g) {
  std::string text = fmt::format(
      "{}{}, {} each, {} on node {}: ", g.team == 0 ? "" : fmt::format("team {}: ", g.team),
      counted(g.gpus, "GPU"), counted(g.blocks, "block"), counted(g.processes, "process", "es"), g.node);
  if (!hangs(g)) text += "nobody waits\n";
  else
    text +=
        fmt::format("barrier {} {}; {} {} there, for up to {:.1f} s. Not there:\n", g.round,
                    g.given_up ? "was given up" : "hangs", counted(g.waiting, "block"),
                    g.waiting == 1 ? (g.given_up ? "was" : "is") : (g.given_up ? "were" : "are"), g.seconds);
  if (hangs(g)) {
    for (const auto& gpu : g.absent) text += place_of(gpu, g.blocks);
    for (const auto rank : g.unheard)
      text += fmt::format("  grid {}: nothing is known of it; its process has no file here\n", rank);
    if (g.absent.empty() && g.unheard.empty()) text += "  nobody: all came in the end\n";
  }
  for (std::size_t m = 0; m < g.late.size(); ++m)
    if (const auto& l = g.late[m]; l.times != 0)
      text += fmt::format("  grid {} came last {}, by {:.1f} us at most\n", m, counted(l.times, "time"),
                          static_cast<double>(l.worst_ns) * 1e-3);
  return text;
}

}  // namespace

int who_command(const options& asked) {
  std::vector<wait_file> files;
  for (const auto& name : asked.files.empty() ? wait_files(wait_folder()) : asked.files) try {
      files.emplace_back(name);
    } catch (const error&) {
      if (!asked.files.empty()) throw;  // of files found here one may go meanwhile, or be private, or older
    }
  const auto all = waits_of(files);
  if (all.empty())
    tell("nobody is traced here: a program's group is, with group_options::trace and kernels that include "
         "mgsync/traced.cuh\n");
  bool hang = false;
  for (const auto& g : all) {
    tell("{}", text_of(g));
    hang = hang || hangs(g);
  }
  return static_cast<int>(hang ? exit_code::barrier_failed : exit_code::success);
}

}  // namespace mgsync
