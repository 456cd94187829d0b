// The file in which a process keeps what the blocks of its traced barriers note, so that `mgsync who` can
// read it while the job hangs, and after it was given up. One per process and number of blocks, in a folder
// of shared memory (MGSYNC_WHO, or /dev/shm). It goes with its owner, unless a barrier was given up: then it
// stays until the same user makes another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/parts/recorder/wait_board.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

// The beginning of the file.
struct wait_file_head {
  static constexpr char this_form[8] = {'m', 'g', 'w', 'h', 'o', ' ', '1', '\n'};

  char form[8];
  char node[64];
  char group[32];  // the same in the files of one group and number of blocks
  std::int32_t pid;
  std::uint32_t process, processes;
  std::uint32_t gpus, blocks;  // of all processes; of each GPU
  std::uint32_t first_epoch;   // the one before the first barrier
  std::uint32_t own;           // GPUs of this process
  std::uint32_t team;          // its number in the group; 0: the whole group
};
struct wait_gpu {
  std::uint32_t rank;  // among those that meet
  std::int32_t ordinal;
  std::uint32_t grid;  // its rank in the group
  std::uint32_t reserved = 0;
};

class wait_file {
 public:
  // Makes the file. `head` without form, node, pid and number of own GPUs, which this fills in.
  wait_file(wait_file_head head, const std::vector<wait_gpu>& own);
  // Opens another's. Throws usage_error for a file that is none.
  explicit wait_file(const std::string& name);
  wait_file(wait_file&&) noexcept;
  wait_file& operator=(wait_file&&) = delete;
  ~wait_file();

  const wait_file_head& head() const { return *reinterpret_cast<const wait_file_head*>(begin_); }
  const wait_gpu& gpu(unsigned own) const;
  late_member* late(unsigned own) const;  // one per GPU of the group
  wait_note* notes(unsigned own) const;   // one per block
  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  // Leaves the file behind as this goes.
  void keep() { keeps_ = true; }
  // Whether the process that made it is still there.
  bool has_owner() const { return owner_; }

 private:
  void map(bool to_write);

  unique_descriptor file_;  // locked as long as its owner lives
  std::string name_;        // empty: another's
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  bool keeps_ = false, owner_ = true;
};

// The folder that the files are in.
std::string wait_folder();
// All files of waits in a folder, by name.
std::vector<std::string> wait_files(const std::string& folder);

}  // namespace mgsync
