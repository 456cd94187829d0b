// GPUs that one GPU stands for: slices of one kernel's grid, each with flags, records and a handle of its
// own, as the library makes them for a group, and teams of them.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "barriers/library/choice.hpp"
#include "barriers/parts/recorder/wait_file.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::test {

class virtual_gpus {
 public:
  // All GPUs have the number of blocks; `team` has the ranks that meet, in their order; every wait ends after
  // `patience`. `all`: how many GPUs there are, where the team is of some.
  virtual_gpus(unsigned blocks, std::vector<unsigned> team, std::chrono::milliseconds patience,
               unsigned all = 0);
  ~virtual_gpus();
  virtual_gpus(const virtual_gpus&) = delete;
  virtual_gpus& operator=(const virtual_gpus&) = delete;

  // In the GPU's memory, one for each of all GPUs: those that are not of the team have an empty one.
  const multi_grid_handle* handles() const { return handles_.as<multi_grid_handle>(); }
  unsigned blocks() const { return blocks_; }
  unsigned size() const { return static_cast<unsigned>(team_.size()); }
  bool given_up() const;

  // Notes of waits, in a file of its own.
  void trace();
  const wait_file& notes() const { return *file_; }
  std::vector<late_round> rounds_seen_by(unsigned rank) const;  // the last ones, oldest first

 private:
  std::vector<multi_grid_block> records() const;

  unsigned blocks_;
  std::vector<unsigned> team_;
  std::size_t part_bytes_;
  std::chrono::milliseconds patience_;
  cuda::memory parts_, table_, records_, handles_, stops_, stop_lists_, traces_, told_;
  std::unique_ptr<wait_file> file_;
};

}  // namespace mgsync::test
