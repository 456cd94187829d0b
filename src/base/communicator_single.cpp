// The body of communicator in a build without MPI: always one rank.
#include <cstdlib>

#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"

namespace mgsync {

struct communicator::native {};

communicator::communicator() = default;
communicator::communicator(communicator&&) noexcept = default;
communicator& communicator::operator=(communicator&&) noexcept = default;
communicator::~communicator() = default;

bool communicator::built_with_mpi() { return false; }
std::string communicator::library_version() { return "none"; }
std::string communicator::library_in_use() { return {}; }
std::string communicator::lost_ranks(lost) { return {}; }
bool communicator::first_is_gone() { return false; }
void communicator::leave_word(std::string_view) {}
bool communicator::has_word() { return false; }
bool communicator::was_told() { return false; }
bool communicator::is_over() { return false; }
void communicator::files_are_written() {}
void communicator::let_first_write(std::chrono::nanoseconds) {}
std::string communicator::this_rank() { return {}; }
bool communicator::speaks_first() { return true; }
std::string communicator::thread_level_in_force() { return {}; }

communicator communicator::single(std::chrono::nanoseconds timeout) {
  communicator one;
  one.timeout_ = timeout;
  return one;
}

communicator communicator::world(std::chrono::nanoseconds, watchdog&, thread_level) {
  throw usage_error("this mgsync was built without MPI: start it directly, or build it with MGSYNC_MPI=ON");
}

void communicator::barrier(std::string_view) const {}
std::vector<std::string> communicator::all_gather(std::string_view mine, std::string_view) const {
  return {std::string(mine)};
}
std::string communicator::broadcast(std::string value, int, std::string_view) const { return value; }
communicator communicator::split_by_host() const { return single(timeout_); }
std::optional<communicator> communicator::split(int color) const {
  if (color < 0) return std::nullopt;
  return single(timeout_);
}
communicator communicator::duplicate() const { return single(timeout_); }
void communicator::abort(int code) const { std::_Exit(code); }

}  // namespace mgsync
