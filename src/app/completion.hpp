// What a shell completes. The scripts for bash, zsh and fish know nothing of mgsync's words: they ask the
// program that is typed, which answers from the tables of commands and options and from the studies' axes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// "bash", "zsh", "fish"
std::vector<std::string_view> shell_names();
// What a shell reads once; usage_error names the shells.
std::string completion_script(std::string_view shell);

struct completed_word {
  std::string word;
  std::string what{};  // for shells that show it
};
struct completion_answer {
  std::vector<completed_word> words{};
  bool files = false;  // names of files, which the shell knows
};

// What the last of these words may become; the others are complete. Never throws for what is typed.
completion_answer completions(std::span<const std::string> words);

// The scripts' question, `completion answer -- WORD...`: whether it is that, and what is printed then.
bool asks_completion(std::span<const std::string> typed);
std::string answer_completion(std::span<const std::string> typed);

}  // namespace mgsync
