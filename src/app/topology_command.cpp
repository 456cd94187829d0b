#include "src/app/topology_command.hpp"

#include <fmt/format.h>

#include "src/app/this_machine.hpp"
#include "topology/description.hpp"

namespace mgsync {

int topology_command(const options& asked, communicator& job) {
  const auto views = gather_views(asked, job);
  if (job.rank() == 0) fmt::print("{}", topology::write_description(views.front().seen));
  return 0;
}

}  // namespace mgsync
