// The catalogue of probes. Each is an entry of src/probes/catalogue/*.inc and an operation in the .cu beside
// it:
//   MGSYNC_PROBE(75, ballot, vote_ballot, chain, (16, 32, 64, 128, 256), .what = "ballot",
//                .per_link = {{"ISETP", 1}, {"VOTE", 1}}, .result_of = "VOTE")
// For nvcc that is five kernels, ballot_16 to ballot_256 (probe_kernels.hpp); for the host a value of the
// type probe, and what the machine code of these kernels must be.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/probes/machine_code/code_check.hpp"
#include "src/probes/probe_arguments.hpp"

namespace mgsync::probes {

// What the links of a probe are in its machine code.
enum class link_kind {
  chain,           // links of instructions, each taking the result of the one before
  barrier,         // links that make the warp wait by themselves, without a result
  no_instruction,  // the compiler leaves nothing that waits: the value is no latency of a barrier
  library,         // many instructions of a library, or a whole sum: labelled so, and not code-checked
};

// How the kernels of an entry run its operation: function templates of these names (probe_frame.hpp and the
// sources).
enum class form {
  chain,
  together,
  some_lanes,
  two_branches,
  two_warps,
  one_lane,
  two_blocks,
  meeting,
  in_the_code,
  part_of_region,
  parts_of_region,
  whole_sum,
  steps,
  warp_sum,
  remote_warp_sum
};

inline constexpr unsigned all_links = 0;

struct probe {
  // What nvcc reads too.
  std::string_view source{};  // "warp" of warp.cu: which cubin
  std::string_view name{};    // kernels are <name>_<links> and so on; see kernel_name()
  unsigned oldest = 70;       // the oldest architecture that has it: 75 for sm_75
  probes::form form = form::chain;
  std::vector<int> kernels{};  // numbers of links, and the words of probe_arguments.hpp
  unsigned cluster = 1;        // blocks per cluster
  // For tables.
  std::string_view what{};       // "shuffle, tile"
  std::string_view numbers{};    // of sums: the type of what is added
  std::string_view published{};  // what others measured
  unsigned published_at = 1;     // the number of ways or warps that `published` is for
  std::string_view varied{};     // "ways", "warps": what is varied
  // How it is launched.
  unsigned newest = 0;    // the newest architecture that has it; 0: all since `oldest`
  unsigned threads = 32;  // per block, for the latency
  unsigned lanes = 32;    // of a warp: how many take part
  bool relaxed = false;   // the barrier orders no memory
  // What its machine code must be (machine_code::expected_code).
  bool library = false;
  machine_code::counts per_link{};
  std::string_view result_of{};
  unsigned side_by_side = 1;  // all_links: no link takes another's result
  machine_code::counts extras{}, extras_per_link{};
  bool side_paths = false;
  machine_code::counts side_per_link{};
  machine_code::enclosure enclosed{};
  std::map<unsigned, double> stall{};  // the known answer: cycles of a link, by architecture

  std::vector<unsigned> lengths{};  // of `kernels`, those that are numbers of links

  link_kind kind() const;
  bool has(int kernel) const;
  bool runs_on(unsigned architecture) const {
    return oldest <= architecture && (newest == 0 || architecture <= newest);
  }
  // "ballot_256", "fp32_add_loop_256", "store_load_once"; of an entry with one kernel its name alone.
  std::string kernel_name(int kernel) const;
};

// All probes of a source, in the order of their entries.
std::span<const probe> probes_of(std::string_view source);
// The probe of that name; std::invalid_argument where the source has none.
const probe& probe_called(std::string_view source, std::string_view name);

// What the machine code of a kernel must be; and of each kernel of a probe.
machine_code::expected_code code_of(const probe&, int kernel);
std::vector<machine_code::expected_code> code_of(const probe&);
// The code of `once` or `corrected` under the name of the kernel as_compiled, which the check must refuse:
// there instructions wait for operands between the clock reads, or the second read does not wait for the
// result. Nothing for probes without such a twin.
std::optional<machine_code::expected_code> claims_of_twin(const probe&);

// What the check of the machine code finds in the kernels of a probe.
struct code_reading {
  std::string complaint;  // the first one; empty: the code is what the probe says
  std::string twin;       // what is wrong with the twin
  bool in_full = true;    // all was checked; otherwise only clock reads and stall counts
};
code_reading read_code(const machine_code::cubin&, const probe&);
// Why a probe is not measured: its code, or the GPU. A sentence about the code begins so.
inline constexpr std::string_view not_as_said = "the machine code is not what the probe says: ";
std::string what_it_needs(const probe&);

}  // namespace mgsync::probes
