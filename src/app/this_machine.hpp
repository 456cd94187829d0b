// The record of where and with what a result was measured.
#pragma once

#include <span>

#include "src/app/options.hpp"
#include "src/base/communicator.hpp"
#include "src/harness/machine_record.hpp"
#include "topology/grouping.hpp"

namespace mgsync {

// The machine as every rank sees it. Collective over the job.
std::vector<topology::rank_view> gather_views(const options&, const communicator& job);

// Of rank 0's machine, with the hosts of all ranks.
machine_record record_machine(const options&, const communicator& job, std::span<const topology::rank_view>);

// What --version prints.
std::string version_text();

}  // namespace mgsync
