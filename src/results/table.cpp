#include "src/results/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/columns.hpp"
#include "src/results/result_json.hpp"

namespace mgsync {
namespace {

constexpr std::array<column, 12> columns = {{{"backend"}, {"variant"}, {"members", false}, {"ranks", false},
                                             {"shape", false}, {"latency_us", false}, {"", true, 1}, {"ci95", true, 1},
                                             {"min", false}, {"samples", false}, {"status"}, {"note"}}};
using row = row_of_words<columns.size()>;
constexpr std::size_t mark_column = 6;

int decimals_of(double value) {
  const double size = std::abs(value);
  if (size >= 1000 || !std::isfinite(size)) return 0;
  if (size >= 100) return 1;
  if (size >= 10) return 2;
  return size >= 1 ? 3 : 4;
}

// Pads numbers behind, so that the points of a column stand below each other.
std::string aligned(double value, int decimals, int most_decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const int missing = decimals == 0 && most_decimals > 0 ? most_decimals + 1 : most_decimals - decimals;
  return text + std::string(static_cast<std::size_t>(missing), ' ');
}

// What measured points share when they can be compared: everything but what was measured.
std::string cell_of(const point& one) {
  point anonymous = one;
  anonymous.backend.clear();
  anonymous.variant.clear();
  return canonical_key(anonymous);
}

bool has_latency(const result& one) { return one.status == result_status::measured && one.latency_us.has_value(); }

struct cell_rows {
  std::vector<const result*> all;  // fastest first, failed ones last
  std::size_t measured = 0;
  std::size_t tied = 0;  // leading rows whose intervals overlap the first's
};

bool overlap(const latency_summary& a, const latency_summary& b) {
  return a.ci95_low <= b.ci95_high && b.ci95_low <= a.ci95_high;
}

std::vector<cell_rows> cells_of(std::span<const result> results) {
  std::vector<cell_rows> cells;
  std::map<std::string, std::size_t> place;
  for (const result& one : results) {
    if (one.status == result_status::waived) continue;
    const auto [found, fresh] = place.try_emplace(cell_of(one.point), cells.size());
    if (fresh) cells.emplace_back();
    cells[found->second].all.push_back(&one);
  }
  for (cell_rows& cell : cells) {
    std::stable_sort(cell.all.begin(), cell.all.end(), [](const result* a, const result* b) {
      if (has_latency(*a) != has_latency(*b)) return has_latency(*a);
      return has_latency(*a) && a->latency_us->median < b->latency_us->median;
    });
    for (const result* one : cell.all) {
      if (!has_latency(*one)) break;
      ++cell.measured;
      if (overlap(*one->latency_us, *cell.all.front()->latency_us)) ++cell.tied;
    }
  }
  return cells;
}

std::string status_of(const result& one) {
  if (one.status != result_status::measured) return "FAIL";
  return is_checked(one.check) ? "pass" : "unchecked";
}

std::string mark_of(const cell_rows& cell, const result& one) {
  if (cell.measured < 2 || !has_latency(one)) return "";
  const bool near = overlap(*one.latency_us, *cell.all.front()->latency_us);
  if (cell.tied > 1) return near ? "~" : "";
  return &one == cell.all.front() ? "*" : "";
}

std::string note_of(const cell_rows& cell, const result& one) {
  std::vector<std::string> words;
  const point& p = one.point;
  if (!has_latency(one)) return "see below";
  const latency_summary& latency = *one.latency_us;
  const latency_summary& fastest = *cell.all.front()->latency_us;
  if (!overlap(latency, fastest) && fastest.median > 0)
    words.push_back(
        fmt::format("{:.{}f}x", latency.median / fastest.median, latency.median < 9.995 * fastest.median ? 2 : 0));
  if (latency.confidence < 0.95) words.push_back(fmt::format("{} batches only", one.batches));
  if (!p.node.empty()) words.push_back("on " + p.node);
  for (auto& word : circumstances_of(p)) words.push_back(std::move(word));
  if (const std::string name = one.algorithm.substr(0, one.algorithm.find(':')); !name.empty() && name != p.variant)
    words.push_back(name);
  if (p.device == topology::device::gpu && p.ranks > 1 && !one.peer_memory.empty()) words.push_back(one.peer_memory);
  words.insert(words.end(), one.notes.begin(), one.notes.end());
  return fmt::format("{}", fmt::join(words, ", "));
}

row row_of(const cell_rows& cell, const result& one, int most_decimals) {
  const point& p = one.point;
  row cells{p.backend, p.variant, fmt::format("{}", p.members), fmt::format("{}", p.ranks), format_shape(p)};
  cells[5] = cells[7] = cells[8] = "-";
  if (has_latency(one)) {
    const latency_summary& latency = *one.latency_us;
    const int decimals = decimals_of(latency.median);
    cells[5] = aligned(latency.median, decimals, most_decimals);
    cells[7] = fmt::format("{:.{}f}..{:.{}f}", latency.ci95_low, decimals, latency.ci95_high, decimals);
    cells[8] = aligned(latency.min, decimals, most_decimals);
  } else {
    cells[5] = cells[8] = "-" + std::string(static_cast<std::size_t>(most_decimals), ' ');
  }
  cells[mark_column] = mark_of(cell, one);
  cells[9] = fmt::format("{}", one.samples.size());
  cells[10] = status_of(one);
  cells[11] = note_of(cell, one);
  return cells;
}

// One line for each backend, variant and reason, with the member counts it is true for.
std::string listed(std::span<const result> results, result_status status, std::string_view word) {
  std::vector<std::pair<std::array<std::string, 2>, std::vector<int>>> lines;
  std::size_t width = 0;
  for (const result& one : results) {
    if (one.status != status) continue;
    std::array<std::string, 2> what{fmt::format("{}:{}", one.point.backend, one.point.variant), one.reason};
    width = std::max(width, what[0].size());
    auto found = std::find_if(lines.begin(), lines.end(), [&what](const auto& line) { return line.first == what; });
    if (found == lines.end()) found = lines.insert(lines.end(), {what, {}});
    if (std::find(found->second.begin(), found->second.end(), one.point.members) == found->second.end())
      found->second.push_back(one.point.members);
  }
  std::string out;
  for (const auto& [what, members] : lines)
    out += fmt::format("{}  {:<{}}  {} (members {})\n", word, what[0], width, what[1], fmt::join(members, " "));
  return out;
}

std::string legend(const std::vector<cell_rows>& cells) {
  const auto any = [&cells](bool tie) {
    return std::any_of(cells.begin(), cells.end(),
                       [tie](const cell_rows& cell) { return cell.measured > 1 && (cell.tied > 1) == tie; });
  };
  std::vector<std::string_view> parts;
  if (any(false))
    parts.push_back(
        "*  the fastest of its group and shape: its 95 % interval overlaps no other; 2.00x takes twice as long");
  if (any(true)) parts.push_back("~  no difference shown: the 95 % interval overlaps that of the fastest");
  return parts.empty() ? "" : fmt::format("\n{}\n", fmt::join(parts, "\n"));
}

}  // namespace

std::string format_us(double microseconds) { return fmt::format("{:.{}f}", microseconds, decimals_of(microseconds)); }

std::vector<std::string> circumstances_of(const point& p) {
  std::vector<std::string> words;
  if (p.placement != "near" && !p.placement.empty()) words.push_back(p.placement);
  if (p.load != "idle" && !p.load.empty()) words.push_back(p.load);
  if (p.work_units > 0) words.push_back(fmt::format("work {}", p.work_units));
  if (p.payload_words > 1) words.push_back(fmt::format("{} words", p.payload_words));
  return words;
}

std::string format_shape(const point& one) {
  if (one.blocks) return fmt::format("b{}x{}", *one.blocks, one.threads_per_block.value_or(1));
  const unsigned blocks = one.blocks_per_sm.value_or(1);
  return one.threads_per_block ? fmt::format("{}x{}", blocks, *one.threads_per_block) : fmt::format("{}", blocks);
}

std::string format_table(std::span<const result> results) {
  const std::vector<cell_rows> cells = cells_of(results);
  int most_decimals = 0;
  for (const result& one : results)
    if (has_latency(one)) most_decimals = std::max(most_decimals, decimals_of(one.latency_us->median));

  std::vector<row> rows{titles_of(columns)};
  std::vector<std::size_t> breaks;  // before these rows a cell begins
  for (const cell_rows& cell : cells) {
    breaks.push_back(rows.size());
    for (const result* one : cell.all) rows.push_back(row_of(cell, *one, most_decimals));
  }
  const auto lines_of_rows = aligned_lines(columns, rows);
  // A blank line between cells, unless all hold one row.
  const bool apart = rows.size() - 1 > cells.size();
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (apart && i > 1 && std::find(breaks.begin(), breaks.end(), i) != breaks.end()) out += '\n';
    if (i > 0 || rows.size() > 1) out += lines_of_rows[i];
  }
  out += legend(cells);
  for (const auto& [status, word] :
       {std::pair{result_status::failed, "FAIL  "}, std::pair{result_status::waived, "waived"}})
    if (const std::string lines = listed(results, status, word); !lines.empty())
      out += (out.empty() ? "" : "\n") + lines;
  return out;
}

}  // namespace mgsync
