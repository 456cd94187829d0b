// Study barriers, the default one: what `mgsync` by itself plans and measures with all its options, here by
// its main axes, so that it is one study among the others.
#include <array>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/words.hpp"
#include "src/base/errors.hpp"
#include "src/harness/study.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync {
namespace barriers { namespace {

std::string typed(const study_request& asked, std::string_view axis) {
  return fmt::format("{}", fmt::join(asked.list(axis), ","));
}

std::vector<int> members(const study_request& asked) {
  const auto members = typed(asked, "members"), gpus = typed(asked, "gpus");
  if (!gpus.empty() && asked.device == topology::device::host)
    throw usage_error(fmt::format(
        "--gpus {} is for GPUs, and the members here are host threads; accepted for them: --members {}", gpus,
        gpus));
  if (!members.empty() && !gpus.empty())
    throw usage_error("--members and --gpus are two names for one number; accepted: one of them");
  return members.empty() && gpus.empty() ? std::vector<int>{}
         : members.empty()               ? parse_members(gpus, "gpus")
                                         : parse_members(members);
}
void read_members(const study_request& asked) { members(asked); }
std::vector<shape> shapes(const study_request& asked) { return parse_shapes(typed(asked, "shape")); }
std::vector<backend_choice> chosen(const study_request& asked) {
  return parse_backends(typed(asked, "backend"), backends());
}
std::vector<load> loads(const study_request& asked) { return parse_loads(typed(asked, "load")); }

constexpr std::array<axis_declaration, 5> axes_of_barriers{{
    {"backend", "default", "backends as `mgsync list` names them, default or all", "what is compared",
     word_count::list, [](const study_request& asked) { chosen(asked); }},
    {"members", "", "numbers and ranges, such as 1-4,8",
     "how many members; without a number powers of two of host threads, and every number of GPUs",
     word_count::list, read_members},
    {"gpus", "", "numbers and ranges, such as 1,2", "the same of GPUs alone", word_count::list, read_members},
    {"shape", "1x32", "blocks per SM x threads per block, as 1x32 or b1x32, or all",
     "of a GPU member; of a host member the first number is its threads", word_count::list,
     [](const study_request& asked) { shapes(asked); }},
    {"load", "idle", "loads as `mgsync --load` takes them", "traffic beside the barrier", word_count::list,
     [](const study_request& asked) { loads(asked); }},
}};

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
  request.members = members(asked);
  request.shapes = shapes(asked);
  request.backends = chosen(asked);
  request.loads = loads(asked);
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
