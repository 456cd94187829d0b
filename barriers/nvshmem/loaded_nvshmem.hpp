// The shared object of NVSHMEM's barriers, loaded once in a process, and NVSHMEM started in it.
#pragma once

#include <string>

#include "barriers/nvshmem/nvshmem_object.hpp"

namespace mgsync {

struct loaded_nvshmem {
  const nvshmem_object* object = nullptr;
  std::string reason;  // why there is none
};
// Looks beside the program, and where an installation has it.
const loaded_nvshmem& load_nvshmem();
// Why the table is not that of this program; empty if it is.
std::string what_is_wrong(const nvshmem_object*);

}  // namespace mgsync
