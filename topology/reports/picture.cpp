#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/units.hpp"
#include "topology/cpu_list.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology {
namespace {

// Strokes are one byte each until the end, so that a text is as long as it is wide.
constexpr char fork = 1, corner = 2, trunk = 3, stroke = 4, twin = 5, first_of = 6, one_of = 7, last_of = 11,
               bus = 12;
constexpr std::pair<char, std::pair<std::string_view, char>> strokes[] = {
    {fork, {"├", '|'}},   {corner, {"└", '`'}},  {trunk, {"│", '|'}},
    {stroke, {"─", '-'}}, {twin, {"═", '='}},    {first_of, {"╗", '+'}},
    {one_of, {"╣", '+'}}, {last_of, {"╝", '+'}}, {bus, {"║", '|'}},
};

std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

std::string shown(const std::string& text, bool unicode) {
  std::string out;
  for (const char c : text) {
    const auto* found =
        std::find_if(std::begin(strokes), std::end(strokes), [&](auto& s) { return s.first == c; });
    if (found == std::end(strokes)) out += c;
    else if (unicode) out += found->second.first;
    else out += found->second.second;
  }
  return out;
}

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most < 2 ? 0 : most - 2) + (most < 2 ? "" : "..");
}

struct row {
  std::string words;
  std::vector<int> gpus;  // whose links go to the right
};

class sketch {
 public:
  explicit sketch(const machine& m) : machine_(m), drawing_(drawing_of(m)) {
    if (is_folded(m)) {
      for (const auto& u : units_of(m)) add_unit(u);
    } else {
      for (const auto& p : m.packages) add_package(p);
      for (const auto& g : m.gpus)
        if (!shown_.contains(g.id)) rows_.push_back({gpu_words(g.id, ""), {g.id}});
    }
  }

