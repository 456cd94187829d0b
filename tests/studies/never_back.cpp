// Threads and child processes that do not come back, to be loaded ahead of the C library (LD_PRELOAD). From
// the moment that the file exists which MGSYNC_NEVER_BACK names, every child that carries out a measurement
// waits for ever; where the file says "die", such a process kills itself, and where it says "wait", every
// thread that is started waits for ever, too, in place of what it is for.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

// What the file says; empty: there is none yet.
std::string said() {
  const char* name = std::getenv("MGSYNC_NEVER_BACK");
  std::string word;
  if (name != nullptr) std::ifstream(name) >> word;
  return word;
}

[[noreturn]] void* wait_for_ever(void*) {
  for (;;) pause();
}

__attribute__((constructor)) void as_a_child() {
  std::ifstream words("/proc/self/cmdline");
  std::string program, first;
  std::getline(words, program, '\0');
  std::getline(words, first, '\0');
  if (first != "in-child") return;
  const auto word = said();
  if (word == "die") raise(SIGKILL);
  if (!word.empty()) wait_for_ever(nullptr);
}

}  // namespace

extern "C" int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*start)(void*), void* with) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  return said() == "wait" ? real(made, how, wait_for_ever, nullptr) : real(made, how, start, with);
}
