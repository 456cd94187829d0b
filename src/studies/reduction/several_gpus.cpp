#include "src/studies/reduction/several_gpus.hpp"

#include <algorithm>
#include <barrier>

#include "barriers/parts/gpu_team/vendor_cubin.hpp"
#include "src/studies/reduction/nccl_sum.hpp"
#include "src/studies/reduction/sum_launch.hpp"
#include "src/studies/reduction/sums_over_gpus.hpp"

namespace mgsync::reduction {
namespace {

reading reading_of(const several_sum& asked, int ordinal) {
  if (asked.asked) return *asked.asked;
  const bool bulk =
      asked.bytes >= least_bytes_for_bulk && compute_major(ordinal) >= 9 && !asked.how->needs_vendor;
  return bulk ? by_bulk_copies(asked.type, asked.bytes) : reading{};
}

class along_a_tree final : public one_kernel_each {
  using one_kernel_each::one_kernel_each;

  void* beside(lane& l, std::uint64_t turn) override {
    const auto& tree = asked_.tree;
    gather_arguments& given = given_[l.local];
    given.from = slot(l.member, turn, l);
    given.children = static_cast<unsigned>(tree.children_of(l.member).size());
    if (const int parent = tree.parents[l.member]; parent >= 0) {
      const auto siblings = tree.children_of(static_cast<unsigned>(parent));
      given.to = slot(static_cast<unsigned>(parent), turn, l) +
                 (std::find(siblings.begin(), siblings.end(), l.member) - siblings.begin()) * 16;
    }
    return &given;
  }

  std::vector<gather_arguments> given_ = std::vector<gather_arguments>(lanes_.size());
};

class met_by_the_host final : public one_kernel_each {
  using one_kernel_each::one_kernel_each;

  void go_on(lane& l, std::uint64_t turn, const sum_arguments&) override {
    team_.wait(l.local, "waiting for a GPU's part");
    if (one_process(asked_)) threads_.arrive_and_wait();
    else meet_by_mpi(ranks_);
    if (l.member == 0)
      launch_joining(second_, partials(l, turn), sums_of_blocks(), result(l, turn), launch_as::plain,
                     team_.stream(l.local));
  }
  void comes_no_more() override {
    if (one_process(asked_)) threads_.arrive_and_drop();
  }

  std::barrier<> threads_{static_cast<std::ptrdiff_t>(lanes_.size())};
  communicator ranks_ = asked_.where->ranks().duplicate();
};

class reduced_by_nccl final : public one_kernel_each {
 public:
  reduced_by_nccl(const several_sum& asked, several_parts parts) : one_kernel_each(asked, std::move(parts)) {
    start_nccl(asked.group, *asked.where);
  }

 private:
  void warm_up(lane& l) override { issue_one(l, 0, false); }  // connects all GPUs
  void go_on(lane& l, std::uint64_t turn, const sum_arguments& given) override {
    nccl_reduce(l.local, asked_.type, given.result, result(l, turn), team_.stream(l.local));
  }
};

// One call of the driver launches on all GPUs: the first thread makes it, and the others only wait for their
// streams.
class launched_by_the_vendor final : public one_kernel_each {
 public:
  launched_by_the_vendor(const several_sum& asked, several_parts parts)
      : one_kernel_each(asked, {parts.how_to_read, parts.blocks, std::move(parts.start)}),
        kernels_(std::move(parts.vendor)) {}

 private:
  void issue(lane& l, std::uint64_t count, bool faulty) override {
    std::vector<sum_arguments> given(lanes_.size());
    std::vector<void*> parameters;
    for (auto& each : given) parameters.push_back(&each);
    for (std::uint64_t turn = 0; turn < count && l.local == 0; ++turn) {
      for (const auto& each : lanes_) {
        given[each.local] = arguments_of(each, turn, faulty);
        launches_.set(each.local, kernels_[each.local], kernel_.blocks, kernel_.threads,
                      &parameters[each.local], team_.stream(each.local));
      }
      launches_.call("launching sums on all GPUs");
    }
    threads_.arrive_and_wait();
  }
  void comes_no_more() override { threads_.arrive_and_drop(); }