  std::string lines(const picture_request& how) const {
    const auto right = buses();
    std::size_t widest = 0, room = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!right[i].empty()) {
        widest = std::max(widest, rows_[i].words.size());
        room = std::max(room, right[i].size());
      }
    const auto columns = static_cast<std::size_t>(std::max(how.columns, 40));
    widest = std::min(widest, columns > room + 12 ? columns - room : 12);
    std::string out = cut(plain(machine_title(machine_)), columns) + "\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      auto line = right[i].empty() ? rows_[i].words
                                   : fmt::format("{:<{}}{}", cut(rows_[i].words, widest), widest, right[i]);
      line = cut(line, columns);
      line.erase(line.find_last_not_of(' ') + 1);
      out += shown(line, how.unicode) + "\n";
    }
    return out;
  }

 private:
  void add_package(const package& p) {
    rows_.push_back({plain(fmt::format("package {}{}", p.id, p.model.empty() ? "" : ": " + p.model)), {}});
    std::vector<const numa_node*> nodes;
    for (const auto& n : machine_.numa_nodes)
      if (n.package == p.id) nodes.push_back(&n);
    for (const auto* n : nodes) add_node(*n, n == nodes.back());
  }

  void add_node(const numa_node& n, bool last) {
    const auto cores =
        std::count_if(machine_.cores.begin(), machine_.cores.end(), [&](auto& c) { return c.numa == n.id; });
    std::vector<std::string> others;
    for (const auto& card : machine_.nics)
      if (card.numa == n.id && near_gpus(card).empty()) others.push_back(nic_name(card));
    rows_.push_back(
        {std::string{last ? corner : fork, stroke} +
             plain(fmt::format(" NUMA node {}: {}{}", n.id, counted(static_cast<std::size_t>(cores), "core"),
                               others.empty() ? "" : fmt::format(", NIC {}", fmt::join(others, ", ")))),
         {}});
    std::vector<int> gpus;
    for (const auto& g : machine_.gpus)
      if (g.numa == n.id && shown_.emplace(g.id, true).second) gpus.push_back(g.id);
    for (const int id : gpus) {
      const std::string before = last ? "   " : std::string{trunk} + "  ";
      rows_.push_back({gpu_words(id, before + (id == gpus.back() ? corner : fork)), {id}});
    }
  }

  // A double stroke to the left is NVLink-C2C, a single one PCIe.
  std::string gpu_words(int id, const std::string& before) const {
    const auto& g = machine_.gpus[static_cast<std::size_t>(id)];
    std::string words = fmt::format("GPU {}{}", id, g.cuda_ordinal ? "" : " (hidden from CUDA)");
    char joint = stroke;
    for (const auto& b : drawing_.cpu)
      if (b.from == id) {
        joint = twin;
        words += ", " + bundle_label(b);
      }
    for (const auto& card : machine_.nics)
      if (const auto near = near_gpus(card); std::find(near.begin(), near.end(), id) != near.end())
        words += ", NIC " + nic_name(card);
    std::vector<std::string> others;
    for (const auto& b : drawing_.direct)
      if (b.from == id || b.to == id)
        others.push_back(fmt::format("{}{}", b.from == id ? b.to : b.from,
                                     b.links > 1 ? fmt::format(" ({})", counted(b.links, "link")) : ""));
    if (!others.empty()) words += fmt::format(", NVLink to {}", fmt::join(others, ", "));
    return (before.empty() ? "" : before + joint + " ") + plain(words) + " ";
  }

  void add_unit(const unit& u) {
    const bool c2c = std::any_of(drawing_.cpu.begin(), drawing_.cpu.end(), [&](auto& b) {
      return b.c2c && std::find(u.gpus.begin(), u.gpus.end(), b.from) != u.gpus.end();
    });
    std::string words = fmt::format("{:<8} ", u.title);
    if (!u.packages.empty())
      words += fmt::format("{} {}", u.packages.size() == 1 ? "CPU" : "CPUs", write_cpu_list(u.packages));
    if (!u.gpus.empty())
      words += fmt::format("{}{} {}", c2c ? std::string{' ', twin} + "C2C" + std::string{twin, ' '} : ", ",
                           u.gpus.size() == 1 ? "GPU" : "GPUs", write_cpu_list(u.gpus));
    if (!u.nics.empty()) words += ", " + counted(u.nics.size(), "NIC");
    rows_.push_back({words + " ", u.gpus});
  }

  // What stands to the right of each row: a line to the bus of each of its switches.
  std::vector<std::string> buses() const {
    std::vector<std::string> right(rows_.size());
    for (std::size_t bar = 0; bar < drawing_.bars.size(); ++bar) {
      std::vector<bundle> to(rows_.size());
      std::size_t first = rows_.size(), last = 0;
      bundle each;
      bool alike = true;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        for (const auto& b : drawing_.up) {
          if (b.to != static_cast<int>(bar) ||
              std::find(rows_[i].gpus.begin(), rows_[i].gpus.end(), b.from) == rows_[i].gpus.end())
            continue;
          alike = alike && (each.links == 0 || bundle_label(each) == bundle_label(b));
          each = b;
          to[i].links += b.links;
          first = std::min(first, i);
          last = std::max(last, i);
        }
      if (first > last) continue;
      for (std::size_t i = first; i <= last; ++i) {
        right[i].resize(8 * bar, ' ');
        if (to[i].links == 0) {
          right[i] += std::string(7, ' ') + bus;
          continue;
        }
        std::replace(right[i].begin(), right[i].end(), ' ', twin);
        const auto links = std::to_string(to[i].links);
        right[i] +=
            std::string{twin, twin} + links + std::string(5 - std::min<std::size_t>(links.size(), 5), twin);
        right[i] += first == last ? twin : i == first ? first_of : i == last ? last_of : one_of;
      }
      right[last] += std::string{twin, ' '} + plain(drawing_.bars[bar].label) +
                     (alike ? fmt::format(", each GPU {}", bundle_label(each)) : "");
    }
    return right;
  }

  const machine& machine_;
  drawing drawing_;
  std::map<int, bool> shown_;  // GPUs below a node
  std::vector<row> rows_;
};

}  // namespace

std::string write_picture(const machine& m, const picture_request& how) { return sketch(m).lines(how); }

}  // namespace mgsync::topology
