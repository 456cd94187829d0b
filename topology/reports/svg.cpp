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
#include "topology/reports/svg_parts.hpp"

namespace mgsync::topology {
namespace {

using namespace svg_parts;

constexpr double gpu_width = 108, gpu_height = 66, gap = 18, margin = 24, cpu_top = 56, nic_height = 24;
constexpr double bar_height = 34, least_cpu_height = 84, c2c_room = 30, bar_gap = 92, numa_least = 210;

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

// A network card above the GPUs that it is nearest to.
struct nic_chip {
  int nic = 0;
  box place;
  std::size_t row = 0;  // from the GPUs up
};

class painter {
 public:
  explicit painter(const machine& m) : machine_(m), drawing_(drawing_of(m)) {}

  std::string paint(bool with_style) {
    place_columns();
    place_nics();
    paint_packages();
    paint_pcie();
    paint_nics();
    paint_gpus();
    paint_bars();
    paint_arcs();
    paint_legend();
    const auto title = text(margin, 32, 18, ink, machine_title(machine_), "start", "bold");
    return picture(width_, bottom_ + margin, title + back_ + lines_ + front_, with_style);
  }

 private:
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
  }

  void place_nics() {
    for (const auto& b : drawing_.cpu)
      if (b.c2c) c2c_.insert(b.from);
    for (const auto& n : machine_.nics) {
      const auto near = near_gpus(n);
      if (near.empty()) {
        nics_of_node_[n.numa.value_or(-1)].push_back(n.id);
        continue;
      }
      box place{1e9, 0};
      double right = 0;
      for (const int id : near) {
        const double beside = c2c_.contains(id) ? c2c_room : 0;
        place.x = std::min(place.x, gpus_[id].x + beside);
        right = std::max(right, gpus_[id].x + gpu_width);
      }
      place.width = right - place.x;
      std::size_t row = 0;
      while (std::any_of(chips_.begin(), chips_.end(), [&](auto& c) {
        return c.row == row && c.place.x < right && place.x < c.place.x + c.place.width;
      }))
        ++row;
      chips_.push_back({n.id, place, row});
      nic_rows_ = std::max(nic_rows_, row + 1);
    }
    if (!nics_of_node_.empty()) cpu_height_ += 18;
    gpu_top_ = cpu_top + cpu_height_ + 74 + static_cast<double>(nic_rows_) * nic_height;
    gpu_bottom_ = gpu_top_ + gpu_height;
    bottom_ = machine_.gpus.empty() ? cpu_top + cpu_height_ + 20 : gpu_bottom_ + 10;
  }

  // What else hangs on the node, or of none where no node is known.
  std::string other_nics(int node) const {
    const auto found = nics_of_node_.find(node);
    if (found == nics_of_node_.end()) return "";
    std::string names;
    for (const int id : found->second)
      names += (names.empty() ? "NIC " : ", ") + nic_name(machine_.nics[static_cast<std::size_t>(id)]);
    return names;
  }

  void paint_nics() {
    for (const auto& c : chips_) {
      const double y = gpu_top_ - 8 - static_cast<double>(c.row + 1) * nic_height;
      front_ += rectangle(c.place.x, y, c.place.width, 19, nic_fill, nic_color);
      const auto& n = machine_.nics[static_cast<std::size_t>(c.nic)];
      front_ += text(c.place.middle(), y + 13.5, 11, ink,
                     fitted("NIC " + nic_name(n), c.place.width - 6, 11 * letter));
    }
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
      back_ += rectangle(left - 10, cpu_top, right - left + 20, cpu_height_, package_fill, package_edge);
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
      back_ += rectangle(c.place.x, cpu_top + 28, c.place.width, cpu_height_ - 36, node_fill, node_edge);
      back_ += text(c.place.middle(), cpu_top + 47, 12, ink,
                    fmt::format("NUMA node {}: {} cores", c.node->id, cores));
      back_ += text(c.place.middle(), cpu_top + 64, 11, soft_ink,
                    fitted("CPUs " + write_cpu_list(cpus), c.place.width - 10, 11 * letter));
      if (const auto names = other_nics(c.node->id); !names.empty())
        back_ += text(c.place.middle(), cpu_top + 81, 11, nic_color,
                      fitted(names, c.place.width - 10, 11 * letter));
    }
  }

