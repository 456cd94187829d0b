#include "src/app/completion.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/app/option_table.hpp"
#include "src/app/study_command.hpp"
#include "src/base/errors.hpp"

namespace mgsync {
namespace {

// Each script passes the words up to the cursor and gets lines of a word, a tab and its description; the line
// :files means names of files. bash splits words at : and =, and replaces only what follows the last of them.
constexpr std::pair<std::string_view, std::string_view> scripts[] = {
    {"bash", R"script(# Written by `mgsync completion bash`.
_mgsync() {
  local line=${COMP_LINE:0:COMP_POINT} word cut
  local -a typed
  read -ra typed <<<"$line"
  [[ $line == *[[:space:]] ]] && typed+=('')
  cut=${typed[-1]}
  cut=${cut%"${cut##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default
      return
    fi
    COMPREPLY+=("${word#"$cut"}")
  done < <("${typed[0]/#\~/$HOME}" completion answer -- "${typed[@]:1}" 2>/dev/null)
}
complete -F _mgsync mgsync
)script"},
    {"zsh", R"script(#compdef mgsync
# Written by `mgsync completion zsh`.
_mgsync() {
  local -a found
  found=("${(@f)$(${~${(Q)words[1]}} completion answer -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $found[1] == :files ]]; then
    compset -P '*='
    _files
  elif [[ -n $found[1] ]]; then
    local -a shown=("${(@)found/$'\t'/  }")
    compadd -l -d shown -- "${(@)found%%$'\t'*}"
  fi
}
if [[ $funcstack[1] == _mgsync ]]; then _mgsync; else compdef _mgsync mgsync; fi
)script"},
    {"fish", R"script(# Written by `mgsync completion fish`.
function __mgsync_answer
  set -l typed (commandline -opc)
  set -l last (commandline -ct)
  set -l found ($typed[1] completion answer -- $typed[2..] "$last" 2>/dev/null)
  if test "$found[1]" = :files
    __fish_complete_path "$last"
  else
    printf '%s\n' $found
  end
end
complete -c mgsync -f -a '(__mgsync_answer)'
)script"},
};

std::vector<completed_word> words_of(const std::vector<std::string>& some) {
  std::vector<completed_word> all;
  for (const auto& one : some) all.push_back({one});
  return all;
}

std::vector<completed_word> names_of_commands() {
  std::vector<completed_word> all;
  for (const auto& c : all_commands()) all.push_back({std::string(c.name), std::string(c.help)});
  return all;
}

std::vector<completed_word> names_of_studies() {
  std::vector<completed_word> all{{"all", "every study"}};
  for (const auto* s : studies()) all.push_back({std::string(s->name), std::string(s->summary)});
  return all;
}

// Completes the value of an option; for a list the part after the last comma. `before` is what precedes it in
// the same word.
completion_answer values_of(const offered_option& option, std::string before, std::string_view typed) {
  if (option.value == "FILE" || option.value == "DIR") return {.files = true};
  if (option.value == "LIST") before += typed.substr(0, typed.rfind(',') + 1);
  auto all = words_of(option.words);
  for (auto& one : all) one.word.insert(0, before);
  return {std::move(all)};
}

// Completes a word that is not an option: a command, or its argument.
completion_answer plain(std::span<const std::string> before) {
  if (before.empty()) return {names_of_commands()};
  const auto found = std::ranges::find(all_commands(), before.front(), &described_command::name);
  if (found == all_commands().end()) return {};
  switch (found->what) {
  case command::study: return {before.size() == 1 ? names_of_studies() : std::vector<completed_word>()};
  case command::help:
    return before.size() == 1 ? completion_answer{names_of_commands()} : plain(before.subspan(1));
  case command::completion: {
    completion_answer answer;
    for (const auto shell : shell_names()) answer.words.push_back({std::string(shell)});
    return answer;
  }
  default: return {.files = !found->words.empty()};
  }
}

completion_answer everything_for(std::span<const std::string> typed) {
  const auto before = typed.first(typed.size() - 1);
  const std::string& last = typed.back();
  auto words = plain_words(before);
  const auto found = words.empty()
                         ? all_commands().begin()  // the default
                         : std::ranges::find(all_commands(), words.front(), &described_command::name);
  if (found == all_commands().end()) return {};
  const auto studied = studies_asked(before);
  const auto axes = axes_asked(studied, before);
  auto offered = offered_axes(axes);
  std::ranges::move(offered_options(found->what), std::back_inserter(offered));
  for (const auto& option : offered) {
    if (option.value.empty()) continue;
    const auto name = fmt::format("--{}", option.name);
    const bool by_letter =
        option.letter != 0 && !before.empty() && before.back() == fmt::format("-{}", option.letter);
    if (!before.empty() && (before.back() == name || by_letter)) return values_of(option, "", last);
    if (last.starts_with(name + "=")) return values_of(option, name + "=", last.substr(name.size() + 1));
  }
  if (!last.starts_with('-')) return plain(words);
  completion_answer answer;
  for (auto& option : offered) answer.words.push_back({"--" + option.name, std::move(option.help)});
  return answer;
}

}  // namespace

std::vector<std::string_view> shell_names() {
  std::vector<std::string_view> all;
  for (const auto& [name, _] : scripts) all.push_back(name);
  return all;
}

std::string completion_script(std::string_view shell) {
  for (const auto& [name, text] : scripts)
    if (name == shell) return std::string(text);
  throw usage_error(fmt::format("mgsync completion is followed by '{}'; accepted: {}", shell,
                                fmt::join(shell_names(), ", ")));
}

completion_answer completions(std::span<const std::string> words) {
  if (words.empty()) return {};
  completion_answer answer;
  try {
    answer = everything_for(words);
  } catch (const usage_error&) {
    return {};
  }  // an error in the words before it is reported when the command is run
  std::erase_if(answer.words, [&](const auto& one) { return !one.word.starts_with(words.back()); });
  return answer;
}

bool asks_completion(std::span<const std::string> typed) {
  constexpr std::string_view question[] = {"completion", "answer", "--"};
  return typed.size() > std::size(question) &&
         std::equal(std::begin(question), std::end(question), typed.begin());
}

std::string answer_completion(std::span<const std::string> typed) {
  const auto answer = completions(typed.subspan(3));
  if (answer.files) return ":files\n";
  std::string lines;
  for (const auto& [word, what] : answer.words) lines += fmt::format("{}\t{}\n", word, what);
  return lines;
}

}  // namespace mgsync
