#include "src/harness/bystanders.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "src/base/hosts.hpp"
#include "src/base/thread_times.hpp"
#include "src/base/units.hpp"

namespace mgsync {
namespace {

// A hundredth: taken 2 ms at a time, a tenth of the runs of 20 ms, the longest there are, are hit.
constexpr double much_stolen = 0.01;
constexpr double least_stolen_s =
    0.03;                             // the kernel counts in hundredths of a second, on each hardware thread
constexpr double clock_moved = 0.01;  // what a figure is to be precise to

// The number of runnable threads of this process, the calling one included.
int own_runnable() {
  int count = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator task("/proc/self/task", gone), end; !gone && task != end;
       task.increment(gone))
    count += tells_runnable(content_of_proc((task->path() / "stat").c_str()));
  return std::max(count, 1);
}

bool held_down(const gpu_beside& gpu) {
  return static_cast<double>(gpu.slowed) > rare_share * static_cast<double>(gpu.looks);
}

}  // namespace

std::optional<int> runnable_threads(std::string_view loadavg) {
  // "0.20 0.18 0.12 1/80 11206": runnable of all threads.
  const auto slash = loadavg.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto begin = loadavg.rfind(' ', slash);
  int count = 0;
  if (begin == std::string_view::npos ||
      std::from_chars(loadavg.data() + begin + 1, loadavg.data() + slash, count).ptr !=
          loadavg.data() + slash)
    return std::nullopt;
  return count > 0 ? std::optional(count)
                   : std::nullopt;  // the reading thread itself is runnable, so 0 cannot be a true count
}

std::optional<cpu_time> cpu_time_of(std::string_view stat, double ticks_per_second) {
  // "cpu  user nice system idle iowait irq softirq steal ...", in ticks.
  if (!stat.starts_with("cpu ") || !(ticks_per_second > 0)) return std::nullopt;
  double ticks[8] = {};
  const char* at = stat.data() + 4;
  const char* const end = stat.data() + std::min(stat.size(), stat.find('\n'));
  for (double& each : ticks) {
    while (at != end && *at == ' ') ++at;
    std::uint64_t value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ptr == at) return std::nullopt;
    each = static_cast<double>(value) / ticks_per_second;
    at = read.ptr;
  }
  return cpu_time{ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[7]};
}

std::vector<doubt> doubts_of(const seen_beside& beside) {
  std::vector<doubt> all;
  const auto add = [&all](std::string_view kind, double amount, std::string text) {
    add_doubt(all, {std::string(kind), amount, std::move(text)});
  };
  if (static_cast<double>(beside.crowded) > rare_share * static_cast<double>(beside.looks))
    add(doubt_kinds::load, beside.runnable,
        fmt::format("{:.0f} runnable threads for {}", std::ceil(beside.runnable - 1e-9),
                    counted(beside.hardware_threads, "hardware thread")));
  if (const double share = beside.spent.stolen / std::max(beside.spent.used + beside.spent.stolen, 1e-9);
      beside.spent.stolen >= least_stolen_s && share > much_stolen)
    add(doubt_kinds::steal, share,
        fmt::format("{:.1f} % of the CPU time stolen by the hypervisor", 100 * share));
  if (const double share =
          static_cast<double>(beside.switched) / static_cast<double>(std::max<std::size_t>(beside.timed, 1));
      share > rare_share)
    add(doubt_kinds::switches, share,
        fmt::format("members switched out in {:.0f} % of the runs", 100 * share));
  if (!beside.tool.empty())
    add(doubt_kinds::tool, 1, fmt::format("a sanitizer or profiler is attached ({} is set)", beside.tool));
  for (const auto& [uuid, gpu] : beside.gpus) {
    if (gpu.others > 0)
      add(doubt_kinds::gpu_processes, static_cast<double>(gpu.others),
          counted(gpu.others, "other process", "es") + " on a GPU");
    if (held_down(gpu))
      add(doubt_kinds::slowed, static_cast<double>(gpu.slowed) / static_cast<double>(gpu.looks),
          fmt::format("a GPU {}", topology::slowed_by(gpu.reasons)));
    if (const double moved = gpu.least_mhz == 0 ? 0 : static_cast<double>(gpu.most_mhz) / gpu.least_mhz - 1;
        moved > clock_moved)
      add(doubt_kinds::clocks, moved,
          fmt::format("an SM clock of {} to {} MHz", gpu.least_mhz, gpu.most_mhz));
  }
  return all;
}

