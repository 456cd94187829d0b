#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/base/markup.hpp"
#include "src/base/units.hpp"
#include "topology/cpu_list.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"
#include "topology/reports/svg_parts.hpp"

namespace mgsync::topology {
namespace {

using namespace svg_parts;

constexpr double margin = 24, cell = 46, cell_gap = 4, pad = 7, unit_gap = 12, top = 52;
constexpr double title_height = 20, cpu_height = 22, chip_gap = 16, gpu_height = 30, nic_height = 17;
constexpr double stub = 24, bar_height = 34, bank_gap = 28, widest = 1600;
constexpr std::size_t most_in_row = 4;

class folded_painter {
 public:
  explicit folded_painter(const machine& m) : machine_(m), drawing_(drawing_of(m)), units_(units_of(m)) {
    for (const auto& b : drawing_.up) {
      links_[b.from].links += b.links;
      links_[b.from].gbps += b.gbps;
    }
    for (const auto& b : drawing_.cpu) chip_links_.emplace(b.from, b);
    measure();
  }

  // Banks, each of two rows of units with the switches between them, as in a rack.
  std::string paint(bool with_style) {
    const std::size_t columns = columns_of_a_bank();
    double y = top;
    for (std::size_t first = 0; first < units_.size(); first += 2 * columns) {
      const auto middle = std::min(first + columns, units_.size());
      const auto end = std::min(middle + columns, units_.size());
      paint_row(first, middle, y, y + unit_height_);
      const double bar = y + unit_height_ + stub;
      const double width = static_cast<double>(middle - first) * (unit_width_ + unit_gap) - unit_gap;
      if (!drawing_.bars.empty()) paint_bar(bar, width, first > 0);
      width_ = std::max(width_, width + 2 * margin);
      const double next = drawing_.bars.empty() ? y + unit_height_ + unit_gap : bar + bar_height + stub;
      paint_row(middle, end, next, next);
      y = (end > middle ? next + unit_height_ : next - stub) + bank_gap;
    }
    const auto title = machine_title(machine_);
    width_ = std::max(width_, 2 * margin + 18 * bold_letter * static_cast<double>(title.size()));
    const double height = paint_legend(y);
    return picture(width_, height, text(margin, 32, 18, ink, title, "start", "bold") + lines_ + front_,
                   with_style);
  }

 private:
  static std::size_t rows(std::size_t things) { return (things + most_in_row - 1) / most_in_row; }

  // All units are as large as the largest.
  void measure() {
    std::size_t in_row = 1, gpu_rows = 1;
    for (const auto& u : units_) {
      in_row = std::max(in_row, std::min(u.gpus.size(), most_in_row));
      gpu_rows = std::max(gpu_rows, rows(u.gpus.size()));
      has_nics_ = has_nics_ || !u.nics.empty();
    }
    row_height_ = gpu_height + (has_nics_ ? nic_height + 2 : 0) + cell_gap;
    const double cells = static_cast<double>(in_row) * (cell + cell_gap) - cell_gap;
    unit_width_ = 2 * pad + std::max(cells, 2 * cell + cell_gap);
    unit_height_ =
        title_height + cpu_height + chip_gap + static_cast<double>(gpu_rows) * row_height_ + pad - cell_gap;
  }

  std::size_t columns_of_a_bank() const {
    const auto fit = std::max(1.0, std::floor((widest - 2 * margin + unit_gap) / (unit_width_ + unit_gap)));
    const auto most = static_cast<std::size_t>(2 * fit), banks = (units_.size() + most - 1) / most;
    return (units_.size() + 2 * banks - 1) / (2 * banks);
  }

  void paint_row(std::size_t first, std::size_t end, double y, double edge) {
    for (std::size_t i = first; i < end; ++i) {
      const double x = margin + static_cast<double>(i - first) * (unit_width_ + unit_gap);
      paint_unit(units_[i], x, y);
      bundle up;
      for (const int id : units_[i].gpus)
        if (const auto found = links_.find(id); found != links_.end()) {
          up.links += found->second.links;
          up.gbps += found->second.gbps;
        }
      if (up.links == 0) continue;
      const double center = x + unit_width_ / 2, far = edge > y ? edge + stub : edge - stub;
      lines_ += line(center, edge, center, far, nvlink_color, 5);
      if (!alike()) front_ += label(center, (edge + far) / 2 + 4, counted(up.links, "link"));
    }
  }

