// A member's memory, which processes share that were forked since, so placed that whoever writes or reads
// behind its end is stopped there, and whoever writes ahead of it is seen.
#pragma once

#include <cstddef>

namespace mgsync::user {

class guarded_part {
 public:
  // `bytes` from a multiple of 128 on; filled with a pattern, as memory that somebody used before. Throws
  // api_error.
  explicit guarded_part(std::size_t bytes);
  ~guarded_part();
  guarded_part(guarded_part&& other) noexcept;
  guarded_part& operator=(guarded_part&&) = delete;

  void* get() const { return part_; }
  // Whether the address is next to the part: where nobody has any business.
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
