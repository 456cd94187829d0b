// The two ways to share GPU memory between processes, and what both need.
#pragma once

#include <exception>

#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

namespace mgsync {

gpu_allocation allocate_ipc_memory(const gpu_members&, std::size_t bytes, given_back);
gpu_allocation allocate_vmm_memory(const gpu_members&, std::size_t bytes, given_back);

// How far into its allocation a part begins, so that successive barriers' flags lie at different places, as a
// new process's would: an allocator gives the same address again. Whole lines, less than most_shift.
inline constexpr std::size_t most_shift = std::size_t{1} << 20;
std::size_t next_shift(int process);

// Opens the memory of every local member's GPU to the other ones. Empty, or why some GPU cannot address
// another.
std::string open_peer_access(const gpu_members&);

// The first process's complaint that is not empty, the same in all of them. Collective.
std::string first_complaint(const gpu_members&, const std::string& mine);

// What f, which is not collective, complains of, or throws: between two collective calls nothing may.
template <class F>
std::string complaint_of(F f) {
  try {
    return f();
  } catch (const std::exception& error) { return error.what(); }
}

// Runs f, which is not collective, in all processes. Collective: where it throws in one, all of them throw;
// the others the first process's usage_error or timeout_error, or an api_error for all else, which says which
// process could not.
void all_or_none(const gpu_members&, const std::function<void()>& f);

// For destructors: waits for this process's GPUs, and gives back the caller's. Says what failed, and never
// throws.
void wait_for_gpus(const gpu_members&) noexcept;

// For destructors: waits for all processes, and whether they came. Not where an exception is on its way that
// was not when the object was made (`exceptions_then` of std::uncaught_exceptions()): the others may be
// anywhere. Says what failed, and never throws.
bool meet_before_freeing(const gpu_members&, int exceptions_then) noexcept;

}  // namespace mgsync
