// What --help prints, and the manual page: rendered from the tables of commands and options and from the
// studies' axes.
#pragma once

#include <optional>
#include <string>

#include "src/app/options.hpp"

namespace mgsync {

// Everything, or what one command takes.
std::string help_text(std::optional<command> of = std::nullopt, declared_axes axes = {});
// What it says of axes: each one's option, what it is, its default, what it accepts.
std::string help_lines(declared_axes axes);

// mgsync(1) as mdoc(7), which man and mandoc read: every command and option, and of each study its axes.
// `date`: 2026-11-23.
std::string manual_page(declared_axes default_axes, std::string_view version, std::string_view date);

}  // namespace mgsync
