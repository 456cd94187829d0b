#include "src/studies/verify/host_chain.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "src/base/pinning.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mgsync::verify {
namespace {

// Each link depends on the one before; the empty asm keeps the compiler from combining several.
template <operation What>
inline void link(std::uint64_t& value, std::uint64_t with) {
  if constexpr (What == operation::add) value += with;
  else value *= with;
  asm volatile("" : "+r"(value));
}

template <operation What, std::size_t... Link>
std::uint64_t carry_out(std::uint64_t links, std::uint64_t value, std::uint64_t with,
                        std::index_sequence<Link...>) {
  for (std::uint64_t done = 0; done < links; done += sizeof...(Link))
    ((void(Link), link<What>(value, with)), ...);
  return value;
}

// Reads the time-stamp counter with fences on both sides, so that neither read moves into the chain.
std::uint64_t ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const auto now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return 0;
#endif
}

}  // namespace

seen host_chain::run(const run_order& asked) {
  if (asked.count == 0 || asked.count % links_at_once != 0)
    throw std::invalid_argument(
        fmt::format("a chain of {} links; accepted: multiples of {}", asked.count, links_at_once));
  const auto before = allowed_cpus();
  seen came{.done = asked};
  if (cpu_ >= 0) pin_calling_thread(cpu_);
  std::uint64_t with = 3;
  asm volatile("" : "+r"(with));
  const auto begin = std::chrono::steady_clock::now();
  const auto first = ticks();
  constexpr std::make_index_sequence<links_at_once> unrolled;
  value_ = what_ == operation::add ? carry_out<operation::add>(asked.count, value_, with, unrolled)
                                   : carry_out<operation::multiply>(asked.count, value_, with, unrolled);
  const auto last = ticks();
  const auto end = std::chrono::steady_clock::now();
  if (cpu_ >= 0) restrict_calling_thread(before);
  came.values["duration_us"] = {std::chrono::duration<double, std::micro>(end - begin).count()};
  if (last > first) came.values["ticks"] = {static_cast<double>(last - first)};
  return came;
}

}  // namespace mgsync::verify
