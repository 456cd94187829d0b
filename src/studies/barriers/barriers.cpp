// Study barriers, the default one: what `mgsync` by itself plans and measures with all its options, here by its main axes, so
// that it is one study among the others.
#include <array>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/words.hpp"
#include "src/harness/study.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync {
namespace barriers {
namespace {

constexpr std::array<axis_declaration, 5> axes_of_barriers{{
    {"backend", "default", "backends as `mgsync list` names them, default or all", "what is compared"},
    {"members", "", "numbers and ranges, such as 1-4,8", "how many members; without a number powers of two of host threads, and every number of GPUs"},
    {"gpus", "", "numbers and ranges, such as 1,2", "the same as --members"},
    {"shape", "1x32", "blocks per SM x threads per block, as 1x32 or b1x32, or all", "of a GPU member; of a host member the first number is its threads"},
    {"load", "idle", "loads as `mgsync --load` takes them", "traffic beside the barrier"},
}};

// What the points of a sweep refer to: a job of one process. The command's own watchdog names what hangs; this one only takes
// part in waits.
struct sweep {
  plan planned;
  communicator job;
  watchdog dog;

  sweep(plan made, std::chrono::nanoseconds patience)
      : planned(std::move(made)), job(communicator::single(patience)), dog([](const std::string&) {}, [](const std::string&) {}) {}
};

std::vector<measurement> points(const study_request& asked) {
  const auto typed = [&](std::string_view axis) { return fmt::format("{}", fmt::join(asked.list(axis), ",")); };
  sweep_request request;
  request.device = asked.device;
  request.with_cuda = asked.with_cuda;
  request.pin = asked.machine().is_this_machine;
  for (const auto* counts : {"members", "gpus"})
    if (const auto text = typed(counts); !text.empty()) request.members = parse_members(text);
  request.shapes = parse_shapes(typed("shape"));
  request.backends = parse_backends(typed("backend"), backends());
  request.loads = parse_loads(typed("load"));
  settings wanted;
  const auto all = std::make_shared<sweep>(make_plan(request, asked.ranks), wanted.timeout);
  wanted.stopping.max_time = default_max_time(points_to_measure(all->planned));
  auto made = points_of(all->planned, wanted, all->job, all->dog);
  for (auto& m : made) m.create = [all, create = std::move(m.create)] { return create(); };
  return made;
}

}  // namespace
}  // namespace barriers

extern const study barriers_study;
const study barriers_study{"barriers", "every way to synchronize here, checked and compared: the heat maps and curves of papers 000 and 001",
                           barriers::axes_of_barriers, barriers::points, barriers::evaluate, 1.0};

}  // namespace mgsync
