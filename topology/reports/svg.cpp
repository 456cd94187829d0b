#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "src/base/markup.hpp"
#include "topology/connection.hpp"
#include "topology/cpu_list.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology {
namespace {

constexpr double gpu_width = 108, gpu_height = 66, gap = 18, margin = 24, cpu_top = 56, cpu_height = 84;
constexpr double gpu_top = cpu_top + cpu_height + 74, gpu_bottom = gpu_top + gpu_height;
constexpr double bar_height = 34, bar_gap = 92, numa_least = 210;
constexpr double letter = 0.56, bold_letter = 0.68;  // their widths, of this font, by its size
constexpr std::string_view link_color = "#2f7d32", pcie_color = "#8a8f98", ink = "#1b1f24";

struct box {
  double x = 0, width = 0;
  double middle() const { return x + width / 2; }
};

// A column of the picture: a NUMA node, or the GPUs of which no node is known, with its GPUs below.
struct column {
  const numa_node* node = nullptr;
  int package = -1;
  std::vector<int> gpus;
  box place;
};

class painter {
 public:
  explicit painter(const machine& m) : machine_(m), drawing_(drawing_of(m)) {}

  std::string paint() {
    place_columns();
    paint_packages();
    paint_pcie();
    paint_gpus();
    paint_bars();
    paint_arcs();
    paint_legend();
    const auto w = std::lround(width_), h = std::lround(bottom_ + margin);
    const auto title = text(margin, 32, 18, ink, machine_title(machine_), "start", "bold");
    return enclosing("svg",
                     {{"xmlns", "http://www.w3.org/2000/svg"},
                      {"width", w},
                      {"height", h},
                      {"viewBox", fmt::format("0 0 {} {}", w, h)},
                      {"font-family", "Helvetica, Arial, sans-serif"}},
                     fmt::format("\n{}{}{}{}{}", rectangle(0, 0, width_, bottom_ + margin, "white", ""),
                                 title, back_, lines_, front_)) +
           "\n";
  }

 private:
  static std::string text(double x, double y, double size, std::string_view color, const std::string& what,
                          std::string_view anchor = "middle", std::string_view weight = "") {
    return element("text",
                   {{"x", x},
                    {"y", y},
                    {"font-size", std::lround(size)},
                    {"fill", color},
                    {"text-anchor", anchor},
                    {"font-weight", weight}},
                   what) +
           "\n";
  }
  static std::string rectangle(double x, double y, double w, double h, std::string_view fill,
                               std::string_view stroke, std::string_view dashes = "") {
    return element("rect", {{"x", x},
                            {"y", y},
                            {"width", w},
                            {"height", h},
                            {"rx", stroke.empty() ? "" : "6"},
                            {"fill", fill},
                            {"stroke", stroke},
                            {"stroke-dasharray", dashes}}) +
           "\n";
  }
  static std::string line(double x1, double y1, double x2, double y2, std::string_view color, double width) {
    return element(
               "line",
               {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"stroke", color}, {"stroke-width", width}}) +
           "\n";
  }
  // From one end down to `depth`, and to the other end.
  static std::string arc(double x1, double y1, double x2, double y2, double depth, std::string_view color,
                         double width) {
    return element("path",
                   {{"d", fmt::format("M {0:.1f} {1:.1f} C {0:.1f} {4:.1f} {2:.1f} {4:.1f} {2:.1f} {3:.1f}",
                                      x1, y1, x2, y2, depth)},
                    {"fill", "none"},
                    {"stroke", color},
                    {"stroke-width", width}}) +
           "\n";
  }
  // A label on white, so that lines behind it do not make it unreadable.
  static std::string label(double x, double y, const std::string& what) {
    const double width = width_of(what, 6.2) + 6;
    return element("rect", {{"x", x - width / 2},
                            {"y", y - 11.5},
                            {"width", width},
                            {"height", 15},
                            {"fill", "white"},
                            {"opacity", "0.9"}}) +
           "\n" + text(x, y, 11, ink, what);
  }

