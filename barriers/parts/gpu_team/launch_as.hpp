// How a launch differs from a plain one, for records that are there in builds without CUDA too.
#pragma once

namespace mgsync::gpu_team {

enum class launch_as {
  plain,
  cooperative,
  clusters,  // the blocks come in clusters
  early      // programmatic dependent launch: starts before the kernel in front of it has ended
};

// The function where this build has CUDA, else a null pointer: only_with<MGSYNC_WITH_CUDA, make>.
template <bool Built, auto* Function>
constexpr auto* only_with() {
  if constexpr (Built) return Function;
  else return static_cast<decltype(Function)>(nullptr);
}

}  // namespace mgsync::gpu_team
