#include "src/results/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"
#include "src/results/checksum.hpp"
#include "src/results/first_schema.hpp"
#include "src/results/result_json.hpp"
#include "src/results/store_reading.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

std::string line_of(const ordered_json& object) {
  return seal(object.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) + '\n';
}

std::string header_line(const store_header& header) {
  return line_of({{"t", "header"},
                  {"schema", store_schema},
                  {"machine", to_json(header.machine)},
                  {"command", header.command},
                  {"seed", header.seed},
                  {"started", header.started},
                  {"settings", ordered_json(header.settings)}});
}

std::string resumed_line(const store_header& header) {
  return line_of(
      {{"t", "resumed"}, {"command", header.command}, {"seed", header.seed}, {"started", header.started}});
}

unique_descriptor open_regular(const std::filesystem::path& file) {
  const auto reason = [] { return std::generic_category().message(errno); };
  unique_descriptor descriptor(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor)
    throw usage_error(fmt::format("--store: cannot open '{}' for writing: {}", file.string(), reason()));
  struct stat what {};
  check_errno(::fstat(descriptor.get(), &what), fmt::format("looking at the store '{}'", file.string()));
  if (!S_ISREG(what.st_mode))
    throw usage_error(fmt::format("--store: '{}' is no regular file", file.string()));
  return descriptor;
}

bool is_empty(int descriptor, const std::filesystem::path& file) {
  struct stat what {};
  check_errno(::fstat(descriptor, &what), fmt::format("looking at the store '{}'", file.string()));
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
      if (scan.contents.of_first_schema)
        throw usage_error(
            fmt::format("--resume: '{}' is a store of an earlier mgsync ({}): it can be shown, compared and "
                        "merged, not resumed. Name another file with --store.",
                        file.string(), first_schema::store));
      refuse_another_configuration(file, scan.contents.header, header);
      first = resumed_line(header);
    }
    check_errno(::ftruncate(descriptor_.get(), static_cast<off_t>(scan.whole_bytes)),
                fmt::format("cutting the torn end of the store '{}'", file.string()));
    before_ = std::move(scan.contents);
    declared_ = std::move(scan.described);
  }
  append(first);
  check_errno(sync() ? 0 : -1, fmt::format("making the store '{}' durable", file.string()));
  sync_directory_of(file);
}

void store::append(const std::string& line) {
  const std::lock_guard lock(appending_);
  const std::string action = fmt::format("writing to the store '{}'", file_.string());
  struct stat what {};
  check_errno(::fstat(descriptor_.get(), &what), action);
  std::size_t written = 0;
  int error = 0;
  while (written < line.size() && error == 0) {
    // Where only a part was written the device is full or a limit was met: what of it, the rest tells.
    const ssize_t now = ::write(descriptor_.get(), line.data() + written, line.size() - written);
    if (now > 0) written += static_cast<std::size_t>(now);
    else if (now == 0 || errno != EINTR) error = now == 0 ? ENOSPC : errno;
  }
  if (error == 0) return;
  // Taken back, so that the store ends with a line.
  if (written > 0 && ::ftruncate(descriptor_.get(), what.st_size) != 0)
    throw api_error("system", std::generic_category().message(error),
                    action + " (and its last line is torn)");
  throw api_error("system", std::generic_category().message(error), action);
}

void store::add(const point& one, const std::vector<metric_name>& metrics, const std::string& method,
                const sample& measured) {
  const std::string key = short_key(one);
  if (declared_.insert(key).second) {
    ordered_json listed = ordered_json::object();
    for (const metric_name& each : metrics) listed[each.name] = to_json(each);
    append(line_of(
        {{"t", "point"}, {"key", key}, {"point", to_json(one)}, {"metrics", listed}, {"method", method}}));
  }
  append(line_of({{"t", "sample"}, {"key", key}, {"batch", measured.batch}, {"values", to_json(measured)}}));
}

void store::finish(const result& one) {
  append(line_of({{"t", "result"}, {"key", short_key(one.point)}, {"result", to_json(one)}}));
  check_errno(sync() ? 0 : -1, fmt::format("making the store '{}' durable", file_.string()));
}

void store::end(std::string_view why, std::string_view reason) {
  ordered_json last{{"t", "end"}, {"why", why}};
  if (!reason.empty()) last["reason"] = reason;
  append(line_of(last));
  check_errno(sync() ? 0 : -1, fmt::format("making the store '{}' durable", file_.string()));
}

bool store::sync() const noexcept { return ::fdatasync(descriptor_.get()) == 0; }

}  // namespace mgsync
