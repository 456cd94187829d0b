// Removes from results what tells where they come from (--anonymous).
#pragma once

#include <map>
#include <set>
#include <string>

#include "src/results/files/json_document.hpp"

namespace mgsync {

// Replaces the names of hosts, the paths of the command line, the values of environment variables and the
// UUIDs of GPUs by hashes; equal names get equal hashes, so that hosts and GPUs can still be told apart. Host
// names inside other texts of the document are replaced too. An anonymous document does not change.
void make_anonymous(json_document&);

// A text in which each of these hosts, as a whole word, and every UUID of a GPU is a hash. Pure.
std::string without_names(const std::string& text, const std::set<std::string>& hosts);

// "GPU-" or "MIG-" and ten hexadecimal digits; the pseudonym of a pseudonym is itself. Pure.
std::string pseudonym_of_gpu(const std::string& uuid);

// The same for the parts with which the document of a measuring command begins.
void make_anonymous(machine_record&);
std::string anonymous_command(const std::string& typed);
void make_anonymous(std::map<std::string, std::string>& settings);

}  // namespace mgsync
