// A member's memory, shared with processes that are forked after it was made. An inaccessible page follows
// its end, so that most reads and writes beyond it crash; other writes beside it are found by was_overrun().
#pragma once

#include <cstddef>

namespace mgsync::user {

class guarded_part {
 public:
  // `bytes` bytes, beginning at a multiple of 128 and filled with a pattern, like memory that was used
  // before. Throws api_error.
  explicit guarded_part(std::size_t bytes);
  ~guarded_part();
  guarded_part(guarded_part&& other) noexcept;
  guarded_part& operator=(guarded_part&&) = delete;

  void* get() const { return part_; }
  // Whether the address is in the mapping but outside of the part.
  bool guards(const void* address) const;
  // Whether something beside the part was written.
  bool was_overrun() const;

 private:
  unsigned char* mapped_ = nullptr;
  std::size_t all_ = 0;  // with an inaccessible page on either side
  unsigned char* part_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace mgsync::user
