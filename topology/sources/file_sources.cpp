#include "topology/sources/file_source.hpp"

#include <algorithm>

#include "topology/description.hpp"
#include "topology/sources/smi_matrix.hpp"
#include "topology/sources/xml_reader.hpp"

namespace mgsync::topology {
namespace {

bool is_xml(std::string_view text) { return from_its_beginning(text).starts_with('<'); }
void add_xml(machine& m, std::string_view text, const std::string& origin) { m = read_xml(text, origin); }

// JSON that may begin with a comment; also of the version that was no JSON, which its reader refuses.
bool is_own(std::string_view text) {
  const auto begin = from_its_beginning(text);
  return begin.starts_with('{') || begin.starts_with('/') || is_description(begin.substr(0, 64));
}
void add_description(machine& m, std::string_view text, const std::string& origin) {
  m = read_description(text, origin);
}

}  // namespace

std::span<const file_source> file_sources() {
  static constexpr file_source table[] = {
      {"hwloc XML of version 2 (lstopo --of xml)", is_xml, add_xml},
      {"the text of nvidia-smi topo -m", is_smi_matrix, add_smi_matrix},
      {"an mgsync description", is_own, add_description},
  };
  return table;
}

std::string_view from_its_beginning(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n\xef\xbb\xbf"), text.size()));
}

}  // namespace mgsync::topology
