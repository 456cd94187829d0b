// What the threads of a process have had of its CPUs: one that waits for a CPU can do nothing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace mgsync {

struct thread_time {
  bool runnable = false;  // it runs, or waits for a CPU
  std::chrono::nanoseconds on_cpu{};
};

// By the thread's id; without those of which the system says nothing.
std::map<int, thread_time> thread_times(pid_t process);

// Whether a thread that is runnable has run for less than `time` since then. Pure.
bool some_wait_for_a_cpu(const std::map<int, thread_time>& before, const std::map<int, thread_time>& now,
                         std::chrono::nanoseconds time);

// Whether a file /proc/PID/task/TID/stat tells of a thread that is runnable. Pure.
bool tells_runnable(std::string_view stat);

// What a file of /proc says, at most 1 KiB; nothing where it cannot be read, as of a thread that has ended.
std::string content_of_proc(const char* file);

}  // namespace mgsync
