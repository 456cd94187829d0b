// One writer for a store: flock, or, where the file system has none, a file beside it that says who writes.
#pragma once

#include <filesystem>

namespace mgsync {

class store_lock {
 public:
  // Locks the open store until destroyed. Throws usage_error naming who holds it. A lock file whose process
  // of this host is gone is taken over; one that another host left must be removed by hand, and the message
  // says so.
  store_lock(int descriptor, const std::filesystem::path& store);
  ~store_lock();
  store_lock(const store_lock&) = delete;
  store_lock& operator=(const store_lock&) = delete;

 private:
  std::filesystem::path file_;  // of the lock; empty: flock holds it
};

}  // namespace mgsync
