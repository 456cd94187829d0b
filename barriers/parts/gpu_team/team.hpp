// The GPUs of a group that this rank drives, each with what a driver needs of its own: a stream, and scratch
// memory that the host reads after a run.
//
//   gpu_team::team team(group, where.rank(), sizeof(findings));
//   worker_pool threads(cpus_of(team.gpus()));
//   threads.run([&](unsigned local) { team.select(local); ... team.wait(local, "running it"); });
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "barriers/parts/gpu_team/local_gpus.hpp"
#include "src/base/cuda.hpp"
#include "src/base/watchdog.hpp"

namespace mgsync::gpu_team {

class team {
 public:
  // `scratch_bytes`: zeroed, in the GPU's pool.
  team(const topology::group&, int rank, std::size_t scratch_bytes);

  unsigned size() const { return static_cast<unsigned>(gpus_.size()); }
  const std::vector<gpu_member>& gpus() const { return gpus_; }
  cudaStream_t stream(unsigned local) const { return lanes_[local].stream.get(); }
  std::byte* scratch(unsigned local) const { return lanes_[local].scratch.get(); }

  // Makes the local-th GPU the calling thread's.
  void select(unsigned local) const;
  // Until the local-th GPU's stream has ended.
  void wait(unsigned local, std::string_view what) const {
    cuda::check(cudaStreamSynchronize(stream(local)), what);
  }
  // Copies from a GPU's memory.
  template <class T>
  static void read(std::vector<T>& into, const void* from, std::string_view what) {
    cuda::check(cudaMemcpy(into.data(), from, into.size() * sizeof(T), cudaMemcpyDeviceToHost), what);
  }
  // The name of a member and its count, for the watchdog: "GPU 3 (rank 0 on host)".
  static progress progress_of(const topology::group&, unsigned member, std::uint64_t count);

 private:
  struct lane {
    cuda::stream stream;
    cuda::memory scratch;
  };
  std::vector<gpu_member> gpus_;
  std::vector<lane> lanes_;
};

}  // namespace mgsync::gpu_team
