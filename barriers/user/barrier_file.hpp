// A shared object with barriers of a user's, compiled against <mgsync/check.hpp> (docs/check.md).
#pragma once

#include <mgsync/check.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mgsync::user {

class barrier_file {
 public:
  // Loads the file, which runs its static constructors, and checks that it was compiled with headers that fit
  // this program. Throws usage_error, whose sentence says what is wrong with the file and what to do.
  static std::shared_ptr<const barrier_file> open(const std::string& path);
  ~barrier_file();
  barrier_file(const barrier_file&) = delete;
  barrier_file& operator=(const barrier_file&) = delete;

  const std::string& path() const { return path_; }
  std::string_view compiler() const { return table_->compiler; }  // that made it
  std::span<const check::barrier_table* const> barriers() const { return {table_->barriers, table_->count}; }
  // The barrier of this name. Throws usage_error, which names those that the file holds, if there is none.
  const check::barrier_table& barrier(std::string_view name) const;

 private:
  barrier_file(std::string path, void* loaded) : path_(std::move(path)), loaded_(loaded) {}

  std::string path_;
  void* loaded_;
  const check::file_table* table_ = nullptr;
};

// What is wrong with a file's table, as a sentence without the file's name; empty if nothing is.
std::string what_is_wrong(const check::file_table*);

}  // namespace mgsync::user