  std::vector<CUfunction> kernels_;
  gpu_team::launch_on_all launches_{kernels_.size()};
  std::barrier<> threads_{static_cast<std::ptrdiff_t>(lanes_.size())};
};

// Nothing, and the reason, where this build has no such kernels for these GPUs.
std::vector<CUfunction> vendor_kernels(value_type type, const std::vector<gpu_team::gpu_member>& mine,
                                       std::string& reason) {
  const gpu_team::vendor_part part{
      "mgsync_vendor_sum_abi", sizeof(sum_arguments),
      "the vendor's cubin has no sums, or those of another version of mgsync; build it anew"};
  std::vector<CUfunction> all;
  for (const auto& gpu : mine) {
    const gpu_team::vendor_cubin cubin(gpu.ordinal, part, reason);
    if (!reason.empty()) return {};
    all.push_back(cubin.kernel(type == value_type::fp64   ? "mgsync_vendor_sum_fp64"
                               : type == value_type::fp32 ? "mgsync_vendor_sum_fp32"
                                                          : "mgsync_vendor_sum_int32"));
  }
  return all;
}

std::string why_not_together(const several_sum& asked, const std::vector<gpu_team::gpu_member>& mine) {
  const auto& way = *asked.how;
  if (auto reason = cuda::reason_not_to_spin(mine.size())) return *reason;
  if (way.needs_nccl && !has_nccl()) return "this mgsync was built without NCCL";
  if (way.along_a_tree) return asked.tree.reason;
  if (way.needs_vendor && !one_process(asked))
    return "NVIDIA's barrier is launched by one call for all GPUs, and these belong to several processes";
  for (const auto& one : mine)
    for (const auto& other : mine) {
      int possible = 1;
      if (&one != &other)
        cuda::check(cudaDeviceCanAccessPeer(&possible, one.ordinal, other.ordinal),
                    "asking about peer access");
      if (possible == 0)
        return fmt::format("GPU {} cannot address the memory of GPU {}", one.ordinal, other.ordinal);
    }
  return {};
}

// Why this process's GPUs cannot run these sums; otherwise empty, and `parts.blocks` is how many blocks each
// GPU takes.
std::string why_not(const several_sum& asked, const std::vector<gpu_team::gpu_member>& mine,
                    several_parts& parts) {
  if (auto reason = why_not_together(asked, mine); !reason.empty()) return reason;
  const auto& r = parts.how_to_read;
  const auto* kernel = sum_kernel(asked.type, r.how, asked.how->join);
  if (kernel == nullptr || (!parts.vendor.empty() && r.how != loads::vector4))
    return fmt::format("there is no kernel that reads by {} like this", to_string(r));
  parts.blocks = 65535;
  for (unsigned local = 0; local < mine.size(); ++local) {
    const int ordinal = mine[local].ordinal;
    if (auto reason = why_not_cached(asked.bytes, asked.cold, ordinal); !reason.empty()) return reason;
    const cuda::device_scope scope(ordinal);
    std::size_t free = 0, all = 0;
    cuda::check(cudaMemGetInfo(&free, &all), "asking for free memory");
    if (asked.bytes > all / 10 * 8)
      return fmt::format("{} bytes do not fit into GPU {}'s {}", asked.bytes, ordinal, all);
    allow_shared_memory(kernel, r.how);
    const int room =
        parts.vendor.empty() ? room_of(kernel, r) : gpu_team::blocks_on_an_sm(parts.vendor[local], r.threads);
    if (auto reason = why_no_room(room, r); !reason.empty()) return reason;
    parts.blocks = std::min(parts.blocks, blocks_of(r, asked.type, asked.bytes, room, ordinal));
  }
  return {};
}

}  // namespace

std::unique_ptr<subject> by_one_kernel_each(const several_sum& asked, several_parts parts) {
  return std::make_unique<one_kernel_each>(asked, std::move(parts));
}
std::unique_ptr<subject> by_a_tree(const several_sum& asked, several_parts parts) {
  return std::make_unique<along_a_tree>(asked, std::move(parts));
}
std::unique_ptr<subject> by_the_host(const several_sum& asked, several_parts parts) {
  return std::make_unique<met_by_the_host>(asked, std::move(parts));
}
std::unique_ptr<subject> by_nccl(const several_sum& asked, several_parts parts) {
  return std::make_unique<reduced_by_nccl>(asked, std::move(parts));
}
std::unique_ptr<subject> by_the_vendor(const several_sum& asked, several_parts parts) {
  return std::make_unique<launched_by_the_vendor>(asked, std::move(parts));
}

subject_creation make_several_sum(const several_sum& asked) {
  const auto& way = *asked.how;
  const auto mine = gpu_team::gpus_of(asked.group, asked.where->rank());
  several_parts parts{.how_to_read = reading_of(asked, mine.front().ordinal)};
  std::string reason;
  if (way.needs_vendor && one_process(asked)) parts.vendor = vendor_kernels(asked.type, mine, reason);
  if (reason.empty()) reason = why_not(asked, mine, parts);
  if (reason = first_complaint(*asked.where, reason); !reason.empty()) return {nullptr, reason, {}};
  parts.blocks = std::ranges::min(
      asked.where->ranks().all_gather_values(parts.blocks, "agreeing on how many blocks add up"));
  auto start = allocate_host_memory(asked.group, 128, reach::group, *asked.where);
  if (!start.memory) return {nullptr, start.reason, {}};
  parts.start = std::move(start.memory);
  std::map<std::string, std::string> found{{"reading", to_string(parts.how_to_read)}};
  if (way.along_a_tree) found["tree"] = to_string(asked.tree);
  if (way.make == by_the_host) found["host_barrier"] = one_process(asked) ? "threads" : "MPI_Barrier";
  const auto blocks = static_cast<double>(parts.blocks);
  return {way.make(asked, std::move(parts)), {}, std::move(found), {{"blocks", {"", {blocks}}}}};
}

}  // namespace mgsync::reduction
