// `mgsync study`: lists the studies; `mgsync study NAME [axes]` measures one, `mgsync study all` every one.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "src/app/outputs.hpp"
#include "src/base/communicator.hpp"
#include "src/base/watchdog.hpp"

namespace mgsync {

// Whether these words of the command line (without the program's name) are a study's.
bool is_study_command(std::span<const std::string> words);

// Carries it out and returns the exit code. Throws usage_error naming what is accepted. The watchdog and the
// job, of all ranks that the launcher started, are made here and outlive it. Collective over them.
int study_command(std::span<const std::string> words, std::optional<communicator>& job,
                  std::optional<watchdog>& dog, outputs& written);

}  // namespace mgsync
