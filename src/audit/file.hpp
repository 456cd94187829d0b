// Reads files that can be audited: PTX, machine code, or both in the fat binary of an executable or shared
// object.
#pragma once

#include <string>
#include <vector>

#include "src/audit/findings.hpp"

namespace mgsync::audit {

struct part {
  std::string name;  // "k.ptx", "libk.so, PTX for 9.0"
  std::vector<function> functions;
  std::vector<report> reports;  // of each function
  std::string text;             // of PTX
};

struct named_bytes {
  std::string name, bytes;
};

struct audited_file {
  std::vector<part> parts;
  std::vector<std::string> not_known;  // a sentence for each part of the file that could not be examined
};

// Several files are audited together: a kernel's PTX and the machine code compiled from it, whose clock reads
// are compared. Throws usage_error, beginning with a file's name, where it is of no known kind, or damaged.
audited_file audit_files(const std::vector<std::string>& names, const assumptions&);
audited_file audit_bytes(const std::vector<named_bytes>& files, const assumptions&);

}  // namespace mgsync::audit
