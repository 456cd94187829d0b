#include "src/harness/progress_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/standard_streams.hpp"
#include "src/base/terminal.hpp"
#include "src/base/units.hpp"

namespace mgsync {

std::string time_left(std::chrono::duration<double> spent, std::chrono::duration<double> whole,
                      std::size_t done, std::size_t points) {
  // Points of one cell take turns, and end together: few that are done say nothing.
  const bool few = done < std::min(points, std::max<std::size_t>(points / 10, 3));
  if (done > points || (few && spent > whole)) return "";
  const double left = few ? (whole - spent).count()
                          : spent.count() / static_cast<double>(done) * static_cast<double>(points - done);
  if (left < 99.5) return fmt::format("about {:.0f} s left", std::ceil(left));
  return left < 99.5 * 60 ? fmt::format("about {:.0f} min left", left / 60)
                          : fmt::format("about {:.0f} h left", left / 3600);
}

progress_line::progress_line(std::size_t points, std::chrono::duration<double> whole)
    : whole_(whole), points_(points), watched_(isatty(STDERR_FILENO) != 0) {}

void progress_line::running(const point& p, std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  if (points_ == 0 || !watched_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const auto left = time_left(now - began_, whole_, done_, points_);
  std::string line = fmt::format("[{}/{}] {}{}{} on {}, {}", done_, points_, left, left.empty() ? "" : ": ",
                                 subject_of(p), count_of_members(p), what);
  line.resize(
      std::min(line.size(), static_cast<std::size_t>(std::max(20, terminal_at(STDERR_FILENO).columns - 1))));
  put_on_stderr(fmt::format("\r{:<{}}", line, written_));
  written_ = line.size();
}

void progress_line::finished() {
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (points_ == 0 || watched_ || now - last_ < std::chrono::seconds(10)) return;
  last_ = now;
  const auto left = time_left(now - began_, whole_, done_, points_);
  say("mgsync: {} of {} after {:.0f} s{}{}\n", done_, counted(points_, "point"),
      std::chrono::duration<double>(now - began_).count(), left.empty() ? "" : ", ", left);
}

void progress_line::clear() {
  if (written_ != 0) put_on_stderr(fmt::format("\r{:{}}\r", "", written_));
  written_ = 0;
}

}  // namespace mgsync