bystanders::bystanders(const communicator& job, std::map<int, std::string> gpus)
    : ranks_(job.size()), uuids_(std::move(gpus)) {
  processes_here_.insert(static_cast<unsigned>(getpid()));
  if (ranks_ == 1) return;
  const std::string host = boot_id();
  const auto hosts = job.all_gather(host, "gathering who is on which host");
  const auto processes = job.all_gather_values(getpid(), "gathering processes");
  ranks_here_ = 0;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != host) {
      one_host_ = false;
      continue;
    }
    ++ranks_here_;
    processes_here_.insert(static_cast<unsigned>(processes[rank]));
  }
}

int bystanders::threads_here(const point& p) const {
  const double each =
      p.device == topology::device::host ? std::max(1.0, p.number(axes::blocks_per_sm).value_or(1)) : 1;
  const double share = one_host_ || !p.node.empty() ? 1 : static_cast<double>(ranks_here_) / ranks_;
  return static_cast<int>(std::lround(p.members * each * share));
}

void bystanders::look(seen_beside& into, int threads_here) const {
  auto runnable = runnable_threads(content_of_proc("/proc/loadavg"));
  if (!runnable) return;
  ++into.looks;
  into.hardware_threads = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  // The other ranks of this host wait, most of them awake; their members are among the threads that will run.
  const auto beside_the_job = [&](int own) { return *runnable - own - (ranks_here_ - 1); };
  const auto too_many = [&](int others) {
    return others > 0 && others + threads_here > into.hardware_threads;
  };
  if (!too_many(beside_the_job(1))) return;
  // Since Linux 6.12 threads that went to sleep may still be counted, until whoever runs there sleeps too:
  // this thread does.
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (runnable = runnable_threads(content_of_proc("/proc/loadavg"));
      !runnable || !too_many(beside_the_job(1)))
    return;
  const int others = beside_the_job(own_runnable());
  if (!too_many(others)) return;
  ++into.crowded;
  into.runnable += (others + threads_here - into.runnable) / static_cast<double>(into.crowded);
}

std::optional<cpu_time> bystanders::cpu_time_now() const {
  std::ifstream in("/proc/stat");
  std::string first;
  std::getline(in, first);
  return cpu_time_of(first, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

std::string bystanders::tool_at(const point& p) const {
  return tool_ && p.device == topology::device::gpu ? tool_->variable : "";
}

void bystanders::look_at_gpus(std::map<std::string, gpu_beside>& into, const point& p) {
  if (p.device != topology::device::gpu) return;
  if (!gpus_) gpus_ = std::make_unique<topology::gpu_watch>();
  for (const int id : p.group) {
    const auto uuid = uuids_.find(id);
    if (uuid == uuids_.end()) continue;
    const auto now = gpus_->look(uuid->second);
    if (!now) continue;
    gpu_beside& gpu = into[uuid->second];
    ++gpu.looks;
    gpu.slowed += now->slowed_by != 0;
    gpu.reasons |= now->slowed_by;
    if (now->sm_mhz != 0) {
      gpu.least_mhz = gpu.least_mhz == 0 ? now->sm_mhz : std::min(gpu.least_mhz, now->sm_mhz);
      gpu.most_mhz = std::max(gpu.most_mhz, now->sm_mhz);
    }
    gpu.others = std::max(gpu.others, topology::processes_besides(now->processes, processes_here_,
                                                                  static_cast<std::size_t>(ranks_here_)));
  }
}

}  // namespace mgsync
