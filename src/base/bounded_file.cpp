#include "src/base/bounded_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {
namespace {

// 16 MiB, 12345 bytes.
std::string size_in_words(std::size_t bytes) {
  return bytes % (std::size_t{1} << 20) == 0 ? fmt::format("{} MiB", bytes >> 20)
                                             : fmt::format("{} bytes", bytes);
}

// Whether there is something to read, or its end, before this time.
bool comes_before(int file, std::chrono::steady_clock::time_point end) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{file, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0 || (ready < 0 && errno != EINTR))
      return true;  // on an error the read that follows reports it
  }
}

}  // namespace

std::string read_bounded_file(const std::string& file, const std::string& shown, std::string_view accepted,
                              std::size_t most, std::chrono::milliseconds within) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error(
        fmt::format("{}: {}{}{}", shown, why, accepted.empty() ? "" : "; accepted: ", accepted));
  };
  const auto end = std::chrono::steady_clock::now() + within;
  const unique_descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!in) refuse("the file cannot be opened");
  std::string text;
  struct stat known {};
  if (fstat(in.get(), &known) == 0 && S_ISREG(known.st_mode))
    text.reserve(std::min(static_cast<std::size_t>(known.st_size), most));
  std::string part(std::size_t{1} << 20, '\0');
  while (true) {
    if (!comes_before(in.get(), end))
      refuse(fmt::format("not read to its end within {} s", static_cast<double>(within.count()) * 1e-3));
    const auto got = read(in.get(), part.data(), part.size());
    if (got == 0) return text;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) refuse("the file cannot be read");
    if (static_cast<std::size_t>(got) > most - text.size())
      refuse(fmt::format("larger than {}", size_in_words(most)));
    text.append(part, 0, static_cast<std::size_t>(got));
  }
}

}  // namespace mgsync
