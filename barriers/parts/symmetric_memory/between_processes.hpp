// The two ways to share GPU memory between processes, and what both need.
#pragma once

#include <exception>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

namespace mgsync {

gpu_allocation allocate_ipc_memory(const gpu_members&, std::size_t bytes, given_back);
gpu_allocation allocate_vmm_memory(const gpu_members&, std::size_t bytes, given_back);

// The offset of a part in its allocation. It varies, so that the flags of successive barriers lie at
// different places, as those of new processes would, although an allocator returns the same address again. A
// multiple of the line size, less than most_shift.
inline constexpr std::size_t most_shift = std::size_t{1} << 20;
std::size_t next_shift(int process);

// Opens the memory of every local member's GPU to the other ones. Empty, or why some GPU cannot address
// another.
std::string open_peer_access(const gpu_members&);

// The first process's complaint that is not empty, the same in all of them. Collective.
std::string first_complaint(const gpu_members&, const std::string& mine);

// Runs f, which is not collective, and returns its complaint, or the message of what it throws: between two
// collective calls no process may throw.
template <class F>
std::string complaint_of(F f) {
  try {
    return f();
  } catch (const std::exception& error) { return error.what(); }
}

// Runs f, which is not collective, in all processes. Collective: if it throws in one, all of them throw. The
// others throw what the first such process did if that was a usage_error or timeout_error, else an api_error;
// the message names that process.
void all_or_none(const gpu_members&, const std::function<void()>& f);

// For destructors: waits for this process's GPUs, and leaves the caller's current GPU as it was. Prints
// errors on stderr, and never throws.
void wait_for_gpus(const gpu_members&) noexcept;

// For destructors: waits for all processes, and returns whether they came. During stack unwinding by an
// exception thrown after the object was made (`exceptions_then`: std::uncaught_exceptions() at that time) it
// returns false at once, since the other processes may be anywhere. Prints errors on stderr, and never
// throws.
bool meet_before_freeing(const gpu_members&, int exceptions_then) noexcept;

}  // namespace mgsync
