// The barriers that other projects use between GPUs, each a file here, beside ours: docs/peers.md. Host
// threads run the same code.
#include <algorithm>

#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/host_barrier.hpp"
#include "barriers/peers/cas_mailbox.hpp"
#include "barriers/peers/counter_per_peer.hpp"
#include "barriers/peers/dissemination.hpp"
#include "barriers/peers/flags_of_block_0.hpp"
#include "barriers/peers/flags_per_block.hpp"
#include "barriers/peers/gpu_peers.hpp"
#include "barriers/peers/pull.hpp"
#include "barriers/peers/sign_alternating.hpp"
#include "barriers/peers/sum_to_zero.hpp"
#include "barriers/peers/three_state.hpp"

namespace mgsync {

namespace {

using algorithm::host_lines;

// One worker's passage, with its own epoch.
template <class Form>
class alignas(algorithm::line_bytes) host_pass {  // its epoch is written every round: no line is shared
 public:
  host_pass(std::uint32_t* const* parts, const algorithm::position& at) : lines_{parts}, at_(at) {}
  void begin(const algorithm::host_limits& limits) { policy_ = algorithm::host_policy(limits); }
  bool operator()() { return Form::arrive_and_wait(policy_, lines_, at_, ++epoch_); }

  static unsigned lines(unsigned) { return Form::all_lines(); }
  static void start(const host_lines& memory, unsigned member, unsigned members, unsigned blocks) {
    const auto image = peers::image_of<Form>(members, blocks, round_loop::first_epoch);
    std::copy(image.begin(), image.end(), &memory.line(member, 0));
  }

 private:
  algorithm::host_policy policy_;
  host_lines lines_;
  algorithm::position at_;
  std::uint32_t epoch_ = round_loop::first_epoch;
};

template <class Form>
creation on_hosts(const topology::group& group, const configuration& wanted, session& where) {
  return round_loop::make_host_barrier<host_pass<Form>>(group, wanted.blocks_per_sm.value_or(1), where,
                                                        fmt::format("peers ({})", Form::name), Form::name);
}

// Of all blocks: with our local part around it.
constexpr facts form{.origin = fact::origin::peer,
                     .driver = fact::driver::device,
                     .scope = fact::scope::node,
                     .extent = fact::extent::everything,
                     .order = fact::order::both};
constexpr facts of_equal_blocks() {
  auto all = form;
  all.extent = fact::extent::equal_threads;
  return all;
}
constexpr facts unordered() {
  auto all = form;
  all.order = fact::order::none;
  return all;
}

support needs_multicast(const topology::machine&, const topology::group&, const configuration&) {
  return support::no(peers::without_multicast);
}

constexpr barrier_variant variants[] = {
    {.name = peers::flags_per_block::name,
     .summary = "vLLM's: a flag at every member, two in turn, polled until equal",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::flags_per_block>,
                             built<MGSYNC_WITH_CUDA, gpu_peers::flags_per_block>),
     .bounded = true},
    {.name = peers::equal_blocks::name,
     .summary = "vLLM's as vLLM uses it: block b meets the others' block b only",
     .facts = of_equal_blocks(),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_peers::equal_blocks>),
     .bounded = true},
    {.name = peers::flags_unordered::name,
     .summary = "vLLM's first barrier of a kernel: nothing is released or acquired",
     .facts = unordered(),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_peers::flags_unordered>),
     .bounded = true},
    {.name = peers::flags_of_block_0::name,
     .summary = "TensorRT-LLM's: block 0 writes a flag to every member, all blocks poll all flags",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::flags_of_block_0>,
                             built<MGSYNC_WITH_CUDA, gpu_peers::flags_of_block_0>),
     .bounded = true},
    {.name = peers::three_state::name,
     .summary = "TensorRT-LLM's and FlashInfer's: a flag of three states, polled until it changes",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::three_state>, built<MGSYNC_WITH_CUDA, gpu_peers::three_state>),
     .bounded = true},
    {.name = "data-with-epoch",
     .summary = "Lamport's form: a word is its own flag; no other memory is ordered",
     .facts = unordered(),
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_peers::data_with_epoch>),
     .bounded = true},
    {.name = peers::cas_mailbox::name,
     .summary = "PyTorch's: compare and swap, 0 to 1 at the peer, 1 to 0 on one's own",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::cas_mailbox>, built<MGSYNC_WITH_CUDA, gpu_peers::cas_mailbox>),
     .bounded = true},
    {.name = peers::counter_per_peer::name,
     .summary = "MSCCL++'s: a counter for each peer, which only grows",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::counter_per_peer>,
                             built<MGSYNC_WITH_CUDA, gpu_peers::counter_per_peer>),
     .bounded = true},
    {.name = peers::sum_to_zero::name,
     .summary = "DeepEP's first: one added to one's own word, one taken from the peer's",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::sum_to_zero>, built<MGSYNC_WITH_CUDA, gpu_peers::sum_to_zero>),
     .bounded = true},
    {.name = peers::sign_alternating::name,
     .summary = "DeepEP's later one: a counter up to the number of members, and down again",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::sign_alternating>,
                             built<MGSYNC_WITH_CUDA, gpu_peers::sign_alternating>),
     .bounded = true},
    {.name = peers::pull::name,
     .summary = "one flag of one's own, which all others poll over the link",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::pull>, built<MGSYNC_WITH_CUDA, gpu_peers::pull>),
     .bounded = true},
    {.name = peers::dissemination<2>::name,
     .summary = "NVSHMEM's: log2 steps, each to one partner",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::dissemination<2>>,
                             built<MGSYNC_WITH_CUDA, gpu_peers::dissemination_2>),
     .bounded = true},
    {.name = peers::dissemination<4>::name,
     .summary = "NVSHMEM's with radix 4, mended: log4 steps, each to three partners",
     .facts = form,
     .make = makers::of_both(on_hosts<peers::dissemination<4>>,
                             built<MGSYNC_WITH_CUDA, gpu_peers::dissemination_4>),
     .bounded = true},
    {.name = "multimem",
     .summary = "NCCL's and MSCCL++'s over a switch: one addition arrives at every member",
     .facts = form,
     .make = makers::of_gpus(built<MGSYNC_WITH_CUDA, gpu_peers::multimem>),
     .bounded = true,
     .can_run = needs_multicast}};

support can_run(const topology::machine& machine, const topology::group& group, const configuration&) {
  if (group.device == topology::device::gpu) {
    if (group.members.size() > algorithm::most_gpus) return support::never("at most 16 GPUs");
    if constexpr (MGSYNC_WITH_CUDA) return gpu_peers_can_run(machine, group);
    else return support::no(without_cuda);
  }
  if (group.members.size() > peers::most_members)
    return support::never(
        fmt::format("at most {} members: their flags are the words of one line", peers::most_members));
  if (topology::hosts_of(group).size() > 1)
    return support::no(
        "needs memory shared by all members, and they are on several hosts (--per-node measures each)");
  return support::yes();
}

}  // namespace

extern const backend peers_backend;
const backend peers_backend{
    .name = "peers",
    .summary = "barriers of other projects (vLLM, SGLang, FlashInfer, TensorRT-LLM, PyTorch, "
               "MSCCL++, DeepEP, NVSHMEM), implemented anew for comparison",
    .variants = variants,
    .can_run = can_run};

}  // namespace mgsync
