#include "topology/discovery.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/bounded_file.hpp"
#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/sources/file_source.hpp"
#include "topology/sources/gpu_discovery.hpp"
#include "topology/sources/host_discovery.hpp"

namespace mgsync::topology {
namespace {

machine read_machine(const std::string& name) {
  const std::string text = read_bounded_file(name, "--topology " + name, "", max_description_bytes);
  const auto all = file_sources();
  const auto source = std::ranges::find_if(all, [&](const auto& one) { return one.recognizes(text); });
  if (source == all.end()) {
    std::vector<std::string_view> names;
    for (const auto& one : all) names.push_back(one.name);
    throw usage_error(fmt::format("{}: this says nothing of a machine that mgsync could read; accepted: {}",
                                  name, fmt::join(names, ", ")));
  }
  machine m;
  source->add(m, text, name);
  m.source = name;
  m.is_this_machine = false;
  return m;
}

}  // namespace

machine discover(const discovery_request& request) {
  if (request.file) return read_machine(*request.file);
  auto [m, nvlinks, nics] = discover_host();
  if (request.gpus) add_gpus(m);
  add_nics(m, nics);
  if (!request.gpus) return m;
  if (m.links.empty()) {
    add_links(m, nvlinks);
  } else {
    compare_links(m, nvlinks);
  }
  return m;
}

}  // namespace mgsync::topology
