// What the build costs: promises about time hold for optimized builds without sanitizers.
#pragma once

#include <ctime>

namespace mgsync::topology::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

#if defined(__OPTIMIZE__)
inline constexpr double slack = sanitized ? 20 : 1;
#else
inline constexpr double slack =
    sanitized ? 100 : 20;  // every access of a vector is a call, and looked at twice
#endif

// Milliseconds that this thread has computed: what else runs on the machine is not in them.
inline double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace mgsync::topology::test
