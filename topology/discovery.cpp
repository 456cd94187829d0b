#include "topology/discovery.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/sources/gpu_discovery.hpp"
#include "topology/sources/host_discovery.hpp"
#include "topology/sources/xml_reader.hpp"

namespace mgsync::topology {
namespace {

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::string text;
  if (!file) throw usage_error(fmt::format("--topology {}: the file cannot be opened", name));
  std::string part(std::size_t{1} << 16, '\0');
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
    text.append(part, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_description_bytes)
      throw usage_error(fmt::format("--topology {}: larger than {} MiB", name, max_description_bytes >> 20));
  }
  if (file.bad()) throw usage_error(fmt::format("--topology {}: the file cannot be read", name));
  return text;
}

machine read_machine(const std::string& name) {
  const std::string text = read_file(name);
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
