// Lets only one process write a store: by flock or, where the file system does not support it, by a lock file
// beside the store that names the process.
#pragma once

#include <filesystem>

namespace mgsync {

class store_lock {
 public:
  // Locks the open store until destroyed. Throws usage_error naming the process that holds the lock. A lock
  // file is taken over where its process was on this host and is gone; one of another host must be removed by
  // hand, as the message says.
  store_lock(int descriptor, const std::filesystem::path& store);
  ~store_lock();
  store_lock(const store_lock&) = delete;
  store_lock& operator=(const store_lock&) = delete;

 private:
  std::filesystem::path file_;  // the lock file; empty: flock is used
};

}  // namespace mgsync
