#include "barriers/library/wait_traces.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "barriers/parts/algorithm/layout.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

wait_file_head head_of(const group_members& group, std::size_t gpus, unsigned team, unsigned blocks) {
  wait_file_head head{};
  const auto name = filled("{} {} {}", group.name, team, blocks);
  std::memcpy(head.group, name.data(), std::min(name.size(), sizeof head.group - 1));
  head.process = static_cast<std::uint32_t>(group.gpus.process);
  head.processes = static_cast<std::uint32_t>(group.gpus.places.back().process) + 1;
  head.gpus = static_cast<std::uint32_t>(gpus);
  head.blocks = blocks;
  head.first_epoch = algorithm::first_gpu_epoch;
  head.team = team;
  return head;
}

// Those of this process that are of the team.
std::vector<wait_gpu> gpus_of(const group_members& group, const std::vector<unsigned>& ranks) {
  std::vector<wait_gpu> gpus;
  for (const unsigned m : group.gpus.local())
    if (const auto at = std::find(ranks.begin(), ranks.end(), m); at != ranks.end())
      gpus.push_back({static_cast<std::uint32_t>(at - ranks.begin()), group.gpus.places[m].ordinal, m});
  return gpus;
}

void copy(void* to, const void* from, std::size_t bytes) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()),
              "the trace of a group's waits");
  cuda::check(cudaStreamSynchronize(stream.get()), "the trace of a group's waits");
}

}  // namespace

wait_traces::wait_traces(const group_members& group, const std::vector<unsigned>& ranks, unsigned team,
                         unsigned blocks)
    : file_(head_of(group, ranks.size(), team, blocks), gpus_of(group, ranks)) {
  if (ranks.size() > wait_trace::most_members)
    throw usage_error(
        filled("a trace of {} GPUs: it takes {} at most", ranks.size(), wait_trace::most_members));
  for (const unsigned m : group.gpus.local()) {
    ordinals_.push_back(group.gpus.places[m].ordinal);
    places_.push_back(std::find(ranks.begin(), ranks.end(), m) == ranks.end() ? none : own_++);
  }
  const cuda::device_scope scope(ordinals_.front());
  cuda::check(
      cudaHostRegister(file_.begin(), file_.bytes(), cudaHostRegisterPortable | cudaHostRegisterMapped),
      "mapping the notes of a group's waits into its GPUs");
  for (const int ordinal : ordinals_) traces_.push_back(cuda::memory::on_gpu(ordinal, sizeof(wait_trace)));
  clear();
}

wait_traces::~wait_traces() {
  try {
    const cuda::device_scope scope(ordinals_.front());
    cuda::check(cudaHostUnregister(file_.begin()), "letting go of the notes of a group's waits");
  } catch (const std::exception& error) { std::fprintf(stderr, "mgsync: %s\n", error.what()); }
}

wait_trace wait_traces::counted(unsigned local) const {
  const cuda::device_scope scope(ordinals_[local]);
  wait_trace trace{};
  copy(&trace, on_gpu(local), sizeof trace);
  return trace;
}

void wait_traces::clear() {
  for (unsigned l = 0; l < ordinals_.size(); ++l) {
    if (places_[l] == none) continue;
    const cuda::device_scope scope(ordinals_[l]);
    std::memset(file_.late(places_[l]), 0, file_.head().gpus * sizeof(late_member));
    std::memset(file_.notes(places_[l]), 0, file_.head().blocks * sizeof(wait_note));
    wait_trace fresh{};
    void *notes = nullptr, *told = nullptr;
    cuda::check(cudaHostGetDevicePointer(&notes, file_.notes(places_[l]), 0), "the notes of a group's waits");
    cuda::check(cudaHostGetDevicePointer(&told, file_.late(places_[l]), 0), "the notes of a group's waits");
    fresh.notes = static_cast<wait_note*>(notes);
    fresh.told = static_cast<late_member*>(told);
    fresh.members = file_.head().gpus;
    copy(on_gpu(l), &fresh, sizeof fresh);
  }
}

}  // namespace mgsync::library
