#include "src/base/thread_times.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace mgsync {

// (The iterators of a stream's buffer would throw where a thread has ended meanwhile, read() does not.)
std::string content_of_proc(const char* file) {
  std::ifstream in(file);
  std::string text(1024, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

bool tells_runnable(std::string_view stat) {
  const auto behind_name = stat.rfind(") ");
  return behind_name != std::string_view::npos && stat.size() > behind_name + 2 &&
         stat[behind_name + 2] == 'R';
}

std::map<int, thread_time> thread_times(pid_t process) {
  std::map<int, thread_time> all;
  std::error_code gone;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process), gone), end;
       !gone && task != end; task.increment(gone)) {
    const auto id = task->path().filename().string();
    // "ON-CPU WAITED SLICES", in nanoseconds
    const auto times = content_of_proc((task->path() / "schedstat").c_str());
    int thread = 0;
    std::int64_t on_cpu = 0;
    if (std::from_chars(id.data(), id.data() + id.size(), thread).ec != std::errc() ||
        std::from_chars(times.data(), times.data() + times.size(), on_cpu).ec != std::errc())
      continue;
    all[thread] = {tells_runnable(content_of_proc((task->path() / "stat").c_str())),
                   std::chrono::nanoseconds(on_cpu)};
  }
  return all;
}

bool some_wait_for_a_cpu(const std::map<int, thread_time>& before, const std::map<int, thread_time>& now,
                         std::chrono::nanoseconds time) {
  return std::ranges::any_of(now, [&](const auto& one) {
    const auto& [thread, at] = one;
    const auto then = before.find(thread);
    return at.runnable && (then == before.end() || at.on_cpu - then->second.on_cpu < time);
  });
}

}  // namespace mgsync
