#include "src/studies/levels/known_answers.hpp"

namespace mgsync::levels {

namespace {

constexpr warp_row rows_ii[] = {
    {"Tile (*)", {14, 1}, {0.812, 1.774}, {"tile_sync_32"}},
    {"Shuffle (Tile) (*)", {22, 31}, {0.928, 0.642}, {"tile_shuffle_32"}},
    {"Coalesced (1-31)", {108, 1}, {0.167, 1.791}, {"coalesced_sync", 31}},
    {"Coalesced (32)", {14, 1}, {1.306, 1.821}, {"coalesced_sync", 32}},
    {"Shuffle (COA) (*)", {77, 50}, {0.121, 0.166}, {"coalesced_shuffle", 31}},
    {"Block (warp)", {22, 218}, {0.475, 0.091}, {"block_sync", 32}},
};

constexpr warp_row rows_4[] = {
    {"TILE *", {54, 198}, {8.353 / 32, 2.89 / 32}, {"thread_group_sync"}},
    {"Coalesced 1-31", {108, 1}, {0.166, 1.882}, {"coalesced_sync", 31}},
    {"Coalesced 32", {14, 1}, {0.769, 1.882}, {"coalesced_sync", 32}},
};

constexpr block_row rows_5[] = {
    {32, {22, 220}, {219.296, 87.329}},  {64, {24, 220}, {200.602, 51.67}},
    {128, {28, 224}, {143.136, 27.674}}, {256, {36, 235}, {81.241, 13.731}},
    {512, {52, 317}, {40.812, 6.598}},   {1024, {84, 428}, {19.469, 3.130}},
};

constexpr summary_row rows_7[] = {
    {"Tile (sync/cycle)", "1", "8.353", "2.89"},
    {"Tile (sync/cycle)", "32", "0.261", "0.090"},
    {"Coalesced (sync/cycle)", "1", "0.090", "1.882"},
    {"Coalesced (sync/cycle)", "32", "2.89", "1.882"},
    {"Block (warp-sync/ns)", "32", "0.219", "0.087"},
    {"Block (warp-sync/ns)", "64", "0.402", "0.103"},
    {"Block (warp-sync/ns)", "> 64", "0.626-0.658", "0.102-0.111"},
};

}  // namespace

std::span<const warp_row> table_ii() { return rows_ii; }
std::span<const warp_row> table_4() { return rows_4; }
std::span<const block_row> table_5() { return rows_5; }
std::span<const summary_row> table_7() { return rows_7; }

double warp_syncs_per_cycle(double block_syncs_per_us, unsigned threads, double mhz) {
  return block_syncs_per_us * ((threads + 31) / 32) / mhz;
}

double v100_block_cycles(unsigned threads) { return 20 + 2.0 * ((threads + 31) / 32); }

}  // namespace mgsync::levels
