#include "src/report/fleet_map.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/markup.hpp"

namespace mgsync::report {
namespace {

constexpr std::size_t columns = 64;
constexpr int side = 10, gap = 1, left = 90, top = 6;

// Green as the fleet, over yellow to red at 10 % slower; blue where it is faster by 3 %.
std::string fill_of(const fleet_cell& cell) {
  if (cell.verdict == node_verdict_kind::wrong) return "#7d5ba6";
  if (cell.verdict == node_verdict_kind::broken) return "#000000";
  const double slower = cell.outlier ? std::max(cell.times - 1, 0.05) : cell.times - 1;
  if (slower > 0.1) return "#b2182b";
  if (slower > 0.04) return "#ef8a62";
  if (slower > 0.02) return "#fddbc7";
  if (slower < -0.03) return "#67a9cf";
  return "#a6d9a0";
}

}  // namespace

std::string fleet_map(std::span<const fleet_cell> cells) {
  const auto rows = (cells.size() + columns - 1) / columns;
  const auto width = left + static_cast<int>(columns) * (side + gap),
             height = top + static_cast<int>(rows) * (side + gap);
  auto text = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
                          "aria-label=\"a square for each of {} nodes\">\n",
                          width, height, cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& cell = cells[i];
    const int x = left + static_cast<int>(i % columns) * (side + gap),
              y = top + static_cast<int>(i / columns) * (side + gap);
    if (i % columns == 0)
      text += fmt::format(
          "<text x=\"{}\" y=\"{}\" font-size=\"9\" fill=\"currentColor\" text-anchor=\"end\">{}</text>\n",
          left - 4, y + side - 1, escaped(cell.node.substr(0, 16)));
    const bool marked = cell.outlier || cell.verdict != node_verdict_kind::normal;
    text += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}><title>{}</title></rect>\n", x, y,
        side, side, fill_of(cell), marked ? " stroke=\"currentColor\"" : "", escaped(cell.tip));
  }
  return text + "</svg>\n";
}

}  // namespace mgsync::report
