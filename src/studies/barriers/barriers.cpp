// Study barriers, the one that `mgsync` without a study measures: its axes, and how they become a plan.
#include "barriers/words.hpp"
#include "src/base/communicator.hpp"
#include "src/harness/study.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"

namespace mgsync {
namespace barriers {
namespace {

constexpr axis_of<backend_choice> choices(
    {.name = "backend",
     .help = "what is compared; default: the first variant of every backend, and the first that a program "
             "can call"},
    read_by<backend_choice>{
        .defaults = "default",
        .accepted =
            "name, name:variant, name:* (all variants; name:lib*: those that begin so), default or all, "
            "as `mgsync list` has them; ./mine.so, or ./mine.so:name, for barriers of your own "
            "(docs/check.md)",
        .read = [](auto words, auto& into) { return read_backend_or_file(words, into); },
        .known = backend_words});
constexpr axis_of<int> members(
    {.name = "members",
     .help = "how many take part; without a number powers of two of host threads, and every number of GPUs"},
    numbers_in{.least = 1, .most = most_members, .ranges = true});
constexpr axis_of<int> gpus({.name = "gpus",
                             .help = "the same of GPUs alone: never host threads in their place",
                             .another_name_of = &members},
                            numbers_in{.of = only_gpus, .least = 1, .most = most_members, .ranges = true});
constexpr axis_of<int> nodes(
    {.name = "nodes",
     .help = "the first so many of the nodes that the ranks are on, with all members "
             "of each; without a number all of them"},
    numbers_in{.least = 1, .most = most_members, .ranges = true});
constexpr axis_of<shape> shapes(
    {.name = "shape", .help = "of a GPU member; of a host member the first number is its threads"},
    read_by<shape>{.defaults = "1x32", .accepted = accepted_shapes, .read = read_shapes});
constexpr axis_of<std::string> placements({.name = "placement", .help = "which members"},
                                          read_by<std::string>{.defaults = "near",
                                                               .accepted = accepted_placements,
                                                               .read = read_placement,
                                                               .known = placement_words});
constexpr axis_of<load> loads(
    {.name = "load", .help = "traffic beside the barrier"},
    read_by<load>{.defaults = "idle", .accepted = accepted_loads, .read = read_load, .known = load_words});
constexpr axis_of<std::uint32_t> works({.name = "work",
                                        .help = "how long each round works before it synchronizes; not "
                                                "counted, and neither is what hides behind it, such "
                                                "as a kernel's launch",
                                        .unit = "us"},
                                       numbers_in{.least = 0, .most = 1'000'000, .defaults = "0"});
constexpr axis_of<std::uint32_t> lateness(
    {.name = "late",
     .help = "how long the last member works before each round while the others wait for it; not counted",
     .unit = "us"},
    numbers_in{.least = 0, .most = 1'000'000, .defaults = "0"});
// The word that a configuration knows; chosen: none.
std::vector<std::pair<std::string_view, std::string>> memories() {
  return {{"", "chosen"}, {"ipc", "ipc"}, {"vmm", "vmm"}};
}
constexpr axis_of<std::string_view> peer_memory({.name = "peer_memory",
                                                 .help = "how processes share GPU memory",
                                                 .counts = word_count::one},
                                                names_in<memories>{.defaults = "chosen"});
constexpr const axis_declaration* axes_of_barriers[] = {
    &choices, &members, &gpus, &nodes, &shapes, &placements, &loads, &works, &lateness, &peer_memory};

std::vector<measurement> points(const study_request& asked) {
  if (asked.notes != nullptr && asked.device == topology::device::host && asked.typed(shapes))
    asked.notes->push_back("host members: the B of a shape BxT is threads per member, T is ignored");
  auto planned = make_plan(sweep_of(asked), asked.ranks);
  settings wanted;
  wanted.stopping = asked.stops({.max_time = default_max_time(points_to_measure(planned))});
  wanted.check_rounds = asked.settings.check_rounds;
  wanted.seed = asked.seed;
  wanted.timeout = asked.settings.timeout;
  return points_of(std::move(planned), wanted, asked.where);
}

}  // namespace

sweep_request sweep_of(const study_request& asked) {
  sweep_request request;
  request.device = asked.device;
  request.with_cuda = asked.with_cuda;
  request.pin = asked.pins();
  request.per_node = asked.settings.per_node;
  request.oversubscribe = asked.settings.oversubscribe;
  request.members_per_rank = asked.settings.members_per_rank;
  request.mpi_threads = communicator::thread_level_in_force();
  request.members = asked.values(members);
  request.nodes = asked.values(nodes);
  request.shapes = asked.values(shapes);
  request.backends = asked.values(choices);
  request.placements = asked.values(placements);
  request.loads = asked.values(loads);
  request.work = asked.values(works);
  request.late = asked.values(lateness);
  request.peer_memory = asked.one(peer_memory);
  if (asked.planning && asked.planned == detail::grouped) request.members_described = 100'000;
  return request;
}

}  // namespace barriers

extern const study barriers_study;
const study barriers_study{
    .name = "barriers",
    .summary =
        "every way to synchronize here, checked and compared: the heat maps and curves of papers 000 and 001",
    .axes = barriers::axes_of_barriers,
    .points = barriers::points,
    .evaluate = barriers::evaluate,
    .seconds_per_point = 2.2,
    .in_ranks = true,
    .facts_of = barriers::known_facts_of};

}  // namespace mgsync
