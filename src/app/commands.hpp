// The commands that measure nothing. Each returns its exit code.
#pragma once

#include <span>

#include "src/app/options.hpp"
#include "src/base/communicator.hpp"
#include "src/harness/campaign.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// `mgsync accept`: is this node normal? Looks at the machine, measures what tells most of it in a child
// process, and judges that. Prints one sentence; writes --json (the results) and appends --line (the record).
// Throws usage_error where there is nothing to hold it against.
int accept_command(const options&);

// `mgsync audit FILE...`: what src/audit finds in other people's kernels.
int audit_command(const options&);

// `mgsync check FILE...`: tries a user's own barriers, and says what each did wrong.
// Prints a line for each scenario as it ends. Throws usage_error for a file without barriers.
int check_command(const options&);

// `mgsync compare BASE NEW`: what got slower or faster, and whether a gate lets it through.
// Prints the comparison on stdout. Returns 0, or gate_shut where --fail-slower found something slower. Throws
// usage_error for files that are not results, whose machines differ by more than --across allows, or that
// have no point in common.
int compare_command(const options&);

// `mgsync ledger FILE...`: adds up the checked rounds of results and ledgers, by the code that was checked.
// Prints a table; with --into also keeps them in that ledger. Throws usage_error for files of other kinds.
int ledger_command(const options&);

// `mgsync list`: every backend and variant, and whether these ranks can run it here.
// Collective over the job; rank 0 prints. The views are those of all ranks.
int list_backends(const campaign_request&, const communicator& job, std::span<const topology::rank_view>);

// `mgsync merge FILE...`: joins the stores and documents of a sweep that was measured in parts.
// Prints the table of all points and writes --json, --csv and --store (a new file). Returns the exit code of
// measuring all points at once. Throws usage_error for files that are not results, or of machines that differ
// by more than --across allows.
int merge_command(const options&);

// `mgsync report FILE...`: evaluates results files, as text or as an HTML page.
// Writes the page (--html FILE), or prints sentences and tables. Two results files with points in common are
// also compared. Returns the exit code.
int report_command(const options&);

// The same where the files are acceptances (accept --line): the nodes of a fleet held against one another.
bool are_acceptances(const std::vector<std::string>& names);
int fleet_command(const options&);

// `mgsync show`: prints what the command that wrote a file printed, what a kernel recorded
// (mgsync/timeline.hpp), the tables of --by, or tables and figures of the studies' evaluations.
int show_results(const options&);

// --tables LIST of the files' evaluations, in Markdown, in this order. Throws usage_error naming the tables
// there are.
int show_tables(const options&);

// --figure NAME of the files' evaluations, to --svg FILE or stdout. Throws usage_error naming the figures
// there are.
int show_figure(const options&);

// `mgsync topology`: the machine as mgsync sees it.
// Collective over the job; rank 0 prints. Returns the exit code.
int topology_command(const options&, communicator& job, topology::machine mine);

// `mgsync who [FILE...]`: who did not come to the barrier at which a job of this node hangs, or that it gave
// up. Reads what the job's blocks note (group_options::trace of the library), while it runs or after it
// ended. Prints a paragraph for each group; returns barrier_failed where somebody is waited for. Throws
// usage_error for files of other kinds.
int who_command(const options&);

}  // namespace mgsync
