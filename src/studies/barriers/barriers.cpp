// Study barriers, which `mgsync` by itself measures: its axes, and what they mean for a plan.
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/words.hpp"
#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/harness/study.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "src/studies/barriers/barriers_evaluation.hpp"
#include "topology/placement.hpp"

namespace mgsync {
namespace barriers {
namespace {

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

std::vector<std::string> placements(const study_request& asked) {
  std::vector<std::string> found;
  for (const auto& word : asked.list("placement")) {
    const bool digits = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    // A list swallows the numbers that follow it.
    if (digits && !found.empty() && found.back().starts_with("list:")) found.back() += "," + word;
    else found.push_back(word);
  }
  for (const auto& word : found) topology::parse_placement(word);
  return found;
}
std::vector<std::uint32_t> microseconds(const study_request& asked, std::string_view axis) {
  std::vector<std::uint32_t> all;
  for (const auto& word : asked.list(axis)) all.push_back(static_cast<std::uint32_t>(std::stoul(word)));
  return all;
}

constexpr std::array<axis_declaration, 9> axes_of_barriers{{
    {"backend", "default",
     "name, name:variant, name:* (all variants), default or all, as `mgsync list` has them",
     "what is compared; default: the first variant of every backend", word_count::list,
     [](const study_request& asked) { chosen(asked); }},
    {"members", "", "numbers and ranges from 1 to 65536, such as 1-4,8",
     "how many take part; without a number powers of two of host threads, and every number of GPUs",
     word_count::list, read_members},
    {"gpus", "", "numbers and ranges, such as 1,2",
     "the same of GPUs alone: never host threads in their place", word_count::list, read_members},
    {"shape", "1x32", "as 1x32,4x256; b1x32: one block per GPU; all: every power of two",
     "blocks per SM x threads per block; of a host member the first number is its threads", word_count::list,
     [](const study_request& asked) { shapes(asked); }},
    {"placement", "near", "near, far, spread, list:0,3,5", "which members", word_count::list,
     [](const study_request& asked) { placements(asked); }},
    {"load", "idle",
     "idle, peer-stores, peer-loads, local-stores, local-loads, host-reads; with strength (blocks per GPU x "
     "threads) and place: peer-stores:16x512@others (SMs that the barrier does not use), "
     "peer-stores:x128@all",
     "traffic beside the barrier", word_count::list, [](const study_request& asked) { loads(asked); }},
    {"work", "0", "0 to 1000000",
     "how long each round works before it synchronizes; not counted, and neither is what hides behind it, "
     "such as a kernel's launch",
     word_count::list, nullptr, "us"},
    {"late", "0", "0 to 1000000",
     "how long the last member works before each round while the others wait for it; not counted",
     word_count::list, nullptr, "us"},
    {"peer_memory", "chosen", "chosen, ipc, vmm", "how processes share GPU memory", word_count::one},
}};

std::vector<measurement> points(const study_request& asked) {
  if (asked.notes != nullptr && asked.device == topology::device::host && asked.typed.contains("shape"))
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
  request.members = members(asked);
  if (asked.typed.contains("shape")) request.shapes = shapes(asked);
  request.backends = chosen(asked);
  request.placements = placements(asked);
  request.loads = loads(asked);
  request.work = microseconds(asked, "work");
  request.late = microseconds(asked, "late");
  if (asked.typed.contains("peer_memory")) request.peer_memory = asked.list("peer_memory").front();
  if (request.peer_memory == "chosen") request.peer_memory.clear();
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
    .in_ranks = true};

}  // namespace mgsync