  void place_columns() {
    std::set<int> placed;
    for (const auto& p : machine_.packages)
      for (const auto& n : machine_.numa_nodes) {
        if (n.package != p.id) continue;
        column c{&n, p.id, {}, {}};
        for (const auto& g : machine_.gpus)
          if (g.numa == n.id && placed.insert(g.id).second) c.gpus.push_back(g.id);
        columns_.push_back(c);
      }
    column rest;
    for (const auto& g : machine_.gpus)
      if (!placed.contains(g.id)) rest.gpus.push_back(g.id);
    if (!rest.gpus.empty()) columns_.push_back(rest);
    double x = margin + 10;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      auto& c = columns_[i];
      if (i > 0 && c.package != columns_[i - 1].package) x += 2 * gap;
      const auto count = static_cast<double>(c.gpus.size());
      const double gpus = count * gpu_width + (count - 1) * gap;
      c.place = {x, std::max(gpus, columns_.size() == 1 ? 1.6 * numa_least : numa_least)};
      double gpu_x = x + (c.place.width - gpus) / 2;
      for (const int id : c.gpus) {
        gpus_[id] = {gpu_x, gpu_width};
        gpu_x += gpu_width + gap;
      }
      x += c.place.width + gap;
    }
    width_ = std::max(x - gap + margin + 10,
                      2 * margin + 18 * bold_letter * static_cast<double>(machine_title(machine_).size()));
    bottom_ = machine_.gpus.empty() ? cpu_top + cpu_height + 20 : gpu_bottom + 10;
  }

  void paint_packages() {
    for (const auto& p : machine_.packages) {
      double left = 1e9, right = 0;
      for (const auto& c : columns_)
        if (c.package == p.id) {
          left = std::min(left, c.place.x);
          right = std::max(right, c.place.x + c.place.width);
        }
      if (right <= left) continue;
      const std::string name = fmt::format("package {}{}", p.id, p.model.empty() ? "" : ": " + p.model);
      back_ += rectangle(left - 10, cpu_top, right - left + 20, cpu_height, "#eef2f7", "#5b6b7f");
      back_ +=
          text(left, cpu_top + 19, 12, ink, fitted(name, right - left, 12 * bold_letter), "start", "bold");
    }
    for (const auto& c : columns_) {
      if (c.node == nullptr) continue;
      std::vector<int> cpus;
      std::size_t cores = 0;
      for (const auto& k : machine_.cores)
        if (k.numa == c.node->id) {
          cpus.insert(cpus.end(), k.cpus.begin(), k.cpus.end());
          ++cores;
        }
      std::sort(cpus.begin(), cpus.end());
      back_ += rectangle(c.place.x, cpu_top + 28, c.place.width, cpu_height - 36, "#dbe5f1", "#8fa3bd");
      back_ += text(c.place.middle(), cpu_top + 47, 12, ink,
                    fmt::format("NUMA node {}: {} cores", c.node->id, cores));
      back_ += text(c.place.middle(), cpu_top + 64, 11, "#3b4754",
                    fitted("CPUs " + write_cpu_list(cpus), c.place.width - 10, 11 * letter));
    }
  }

  // GPUs hang on their NUMA node, those that share a PCIe switch through it.
  void paint_pcie() {
    const double top = cpu_top + cpu_height - 8, switch_y = top + 34;
    std::set<int> behind;
    for (const auto& shared : drawing_.pcie_switches) {
      const double left = gpus_[shared.front()].x, right = gpus_[shared.back()].x + gpu_width;
      lines_ += line((left + right) / 2, top, (left + right) / 2, switch_y, pcie_color, 1.2);
      for (const int id : shared) {
        lines_ += line(gpus_[id].middle(), switch_y, gpus_[id].middle(), gpu_top, pcie_color, 1.2);
        behind.insert(id);
      }
      front_ += rectangle(left + 20, switch_y - 9, right - left - 40, 18, "#f3f0ea", "#b5a98f");
      front_ += text((left + right) / 2, switch_y + 4, 10, "#5d5340",
                     fitted("PCIe switch", right - left - 44, 10 * letter));
    }
    for (const auto& b : drawing_.cpu) {
      lines_ += line(gpus_[b.from].middle(), top, gpus_[b.from].middle(), gpu_top, link_color,
                     line_width(drawing_, b));
      front_ += label(gpus_[b.from].middle(), top + 38, bundle_label(b));
      behind.insert(b.from);
    }
    for (const auto& g : machine_.gpus) {
      if (behind.contains(g.id) || !g.numa) continue;
      const double x = gpus_[g.id].middle();
      lines_ += line(x, top, x, gpu_top, pcie_color, 1.2);
      if (g.pcie_gbps) front_ += label(x, top + 38, fmt::format("PCIe {:.0f} GB/s", *g.pcie_gbps));
    }
  }

  void paint_gpus() {
    for (const auto& g : machine_.gpus) {
      const auto& place = gpus_[g.id];
      const bool hidden = !g.cuda_ordinal;
      front_ += rectangle(place.x, gpu_top, place.width, gpu_height, hidden ? "#f2f2f2" : "#e3f2e1",
                          hidden ? "#9a9a9a" : link_color, hidden ? "4 3" : "");
      front_ += text(place.middle(), gpu_top + 20, 14, ink,
                     fmt::format("GPU {}{}", g.id, g.mig ? " (MIG)" : ""), "middle", "bold");
      front_ += text(place.middle(), gpu_top + 37, 11, "#3b4754",
                     fitted(short_model(g), place.width - 6, 11 * letter));
      front_ += text(place.middle(), gpu_top + 53, 10, "#3b4754",
                     hidden ? "hidden from CUDA" : fitted(g.pci_bus_id, place.width - 6, 10 * letter));
    }
  }

  // Bars that would overlap go to the next row.
  void paint_bars() {
    std::vector<double> row_end;
    std::vector<std::pair<box, double>> bars;
    for (const auto& bar : drawing_.bars) {
      box place{1e9, 0};
      double right = 0;
      for (const int id : bar.gpus) {
        place.x = std::min(place.x, gpus_[id].x);
        right = std::max(right, gpus_[id].x + gpu_width);
      }
      if (bar.gpus.empty()) place.x = margin, right = margin + 200;
      place.width = right - place.x;
      std::size_t row = 0;
      while (row < row_end.size() && row_end[row] >= place.x) ++row;
      if (row == row_end.size()) row_end.push_back(0);
      row_end[row] = right;
      bars.emplace_back(place, gpu_bottom + bar_gap + static_cast<double>(row) * (bar_height + 30));
    }
    std::map<int, int> bars_of_gpu;
    for (const auto& b : drawing_.up) ++bars_of_gpu[b.from];
    std::map<int, int> drawn;
    for (const auto& b : drawing_.up) {
      const auto& [place, y] = bars[static_cast<std::size_t>(b.to)];
      const double share = (drawn[b.from]++ + 1.0) / (bars_of_gpu[b.from] + 1.0);
      const double x = gpus_[b.from].x + gpu_width * share;
      lines_ += line(x, gpu_bottom, x, y, link_color, line_width(drawing_, b));
      if (bars_of_gpu[b.from] == 1) {
        front_ += label(x, gpu_bottom + 38, fmt::format("{} links", b.links));
        if (b.gbps > 0) front_ += label(x, gpu_bottom + 53, fmt::format("{:.0f} GB/s", b.gbps));
      }
    }
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const auto& [place, y] = bars[i];
      front_ += rectangle(place.x, y, place.width, bar_height, "#d5e8d4", link_color);
      front_ += text(place.middle(), y + 22, 13, ink,
                     fitted(drawing_.bars[i].label, place.width - 8, 13 * bold_letter), "middle", "bold");
      bottom_ = std::max(bottom_, y + bar_height + 8);
    }
    for (const auto& b : drawing_.trunks) paint_trunk(b, bars);
  }

  void paint_trunk(const bundle& b, const std::vector<std::pair<box, double>>& bars) {
    const auto& [from, from_y] = bars[static_cast<std::size_t>(b.from)];
    const auto& [to, to_y] = bars[static_cast<std::size_t>(b.to)];
    const double y = std::max(from_y, to_y) + bar_height + 26;
    lines_ += arc(from.middle(), from_y + bar_height, to.middle(), to_y + bar_height, y + 14, link_color,
                  line_width(drawing_, b));
    front_ += label((from.middle() + to.middle()) / 2, y + 8, bundle_label(b));
    bottom_ = std::max(bottom_, y + 20);
  }

  // Links between GPUs as arcs below their row, deeper the farther apart; each end has its own place on the
  // box.
  void paint_arcs() {
    std::map<int, std::vector<std::pair<double, std::size_t>>> ends;  // by GPU: the other end's place
    for (std::size_t i = 0; i < drawing_.direct.size(); ++i) {
      ends[drawing_.direct[i].from].emplace_back(gpus_[drawing_.direct[i].to].x, i);
      ends[drawing_.direct[i].to].emplace_back(gpus_[drawing_.direct[i].from].x, i);
    }
    const auto foot = [&](int id, std::size_t i) {
      auto& list = ends[id];
      // To the left the nearest stands rightmost, to the right as well: then arcs of one box do not cross.
      std::sort(list.begin(), list.end(), [&](auto& a, auto& b) {
        const bool left_a = a.first < gpus_[id].x, left_b = b.first < gpus_[id].x;
        return left_a != left_b ? left_a : a.first > b.first;
      });
      const auto at =
          std::find_if(list.begin(), list.end(), [&](auto& e) { return e.second == i; }) - list.begin();
      return gpus_[id].x + gpu_width * static_cast<double>(at + 1) / static_cast<double>(list.size() + 1);
    };
    for (std::size_t i = 0; i < drawing_.direct.size(); ++i) {
      const auto& b = drawing_.direct[i];
      const double from = foot(b.from, i), to = foot(b.to, i);
      const double depth = 30 + std::abs(to - from) * 0.30;
      lines_ += arc(from, gpu_bottom, to, gpu_bottom, gpu_bottom + depth * 4 / 3, strength(b),
                    line_width(drawing_, b));
      bottom_ = std::max(bottom_, gpu_bottom + depth + 14);
    }
  }

  std::string_view strength(const bundle& b) const {
    return b.links == drawing_.most_links ? "#1b5e20" : "#7cb342";
  }

  void paint_legend() {
    std::map<std::string, bundle> kinds;
    for (const auto& b : drawing_.direct) kinds.emplace(bundle_label(b), b);
    double x = margin + 10;
    const double y = bottom_ + 16;
    for (const auto& [what, b] : kinds) {
      lines_ += line(x, y - 4, x + 36, y - 4, strength(b), line_width(drawing_, b));
      front_ += text(x + 42, y, 12, ink, "NVLink: " + what, "start");
      x += 80 + 7.2 * static_cast<double>(what.size() + 8);
    }
    if (!kinds.empty()) bottom_ = y + 4;
  }

  const machine& machine_;
  drawing drawing_;
  std::vector<column> columns_;
  std::map<int, box> gpus_;
  std::string back_, lines_, front_;
  double width_ = 0, bottom_ = 0;
};

}  // namespace

std::string write_svg(const machine& m) { return painter(m).paint(); }

}  // namespace mgsync::topology
