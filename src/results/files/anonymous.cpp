#include "src/results/files/anonymous.hpp"

#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "src/base/hosts.hpp"

namespace mgsync {

std::string pseudonym_of_gpu(const std::string& uuid) {
  static const std::regex pseudonym("(GPU|MIG)-[0-9a-f]{10}");
  if (uuid.empty() || std::regex_match(uuid, pseudonym)) return uuid;
  return (uuid.starts_with("MIG") ? "MIG-" : "GPU-") + pseudonym_of(uuid).substr(5);
}

namespace {

std::string pseudonym_of_value(const std::string& value) {
  static const std::regex pseudonym("value-[0-9a-f]{10}");
  if (value.empty() || std::regex_match(value, pseudonym)) return value;
  return "value-" + pseudonym_of(value).substr(5);
}

// Every UUID of a GPU in a text.
std::string without_uuids(const std::string& text) {
  static const std::regex uuid("(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  std::string told;
  auto from = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), uuid), end; found != end; ++found) {
    told.append(from, text.begin() + found->position());
    told += pseudonym_of_gpu(found->str());
    from = text.begin() + found->position() + found->length();
  }
  return told.append(from, text.end());
}

bool is_of_a_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// Each whole word of the text that is one of the hosts.
std::string without_hosts(const std::string& text, const std::set<std::string>& hosts) {
  std::string told;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_a_word(text[at])) {
      told += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_of_a_word(text[end])) ++end;
    std::string word = text.substr(at, end - at), tail;
    while (!word.empty() && word.back() == '.') tail += '.', word.pop_back();  // the end of a sentence
    told += (hosts.count(word) != 0 ? pseudonym_of(word) : word) + tail;
    at = end;
  }
  return told;
}

}  // namespace

std::string without_names(const std::string& text, const std::set<std::string>& hosts) {
  return without_uuids(without_hosts(text, hosts));
}

void make_anonymous(machine_record& machine) {
  std::set<std::string> hosts(machine.hosts.begin(), machine.hosts.end());
  hosts.insert(machine.host);
  for (std::string& note : machine.notes) note = without_names(note, hosts);
  machine.host = pseudonym_of(machine.host);
  for (std::string& host : machine.hosts) host = pseudonym_of(host);
  for (topology::gpu& gpu : machine.gpus) gpu.uuid = pseudonym_of_gpu(gpu.uuid);
}

std::string anonymous_command(const std::string& typed) {
  std::istringstream words(typed);
  std::string told;
  for (std::string word; words >> word;) {
    if (const auto slash = word.find('/'); slash != std::string::npos) {
      const auto equals = word.rfind('=', slash);
      word = (equals == std::string::npos ? "" : word.substr(0, equals + 1)) + "PATH";
    }
    told += (told.empty() ? "" : " ") + word;
  }
  return told;
}

void make_anonymous(std::map<std::string, std::string>& settings) {
  std::map<std::string, std::string> told;
  for (const auto& [name, value] : settings)
    told[without_uuids(name)] = name.starts_with("environment ") ? pseudonym_of_value(value)
                                : name.starts_with("merged_")    ? anonymous_command(value)
                                                                 : without_uuids(value);
  settings = std::move(told);
}

void make_anonymous(json_document& document) {
  std::set<std::string> hosts(document.machine.hosts.begin(), document.machine.hosts.end());
  hosts.insert(document.machine.host);
  for (const result& r : document.results) {
    hosts.insert(r.point.node);
    hosts.insert(r.found("host"));
  }
  hosts.erase("");
  const auto told = [&](std::string& text) { text = without_names(text, hosts); };
  for (result& r : document.results) {
    r.point.node = pseudonym_of(r.point.node);
    told(r.reason);
    for (auto& [name, value] : r.environment) told(value);
    for (auto& [name, value] : r.verdict.details) told(value);
    for (std::string& note : r.notes) told(note);
    for (doubt& one : r.doubts) told(one.text);
  }
  document.command = anonymous_command(document.command);
  make_anonymous(document.machine);
  make_anonymous(document.settings);
}

}  // namespace mgsync
