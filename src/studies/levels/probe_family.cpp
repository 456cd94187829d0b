#include "src/studies/levels/probe_family.hpp"

#include <stdexcept>

namespace mgsync::levels {

namespace {

using machine_code::counts;

const std::vector<unsigned> usual = {16, 32, 64, 128, 256};
const std::vector<unsigned> shorter = {16, 32, 64, 128};
const std::vector<unsigned> of_clusters = {8, 16, 32, 64};
const std::vector<unsigned> of_long_links = {4, 8, 16, 32};

// Instructions that find the lanes of a tile's mask, once before the chain; the slope does not contain them.
const counts tile_membership = {{"MOV", 2},   {"IMAD", 1},  {"VOTEU", 1}, {"SHF", 1},
                                {"MATCH", 1}, {"REDUX", 1}, {"LOP3", 1},  {"BRA", 1}};
// Instructions that test whether the lanes are converged, once before the chain.
const counts together = {{"UMOV", 1}, {"MOV", 1}, {"BRA", 1}};
// Instructions that compute the address of shared memory, which on Hopper includes the block's rank in its
// cluster.
const counts shared_address = {{"S2UR", 1}, {"UMOV", 1}, {"ULEA", 1}};

counts with(counts a, const counts& b) {
  for (const auto& [name, n] : b) a[name] += n;
  return a;
}

probe_family make(std::string name, std::string_view source, std::string_view what,
                  std::vector<unsigned> lengths, counts per_link, std::string result_of, counts extras = {}) {
  probe_family f;
  f.name = std::move(name);
  f.source = source;
  f.what = what;
  f.lengths = std::move(lengths);
  f.kind = result_of.empty() ? kind::barrier : kind::chain;
  f.code.per_link = std::move(per_link);
  f.code.result_of = std::move(result_of);
  f.code.extras = with(std::move(extras), {{"ISETP", 1}});
  return f;
}

probe_family nothing(std::string name, std::string_view what, std::vector<unsigned> lengths,
                     counts extras = {}) {
  auto f = make(std::move(name), "warp", what, std::move(lengths), {{"NOP", 1}}, "", std::move(extras));
  f.kind = kind::no_instruction;
  return f;
}

probe_family library(std::string name, std::string_view source, std::string_view what,
                     std::vector<unsigned> lengths) {
  auto f = make(std::move(name), source, what, std::move(lengths), {}, "");
  f.kind = kind::library;
  f.code.library_code = true;
  return f;
}

probe_family diverged(probe_family f, counts side) {
  f.diverged = true;
  f.kind = kind::barrier;
  f.code.side_paths = true;
  f.code.side_per_link = std::move(side);
  f.code.extras = with(f.code.extras, together);
  f.lanes = 16;
  return f;
}

void add_warp(std::vector<probe_family>& all) {
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u}) {
    auto shuffle = make("tile_shuffle_" + std::to_string(size), "warp", "shuffle, tile", usual, {{"SHFL", 1}},
                        "SHFL", size == 32 ? counts{} : tile_membership);
    shuffle.code.side_paths = size != 32;
    auto sync =
        nothing("tile_sync_" + std::to_string(size), "tile", usual, size == 32 ? counts{} : tile_membership);
    sync.code.side_paths = size != 32;
    shuffle.lanes = sync.lanes = size;
    all.push_back(shuffle);
    all.push_back(sync);
  }
  for (const unsigned distance : {1u, 2u, 4u, 8u, 16u})
    all.push_back(
        make("shuffle_" + std::to_string(distance), "warp", "__shfl_xor_sync", usual, {{"SHFL", 1}}, "SHFL"));
  auto halves = make("shuffle_64_bits", "warp", "__shfl_xor_sync of 64 bits", usual, {{"SHFL", 2}}, "SHFL",
                     {{"LOP3", 1}});
  halves.code.side_by_side = 2;
  all.push_back(halves);
  all.push_back(library("coalesced_shuffle", "warp", "shuffle, coalesced", of_long_links));
  all.push_back(library("thread_group_sync", "warp", "thread_group of run-time size", of_long_links));
  all.push_back(nothing("coalesced_sync", "coalesced", shorter, {{"LDC", 1}, {"ULDC", 1}}));
  all.push_back(nothing("syncwarp_mask", "__syncwarp, mask at run time", shorter, {{"LDC", 1}, {"ULDC", 1}}));
  all.push_back(nothing("syncwarp_full", "__syncwarp", usual));
  all.push_back(diverged(nothing("syncwarp_diverged", "__syncwarp, from two branches", shorter),
                         {{"WARPSYNC", 1}, {"ENDCOLLECTIVE", 1}}));
  all.push_back(diverged(nothing("tile_sync_diverged", "tile of 32, from two branches", shorter),
                         {{"WARPSYNC", 1}, {"ENDCOLLECTIVE", 1}}));
  auto apart = make("shuffle_diverged", "warp", "shuffle, from two branches", shorter, {{"SHFL", 1}}, "");
  all.push_back(diverged(std::move(apart), {{"WARPSYNC", 1}, {"SHFL", 1}, {"ENDCOLLECTIVE", 1}}));
  all.push_back(make("ballot", "warp", "ballot", usual, {{"ISETP", 1}, {"VOTE", 1}}, "VOTE"));
  all.push_back(make("match_any", "warp", "match_any", usual, {{"MATCH", 1}}, "MATCH"));
  all.push_back(make("match_all", "warp", "match_all", usual, {{"MATCH", 1}}, "MATCH"));
  // Before each election stand instructions (REDUX, R2UR) that make the mask the same in all lanes.
  auto elect =
      make("elect", "warp", "elect.sync, mask of the one before", usual,
           {{"ELECT", 1}, {"REDUX", 1}, {"R2UR", 1}, {"LOP3", 1}, {"BRA", 1}, {"MOV", 1}}, "", {{"LDC", 1}});
  elect.code.side_paths = true;
  elect.oldest = 90;
  all.push_back(elect);
  for (const auto* const name : {"redux_add", "redux_min", "redux_and", "group_reduce"}) {
    auto redux =
        make(name, "warp", name == std::string_view("group_reduce") ? "cg::reduce of integers" : "redux.sync",
             usual, {{"REDUX", 1}, {"MOV", 1}, {"LOP3", 1}}, "REDUX");
    redux.oldest = 80;
    all.push_back(redux);
  }
}

