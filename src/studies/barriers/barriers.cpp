// Study barriers, the default one: what `mgsync` by itself plans and measures with all its options, here by
// its main axes, so that it is one study among the others.
#include <memory>

#include "barriers/words.hpp"
#include "src/harness/study.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync {
namespace barriers { namespace {

constexpr axis_of<backend_choice> choices(
    {.name = "backend", .help = "what is compared"},
    read_by<backend_choice>{.defaults = "default",
                            .accepted = "backends as `mgsync list` names them, default or all",
                            .read = [](auto words, auto& into) { return read_backend(words, into); }});
constexpr axis_of<int> members(
    {.name = "members",
     .help = "how many members; without a number powers of two of host threads, and every number of GPUs"},
    numbers_in{.least = 1, .most = most_members, .ranges = true});
constexpr axis_of<int> gpus({.name = "gpus", .help = "the same of GPUs alone", .another_name_of = &members},
                            numbers_in{.of = gpu_members, .least = 1, .most = most_members, .ranges = true});
constexpr axis_of<shape> shapes(
    {.name = "shape", .help = "of a GPU member; of a host member the first number is its threads"},
    read_by<shape>{.defaults = "1x32", .accepted = accepted_shapes, .read = read_shape});
constexpr axis_of<load> loads({.name = "load", .help = "traffic beside the barrier"},
                              read_by<load>{
                                  .defaults = "idle", .accepted = accepted_loads, .read = read_load});
constexpr const axis_declaration* axes_of_barriers[] = {&choices, &members, &gpus, &shapes, &loads};

// What the points of a sweep refer to: a job of one process. The command's own watchdog names what hangs;
// this one only takes part in waits.
struct sweep {
  plan planned;
  communicator job;
  watchdog dog;

  sweep(plan made, std::chrono::nanoseconds patience)
      : planned(std::move(made)),
        job(communicator::single(patience)),
        dog([](const std::string&) {}, [](const std::string&) {}) {}
};

std::vector<measurement> points(const study_request& asked) {
  sweep_request request;
  request.device = asked.device;
  request.with_cuda = asked.with_cuda;
  request.pin = asked.machine().is_this_machine;
  request.members = asked.values(members);
  request.shapes = asked.values(shapes);
  request.backends = asked.values(choices);
  request.loads = asked.values(loads);
  settings wanted;
  const auto all = std::make_shared<sweep>(make_plan(request, asked.ranks), wanted.timeout);
  wanted.stopping.max_time = default_max_time(points_to_measure(all->planned));
  auto made = points_of(all->planned, wanted, all->job, all->dog);
  for (auto& m : made) m.create = [all, create = std::move(m.create)] { return create(); };
  return made;
}

}}  // namespace barriers

extern const study barriers_study;
const study barriers_study{
    "barriers",
    "every way to synchronize here, checked and compared: the heat maps and curves of papers 000 and 001",
    barriers::axes_of_barriers,
    barriers::points,
    barriers::evaluate,
    1.0};

}  // namespace mgsync
