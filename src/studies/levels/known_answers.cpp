#include "src/studies/levels/known_answers.hpp"

#include <string>
#include <vector>

#include "src/results/frame/paper_numbers.hpp"

namespace mgsync::levels {

namespace {

pair_of_gpus both(std::string_view paper, std::string_view place, std::string_view row,
                  std::string_view quantity) {
  return {number_of(paper, place, row, "V100", quantity), number_of(paper, place, row, "P100", quantity)};
}

}  // namespace

std::span<const warp_row> table_ii() {
  static const auto rows = [] {
    std::vector<warp_row> all;
    for (const auto& [type, here] : {std::pair<std::string_view, counterpart>{"Tile (*)", {"tile_sync_32"}},
                                     {"Shuffle (Tile) (*)", {"tile_shuffle_32"}},
                                     {"Coalesced (1-31)", {"coalesced_sync", 31}},
                                     {"Coalesced (32)", {"coalesced_sync", 32}},
                                     {"Shuffle (COA) (*)", {"coalesced_shuffle", 31}},
                                     {"Block (warp)", {"block_sync", 32}}})
      all.push_back({type, both("000", "table II", type, "latency"),
                     both("000", "table II", type, "throughput"), here});
    return all;
  }();
  return rows;
}

std::span<const warp_row> table_4() {
  static const auto rows = [] {
    const auto of_size_1 = both("001", "table 4", "TILE *", "throughput of size 1");
    std::vector<warp_row> all{{"TILE *",
                               both("001", "table 4", "TILE *", "latency"),
                               {of_size_1.v100 / 32, of_size_1.p100 / 32},
                               {"thread_group_sync"}}};
    for (const auto& [type, lanes] :
         {std::pair<std::string_view, unsigned>{"Coalesced 1-31", 31}, {"Coalesced 32", 32}})
      all.push_back({type,
                     both("001", "table 4", type, "latency"),
                     both("001", "table 4", type, "throughput"),
                     {"coalesced_sync", lanes}});
    return all;
  }();
  return rows;
}

std::span<const block_row> table_5() {
  static const auto rows = [] {
    std::vector<block_row> all;
    for (unsigned threads = 32; threads <= 1024; threads *= 2) {
      const auto row = std::to_string(threads);
      all.push_back(
          {threads, both("001", "table 5", row, "latency"), both("001", "table 5", row, "throughput")});
    }
    return all;
  }();
  return rows;
}

std::span<const summary_row> table_7() {
  static const auto rows = [] {
    std::vector<summary_row> all;
    for (const auto& [type, group] : {std::pair<std::string_view, std::string_view>{"Tile (sync/cycle)", "1"},
                                      {"Tile (sync/cycle)", "32"},
                                      {"Coalesced (sync/cycle)", "1"},
                                      {"Coalesced (sync/cycle)", "32"},
                                      {"Block (warp-sync/ns)", "32"},
                                      {"Block (warp-sync/ns)", "64"},
                                      {"Block (warp-sync/ns)", "> 64"}}) {
      const auto of = [row = std::string(type) + " " + std::string(group)](std::string_view machine) {
        return published("001", "table 7", row, machine, "throughput")->quoted;
      };
      all.push_back({type, group, of("V100"), of("P100")});
    }
    return all;
  }();
  return rows;
}

pair_of_gpus clock_mhz() { return both("000", "table VII", "default frequency", "clock"); }

double warp_syncs_per_cycle(double block_syncs_per_us, unsigned threads, double mhz) {
  return block_syncs_per_us * ((threads + 31) / 32) / mhz;
}

double v100_block_cycles(unsigned threads) { return 20 + 2.0 * ((threads + 31) / 32); }

}  // namespace mgsync::levels