  void paint_unit(const unit& u, double x, double y) {
    front_ += rectangle(x, y, unit_width_, unit_height_, package_fill, package_edge);
    std::string title = u.title;
    if (u.gpus.empty()) title += ": no GPU";
    front_ += text(x + pad, y + 14, 12, ink, fitted(title, unit_width_ - 2 * pad, 12 * bold_letter), "start",
                   "bold");
    const double inner = unit_width_ - 2 * pad, cpu_top = y + title_height;
    const auto count = static_cast<double>(u.packages.size());
    const double cpu_width = (inner - cell_gap * (count - 1)) / std::max(count, 1.0);
    for (std::size_t i = 0; i < u.packages.size(); ++i) {
      const double left = x + pad + static_cast<double>(i) * (cpu_width + cell_gap);
      front_ += rectangle(left, cpu_top, cpu_width, cpu_height, node_fill, node_edge);
      front_ += text(left + cpu_width / 2, cpu_top + 15, 10, ink,
                     fitted(fmt::format("CPU {}", u.packages[i]), cpu_width - 4, 10 * letter));
    }
    auto nics = u.nics;
    for (std::size_t i = 0; i < u.gpus.size(); ++i) {
      const double left = x + pad + static_cast<double>(i % most_in_row) * (cell + cell_gap);
      const double gpu_top =
          cpu_top + cpu_height + chip_gap + static_cast<double>(i / most_in_row) * row_height_;
      paint_gpu(u.gpus[i], left, gpu_top);
      if (chip_links_.contains(u.gpus[i]) && i < most_in_row)
        for (const double beside : {-2.0, 2.0})
          lines_in_units_ += line(left + cell / 2 + beside, cpu_top + cpu_height, left + cell / 2 + beside,
                                  gpu_top, c2c_color, 1.6);
      paint_nic(u.gpus[i], nics, left, gpu_top + gpu_height + 2);
    }
    front_ += lines_in_units_;
    lines_in_units_.clear();
    if (!nics.empty())  // those that are near none of the GPUs, or too many for a place below each
      front_ += text(x + unit_width_ - pad, y + 14, 10, nic_color,
                     fmt::format("+{}", counted(nics.size(), "NIC")), "end");
  }

  void paint_gpu(int id, double x, double y) {
    const auto& g = machine_.gpus[static_cast<std::size_t>(id)];
    const bool hidden = !g.cuda_ordinal;
    any_hidden_ = any_hidden_ || hidden;
    front_ += rectangle(x, y, cell, gpu_height, hidden ? hidden_fill : gpu_fill,
                        hidden ? hidden_edge : nvlink_color, hidden ? "4 3" : "");
    front_ += text(x + cell / 2, y + 19, 10, ink, id < 100 ? fmt::format("GPU {}", id) : std::to_string(id),
                   "middle", "bold");
  }

  void paint_nic(int gpu, std::vector<int>& nics, double x, double y) {
    const auto its = std::find_if(nics.begin(), nics.end(), [&](int id) {
      const auto near = near_gpus(machine_.nics[static_cast<std::size_t>(id)]);
      return std::find(near.begin(), near.end(), gpu) != near.end();
    });
    if (its == nics.end()) return;
    front_ += rectangle(x, y, cell, nic_height, nic_fill, nic_color);
    front_ += text(x + cell / 2, y + 12, 9, ink,
                   fitted(nic_name(machine_.nics[static_cast<std::size_t>(*its)]), cell - 2, 9 * letter));
    nics.erase(its);
  }

  // Whether one sentence says it of all GPUs.
  bool alike() const {
    return links_.size() == machine_.gpus.size() && std::all_of(links_.begin(), links_.end(), [&](auto& one) {
             return one.second.links == links_.begin()->second.links &&
                    one.second.gbps == links_.begin()->second.gbps;
           });
  }

  void paint_bar(double y, double width, bool again) {
    std::string what;
    for (const auto& bar : drawing_.bars)
      what += (what.empty() ? "" : "; ") + bar.label +
              (drawing_.bars.size() > 1 ? ": GPUs " + write_cpu_list(bar.gpus) : "");
    if (again) what += drawing_.bars.size() > 1 ? "; the same as above" : ", the same as above";
    else if (alike()) what += "; each GPU: " + bundle_label(links_.begin()->second);
    for (const auto& t : drawing_.trunks) what += "; between switches: " + bundle_label(t);
    front_ += rectangle(margin, y, width, bar_height, bar_fill, nvlink_color);
    front_ += text(margin + width / 2, y + 22, 13, ink, fitted(what, width - 12, 13 * bold_letter), "middle",
                   "bold");
  }

  double paint_legend(double y) {
    double x = margin;
    const auto entry = [&](const std::string& what) {
      front_ += text(x + 30, y, 12, ink, what, "start");
      x += 54 + width_of(what, 12 * letter);
    };
    if (!chip_links_.empty()) {
      const auto& b = chip_links_.begin()->second;
      const bool same = std::all_of(chip_links_.begin(), chip_links_.end(),
                                    [&](auto& one) { return bundle_label(one.second) == bundle_label(b); });
      for (const double beside : {-6.0, -2.0})
        front_ += line(x, y + beside, x + 24, y + beside, c2c_color, 1.6);
      entry(same ? bundle_label(b) : "NVLink to the CPU");
    }
    if (has_nics_) {
      front_ += rectangle(x, y - 12, 24, 15, nic_fill, nic_color);
      entry("network card, below the GPU that it is nearest to");
    }
    if (any_hidden_) {
      front_ += rectangle(x, y - 12, 24, 15, hidden_fill, hidden_edge, "4 3");
      entry("hidden from CUDA");
    }
    width_ = std::max(width_, x);
    return x > margin ? y + margin - 4 : y;
  }

  const machine& machine_;
  drawing drawing_;
  std::vector<unit> units_;
  std::map<int, bundle> links_, chip_links_;  // by GPU: to switches, to its CPU
  bool has_nics_ = false, any_hidden_ = false;
  double unit_width_ = 0, unit_height_ = 0, row_height_ = 0, width_ = 0;
  std::string lines_, lines_in_units_, front_;
};

}  // namespace

std::string write_folded_svg(const machine& m, bool with_style) {
  return folded_painter(m).paint(with_style);
}

}  // namespace mgsync::topology
