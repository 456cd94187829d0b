#include "topology/discovery.hpp"

#include "src/base/bounded_file.hpp"
#include "topology/description.hpp"
#include "topology/sources/gpu_discovery.hpp"
#include "topology/sources/host_discovery.hpp"
#include "topology/sources/xml_reader.hpp"

namespace mgsync::topology {
namespace {

machine read_machine(const std::string& name) {
  const std::string text = read_bounded_file(name, "--topology " + name, "", max_description_bytes);
  const auto start = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool xml = start != std::string::npos && text[start] == '<';
  machine m = xml ? read_xml(text, name) : read_description(text, name);
  m.source = name;
  m.is_this_machine = false;
  return m;
}

}  // namespace

machine discover(const discovery_request& request) {
  if (request.file) return read_machine(*request.file);
  auto [m, nvlinks] = discover_host();
  if (!request.gpus) return m;
  add_gpus(m);
  if (m.links.empty()) {
    add_links(m, nvlinks);
  } else {
    compare_links(m, nvlinks);
  }
  return m;
}

}  // namespace mgsync::topology