  // GPUs hang on their NUMA node, those that share a PCIe switch through it.
  void paint_pcie() {
    const double top = cpu_top + cpu_height_ - 8, switch_y = top + 34;
    std::set<int> behind;
    for (const auto& shared : drawing_.pcie_switches) {
      const double left = gpus_[shared.front()].x, right = gpus_[shared.back()].x + gpu_width;
      lines_ += line((left + right) / 2, top, (left + right) / 2, switch_y, pcie_color, 1.2);
      for (const int id : shared) {
        lines_ += line(gpus_[id].middle(), switch_y, gpus_[id].middle(), gpu_top_, pcie_color, 1.2);
        behind.insert(id);
      }
      front_ += rectangle(left + 20, switch_y - 9, right - left - 40, 18, switch_fill, switch_edge);
      front_ += text((left + right) / 2, switch_y + 4, 10, switch_ink,
                     fitted("PCIe switch", right - left - 44, 10 * letter));
    }
    std::set<int> with_nics;
    for (const auto& c : chips_)
      for (const int id : near_gpus(machine_.nics[static_cast<std::size_t>(c.nic)])) with_nics.insert(id);
    for (const auto& b : drawing_.cpu) {
      const bool aside = with_nics.contains(b.from);  // of the PCIe line and its network cards
      const double x = aside ? gpus_[b.from].x + c2c_room / 2 : gpus_[b.from].middle();
      if (b.c2c) {
        for (const double beside : {-3.5, 3.5})
          lines_ += line(x + beside, top, x + beside, gpu_top_, c2c_color, 2.4);
      } else {
        lines_ += line(x, top, x, gpu_top_, nvlink_color, 5);
      }
      front_ += label(gpus_[b.from].middle(), top + 38, bundle_label(b), b.c2c ? c2c_color : ink);
      if (!aside) behind.insert(b.from);
    }
    for (const auto& g : machine_.gpus) {
      if (behind.contains(g.id) || !g.numa) continue;
      const double x = gpus_[g.id].middle() + (c2c_.contains(g.id) ? c2c_room / 2 : 0);
      lines_ += line(x, top, x, gpu_top_, pcie_color, 1.2);
      if (c2c_.contains(g.id)) continue;
      if (g.pcie_gbps) front_ += label(x, top + 38, fmt::format("PCIe {:.0f} GB/s", *g.pcie_gbps));
    }
  }

  void paint_gpus() {
    for (const auto& g : machine_.gpus) {
      const auto& place = gpus_[g.id];
      const bool hidden = !g.cuda_ordinal;
      front_ += rectangle(place.x, gpu_top_, place.width, gpu_height, hidden ? hidden_fill : gpu_fill,
                          hidden ? hidden_edge : nvlink_color, hidden ? "4 3" : "");
      front_ += text(place.middle(), gpu_top_ + 20, 14, ink,
                     fmt::format("GPU {}{}", g.id, g.mig ? " (MIG)" : ""), "middle", "bold");
      front_ += text(place.middle(), gpu_top_ + 37, 11, soft_ink,
                     fitted(short_model(g), place.width - 6, 11 * letter));
      front_ += text(place.middle(), gpu_top_ + 53, 10, soft_ink,
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
      bars.emplace_back(place, gpu_bottom_ + bar_gap + static_cast<double>(row) * (bar_height + 30));
    }
    std::map<int, int> bars_of_gpu;
    for (const auto& b : drawing_.up) ++bars_of_gpu[b.from];
    std::map<int, int> drawn;
    for (const auto& b : drawing_.up) {
      const auto& [place, y] = bars[static_cast<std::size_t>(b.to)];
      const double share = (drawn[b.from]++ + 1.0) / (bars_of_gpu[b.from] + 1.0);
      const double x = gpus_[b.from].x + gpu_width * share;
      lines_ += line(x, gpu_bottom_, x, y, nvlink_color, line_width(drawing_, b));
      if (bars_of_gpu[b.from] == 1) {
        front_ += label(x, gpu_bottom_ + 38, fmt::format("{} links", b.links));
        if (b.gbps > 0) front_ += label(x, gpu_bottom_ + 53, fmt::format("{:.0f} GB/s", b.gbps));
      }
    }
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const auto& [place, y] = bars[i];
      front_ += rectangle(place.x, y, place.width, bar_height, bar_fill, nvlink_color);
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
    lines_ += arc(from.middle(), from_y + bar_height, to.middle(), to_y + bar_height, y + 14, nvlink_color,
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
      lines_ += arc(from, gpu_bottom_, to, gpu_bottom_, gpu_bottom_ + depth * 4 / 3, strength(b),
                    line_width(drawing_, b));
      bottom_ = std::max(bottom_, gpu_bottom_ + depth + 14);
    }
  }

  std::string_view strength(const bundle& b) const {
    return b.links == drawing_.most_links ? strong_nvlink : weak_nvlink;
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
  std::vector<nic_chip> chips_;
  std::size_t nic_rows_ = 0;
  std::map<int, std::vector<int>> nics_of_node_;  // those that are near no GPU
  std::set<int> c2c_;                             // GPUs
  double width_ = 0, bottom_ = 0;
  double cpu_height_ = least_cpu_height, gpu_top_ = 0, gpu_bottom_ = 0;
};

}  // namespace

std::string write_svg(const machine& m, bool with_style) {
  return is_folded(m) ? write_folded_svg(m, with_style) : painter(m).paint(with_style);
}

std::string style_of_pictures(std::string_view inside) { return svg_parts::dark_style(inside); }

}  // namespace mgsync::topology
