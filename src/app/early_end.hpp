// What becomes of a command that ends before its time: one sentence, the same on stderr, in the document and
// in the store, and nobody blamed who did nothing wrong: a barrier is not for a rank that was lost, nor for a
// signal.
#pragma once

#include <optional>

#include "src/base/watchdog.hpp"
#include "src/harness/outputs.hpp"

namespace mgsync {

// Takes note of signals and sets a watchdog over the command, which writes to `written`. Both outlive it.
void watch_over(std::optional<watchdog>& dog, outputs& written);

}  // namespace mgsync
