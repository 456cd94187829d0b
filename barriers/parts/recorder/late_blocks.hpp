// Who did not come to the barrier at which the blocks of a job wait, from the files of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barriers/parts/recorder/wait_file.hpp"

namespace mgsync {

// A GPU, and those of its blocks that did not come; all of them where none did.
struct absent_gpu {
  std::string node;
  std::uint32_t process = 0;
  std::int32_t pid = 0;
  bool runs = true;                  // the process is still there
  std::uint32_t rank = 0, grid = 0;  // among those that meet, and in the group
  std::int32_t ordinal = 0;
  std::vector<unsigned> blocks{};
};

// The waits of one group with one number of blocks.
struct group_waits {
  std::string group, node;
  std::uint32_t processes = 0, gpus = 0, blocks = 0, team = 0;
  unsigned waiting = 0;  // blocks that wait, or gave up
  bool given_up = false;
  std::uint32_t round = 0;  // the barrier at which they wait, from 1 on
  double seconds = 0;       // how long the longest has waited
  std::vector<absent_gpu> absent{};
  std::vector<std::uint32_t> unheard{};  // GPUs of whose process there is no file
  std::vector<late_member> late{};       // by GPU: how often it came last, added up over all that saw it
};

std::vector<group_waits> waits_of(const std::vector<wait_file>&);

}  // namespace mgsync
