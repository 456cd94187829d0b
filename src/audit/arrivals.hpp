// What a strong store or atomic operation is for: whether it surely is a flag that somebody waits for.
#pragma once

#include <vector>

#include "src/audit/waits.hpp"

namespace mgsync::audit {

class arrivals {
 public:
  arrivals(const flow& code, const std::vector<waiting_loop>& waits) : code_(code), waits_(waits) {}

  // It stores the value that some loop waits for, or counts something other than data, or changes in another
  // way what some loop reads.
  bool is_arrival(std::size_t at) const;
  // An update that draws a number: memory is reached by it, or it is stored. Who comes next is not told
  // thereby that anything was written.
  bool is_ticket(std::size_t at) const;
  // On some way behind it, before anything is waited for, a release of that reach and a strong store or
  // update follow: it may be a part of what they publish, such as a word of a descriptor.
  bool is_published(std::size_t at, reach) const;

 private:
  bool is_data(std::size_t at) const;
  bool is_of_block(std::size_t at, int reg, unsigned steps_left = 8) const;
  bool same_address(std::size_t at, std::size_t other) const;
  bool same_value(std::size_t at, std::size_t other, int reg) const;
  bool is_poll(std::size_t at, bool of_loads_alone) const;

  const flow& code_;
  const std::vector<waiting_loop>& waits_;
};

}  // namespace mgsync::audit
