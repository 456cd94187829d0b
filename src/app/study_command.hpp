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

// The studies that a command line names: `barriers` for the default command, none for a command that measures
// nothing. Throws usage_error for an unknown name.
std::vector<const study*> studies_asked(std::span<const std::string> arguments);
// Their axes, for parse_options(). Throws usage_error where an axis of a single study is given for several.
std::vector<const axis_declaration*> axes_asked(std::span<const study* const>,
                                                std::span<const std::string> arguments);

// Shows evaluations as text, and figures as SVG.
extern const presentation as_text_and_svg;

// Handles what needs neither the machine nor measuring, such as a model's answer, and returns the exit code;
// nothing where something is to be measured. Throws usage_error for options that do not fit.
std::optional<int> without_measuring(const options&, std::span<const study* const>);

// The campaign that these options ask for. Throws usage_error where GPUs are asked for and cannot be had.
campaign_request campaign_of(const options&, std::span<const study* const>, const communicator& job,
                             std::span<const topology::rank_view>);

// Measures, prints the plan of --dry-run, or lists the studies. Collective over the job; `mine` is the
// machine as this process sees it. Returns the exit code.
int measure_command(const options&, std::span<const study* const>, communicator& job, topology::machine mine,
                    watchdog&, outputs& written);

}  // namespace mgsync
