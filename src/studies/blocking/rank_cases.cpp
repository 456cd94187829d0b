#include <mpi.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "src/studies/blocking/flag_meeting.hpp"
#include "src/studies/blocking/held_rounds.hpp"
#include "src/studies/blocking/host_cases.hpp"

namespace mgsync::blocking {
namespace {

class mpi_meeting final : public meeting {
 public:
  mpi_meeting() {
    MPI_Comm_dup(MPI_COMM_WORLD, &here_);
    MPI_Comm_dup(MPI_COMM_WORLD, &elsewhere_);
  }
  bool meet(unsigned) override {
    MPI_Barrier(here_);
    return true;
  }
  void wait_elsewhere(unsigned) override { MPI_Barrier(elsewhere_); }

 private:
  MPI_Comm here_ = MPI_COMM_NULL, elsewhere_ = MPI_COMM_NULL;
};

// What all ranks of this host share, in one MPI window that rank 0 allocates.
struct rank_memory {
  case_board* board;
  std::uint32_t *flags, *line, *slots, *wrong;
  std::int64_t* stamps;
};

rank_memory make_memory(const blocking_case& c, int rank, unsigned ranks, std::string& why_not) {
  const std::size_t barrier = flag_barrier::words(ranks) * sizeof(std::uint32_t),
                    slots = std::size_t{2} * ranks * algorithm::line_bytes,
                    stamps = held_memory::stamps(c.rounds, ranks) * sizeof(std::int64_t);
  const std::size_t bytes = sizeof(case_board) + 3 * barrier + slots + algorithm::line_bytes + stamps;
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  int here = 0;
  MPI_Comm_size(host, &here);
  if (static_cast<unsigned>(here) != ranks) {
    why_not = fmt::format("the launcher spread {} ranks over several hosts; all must run on one", ranks);
    return {};
  }
  MPI_Win window = MPI_WIN_NULL;
  void* mine = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(bytes) : 0, 1, MPI_INFO_NULL, host, &mine,
                          &window);
  MPI_Aint size = 0;
  int unit = 0;
  void* start = nullptr;
  MPI_Win_shared_query(window, 0, &size, &unit, &start);
  if (rank == 0) std::memset(start, 0, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  auto* at = static_cast<std::byte*>(start);
  const auto next = [&at](std::size_t length) {
    auto* const here_it_is = at;
    at += length;
    return static_cast<void*>(here_it_is);
  };
  rank_memory m{};
  m.board = static_cast<case_board*>(next(sizeof(case_board)));
  m.flags = static_cast<std::uint32_t*>(next(2 * barrier));
  m.line = static_cast<std::uint32_t*>(next(barrier));
  m.slots = static_cast<std::uint32_t*>(next(slots));
  m.wrong = static_cast<std::uint32_t*>(next(algorithm::line_bytes));
  m.stamps = static_cast<std::int64_t*>(next(stamps));
  return m;
}

// Reports what only this rank knows, and ends its process, since MPI_Finalize would hang.
[[noreturn]] void end_rank(const case_run& run, unsigned me, const std::string& ended) {
  case_seen mine{.ended_by = ended};
  if (run.board->places[me].gave_up.load() != 0) mine.named = run.barrier->named(me);
  tell(mine);
  _exit(3);
}

}  // namespace

void run_rank_case(const blocking_case& c) {
  MPI_Init(nullptr, nullptr);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto me = static_cast<unsigned>(rank), all = static_cast<unsigned>(ranks);
  if (rank == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(version, &length);
    tell({.participants = std::vector<participant>(all),
          .found = {{"library", std::string(version, std::strcspn(version, ",\n"))}}});
  }
  std::string why_not;
  const auto memory = make_memory(c, rank, all, why_not);
  if (!why_not.empty()) {
    if (rank == 0) tell_found("waived", why_not);
    MPI_Finalize();
    _exit(0);
  }
  mpi_meeting mpi;
  flag_meeting ours(memory.flags, all, std::chrono::milliseconds(c.bound_ms));
  meeting& barrier = c.method == "ours" ? static_cast<meeting&>(ours) : mpi;
  const case_run run{&c, all, memory.board, &barrier};
  if (c.rounds > 0) {
    flag_barrier line(memory.line, all, std::chrono::hours(1));
    const held_memory held{memory.stamps, memory.wrong, memory.slots};
    take_rounds(c, all, me, barrier, line, held);
    if (rank == 0) { tell({.ended_by = "itself", .held = judge_rounds(c, all, held)}); }
    MPI_Finalize();
    _exit(0);
  }
  std::thread([run, me] {
    const auto ended = watch(run);
    if (ended != "itself") end_rank(run, me, ended);
  }).detach();
  take_part(
      run, me,
      [me](const participant& stamp) {
        case_seen mine;
        mine.participants.resize(me + 1);
        mine.participants[me] = stamp;
        tell(mine);
      },
      [] { _exit(0); });
  auto& mine = memory.board->places[me];
  mine.done.store(now_ns());
  if (mine.gave_up.load() != 0 || c.how == absence::elsewhere)
    std::this_thread::sleep_for(std::chrono::hours(1));  // until the watcher ends the process
  // Everything must be reported before MPI_Finalize, which may close the stdout of this process.
  if (me == 0) tell({.ended_by = "itself"});
  MPI_Finalize();
  _exit(0);
}

}  // namespace mgsync::blocking
