#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "topology/cpu_list.hpp"
#include "topology/description.hpp"
#include "topology/description_words.hpp"

namespace mgsync::topology {
namespace {

constexpr int max_width = 1024;
constexpr std::size_t max_near_cpus = std::size_t{1} << 20;
constexpr std::array<std::string_view, 7> path_names = {"self", "pix", "pxb", "phb", "node", "sys", "unknown"};

// A machine under construction, and where each of its things was said.
class reader {
 public:
  explicit reader(std::string_view origin) : origin_(origin) {}

  void line(const description_words& words);
  machine finish();

 private:
  void host(const description_words&);
  void source(const description_words&);
  void this_machine(const description_words&);
  void package(const description_words&);
  void numa(const description_words&);
  void cores(const description_words&);
  void allowed(const description_words&);
  void quota(const description_words&);
  void unseen_gpu(const description_words&);
  void cuda_problem(const description_words&);
  void gpu(const description_words&);
  void nvswitch(const description_words&);
  void link(const description_words&);
  void peer(const description_words&);
  void note(const description_words&);

  link_end end(const description_words&, std::size_t word) const;
  void check_references() const;
  void expand_peers();
  // `id` must be the next of its kind.
  static void in_order(const description_words& words, int id, std::size_t next);

  std::string_view origin_;
  machine machine_;
  std::set<std::string> once_;                        // keywords that may come once only
  std::set<int> cpus_;                                // of all cores
  std::size_t near_cpus_ = 0;                         // of all GPUs
  std::vector<line_position> numa_lines_, core_lines_, link_lines_, peer_lines_;
  std::optional<std::pair<topology::peer, line_position>> usual_peer_;
};

void reader::in_order(const description_words& words, int id, std::size_t next) {
  if (static_cast<std::size_t>(id) != next)
    words.at.fail(fmt::format("{} {} is out of order; the next one is {} {}", words.keyword, id, words.keyword, next));
}

void reader::host(const description_words& w) {
  w.expect(1, {}, "host NAME");
  machine_.host = w.words[0];
}

void reader::source(const description_words& w) {
  w.expect(1, {}, "source TEXT");
  machine_.source = w.words[0];
}

void reader::this_machine(const description_words& w) {
  w.expect(1, {}, "this-machine yes|no");
  if (w.words[0] != "yes" && w.words[0] != "no") w.at.fail("this-machine takes yes or no");
  machine_.is_this_machine = w.words[0] == "yes";
}

void reader::package(const description_words& w) {
  w.expect(1, {"model"}, "package ID [model=TEXT]");
  const int id = w.number(0, max_cpu);
  in_order(w, id, machine_.packages.size());
  machine_.packages.push_back({id, w.text("model")});
}

void reader::numa(const description_words& w) {
  w.expect(1, {"package"}, "numa ID package=ID");
  const int id = w.number(0, max_cpu);
  if (std::any_of(machine_.numa_nodes.begin(), machine_.numa_nodes.end(), [&](auto& n) { return n.id == id; }))
    w.at.fail(fmt::format("numa {} is given twice", id));
  machine_.numa_nodes.push_back({id, w.number("package", max_cpu).value_or(0)});
  numa_lines_.push_back(w.at);
}

void reader::cores(const description_words& w) {
  w.expect(1, {"package", "numa", "cache", "cpus"}, "core ID|FIRST-LAST package=ID numa=ID [cache=ID] [cpus=LIST]");
  const auto ids = parse_cpu_list(w.words[0]);
  if (!ids || ids->empty() || ids->back() - ids->front() + 1 != static_cast<int>(ids->size()))
    w.at.fail("a core is a number or FIRST-LAST");
  in_order(w, ids->front(), machine_.cores.size());
  const auto cpus = w.cpus("cpus");
  if (cpus.size() % ids->size() != 0)
    w.at.fail(fmt::format("{} CPUs cannot be shared evenly by {} cores", cpus.size(), ids->size()));
  for (const int cpu : cpus)
    if (!cpus_.insert(cpu).second) w.at.fail(fmt::format("CPU {} is in two cores", cpu));
  for (std::size_t i = 0; i < ids->size(); ++i) {
    core c{(*ids)[i], w.number("package", max_cpu).value_or(0), w.number("numa", max_cpu).value_or(0),
           w.number("cache", max_cpu).value_or(0), {}};
    for (std::size_t cpu = i; cpu < cpus.size(); cpu += ids->size()) c.cpus.push_back(cpus[cpu]);
    machine_.cores.push_back(std::move(c));
    core_lines_.push_back(w.at);
  }
}

void reader::allowed(const description_words& w) {
  w.expect(1, {}, "allowed LIST");
  const auto cpus = parse_cpu_list(w.words[0]);
  if (!cpus || std::adjacent_find(cpus->begin(), cpus->end(), std::greater_equal<>{}) != cpus->end())
    w.at.fail("allowed takes a rising list of CPUs like 0-3,8");
  machine_.allowed_cpus = *cpus;
}

void reader::gpu(const description_words& w) {
  w.expect(1, {"name", "uuid", "bus", "ordinal", "numa", "near", "major", "minor", "sms", "clock_mhz", "memory",
               "pcie_gbps", "mig"},
           "gpu ID [name= uuid= bus= ordinal= numa= near= major= minor= sms= clock_mhz= memory= pcie_gbps= mig=]");
  topology::gpu g;
  g.id = w.number(0, max_gpus - 1);
  in_order(w, g.id, machine_.gpus.size());
  g.name = w.text("name");
  g.uuid = w.text("uuid");
  g.pci_bus_id = w.text("bus");
  g.cuda_ordinal = w.number("ordinal", max_gpus - 1);
  for (const auto& other : machine_.gpus) {
    if (g.cuda_ordinal && g.cuda_ordinal == other.cuda_ordinal)
      w.at.fail(fmt::format("gpu {} and gpu {} have the same ordinal {}", other.id, g.id, *g.cuda_ordinal));
    if (!g.uuid.empty() && g.uuid == other.uuid)
      w.at.fail(fmt::format("gpu {} and gpu {} have the same uuid", other.id, g.id));
  }
  g.numa = w.number("numa", max_cpu);
  g.near_cpus = w.cpus("near");
  near_cpus_ += g.near_cpus.size();
  if (near_cpus_ > max_near_cpus) w.at.fail(fmt::format("the GPUs have more than {} near CPUs in all", max_near_cpus));
  g.compute_major = w.number("major", 1000);
  g.compute_minor = w.number("minor", 1000);
  g.sm_count = w.number("sms", 1 << 20);
  g.sm_clock_mhz = w.number("clock_mhz", 1 << 20);
  g.memory_bytes = w.bytes("memory");
  g.pcie_gbps = w.real("pcie_gbps");
  g.mig = w.flag("mig").value_or(false);
  machine_.gpus.push_back(std::move(g));
}

void reader::nvswitch(const description_words& w) {
  w.expect(1, {"bus"}, "switch ID [bus=PCI-BUS-ID]");
  const int id = w.number(0, max_gpus - 1);
  in_order(w, id, machine_.switches.size());
  machine_.switches.push_back({id, w.text("bus")});
}

link_end reader::end(const description_words& w, std::size_t word) const {
  const std::string_view text = w.words[word];
  constexpr std::array<std::string_view, 3> names = {"gpu:", "switch:", "cpu:"};
  for (std::size_t kind = 0; kind < names.size(); ++kind)
    if (text.starts_with(names[kind]))
      if (const auto id = parse_number(text.substr(names[kind].size()))) return {static_cast<end_kind>(kind), *id};
  w.at.fail(fmt::format("{} is no end of a link; accepted: gpu:ID, switch:ID, cpu:ID", quote(text.substr(0, 60))));
}

void reader::link(const description_words& w) {
  constexpr std::string_view usage = "link END END [width=N] [version=N] [gbps=N], END is gpu:ID, switch:ID or cpu:ID";
  w.expect(2, {"width", "version", "gbps"}, usage);
  topology::link l{end(w, 0), end(w, 1), w.number("width", max_width).value_or(1),
                   w.number("version", 1000).value_or(0), w.real("gbps").value_or(0)};
  if (l.a == l.b) w.at.fail("a link needs two different ends");
  if (machine_.links.size() >= 65536) w.at.fail("more than 65536 links");
  machine_.links.push_back(l);
  link_lines_.push_back(w.at);
}

void reader::peer(const description_words& w) {
  w.expect(2, {"access", "atomics", "rank", "path"}, "peer FROM TO [access=yes|no] [atomics=yes|no] [rank=N] [path=P]");
  topology::peer p;
  p.access = w.flag("access");
  p.atomics = w.flag("atomics");
  p.performance_rank = w.number("rank", 1 << 20);
  if (const auto path = w.text("path"); !path.empty()) {
    const auto found = std::find(path_names.begin(), path_names.end(), path);
    if (found == path_names.end()) w.at.fail("unknown path; accepted: self, pix, pxb, phb, node, sys, unknown");
    p.path = static_cast<pcie_path>(found - path_names.begin());
  }
  if (w.words[0] == "*" && w.words[1] == "*") {
    if (usual_peer_) w.at.fail("peer * * is given twice");
    usual_peer_.emplace(p, w.at);
    return;
  }
  p.from = w.number(0, max_gpus - 1);
  p.to = w.number(1, max_gpus - 1);
  if (p.from == p.to) w.at.fail("a peer is another GPU");
  if (machine_.peers.size() >= std::size_t{max_gpus} * max_gpus) w.at.fail("too many peers");
  machine_.peers.push_back(p);
  peer_lines_.push_back(w.at);
}

void reader::quota(const description_words& w) {
  w.expect(0, {"cpus", "cgroup"}, "quota cpus=N [cgroup=TEXT]");
  const auto cpus = w.real("cpus");
  if (!cpus || *cpus <= 0) w.at.fail("a quota has cpus=N, more than 0");
  machine_.quota = cpu_quota{*cpus, w.text("cgroup")};
}

void reader::unseen_gpu(const description_words& w) {
  w.expect(1, {}, "unseen-gpu PCI-BUS-ID");
  if (machine_.unseen_gpus.size() >= max_gpus) w.at.fail(fmt::format("more than {} unseen GPUs", max_gpus));
  machine_.unseen_gpus.push_back(w.words[0]);
}

void reader::cuda_problem(const description_words& w) {
  w.expect(1, {}, "cuda-problem TEXT");
  machine_.cuda_problem = w.words[0];
}

void reader::note(const description_words& w) {
  w.expect(1, {}, "note TEXT");
  machine_.notes.push_back(w.words[0]);
}

void reader::line(const description_words& w) {
  using member = void (reader::*)(const description_words&);
  static constexpr std::pair<std::string_view, member> keywords[] = {
      {"host", &reader::host},       {"source", &reader::source}, {"this-machine", &reader::this_machine},
      {"allowed", &reader::allowed}, {"quota", &reader::quota},   {"cuda-problem", &reader::cuda_problem},
      {"unseen-gpu", &reader::unseen_gpu}, {"package", &reader::package}, {"numa", &reader::numa},
      {"core", &reader::cores},      {"gpu", &reader::gpu},       {"switch", &reader::nvswitch},
      {"link", &reader::link},       {"peer", &reader::peer},     {"note", &reader::note}};
  constexpr int once = 6;  // the first six
  for (int i = 0; const auto& [name, read] : keywords) {
    if (name == w.keyword) {
      if (i < once && !once_.insert(w.keyword).second) w.at.fail(fmt::format("'{}' is given twice", name));
      return (this->*read)(w);
    }
    ++i;
  }
  w.at.fail(fmt::format("unknown keyword {}; accepted: host, source, this-machine, allowed, quota, package, numa, core, "
                        "gpu, unseen-gpu, cuda-problem, switch, link, peer, note",
                        quote(std::string_view(w.keyword).substr(0, 60))));
}

void reader::check_references() const {
  const auto packages = static_cast<int>(machine_.packages.size());
  const auto check = [](bool exists, const line_position& where, std::string_view kind, int id) {
    if (!exists) where.fail(fmt::format("there is no {} {}", kind, id));
  };
  std::set<int> numa_ids;
  for (std::size_t i = 0; i < machine_.numa_nodes.size(); ++i) {
    numa_ids.insert(machine_.numa_nodes[i].id);
    check(machine_.numa_nodes[i].package < packages, numa_lines_[i], "package", machine_.numa_nodes[i].package);
  }
  for (std::size_t i = 0; i < machine_.cores.size(); ++i) {
    check(machine_.cores[i].package < packages, core_lines_[i], "package", machine_.cores[i].package);
    check(numa_ids.contains(machine_.cores[i].numa), core_lines_[i], "numa", machine_.cores[i].numa);
  }
  const std::size_t sizes[] = {machine_.gpus.size(), machine_.switches.size(), machine_.packages.size()};
  constexpr std::string_view kinds[] = {"gpu", "switch", "package"};
  for (std::size_t i = 0; i < machine_.links.size(); ++i)
    for (const auto& e : {machine_.links[i].a, machine_.links[i].b})
      check(static_cast<std::size_t>(e.id) < sizes[static_cast<int>(e.kind)], link_lines_[i],
            kinds[static_cast<int>(e.kind)], e.id);
  for (std::size_t i = 0; i < machine_.peers.size(); ++i)
    for (const int id : {machine_.peers[i].from, machine_.peers[i].to})
      check(static_cast<std::size_t>(id) < machine_.gpus.size(), peer_lines_[i], "gpu", id);
}

// "peer * *" says what every ordered pair is that has no line of its own; then the pairs come in order.
void reader::expand_peers() {
  std::set<std::pair<int, int>> seen;
  for (std::size_t i = 0; i < machine_.peers.size(); ++i)
    if (!seen.emplace(machine_.peers[i].from, machine_.peers[i].to).second)
      peer_lines_[i].fail(fmt::format("peer {} {} is given twice", machine_.peers[i].from, machine_.peers[i].to));
  if (!usual_peer_) return;
  for (const auto& from : machine_.gpus)
    for (const auto& to : machine_.gpus)
      if (from.id != to.id && !seen.contains({from.id, to.id})) {
        topology::peer p = usual_peer_->first;
        p.from = from.id;
        p.to = to.id;
        machine_.peers.push_back(p);
      }
  std::sort(machine_.peers.begin(), machine_.peers.end(),
            [](auto& a, auto& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
}

machine reader::finish() {
  check_references();
  expand_peers();
  return std::move(machine_);
}

}  // namespace

machine read_description(std::string_view text, std::string_view origin) {
  line_position at{origin, 1};
  if (text.size() > max_description_bytes)
    at.fail(fmt::format("the description is larger than {} MiB", max_description_bytes >> 20));
  reader result(origin);
  bool first = true;
  for (; !text.empty(); ++at.number) {
    const auto line_end = text.find('\n');
    auto line = text.substr(0, line_end);
    text.remove_prefix(line_end == std::string_view::npos ? text.size() : line_end + 1);
    if (first) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line != description_magic) at.fail(fmt::format("not a machine description; accepted: the first line is "
                                                         "'{}', or the file is hwloc XML of version 2",
                                                         description_magic));
      first = false;
      continue;
    }
    const auto words = split_words(line, at);
    if (words.keyword.empty() && words.words.empty() && words.values.empty()) continue;
    if (words.keyword.empty()) at.fail("a line starts with its keyword");
    result.line(words);
  }
  if (first) at.fail(fmt::format("the file is empty; accepted: the first line is '{}'", description_magic));
  return result.finish();
}

}  // namespace mgsync::topology
