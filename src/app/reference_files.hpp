// The reference results of the kind of machine at hand: those that came with mgsync, or that MGSYNC_REFERENCE
// names a folder of.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/files/result_file.hpp"
#include "src/results/values/machine_likeness.hpp"
#include "topology/machine.hpp"

namespace mgsync {

struct references {
  std::vector<result_file> alike;           // of the same CPU, cores and GPUs, in the order of their names
  std::vector<topology::machine> machines;  // the machine descriptions (*.machine) beside them
  std::size_t most_gpus = 0;  // of machines that are the same but for more GPUs, if `alike` is empty
  std::string why_none{};     // a sentence that names the kinds that there are, if `alike` is empty
};

// "2 x NVIDIA H200, 32 cores of Intel(R) Xeon(R) Processor".
std::string kind_of(const machine_record&);

// `whose` is the file, or "this machine".
references references_for(const machine_record&, const std::string& whose);
// Of the files that a list names, as in a.json,b.json,a.machine. Throws usage_error for one of another
// machine, unless `allowed`, and where some are of machines with more GPUs and others are not. `of_host`:
// host members are asked for, of whatever machine without its GPUs.
references references_named(std::string_view list, const machine_record&, bool of_host, across allowed);

// Throws usage_error for the first of these files that is not there although one of the same folder and name,
// as h200x4/barriers.json.xz, came with mgsync, and says where that one is. `lists`: each may be several, as
// in a.json,b.json.
void point_to_references(std::span<const std::string> files, bool lists);

}  // namespace mgsync
