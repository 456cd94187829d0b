// What --help prints, and the manual page: rendered from the tables of commands and options and from the
// studies' axes.
#pragma once

#include <optional>
#include <string>

#include "src/app/options.hpp"

namespace mgsync {

// The help of all commands, or of one.
std::string help_text(std::optional<command> of = std::nullopt, declared_axes axes = {});
// The lines about axes: each one's option, description, default and accepted values.
std::string help_lines(declared_axes axes);

// The manual page mgsync(1) in mdoc(7): every command and option, and the axes of each study. `date`:
// 2026-11-23.
std::string manual_page(declared_axes default_axes, std::string_view version, std::string_view date);

}  // namespace mgsync
