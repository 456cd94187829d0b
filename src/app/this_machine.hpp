// The record of where and with what a result was measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/app/options.hpp"
#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"
#include "src/results/machine_record.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// The machine as this process sees it.
topology::machine look_around(const options&);

// The GPUs that this rank will own in one of several ranks, as CUDA calls them: worked out before MPI starts,
// from what the launcher tells and from what this process sees. Empty: none, or not to be known yet.
std::vector<int> gpus_to_own(const options&, const launch&, const topology::machine& seen);

// Throws usage_error where what the launcher started would not measure together: `ranks` is how many MPI
// counts.
void must_meet(const launch& told, int ranks);

// Why a command ends before anything is measured, and how; no sentence: it does not.
struct ending_word {
  std::string why;
  exit_code code = exit_code::usage;
};

// The same on every rank: what is wrong with the words of one, which it came to say (then the options are
// nothing), or where the ranks were given options that do not measure the same: which, and what was said.
// Collective over the job.
ending_word why_not_together(const options&, const ending_word& mine, const communicator& job);

// The machine as every rank sees it. Collective over the job.
std::vector<topology::rank_view> gather_views(const communicator& job, topology::machine mine);

// Of rank 0's machine, with the hosts of all ranks.
machine_record record_machine(const options&, const communicator& job, std::span<const topology::rank_view>);

// What --version prints.
std::string version_text();

}  // namespace mgsync
