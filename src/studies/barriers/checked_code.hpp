// Which machine code a check ran, so that checked rounds of the same code add up whatever the commit
// (`mgsync ledger`).
#pragma once

#include <string>

#include "barriers/backend.hpp"

namespace mgsync::barriers {

// "9.0 0123456789abcdef": the compute capability and a hash of the kernel's instructions, without its name.
// Empty: there is none, or it is not found in its file. Each file is read once.
std::string code_of(const checked_kernel&);

}  // namespace mgsync::barriers
