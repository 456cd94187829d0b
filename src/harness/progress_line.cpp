#include "src/harness/progress_line.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "src/base/standard_streams.hpp"

namespace mgsync {

progress_line::progress_line(std::size_t points) : points_(points), watched_(isatty(STDERR_FILENO) != 0) {}

void progress_line::running(const point& p, std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  if (points_ == 0 || !watched_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  std::string line = fmt::format("[{}/{}] {} on {}, {}", done_, points_, subject_of(p), p.members, what);
  line.resize(std::min<std::size_t>(line.size(), 79));
  put_on_stderr(fmt::format("\r{:<79}", line));
  dirty_ = true;
}

void progress_line::finished() {
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (points_ == 0 || watched_ || now - last_ < std::chrono::seconds(10)) return;
  last_ = now;
  say("mgsync: {} of {} points after {:.0f} s\n", done_, points_,
      std::chrono::duration<double>(now - began_).count());
}

void progress_line::clear() {
  if (dirty_) put_on_stderr(fmt::format("\r{:<79}\r", ""));
  dirty_ = false;
}

}  // namespace mgsync
