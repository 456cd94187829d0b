// The commands that measure: `mgsync` is `mgsync study barriers`; `mgsync study` lists the studies, `mgsync
// study NAME [axes]` measures one, `mgsync study all` every one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/app/options.hpp"
#include "src/base/communicator.hpp"
#include "src/base/watchdog.hpp"
#include "src/harness/campaign.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// The studies that a command line is about: of the default command the one about barriers; of a command that
// measures nothing, none. Throws usage_error for a name that is none.
std::vector<const study*> studies_asked(std::span<const std::string> arguments);
// What they vary, for parse_options(). Throws usage_error where several are asked for what only one means.
std::vector<const axis_declaration*> axes_asked(std::span<const study* const>,
                                                std::span<const std::string> arguments);

// How evaluations are shown.
extern const presentation as_text_and_svg;

// What is refused before anything is looked at, and what a study's model answers without measuring: then the
// exit code. Throws usage_error.
std::optional<int> without_measuring(const options&, std::span<const study* const>);

// The campaign that these options ask for. Throws usage_error where GPUs are asked for and cannot be had.
campaign_request campaign_of(const options&, std::span<const study* const>, const communicator& job,
                             std::span<const topology::rank_view>);

// Measures, prints the plan of --dry-run, or lists the studies. Collective over the job; `mine` is the
// machine as this process sees it. Returns what the process exits with.
int measure_command(const options&, std::span<const study* const>, communicator& job, topology::machine mine,
                    watchdog&, outputs& written);

}  // namespace mgsync
