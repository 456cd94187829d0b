#include "topology/sources/smi_matrix.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/printable.hpp"
#include "topology/cpu_list.hpp"
#include "topology/description.hpp"

namespace mgsync::topology {
namespace {

constexpr std::string_view accepted_text = "accepted: the text of nvidia-smi topo -m, all of it";
constexpr int most_links_of_a_gpu = 18;
constexpr std::size_t most_lines_before = 20;

constexpr std::pair<std::string_view, pcie_path> paths[] = {
    {"PIX", pcie_path::pix},   {"PXB", pcie_path::pxb}, {"PHB", pcie_path::phb},
    {"NODE", pcie_path::node}, {"SYS", pcie_path::sys}, {"SOC", pcie_path::sys}};  // SOC: before driver 396

struct line {
  std::size_t number = 0;
  std::vector<std::string> words;
};

// The words of each line, without the escape sequences that underline the header on a terminal.
std::vector<line> lines_of(std::string_view text, std::size_t most = std::string_view::npos) {
  std::vector<line> all(1, {1, {}});
  bool in_word = false;
  for (std::size_t i = 0; i < text.size() && all.size() <= most; ++i) {
    const char c = text[i];
    if (c == '\x1b') {
      while (i + 1 < text.size() && text[i] != 'm' && text[i] != '\n') ++i;
      if (text[i] == '\n') --i;
    } else if (c == '\n') {
      all.push_back({all.size() + 1, {}});
      in_word = false;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      in_word = false;
    } else {
      if (!std::exchange(in_word, true)) all.back().words.emplace_back();
      all.back().words.back() += c;
    }
  }
  return all;
}

std::optional<int> number_behind(std::string_view prefix, std::string_view word) {
  return word.starts_with(prefix) ? parse_number(word.substr(prefix.size())) : std::nullopt;
}

bool is_header(const line& l) {
  return !l.words.empty() && l.words[0] == "GPU0" && (l.words.size() == 1 || l.words[1] != "X");
}

class matrix_reader {
 public:
  matrix_reader(machine& m, const std::string& origin) : machine_(m), origin_(origin) {}

  void read(const std::vector<line>& lines) {
    auto at = std::find_if(lines.begin(), lines.end(), is_header);
    if (at == lines.end()) fail(1, "there is no line that begins with GPU0");
    take_header(*at);
    for (++at; at != lines.end() && rows_ < columns_.size(); ++at)
      if (!at->words.empty()) take_row(*at);
    if (rows_ < columns_.size())
      fail(lines.size(), fmt::format("it ends before the row of {}", columns_[rows_]));
    check_both_ways();
    add_links();
    add_peers();
    add_nics(std::span(at, lines.end()));
    machine_.notes.push_back(
        "nvidia-smi topo -m tells neither cores nor peer access nor speeds: they are unknown.");
  }

 private:
  [[noreturn]] void fail(std::size_t number, const std::string& why) const {
    throw usage_error(fmt::format("{}:{}: {}; {}", origin_, number, why, accepted_text));
  }

  void take_header(const line& header) {
    for (const auto& word : header.words) {
      if (word == "CPU") break;
      columns_.push_back(word);
    }
    int gpus = 0;
    for (const auto& name : columns_) gpus += name == fmt::format("GPU{}", gpus);
    if (gpus > max_gpus) fail(header.number, fmt::format("more than {} GPUs", max_gpus));
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].starts_with("GPU") && i >= static_cast<std::size_t>(gpus))
        fail(header.number, "the columns of GPUs are not GPU0, GPU1 and so on, before all others");
    cells_.assign(static_cast<std::size_t>(gpus), {});
    const auto has = [&](std::string_view word) {
      return std::find(header.words.begin(), header.words.end(), word) != header.words.end();
    };
    tells_cpus_ = has("CPU");
    tells_numa_ = has("NUMA");
  }

