#include "src/studies/reduction/sum_exchange.hpp"

#include <algorithm>

#include "src/base/json_fields.hpp"
#include "src/base/watchdog.hpp"
#if MGSYNC_WITH_MPI
#include "src/base/mpi_native.hpp"
#else
#include <stdexcept>
#endif

namespace mgsync::reduction {

seen put_sums_together(const communicator& ranks, seen mine) {
  if (ranks.size() == 1) return mine;
  mine.interrupted = mine.interrupted || signal_received() != 0;
  const auto told = ranks.all_gather(on_wire(mine), "gathering what a run of sums showed");
  seen all = from_wire<seen>(told.front());
  for (std::size_t rank = 1; rank < told.size(); ++rank) {
    const auto theirs = from_wire<seen>(told[rank]);
    all.interrupted = all.interrupted || theirs.interrupted;
    all.stopped_s = std::max(all.stopped_s, theirs.stopped_s);
    if (theirs.ended > all.ended) {
      all.ended = theirs.ended;
      all.reason = theirs.reason;
    }
    for (const char* longest : {"duration_us", "call_us"})
      if (const auto value = theirs.values.find(longest);
          value != theirs.values.end() && all.values.contains(longest))
        all.values[longest].front() = std::max(all.values[longest].front(), value->second.front());
  }
  all.done = mine.done;
  return all;
}

#if MGSYNC_WITH_MPI
void meet_by_mpi(const communicator& ranks) {
  check_mpi(MPI_Barrier(ranks.native_handle()->comm), "meeting between two kernels");
}
#else
void meet_by_mpi(const communicator&) { throw std::logic_error("built without MPI"); }
#endif

}  // namespace mgsync::reduction