// An mbarrier whose phase ends once the expected bytes have arrived, sent by one thread.
void add_transactions(std::vector<probe_family>& all) {
  const auto most = of_long_links.back();
  // Branches by which the other lanes skip what one thread alone does.
  const counts around = {{"BSSY", most}, {"BSYNC", most}, {"BRA", most}, {"MOV", 3 * most}, {"SHF", 2}};
  const counts addresses = {{"S2R", 1}, {"VIADD", 1}, {"LEA", 2}};
  const counts in_one_lane = {{"PLOP3", 4 * most}, {"ULDC", 2 * most}, {"UMOV", 2 * most},
                              {"VOTEU", 2},        {"UIADD3", 1},      {"ULEA", 1}};
  const auto add = [&](const char* name, std::string_view what, counts per_link, counts extras) {
    auto f = make(name, "block", what, of_long_links, std::move(per_link), "",
                  with(with(shared_address, around), extras));
    f.code.side_paths = true;
    f.oldest = 90;
    all.push_back(f);
  };
  add("mbarrier_transaction", "mbarrier, bytes counted by the thread", {{"SYNCS", 3}, {"BRA", 1}}, {});
  add("mbarrier_async_store", "mbarrier, bytes of st.async", {{"SYNCS", 2}, {"STAS", 1}, {"BRA", 1}},
      addresses);
  add("mbarrier_bulk_copy", "mbarrier, 16 bytes of a bulk copy from L2",
      {{"SYNCS", 2}, {"UBLKCP", 1}, {"ELECT", 1}, {"BRA", 2}}, in_one_lane);
}

void add_block(std::vector<probe_family>& all) {
  all.push_back(make("block_sync", "block", "__syncthreads", usual, {{"BAR", 1}}, ""));
  all.back().loop_body = 256;
  all.push_back(make("named_sync", "block", "named barrier, count at run time", usual, {{"BAR", 1}}, ""));
  // Instructions that turn the barrier's result back into each thread's own word.
  const counts own_word = {{"MOV", 512}, {"IMAD", 256}, {"IADD3", 256}, {"VIADD", 256}};
  for (const auto* const name : {"barrier_popc", "barrier_and", "barrier_or"})
    all.push_back(
        make(name, "block", "barrier.red", usual, {{"BAR", 1}, {"B2R", 1}, {"LOP3", 1}}, "", own_word));
  auto over = make("hand_over", "block", "named barriers, two warps and back", of_long_links, {{"BAR", 2}},
                   "", {{"WARPSYNC", 1}});
  over.threads = 64;
  all.push_back(over);
  for (const auto* const name : {"mbarrier_test_wait", "mbarrier_try_wait"}) {
    auto f = make(name, "block", "mbarrier", of_long_links, {{"SYNCS", 2}, {"BRA", 1}}, "",
                  with(shared_address, {{"SHF", 2}, {"MOV", 2}}));
    f.code.side_paths = true;
    f.oldest = name == std::string_view("mbarrier_try_wait") ? 90 : 80;
    all.push_back(f);
  }
  add_transactions(all);
  for (auto& f : all)
    if (f.source == "block" && f.name != "hand_over") f.code.reads_before = 1;  // the one of start_together()
  all.push_back(library("library_barrier", "block", "cuda::barrier", of_long_links));
  all.back().oldest = 80;
  all.back().code.reads_before = 1;
}

// A barrier with loads from shared memory between arriving and waiting, which shows how much of them it
// hides.
void add_splits(std::vector<probe_family>& all) {
  for (const unsigned loads : {1u, 2u, 4u, 8u}) {
    auto split =
        make("cluster_split_" + std::to_string(loads) + "_4", "cluster", "arrive, loads, wait; relaxed",
             of_clusters, {{"UCGABAR_ARV", 1}, {"LDS", loads}, {"UCGABAR_WAIT", 1}, {"CCTL", 1}}, "");
    split.code.enclosed = {"UCGABAR_ARV", "LDS", "UCGABAR_WAIT"};
    split.cluster = 4;
    split.relaxed = true;
    split.oldest = 90;
    all.push_back(split);
  }
}

