// A barrier that a kernel passes: the memory that its blocks meet in, what its kernels take, and how
// they are launched.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "barriers/backend.hpp"
#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/parts/gpu_team/local_gpus.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/cuda.hpp"
#include "src/base/session.hpp"

namespace mgsync::round_loop {

using algorithm::flag_image;
using algorithm::layout_image;
using algorithm::relay_image;
using algorithm::spread_image;

// How the thread of each GPU launches a kernel.
using kernel_launcher = std::function<void(unsigned local, const void* kernel, unsigned grid,
                                           unsigned threads, void** arguments, cudaStream_t)>;

struct kernel_barrier_parts {
  std::string what;       // for the watchdog: "multigrid (relay)"
  std::string algorithm;  // for the result
  gpu_team::round_kernels kernels;
  bool bounded = true;
  bool preloaded = false;  // the kernels are not symbols of this program: already loaded and found resident
  std::unique_ptr<group_memory> flags;            // may be empty
  std::shared_ptr<void> keep;                     // whatever else must live as long
  std::vector<std::vector<std::byte>> arguments;  // of the kernels' Pass, for every local GPU
  kernel_launcher launch;                         // empty: a cooperative launch on each GPU
};

// Flags of this image for every member, in GPU memory that all members address. Collective over the session's
// ranks.
group_allocation allocate_flags(const topology::group&, const flag_image&, std::string_view peer_memory,
                                const session&);

template <class Arguments>
std::vector<std::byte> bytes_of(const Arguments& given) {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  std::vector<std::byte> bytes(sizeof given);
  std::memcpy(bytes.data(), &given, sizeof given);
  return bytes;
}

// What a variant of a backend makes its barrier from.
struct flag_barrier_request {
  const topology::group& group;
  session& where;
  std::string backend;
  unsigned blocks = 1;
  unsigned threads = 32;
  unsigned sms = 1;  // of the GPU with the fewest
  mgsync::load load;
  std::string peer_memory;
  std::vector<gpu_team::gpu_member> gpus;  // of this rank
  // What the thread that asks for a run does while its kernels run; empty: it waits for them. It gives up
  // where the word is not 0, and makes the kernels give up by a word that is not.
  std::function<void(const run_request&, std::uint32_t* abort)> beside = {};
  unsigned members() const { return static_cast<unsigned>(group.members.size()); }
};

// Collective over the session's ranks.
flag_barrier_request request_of(const topology::group&, const configuration&, session&, std::string backend);

// Why the kernels cannot run with this shape and this load, for instance because not all blocks are resident
// at once; empty if they can. Collective over the session's ranks.
std::string why_no_room(const flag_barrier_request&, const gpu_team::round_kernels&,
                        const gpu_team::resident_blocks& = gpu_team::runtime_resident_blocks);

// Builds the barrier and its memory (gpu_crew.cpp), once why_no_room() has found nothing. Collective over the
// session's ranks.
creation make_kernel_barrier(const flag_barrier_request&, kernel_barrier_parts);

}  // namespace mgsync::round_loop
