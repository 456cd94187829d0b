// What a file holds that can be audited: PTX, machine code, or both in the fat binary of a shared object.
#pragma once

#include <string>
#include <vector>

#include "src/audit/findings.hpp"

namespace mgsync::audit {

struct part {
  std::string name;  // "k.ptx", "libk.so, PTX for 9.0"
  std::vector<function> functions;
  std::vector<report> reports;  // of each function
};

struct named_bytes {
  std::string name, bytes;
};

struct audited_file {
  std::vector<part> parts;
  std::vector<std::string> not_known;  // what of the file could not be looked at: sentences
};

// Throws usage_error, beginning with a file's name, where it is none of the kinds, or damaged. Several files
// are one: a kernel's PTX and the machine code made of it, whose clocks are compared.
audited_file audit_files(const std::vector<std::string>& names, const assumptions&);
audited_file audit_bytes(const std::vector<named_bytes>& files, const assumptions&);

}  // namespace mgsync::audit
