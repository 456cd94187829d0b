#include "src/results/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace mgsync {

static std::string reason() { return std::generic_category().message(errno); }

void check_written(int result, std::string_view action) {
  if (result < 0) throw write_error(fmt::format("{} failed: {}", action, reason()));
}

namespace {

void write_all(int descriptor, std::string_view content, const std::filesystem::path& file) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    check_written(static_cast<int>(written < 0 ? -1 : 0), fmt::format("writing '{}'", file.string()));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

unique_descriptor open_or_refuse(const std::filesystem::path& file, int flags,
                                 const std::filesystem::path& named) {
  unique_descriptor descriptor(::open(file.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
  if (!descriptor) throw usage_error(fmt::format("cannot write '{}': {}", named.string(), reason()));
  return descriptor;
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  return parent.empty() ? "." : parent;
}

std::filesystem::path temporary_beside(const std::filesystem::path& target) {
  return directory_of(target) / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid());
}

void replace(const std::filesystem::path& target, std::string_view content,
             const std::filesystem::path& named) {
  const auto temporary = temporary_beside(target);
  ::unlink(temporary.c_str());  // left by a killed process with the same process number
  const unique_descriptor descriptor = open_or_refuse(temporary, O_CREAT | O_EXCL, named);
  try {
    struct stat before {};
    if (::stat(target.c_str(), &before) == 0)
      check_written(::fchmod(descriptor.get(), before.st_mode & 07777),
                    fmt::format("keeping the mode of '{}'", named.string()));
    write_all(descriptor.get(), content, named);
    check_written(::fsync(descriptor.get()), fmt::format("making '{}' durable", named.string()));
    check_written(::rename(temporary.c_str(), target.c_str()),
                  fmt::format("renaming to '{}'", named.string()));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory_of(target);
}

}  // namespace

std::filesystem::path behind_links(const std::filesystem::path& file) {
  std::error_code error;
  if (const auto there = std::filesystem::canonical(file, error); !error) return there;
  if (std::filesystem::exists(file, error))
    return file;  // the link's target has no path, such as a pipe at /dev/stdout
  auto real = std::filesystem::absolute(file);
  constexpr int most_links = 40;  // the kernel's limit
  for (int i = 0; i < most_links && std::filesystem::is_symlink(real, error); ++i)
    real = real.parent_path() / std::filesystem::read_symlink(real, error);
  const auto plain = std::filesystem::weakly_canonical(real, error);
  return error ? real : plain;
}

std::string why_not_writable(const std::filesystem::path& file) {
  struct stat what {};
  const auto target = behind_links(file);
  const bool exists = ::stat(target.c_str(), &what) == 0;
  if (!exists && std::filesystem::is_symlink(target)) return "it is a link that leads to itself";
  if (exists && S_ISDIR(what.st_mode)) return "it is a directory";
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return fmt::format("it cannot be written ({})", reason());
  if (exists && S_ISSOCK(what.st_mode)) return "it is a socket, which is no file to write to (- is stdout)";
  if (exists && (!S_ISREG(what.st_mode) || std::filesystem::is_symlink(target))) return "";
  const auto temporary = temporary_beside(target);
  const unique_descriptor tried(::open(temporary.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
  if (!tried)
    return fmt::format("no file can be created in '{}' ({})", directory_of(target).string(), reason());
  ::unlink(temporary.c_str());
  return "";
}

void sync_directory_of(const std::filesystem::path& file) {
  const std::filesystem::path directory = directory_of(file);
  const std::string action = fmt::format("making the directory '{}' durable", directory.string());
  const unique_descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  check_written(descriptor.get(), action);
  // Some file systems have no fsync for directories and say so.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) check_written(-1, action);
}

void write_file_atomically(const std::filesystem::path& file, std::string_view content) {
  const std::filesystem::path target = behind_links(file);
  struct stat what {};
  const bool exists = ::stat(target.c_str(), &what) == 0;
  if (exists && S_ISDIR(what.st_mode))
    throw usage_error(fmt::format("cannot write '{}': it is a directory", file.string()));
  // Only a regular file with a path can be replaced by a rename. A pipe has none, nor has a removed file that
  // /dev/stderr still leads to: there the rename would replace the link.
  if (exists && (!S_ISREG(what.st_mode) || std::filesystem::is_symlink(target))) {
    const unique_descriptor descriptor = open_or_refuse(file, O_TRUNC, file);
    write_all(descriptor.get(), content, file);
    return;
  }
  replace(target, content, file);
}

static bool ends_with_a_line(const std::filesystem::path& file) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(file, absent) || std::filesystem::file_size(file, absent) == 0)
    return true;
  std::ifstream text(file, std::ios::binary);
  return text.seekg(-1, std::ios::end) && text.get() == '\n';
}

void append_line(const std::filesystem::path& file, const std::string& line) {
  const auto text = (ends_with_a_line(file) ? "" : "\n") + line + "\n";
  const auto descriptor = open_or_refuse(file, O_APPEND | O_CREAT, file);
  write_all(descriptor.get(), text, file);
}

std::string why_not_appendable(const std::filesystem::path& file) {
  std::error_code absent;
  if (!std::filesystem::exists(file, absent) || std::filesystem::is_directory(file, absent))
    return why_not_writable(file);
  return ::access(file.c_str(), W_OK) == 0 ? "" : fmt::format("it cannot be written ({})", reason());
}

}  // namespace mgsync
