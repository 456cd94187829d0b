// What this process sees of its machine and its job, for planning and for the records of results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/app/options.hpp"
#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"
#include "src/results/values/machine_record.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// The machine as this process sees it.
topology::machine look_around(const options&);

// The CUDA ordinals of the GPUs that this rank will own, where there are several ranks. Computed before MPI
// starts, from the launcher's variables and from what this process sees. Empty: none, or unknown so far.
std::vector<int> gpus_to_own(const options&, const launch&, const topology::machine& seen);

// Throws usage_error where the processes that the launcher started would not measure together. `ranks` is the
// size of MPI_COMM_WORLD.
void must_meet(const launch& told, int ranks);

// Why a command ends before anything is measured, and its exit code; `why` empty: it does not end.
struct ending_word {
  std::string why;
  exit_code code = exit_code::usage;
};

// Agrees on why the ranks cannot measure: a rank's own problem (`mine`; its options are then not compared),
// or options that differ between ranks. Returns the same on every rank. Collective over the job.
ending_word why_not_together(const options&, const ending_word& mine, const communicator& job);

// The machine as every rank sees it. Collective over the job.
std::vector<topology::rank_view> gather_views(const communicator& job, topology::machine mine);

// The record of rank 0's machine, with the hosts of all ranks. Collective over the job.
machine_record record_machine(const options&, const communicator& job, std::span<const topology::rank_view>);

// What --version prints.
std::string version_text();

}  // namespace mgsync