  void take_row(const line& row) {
    const auto& words = row.words;
    if (words[0] != columns_[rows_])
      fail(row.number,
           fmt::format("'{}' where the row of {} was expected", shown(words[0]), columns_[rows_]));
    if (words.size() <= columns_.size())
      fail(row.number,
           fmt::format("the row of {} has {} of {} cells", words[0], words.size() - 1, columns_.size()));
    if (words[rows_ + 1] != "X")
      fail(row.number, fmt::format("{} beside itself is '{}', and not X", words[0], shown(words[rows_ + 1])));
    if (rows_ < cells_.size()) take_gpu(row);
    ++rows_;
  }

  void take_gpu(const line& row) {
    gpu g;
    g.id = static_cast<int>(rows_);
    g.cuda_ordinal = g.id;  // both go by bus id, where CUDA is asked to (CUDA_DEVICE_ORDER=PCI_BUS_ID)
    const auto behind = columns_.size() + 1;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const auto& word = row.words[i + 1];
      const auto width = number_behind("NV", word);
      const auto* path =
          std::find_if(std::begin(paths), std::end(paths), [&](auto& p) { return p.first == word; });
      if (i != rows_ && (!width || *width < 1 || *width > most_links_of_a_gpu) && path == std::end(paths))
        fail(row.number,
             fmt::format("'{}' between {} and {}; accepted there: NV1 to NV{}, PIX, PXB, PHB, NODE, SYS",
                         shown(word), columns_[rows_], columns_[i], most_links_of_a_gpu));
      cells_[rows_].push_back(
          {width.value_or(0), path == std::end(paths) ? pcie_path::unknown : path->second});
    }
    for (std::size_t i = cells_.size(); i < columns_.size(); ++i)
      paths_to_nics_.push_back(path_of(row.words[i + 1]));
    const auto told = [&](std::size_t place) {
      return row.words.size() > behind + place && row.words[behind + place] != "N/A"
                 ? row.words[behind + place]
                 : "";
    };
    if (const auto cpus = told(0); tells_cpus_ && !cpus.empty()) {
      const auto list = parse_cpu_list(cpus);
      if (!list) fail(row.number, fmt::format("'{}' is no list of CPUs such as 0-51,104-155", shown(cpus)));
      g.near_cpus = *list;
    }
    if (tells_numa_) g.numa = parse_number(told(1));  // several nodes, as in 0-1, are none that is nearest
    machine_.gpus.push_back(std::move(g));
  }

  void check_both_ways() const {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (cells_[i][j] != cells_[j][i])
          fail(1, fmt::format("{} to {} is not the same as {} to {}", columns_[j], columns_[i], columns_[i],
                              columns_[j]));
  }

  // Links between two GPUs, unless one of them would have more than there are: all those that it reaches, and
  // those that these reach, are then on a switch.
  void add_links() {
    std::vector<bool> done(cells_.size());
    bool lone_pair = false;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (done[i]) continue;
      std::vector<std::size_t> joined{i};
      bool switched = false;
      done[i] = true;
      for (std::size_t at = 0; at < joined.size(); ++at) {
        int links = 0;
        for (std::size_t to = 0; to < cells_.size(); ++to) {
          const int width = cells_[joined[at]][to].first;
          links += width;
          if (width == 0 || done[to]) continue;
          done[to] = true;
          joined.push_back(to);
        }
        switched = switched || links > most_links_of_a_gpu;
      }
      std::sort(joined.begin(), joined.end());
      lone_pair = lone_pair || joined.size() == 2;
      if (switched) join_by_switch(joined);
      else join_in_pairs(joined);
    }
    if (lone_pair)
      machine_.notes.push_back(
          "nvidia-smi topo -m does not tell whether the NVLinks of two GPUs end in a switch: "
          "they are taken as direct.");
  }

  void join_in_pairs(const std::vector<std::size_t>& joined) {
    for (const auto a : joined)
      for (const auto b : joined)
        if (a < b && cells_[a][b].first > 0)
          machine_.links.push_back({end_of(a), end_of(b), cells_[a][b].first, 0, 0});
  }

  void join_by_switch(const std::vector<std::size_t>& joined) {
    const int id = static_cast<int>(machine_.switches.size());
    machine_.switches.push_back({id, ""});
    for (const auto a : joined) {
      int width = 0;
      for (const auto& cell : cells_[a]) width = std::max(width, cell.first);
      machine_.links.push_back({end_of(a), {end_kind::nvswitch, id}, width, 0, 0});
    }
  }

  void add_peers() {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      for (std::size_t j = 0; j < cells_.size(); ++j)
        if (i != j) {
          peer p;
          p.from = static_cast<int>(i);
          p.to = static_cast<int>(j);
          p.path = cells_[i][j].second;
          machine_.peers.push_back(p);
        }
  }

  // The columns behind the GPUs: NIC0, whose name stands in a legend below, or of older drivers mlx5_0.
  void add_nics(std::span<const line> below) {
    const std::size_t gpus = cells_.size(), count = columns_.size() - gpus;
    if (count > static_cast<std::size_t>(max_gpus))
      fail(1, fmt::format("more than {} network cards", max_gpus));
    for (std::size_t k = 0; k < count; ++k) {
      nic n;
      n.id = static_cast<int>(k);
      n.name = shown(columns_[gpus + k]);
      for (const auto& l : below)
        if (l.words.size() == 2 && l.words[0] == columns_[gpus + k] + ":") n.name = shown(l.words[1]);
      for (std::size_t gpu = 0; gpu < gpus; ++gpu) n.gpu_paths.push_back(paths_to_nics_[gpu * count + k]);
      if (std::all_of(n.gpu_paths.begin(), n.gpu_paths.end(), [](auto p) { return p == pcie_path::unknown; }))
        n.gpu_paths.clear();
      add_numa(n);
      machine_.nics.push_back(std::move(n));
    }
  }

  // The node of the GPUs that it is on one node with, where all of them are of one.
  void add_numa(nic& n) const {
    std::vector<std::optional<int>> nodes;
    for (std::size_t gpu = 0; gpu < n.gpu_paths.size(); ++gpu)
      if (n.gpu_paths[gpu] <= pcie_path::node) nodes.push_back(machine_.gpus[gpu].numa);
    if (!nodes.empty() && std::count(nodes.begin(), nodes.end(), nodes.front()) == std::ssize(nodes))
      n.numa = nodes.front();
  }

  static pcie_path path_of(std::string_view word) {
    const auto* path =
        std::find_if(std::begin(paths), std::end(paths), [&](auto& p) { return p.first == word; });
    return path == std::end(paths) ? pcie_path::unknown : path->second;
  }

  static link_end end_of(std::size_t gpu) { return {end_kind::gpu, static_cast<int>(gpu)}; }
  static std::string shown(std::string_view word) { return one_line(word.substr(0, 40)); }

  machine& machine_;
  const std::string& origin_;
  std::vector<std::string> columns_;
  bool tells_cpus_ = false, tells_numa_ = false;
  std::vector<std::vector<std::pair<int, pcie_path>>> cells_;  // by GPU and GPU: NVLinks, or a path over PCIe
  std::vector<pcie_path> paths_to_nics_;                       // by GPU and NIC
  std::size_t rows_ = 0;                                       // taken so far
};

}  // namespace

bool is_smi_matrix(std::string_view text) {
  const auto lines = lines_of(text.substr(0, 65536), most_lines_before);
  return std::any_of(lines.begin(), lines.end(), is_header);
}

void add_smi_matrix(machine& m, std::string_view text, const std::string& origin) {
  if (text.size() > max_matrix_bytes)
    throw usage_error(fmt::format("{}: larger than {} bytes; {}", origin, max_matrix_bytes, accepted_text));
  matrix_reader(m, origin).read(lines_of(text));
}

}  // namespace mgsync::topology
