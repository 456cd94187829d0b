// A barrier that a kernel passes: the memory that its blocks meet in, what its kernels take, and the crew that runs it.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "barriers/algorithm/relay.hpp"
#include "barriers/algorithm/spread_counter.hpp"
#include "barriers/round_loop/gpu_crew.hpp"

namespace mgsync::round_loop {

// What the flags of a new barrier hold: 32-bit words, the same in every member's part.
using flag_image = std::vector<std::uint32_t>;

flag_image layout_image(unsigned members, unsigned blocks);  // algorithm::layout
flag_image relay_image(unsigned blocks);
flag_image spread_image(unsigned blocks);

struct kernel_barrier_parts {
  std::string what;                         // "multigrid (relay)"
  std::string algorithm;                    // for the result
  round_kernels kernels;
  bool bounded = true;
  mgsync::load load = mgsync::load::idle;   // blocks beside the barrier's may write to the peers
  bool preloaded = false;                   // the kernels are no symbols of this program: loaded, and found resident
  std::unique_ptr<symmetric_memory> flags;  // may be empty
  std::vector<cuda::memory> more;           // memory that must live as long
  std::shared_ptr<void> keep;               // whatever else must
  std::vector<std::byte> arguments;         // of the kernels' Pass, the same on every GPU
  std::vector<std::vector<std::byte>> arguments_of_gpu;  // per local GPU, where they differ
  gpu_crew::launcher launch;                // empty: a cooperative launch on each GPU
};

// Flags of this image for every member, in GPU memory that all members address.
allocation allocate_flags(const topology::group&, const flag_image&);

template <class Arguments>
std::vector<std::byte> bytes_of(const Arguments& given) {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  std::vector<std::byte> bytes(sizeof given);
  std::memcpy(bytes.data(), &given, sizeof given);
  return bytes;
}

// What a variant starts from.
struct flag_barrier_request {
  const topology::group& group;
  session& where;
  std::string backend;
  unsigned blocks = 1;
  unsigned threads = 32;
  unsigned sms = 1;  // of the GPU with the fewest
  mgsync::load load = mgsync::load::idle;
  unsigned members() const { return static_cast<unsigned>(group.members.size()); }
};

flag_barrier_request request_of(const topology::group&, const configuration&, session&, std::string backend);

// Builds the board and the crew; the shape has been found resident. Collective over the session's ranks.
creation make_kernel_barrier(const topology::group&, unsigned blocks, unsigned threads, session&, kernel_barrier_parts);

}  // namespace mgsync::round_loop
