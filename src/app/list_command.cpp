#include "src/app/commands.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/standard_streams.hpp"
#include "src/studies/barriers/barrier_points.hpp"

namespace mgsync {

namespace {

std::string_view what_it_lacks(const facts& of) {
  if (of.orders_less()) return "; orders less than a barrier";
  return of.order == fact::order::inside_nodes ? "; between nodes it orders execution, and what it carries"
                                               : "";
}

}  // namespace

int list_backends(const campaign_request& asked, const communicator& job,
                  std::span<const topology::rank_view> views) {
  auto request = barriers::sweep_of(request_for(*asked.studies.front(), asked, views));
  if (!asked.axes.contains("backend")) {
    request.backends.clear();
    for (const auto* b : backends())
      for (const auto& v : b->variants) request.backends.push_back({b, &v});
  }
  if (request.members.empty())
    request.members = {std::max(1, topology::largest_group(views, request.device, request.members_per_rank))};
  const auto planned = make_plan(request, views);
  if (job.rank() != 0) return 0;
  for (const auto& c : planned.cells) {
    tell("with {} {}:\n", c.group.members.size(),
         request.device == topology::device::gpu ? "GPUs" : "host members");
    for (const auto& p : c.points) {
      const auto& b = *p.choice.backend;
      const bool first = p.choice.variant == &b.variants.front();
      if (first) tell("{:<16} {}\n", b.name, b.summary);
      const auto& v = *p.choice.variant;
      tell("  {:<30} {}{}\n      {}{}\n", to_string(p.choice),
           p.waived.empty() ? "can run" : "waived: " + p.waived, first ? "  (default)" : "", v.summary,
           what_it_lacks(v.facts_for(request.device)));
    }
  }
  return 0;
}

}  // namespace mgsync
