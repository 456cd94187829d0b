#include "barriers/user/user_backend.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "barriers/user/tried_file.hpp"
#include "barriers/user/user_barrier.hpp"
#include "src/base/errors.hpp"

namespace mgsync::user {

namespace {

class variant_of_users_file final : public variant_of_file {
 public:
  variant_of_users_file(std::shared_ptr<const barrier_file> file, const check::barrier_table& of)
      : file_(std::move(file)), of_(of) {}
  support can_run(const topology::group& group, const configuration& asked) const override {
    return user::can_run(of_, group, asked);
  }
  creation make(const topology::group& group, const configuration& asked, session& where) const override {
    return user::create(file_, of_, group, asked, where);
  }

 private:
  std::shared_ptr<const barrier_file> file_;
  const check::barrier_table& of_;
};

// What a file says of its barriers holds for all shapes; so each is said to join all its workers, or those of
// equal number.
facts facts_of(const check::barrier_table& of) {
  return {.origin = fact::origin::user,
          .driver = fact::driver::device,
          .scope = fact::scope::node,
          .extent =
              of.orders == check::extent::everything ? fact::extent::everything : fact::extent::equal_threads,
          .order = fact::order::both};
}

// A name for results: letters, digits, '-', '_' and '.'.
std::string name_for(const std::string& path) {
  auto name = std::filesystem::path(path).filename().string();
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  for (char& c : name)
    if (!fits(static_cast<unsigned char>(c))) c = '-';
  return name;
}

class file_backend {
 public:
  explicit file_backend(const std::string& path)
      : path_(std::filesystem::absolute(path).string()), name_(name_for(path)) {
    look_into(path);  // what its code does as it is loaded is tried elsewhere first
    const auto file = barrier_file::open(path);
    for (const auto* of : file->barriers()) {
      makers_.push_back(std::make_unique<variant_of_users_file>(file, *of));
      calls_.push_back(fmt::format("{} of {}", of->name, name_));
    }
    for (std::size_t i = 0; i < makers_.size(); ++i) {
      const auto& of = *file->barriers()[i];
      const bool on_gpu = of.on_gpu != 0;
      const user_call call{.maker = "the user", .call = calls_[i], .needs = "what the file was made from"};
      variants_.push_back({.name = of.name,
                           .summary = "a barrier of yours",
                           .facts = facts_of(of),
                           .make = makers::of_file(*makers_[i], on_gpu),
                           .call = on_gpu ? call : user_call{},
                           .host_call = on_gpu ? user_call{} : call});
    }
    record_ = {.name = name_, .summary = "barriers of yours, from this file", .variants = variants_};
  }
  file_backend(const file_backend&) = delete;
  file_backend& operator=(const file_backend&) = delete;

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  const backend& record() const { return record_; }

 private:
  std::string path_, name_;
  std::vector<std::unique_ptr<variant_of_users_file>> makers_;
  std::vector<std::string> calls_;
  std::vector<barrier_variant> variants_;
  backend record_{};
};

std::vector<std::unique_ptr<file_backend>>& loaded() {
  static std::vector<std::unique_ptr<file_backend>> all;
  return all;
}

}  // namespace

const backend& backend_of_file(const std::string& path) {
  auto& all = loaded();
  const auto whole = std::filesystem::absolute(path).string();
  for (const auto& one : all) {
    if (one->path() == whole) return one->record();
    if (one->name() == name_for(path))
      throw usage_error(
          fmt::format("'{}' and '{}' would have the same name in results; accepted: files whose "
                      "names differ",
                      one->path(), path));
  }
  return all.emplace_back(std::make_unique<file_backend>(path))->record();
}

std::vector<const backend*> loaded_backends() {
  std::vector<const backend*> all;
  for (const auto& one : loaded()) all.push_back(&one->record());
  return all;
}

}  // namespace mgsync::user
