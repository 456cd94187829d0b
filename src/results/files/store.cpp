#include "src/results/files/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/store_reading.hpp"
#include "src/results/values/checksum.hpp"

namespace mgsync {

namespace {

// `list` hands over what stands behind the kind of the line.
template <class List>
std::string line_of(std::string_view kind, const List& list) {
  return seal(dumped(to_json(told_by{[&](auto& way) {
           way.needs("t", kind);
           list(way);
         }}))) +
         '\n';
}

std::string header_line(const store_header& header) {
  return line_of("header", [&](auto& way) {
    way.needs("schema", store_schema);
    fields(way, const_cast<store_header&>(header));
  });
}

std::string resumed_line(const store_header& header) {
  return line_of("resumed", [&](auto& way) {
    way.needs("command", header.command);
    way.needs("seed", header.seed);
    way.needs("started", header.started);
  });
}

unique_descriptor open_regular(const std::filesystem::path& file) {
  const auto reason = [] { return std::generic_category().message(errno); };
  unique_descriptor descriptor(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor)
    throw usage_error(fmt::format("--store: cannot open '{}' for writing: {}", file.string(), reason()));
  struct stat what {};
  check_written(::fstat(descriptor.get(), &what), fmt::format("looking at the store '{}'", file.string()));
  if (!S_ISREG(what.st_mode))
    throw usage_error(fmt::format("--store: '{}' is no regular file", file.string()));
  return descriptor;
}

bool is_empty(int descriptor, const std::filesystem::path& file) {
  struct stat what {};
  check_written(::fstat(descriptor, &what), fmt::format("looking at the store '{}'", file.string()));
  return what.st_size == 0;
}

void refuse_another_configuration(const std::filesystem::path& file, const store_header& was,
                                  const store_header& is) {
  std::vector<std::string> sentences;
  if (const std::string other = difference(was.machine, is.machine); !other.empty())
    sentences.push_back(other);
  std::set<std::string> keys;
  for (const auto& [key, value] : was.settings) keys.insert(key);
  for (const auto& [key, value] : is.settings) keys.insert(key);
  const auto value_in = [](const store_header& header, const std::string& key) {
    const auto found = header.settings.find(key);
    return found == header.settings.end() ? std::string("absent") : fmt::format("'{}'", found->second);
  };
  for (const std::string& key : keys)
    if (const auto now = value_in(is, key), before = value_in(was, key); now != before)
      sentences.push_back(fmt::format("{} is {}, was {}", key, now, before));
  if (!sentences.empty())
    throw usage_error(
        fmt::format("--resume: '{}' was measured otherwise: {}. Name another file with --store.",
                    file.string(), fmt::join(sentences, "; ")));
}

}  // namespace

store::store(const std::filesystem::path& file, const store_header& header, if_exists policy)
    : file_(file),
      descriptor_(open_regular(file)),
      lock_(std::make_unique<store_lock>(descriptor_.get(), file)) {
  std::string first = header_line(header);
  if (!is_empty(descriptor_.get(), file)) {
    if (policy == if_exists::refuse)
      throw usage_error(
          fmt::format("--store: '{}' exists: name another file; a measurement can go on with it by --resume",
                      file.string()));
    store_scan scan = scan_store(file);
    if (scan.begun) {
      refuse_another_configuration(file, scan.contents.header, header);
      first = resumed_line(header);
    }
    check_written(::ftruncate(descriptor_.get(), static_cast<off_t>(scan.whole_bytes)),
                  fmt::format("cutting the torn end of the store '{}'", file.string()));
    before_ = std::move(scan.contents);
    declared_ = std::move(scan.described);
  }
  append(first);
  check_written(sync() ? 0 : -1, fmt::format("making the store '{}' durable", file.string()));
  sync_directory_of(file);
}

void store::append(const std::string& line) {
  const std::lock_guard lock(appending_);
  if (sealed_) return;
  const std::string action = fmt::format("writing to the store '{}'", file_.string());
  struct stat what {};
  check_written(::fstat(descriptor_.get(), &what), action);
  std::size_t written = 0;
  int error = 0;
  while (written < line.size() && error == 0) {
    // After a partial write (the device is full, or a limit is reached) writing the rest gives the error
    // number.
    const ssize_t now = ::write(descriptor_.get(), line.data() + written, line.size() - written);
    if (now > 0) written += static_cast<std::size_t>(now);
    else if (now == 0 || errno != EINTR) error = now == 0 ? ENOSPC : errno;
  }
  if (error == 0) return;
  // Cuts the partial line off, so that the store ends with a whole line.
  const bool torn = written > 0 && ::ftruncate(descriptor_.get(), what.st_size) != 0;
  errno = error;
  check_written(-1, torn ? action + " (and its last line is torn)" : action);
}

void store::add(const point& one, const std::vector<metric_name>& metrics, const std::string& method,
                const sample& measured) {
  const std::string key = short_key(one);
  if (declared_.insert(key).second)
    append(line_of("point", [&](auto& way) {
      way.needs("key", key);
      way.needs("point", one);
      way.needs("metrics", by_name{metrics});
      way.needs("method", method);
    }));
  append(line_of("sample", [&](auto& way) {
    way.needs("key", key);
    way.needs("batch", measured.batch);
    way.needs("values", by_name{measured.values});
  }));
}

void store::finish(const result& one) {
  append(line_of("result", [&](auto& way) {
    way.needs("key", short_key(one.point));
    way.needs("result", one);
  }));
  check_written(sync() ? 0 : -1, fmt::format("making the store '{}' durable", file_.string()));
}

void store::end(std::string_view why, std::string_view reason) {
  append(line_of("end", [&](auto& way) {
    way.needs("why", why);
    way("reason", reason);
  }));
  check_written(sync() ? 0 : -1, fmt::format("making the store '{}' durable", file_.string()));
}

void store::seal() {
  const std::lock_guard lock(appending_);
  sealed_ = true;
}

bool store::sync() const noexcept { return ::fdatasync(descriptor_.get()) == 0; }

}  // namespace mgsync
