#include "src/studies/reduction/sum_exchange.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "src/base/watchdog.hpp"
#if MGSYNC_WITH_MPI
#include "src/base/mpi_native.hpp"
#else
#include <stdexcept>
#endif

namespace mgsync::reduction {

seen put_sums_together(const communicator& ranks, seen mine) {
  if (ranks.size() == 1) return mine;
  using json = nlohmann::json;
  const auto told = mine.checked.value_or(check_counts{});
  const json wire{mine.ended,    mine.reason, mine.values,    told.rounds,
                  told.compared, told.wrong,  mine.stopped_s, signal_received() != 0};
  bool first = true;
  for (const auto& text : ranks.all_gather(wire.dump(), "gathering what a run of sums showed")) {
    const json theirs = json::parse(text);
    const auto ended = theirs[0].get<ending>();
    mine.interrupted = mine.interrupted || theirs[7].get<bool>();
    mine.stopped_s = std::max(mine.stopped_s, theirs[6].get<double>());
    if (first) {
      mine.ended = ended;
      mine.reason = theirs[1];
      mine.values = theirs[2];
      mine.checked = check_counts{theirs[3], theirs[4], theirs[5]};
      first = false;
      continue;
    }
    if (ended > mine.ended) {
      mine.ended = ended;
      mine.reason = theirs[1];
    }
    for (const char* longest : {"duration_us", "call_us"})
      if (const auto value = theirs[2].find(longest);
          value != theirs[2].end() && mine.values.contains(longest))
        mine.values[longest].front() = std::max(mine.values[longest].front(), (*value)[0].get<double>());
  }
  return mine;
}

#if MGSYNC_WITH_MPI
void meet_by_mpi(const communicator& ranks) {
  check_mpi(MPI_Barrier(ranks.native_handle()->comm), "meeting between two kernels");
}
#else
void meet_by_mpi(const communicator&) { throw std::logic_error("built without MPI"); }
#endif

}  // namespace mgsync::reduction