void add_cluster(std::vector<probe_family>& all) {
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u}) {
    auto release =
        make("cluster_release_" + std::to_string(size), "cluster", "barrier.cluster, release", of_clusters,
             {{"MEMBAR", 1},
              {"ERRBAR", 1},
              {"CGAERRBAR", 1},
              {"UCGABAR_ARV", 1},
              {"UCGABAR_WAIT", 1},
              {"CCTL", 1}},
             "");
    auto relaxed = make("cluster_relaxed_" + std::to_string(size), "cluster", "barrier.cluster, relaxed",
                        of_clusters, {{"UCGABAR_ARV", 1}, {"UCGABAR_WAIT", 1}, {"CCTL", 1}}, "");
    release.cluster = relaxed.cluster = size;
    relaxed.relaxed = true;
    release.oldest = relaxed.oldest = 90;
    all.push_back(release);
    all.push_back(relaxed);
    if (size == 4) add_splits(all);
    if (size == 1) continue;
    auto remote =
        make("cluster_mbarrier_" + std::to_string(size), "cluster", "remote mbarrier", of_clusters,
             {{"MEMBAR", 2}, {"ERRBAR", 1}, {"CGAERRBAR", 1}, {"SYNCS", 2}, {"CCTL", 1}, {"BRA", 1}}, "",
             with(shared_address, {{"SHF", 2}, {"MOV", 3}}));
    remote.code.side_paths = true;
    remote.cluster = size;
    remote.oldest = 90;
    all.push_back(remote);
  }
}

void add_memory(std::vector<probe_family>& all) {
  all.push_back(
      make("shared_chase", "memory", "shared memory, one LDS per link", usual, {{"LDS", 1}}, "LDS"));
  all.push_back(make("shared_chase_index", "memory", "shared memory, with address arithmetic", usual,
                     {{"LDS", 1}, {"LEA", 1}}, "LDS", shared_address));
  all.push_back(make("l1_chase", "memory", "L1", usual, {{"LDG", 1}}, "LDG"));
  all.push_back(make("l2_chase", "memory", "past L1: L2 or DRAM", usual, {{"LDG", 1}}, "LDG"));
  all.push_back(
      make("shared_atomic", "memory", "atomic add in shared memory", usual, {{"ATOMS", 1}}, "ATOMS"));
  all.push_back(make("global_atomic", "memory", "atomic add in L2", usual, {{"ATOMG", 1}}, "ATOMG"));
  auto remote = make("remote_shared_chase", "memory", "shared memory of another block", shorter,
                     {{"LD", 1}, {"MOV", 2}}, "LD", {{"S2R", 1}});
  remote.cluster = 2;
  remote.oldest = 90;
  all.push_back(remote);
}

std::vector<probe_family> make_families() {
  std::vector<probe_family> all;
  add_warp(all);
  add_block(all);
  add_cluster(all);
  add_memory(all);
  return all;
}

}  // namespace

machine_code::expected_code probe_family::expected(unsigned links) const {
  auto e = code;
  e.kernel = name + "_" + std::to_string(links);
  e.links = links;
  return e;
}

machine_code::expected_code probe_family::expected_loop() const {
  auto e = expected(loop_body);
  e.kernel = name + "_loop_" + std::to_string(loop_body);
  e.looped = true;
  // The loop counter: set to zero, increment, compare, and the branch back.
  e.extras = with(e.extras, {{"ISETP", 1}, {"UMOV", 1}, {"MOV", 1}, {"UIADD3", 1}, {"VIADD", 1}, {"BRA", 1}});
  return e;
}

std::vector<machine_code::expected_code> probe_family::all_expected() const {
  std::vector<machine_code::expected_code> all;
  for (const unsigned links : lengths) all.push_back(expected(links));
  if (loop_body != 0) all.push_back(expected_loop());
  return all;
}

std::span<const probe_family> families() {
  static const auto all = make_families();
  return all;
}

const probe_family& family(std::string_view name) {
  for (const auto& f : families())
    if (f.name == name) return f;
  throw std::invalid_argument("no probes called " + std::string(name));
}

std::uint32_t first_lanes(unsigned count) {
  if (count < 1 || count > 32)
    throw std::invalid_argument("a warp has 1 to 32 lanes, not " + std::to_string(count));
  return 0xffffffffu >> (32 - count);
}

std::uint32_t spread_lanes(unsigned count, unsigned step) {
  if (count < 1 || step < 1 || (count - 1) * step >= 32)
    throw std::invalid_argument("a warp has not so many lanes so far apart");
  std::uint32_t mask = 0;
  for (unsigned k = 0; k < count; ++k) mask |= 1u << (k * step);
  return mask;
}

std::string_view label_of(const probe_family& f) {
  if (f.kind == kind::library) return "library code, not code-checked";
  if (f.kind == kind::no_instruction) return "no instruction";
  return "";
}

}  // namespace mgsync::levels
