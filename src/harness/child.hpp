// Measurements that may hang, crash or be killed run in a child: this program again, carrying out one of
// them. The study says by JSON what is to be measured, and the child says what it saw by JSON on stdout.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

struct study;

// The words, behind the program's name, that start a child of this study.
std::vector<std::string> words_of_child(std::string_view study, std::string asked);

// Called by main before anything else: carries out what such words ask for (study::in_child). Returns the
// exit code; nothing: these words start no child. The process is killed when its parent ends.
std::optional<int> run_as_child(std::span<const study* const> all, std::span<const std::string> words);

}  // namespace mgsync
