// The body of communicator with MPI. Only nonblocking collectives, polled with sleeps between.
#include <cstdlib>
#include <exception>
#include <iterator>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/awake_clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/loaded_libraries.hpp"
#include "src/base/mpi_native.hpp"
#include "src/base/ranks_mpi.hpp"

namespace mgsync {

namespace {

// MPI's description of itself; may be called before MPI_Init.
std::string mpi_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
std::string level_in_force;

std::string word_of(int provided) {
  for (std::size_t i = 0; i < std::size(levels); ++i)
    if (levels[i] == provided) return std::string(thread_level_words[i]);
  return "unknown";
}

void wait_quietly(MPI_Request& request, std::chrono::nanoseconds timeout, std::string_view what) {
  using namespace std::chrono_literals;
  const auto begin = awake_clock::now();
  auto look = begin + (communicator::speaks_first() ? 1s : 2s);
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    const auto now = awake_clock::now();
    const auto waited = now - begin;
    if (now > look || waited > timeout) {
      look = now + 500ms;
      const auto lost = communicator::lost_ranks(waited > timeout ? communicator::lost::gone_or_stopped
                                                                  : communicator::lost::gone);
      if (!lost.empty()) throw rank_lost(fmt::format("{}; not all ranks answered while {}", lost, what));
    }
    if (waited > timeout)
      throw timeout_error(fmt::format("not all ranks answered within {:.3g} s while {}{}",
                                      std::chrono::duration<double>(timeout).count(), what,
                                      who_did_not_come()));
    if (waited > std::chrono::milliseconds(10)) answer_questions();
    // Short waits poll without a pause; longer ones sleep, so that they take nothing from the cores under
    // test.
    if (waited > std::chrono::microseconds(20))
      std::this_thread::sleep_for(waited > std::chrono::milliseconds(10) ? std::chrono::microseconds(500)
                                                                         : std::chrono::microseconds(20));
  }
}

}  // namespace

void check_mpi(int result, std::string_view action, source_location where) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw api_error("MPI", text, action, where);
}

communicator::native::~native() {
  // Both calls are collective: while an exception unwinds, they would wait for ranks that never call them.
  if (std::uncaught_exceptions() > 0) return;
  if (owns_comm && comm != MPI_COMM_NULL) {
    const watched_call bounded(*this, "freeing a communicator (MPI_Comm_free)");
    MPI_Comm_free(&comm);
  }
  if (owns_mpi) {
    const watched_call bounded(*this, "ending MPI (MPI_Finalize)");
    ranks_begin_to_end();
    MPI_Finalize();
  }
}

communicator::communicator() = default;
communicator::communicator(communicator&&) noexcept = default;
communicator& communicator::operator=(communicator&&) noexcept = default;
communicator::~communicator() = default;

bool communicator::built_with_mpi() { return true; }

std::string communicator::library_version() { return mpi_name(mpi_text()); }

std::string communicator::library_in_use() {
  const auto text = mpi_text();
  auto transport = mpi_device(text);
  if (transport.empty())
    for (const std::string_view kind : {"pml", "mtl", "btl"})
      if (const auto those = loaded_components(fmt::format("mca_{}_", kind)); !those.empty())
        transport += fmt::format("{}{} {}", transport.empty() ? "" : ", ", kind, fmt::join(those, " "));
  return mpi_name(text) + (transport.empty() ? "" : fmt::format(" ({})", transport));
}

std::string communicator::thread_level_in_force() { return level_in_force; }

communicator communicator::single(std::chrono::nanoseconds timeout) {
  communicator one;
  one.timeout_ = timeout;
  one.native_ = std::make_unique<native>();
  one.native_->comm = MPI_COMM_SELF;
  return one;
}

communicator communicator::world(std::chrono::nanoseconds timeout, watchdog& dog, thread_level wanted) {
  const int required = levels[static_cast<std::size_t>(wanted)];
  int provided = 0;
  {
    const watchdog::guard bounded(dog, "starting MPI (MPI_Init_thread)", timeout);
    check_mpi(MPI_Init_thread(nullptr, nullptr, required, &provided), "starting MPI");
  }
  communicator all;
  all.native_ = std::make_unique<native>();
  all.native_->comm = MPI_COMM_WORLD;
  all.native_->owns_mpi = true;
  all.native_->dog = &dog;
  all.native_->timeout = timeout;
  level_in_force = word_of(provided);
  if (provided < required)
    throw api_error("MPI", fmt::format("its highest thread level is {}", level_in_force), "starting MPI");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "setting the error handler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &all.rank_), "asking for the rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &all.size_), "asking for the number of ranks");
  all.timeout_ = timeout;
  introduce_ranks(all);
  return all;
}

void communicator::barrier(std::string_view what) const {
  if (size_ == 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
}

std::vector<std::string> communicator::all_gather(std::string_view mine, std::string_view what) const {
  if (size_ == 1) return {std::string(mine)};
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<int> lengths(ranks);
  const int length = static_cast<int>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
  std::vector<int> offsets(ranks, 0);
  std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  check_mpi(MPI_Iallgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                            MPI_CHAR, native_->comm, &request),
            what);
  wait_quietly(request, timeout_, what);
  std::vector<std::string> parts;
  for (std::size_t r = 0; r < ranks; ++r)
    parts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return parts;
}

std::string communicator::broadcast(std::string value, int root, std::string_view what) const {
  if (size_ == 1) return value;
  int length = static_cast<int>(value.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&length, 1, MPI_INT, root, native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
  value.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Ibcast(value.data(), length, MPI_CHAR, root, native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
  return value;
}

template <class Make>
std::optional<communicator> communicator::made_by(std::string_view what, Make make) const {
  communicator part;
  part.timeout_ = timeout_;
  part.native_ = std::make_unique<native>();
  part.native_->dog = native_->dog;
  part.native_->timeout = native_->timeout;
  {
    const watched_call bounded(*native_, std::string(what));
    check_mpi(make(&part.native_->comm), what);
  }
  if (part.native_->comm == MPI_COMM_NULL) return std::nullopt;
  part.native_->owns_comm = true;
  check_mpi(MPI_Comm_rank(part.native_->comm, &part.rank_), "asking for the rank in a group");
  check_mpi(MPI_Comm_size(part.native_->comm, &part.size_), "asking for the ranks of a group");
  return part;
}

communicator communicator::split_by_host() const {
  if (size_ == 1) return single(timeout_);
  return *made_by("splitting the ranks by host (MPI_Comm_split_type)", [&](MPI_Comm* made) {
    return MPI_Comm_split_type(native_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, made);
  });
}

std::optional<communicator> communicator::split(int color) const {
  if (size_ == 1) return color < 0 ? std::nullopt : std::optional<communicator>(single(timeout_));
  return made_by("splitting the ranks (MPI_Comm_split)", [&](MPI_Comm* made) {
    return MPI_Comm_split(native_->comm, color < 0 ? MPI_UNDEFINED : color, rank_, made);
  });
}

communicator communicator::duplicate() const {
  if (size_ == 1) return single(timeout_);
  return *made_by("duplicating a communicator (MPI_Comm_dup)",
                  [&](MPI_Comm* made) { return MPI_Comm_dup(native_->comm, made); });
}

void communicator::abort(int code) const {
  if (native_ && job_has_several_ranks()) {
    const watched_call bounded(*native_, "ending all ranks (MPI_Abort)");
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  std::_Exit(code);
}

}  // namespace mgsync
