// Handles a command that ends early: writes the same sentence to stderr, the document and the store, and
// records the right status: a barrier has not failed because a rank was lost or a signal came.
#pragma once

#include <optional>

#include "src/base/watchdog.hpp"
#include "src/harness/outputs.hpp"

namespace mgsync {

// Installs the signal handlers and starts a watchdog that writes to `written`. Both arguments must outlive
// the command.
void watch_over(std::optional<watchdog>& dog, outputs& written);

}  // namespace mgsync
