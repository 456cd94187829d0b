// The standard integers, also where code is compiled at run time: NVRTC has no <cstdint>. Define
// MGSYNC_STD_INTEGERS where your own code gives it std::uint16_t, uint32_t, uint64_t, int32_t and size_t.
// C++17.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cstddef>
#include <cstdint>
#elif !defined(MGSYNC_STD_INTEGERS)
#if __has_include(<cstdint>) && __has_include(<cstddef>)
#include <cstddef>
#include <cstdint>
#else
namespace std {
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using int32_t = int;
using size_t = decltype(sizeof 0);
}  // namespace std
#endif
#endif
