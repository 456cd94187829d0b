// Shell completion. The scripts for bash, zsh and fish contain none of mgsync's words: they run the typed
// program, which answers from the tables of commands and options and from the studies' axes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// "bash", "zsh", "fish"
std::vector<std::string_view> shell_names();
// The script that a shell sources; throws usage_error, which names the known shells.
std::string completion_script(std::string_view shell);

struct completed_word {
  std::string word;
  std::string what{};  // a description, for shells that show one
};
struct completion_answer {
  std::vector<completed_word> words{};
  bool files = false;  // the shell shall complete names of files
};

// Completions of the last of these words; the others are complete. Does not throw for wrong words.
completion_answer completions(std::span<const std::string> words);

// The call by which the scripts ask, `completion answer -- WORD...`: whether the command line is that call,
// and the text to print for it.
bool asks_completion(std::span<const std::string> typed);
std::string answer_completion(std::span<const std::string> typed);

}  // namespace mgsync
