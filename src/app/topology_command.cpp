#include "src/app/commands.hpp"

#include <fmt/format.h>

#include "src/app/this_machine.hpp"
#include "src/base/standard_streams.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync {

int topology_command(const options& asked, communicator& job, topology::machine mine) {
  const auto views = gather_views(job, std::move(mine));
  // All ranks have the same views and the same options, so a usage error is thrown by all of them together.
  const auto report = topology::write_report(views, {asked.format, asked.members_per_rank, asked.pin});
  if (job.rank() == 0) tell("{}", report);
  return 0;
}

}  // namespace mgsync
