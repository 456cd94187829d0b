// Results that do not tell where they come from, for those who pass them on.
#pragma once

#include <map>
#include <string>

#include "src/results/json_document.hpp"

namespace mgsync {

// Takes out of a document the names of hosts, the paths of the command line, and the values of environment
// variables and the UUIDs of GPUs: hashes stand for them, the same for the same name, so that hosts and GPUs
// are still told apart. Names that other texts of the document contain are replaced there too. A document
// that is anonymous stays as it is.
void make_anonymous(json_document&);

// "GPU-" or "MIG-" and ten hexadecimal digits; a pseudonym stands for itself. Pure.
std::string pseudonym_of_gpu(const std::string& uuid);

// The same of what the document of a command that measures begins with.
void make_anonymous(machine_record&);
std::string anonymous_command(const std::string& typed);
void make_anonymous(std::map<std::string, std::string>& settings);

}  // namespace mgsync
