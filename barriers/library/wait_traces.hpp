// What the traced kernels of a group keep of its waits, for one number of blocks: in each GPU's memory, and
// in a file that other processes read (barriers/parts/recorder/wait_file.hpp).
#pragma once

#include <vector>

#include "barriers/library/members.hpp"
#include "barriers/parts/recorder/wait_file.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::library {

class wait_traces {
 public:
  // Of the team number `team` of the group, of the grids `ranks`; 0 is the whole group.
  wait_traces(const group_members&, const std::vector<unsigned>& ranks, unsigned team, unsigned blocks);
  ~wait_traces();
  wait_traces(const wait_traces&) = delete;
  wait_traces& operator=(const wait_traces&) = delete;

  // For the records of local GPU `local`; of no use where it is not of the team.
  wait_trace* on_gpu(unsigned local) const { return traces_[local].as<wait_trace>(); }
  // What local GPU `local` has counted so far, also while its kernel runs.
  wait_trace counted(unsigned local) const;
  // Forgets all of it, when no kernel uses it.
  void clear();
  // The file stays after this, because a barrier was given up.
  void keep() { file_.keep(); }

 private:
  static constexpr unsigned none = ~0u;

  std::vector<int> ordinals_;
  std::vector<unsigned> places_;  // of local GPUs in the file; none: not of the team
  unsigned own_ = 0;
  wait_file file_;
  std::vector<cuda::memory> traces_;
};

}  // namespace mgsync::library
