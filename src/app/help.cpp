#include "src/app/help.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "src/app/advise_command.hpp"
#include "src/app/option_table.hpp"

namespace mgsync {
namespace {

constexpr std::string_view purpose =
    "measures every way to synchronize GPUs (or host threads) on this machine, "
    "checks that each is a barrier, and says which is fastest.";

constexpr std::pair<std::string_view, std::string_view> examples[] = {
    {"mgsync", "every barrier that runs here, compared"},
    {"mpirun -np 4 mgsync --backend multigrid", "one member per rank"},
    {"mgsync --backend all --members 2,4 --json results.json", "every variant, written to a file"},
};

constexpr std::pair<std::string_view, std::string_view> endings[] = {
    {"0", "measured and correct"},
    {"1", "failure"},
    {"2", "wrong use"},
    {"3", "a barrier was violated or stuck, or `mgsync check` or `mgsync audit` found a fault"},
    {"4", "nothing could be measured or judged here"},
    {"5", "slower than `mgsync compare --fail-slower` lets through, or a node that `mgsync accept` or "
          "`--reference` finds not normal"},
    {"128+n", "ended by signal n"},
};

// The text in lines of at most `width` columns, each indented by `indent` blanks, the first one beginning
// with `left`.
std::string wrapped(std::string left, std::size_t indent, std::size_t width, std::string_view text) {
  std::string lines = std::move(left);
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t cut = text.size() <= width ? text.size() : text.rfind(' ', width);
    if (!first) lines.append(indent, ' ');
    lines.append(text.substr(0, cut)).append("\n");
    text.remove_prefix(std::min(text.size(), cut + 1));
  }
  return lines;
}

std::string help_line(const offered_option& option) {
  constexpr std::size_t column = 26, width = 78;
  std::string left = fmt::format("  --{}", option.name);
  if (option.letter != 0) left += fmt::format(", -{}", option.letter);
  if (!option.value.empty()) left += fmt::format(" {}", option.value);
  left =
      left.size() < column ? fmt::format("{:<{}}", left, column) : fmt::format("{}\n{:{}}", left, "", column);
  return wrapped(std::move(left), column, width, option.help);
}

std::string help_of_options(const std::vector<offered_option>& options) {
  std::string text;
  for (const auto& option : options) text += help_line(option);
  return text;
}

std::string exit_codes() {
  std::string codes;
  for (const auto& [code, what] : endings)
    codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", code, what);
  return wrapped("\n", 0, 110, fmt::format("Exit codes: {}.", codes));
}

// Escapes what mdoc(7) would interpret in a word.
std::string marked(std::string_view word) {
  std::string text;
  for (const char c : word)
    text += c == '\\'   ? "\\e"
            : c == '-'  ? "\\-"
            : c == '`'  ? "\\(ga"
            : c == '\'' ? "\\(aq"
            : c == '~'  ? "\\(ti"
                        : std::string(1, c);
  return text.starts_with('.') ? "\\&" + text : text;
}

// Text in short lines, with each sentence on a new line.
std::string as_mdoc(std::string_view text) {
  std::string lines;
  std::size_t column = 0;
  bool ended = false;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto next = marked(word);
    const bool begins = column == 0 || ended || column + next.size() > 76;
    lines += column == 0 ? "" : begins ? "\n" : " ";
    lines += next;
    column = begins ? next.size() : column + 1 + next.size();
    ended = word.find_last_of(".!?:") + 1 == word.size();
  }
  return lines + "\n";
}

// A word after a macro, escaped where it would be a macro itself.
std::string as_argument(std::string_view word) { return "\\&" + marked(word); }

std::string entry_of(const offered_option& option) {
  const auto value = option.value.empty() ? "" : fmt::format(" Ar {}", as_argument(option.value));
  const auto letter = option.letter == 0 ? "" : fmt::format("Fl {} , ", option.letter);
  return fmt::format(".It {}Fl \\-{}{}\n{}", letter, as_argument(option.name), value, as_mdoc(option.help));
}

std::string list_of(const std::vector<offered_option>& options) {
  std::string text = ".Bl -tag -width Ds\n";
  for (const auto& option : options) text += entry_of(option);
  return text + ".El\n";
}

// "November 23, 2026", as the macro .Dd expects it.
std::string in_words(std::string_view date) {
  constexpr std::array<std::string_view, 12> months{"January",   "February", "March",    "April",
                                                    "May",       "June",     "July",     "August",
                                                    "September", "October",  "November", "December"};
  const auto number = [&](std::size_t at, std::size_t count) {
    std::size_t value = 0;
    std::from_chars(date.data() + at, date.data() + at + count, value);
    return value;
  };
  if (date.size() != 10 || number(5, 2) < 1 || number(5, 2) > 12) return "January 1, 1970";
  return fmt::format("{} {}, {}", months[number(5, 2) - 1], number(8, 2), date.substr(0, 4));
}

std::string studies_as_mdoc() {
  std::string text =
      ".Sh STUDIES\n" + as_mdoc("What `mgsync study NAME` measures, and the axes that it varies:");
  for (const auto* s : studies())
    text += fmt::format(".Ss {}\n{}{}", s->name, as_mdoc(fmt::format("{}.", s->summary)),
                        list_of(offered_axes(s->axes)));
  return text;
}

}  // namespace

std::string help_lines(declared_axes axes) { return help_of_options(offered_axes(axes)); }

std::string help_text(std::optional<command> of, declared_axes axes) {
  if (of) {
    const auto& c = *std::ranges::find(all_commands(), *of, &described_command::what);
    std::string text =
        fmt::format("mgsync {}{}{}: {}\n", c.name, c.words.empty() ? "" : " ", c.words, c.help);
    if (!axes.empty()) text += "\nAxes:\n" + help_lines(axes);
    return text + "\nOptions:\n" + help_of_options(offered_options(of)) + exit_codes();
  }
  std::string text = wrapped("", 0, 104, fmt::format("mgsync: {}", purpose)) + "\n";
  for (const auto& [line, what] : examples) text += fmt::format("  {:<56}{}\n", line, what);
  text += "\nCommands:\n";
  for (const auto& c : all_commands())
    text += fmt::format("  {:<22}{}\n", fmt::format("{} {}", c.name, c.words), c.help);
  text += "\nAxes of what is measured:\n" + help_lines(axes);
  text += "\nOptions:\n" + help_of_options(offered_options({}));
  text +=
      "\n`mgsync help COMMAND` lists what a command takes, `mgsync help study NAME` what a study varies.\n"
      "docs/glossary.md has a sentence for every word that mgsync uses.\n";
  return text + exit_codes();
}

std::string manual_page(declared_axes axes, std::string_view version, std::string_view date) {
  std::string text = fmt::format(
      ".\\\" Written by `mgsync help --man`.\n.Dd {}\n.Dt MGSYNC 1\n.Os mgsync {}\n.Sh NAME\n.Nm mgsync\n"
      ".Nd measures, checks and compares barriers of GPUs and host threads\n.Sh SYNOPSIS\n.Nm mgsync\n"
      ".Op Ar command\n.Op Ar option ...\n.Sh DESCRIPTION\n.Nm\n{}.Sh COMMANDS\n.Bl -tag -width Ds\n",
      in_words(date), version, as_mdoc(purpose));
  for (const auto& c : all_commands())
    text += fmt::format(".It Cm {}{}\n{}", c.name,
                        c.words.empty() ? "" : fmt::format(" Ar {}", as_argument(c.words)),
                        as_mdoc(fmt::format("{}.", c.help)));
  text += ".El\n.Sh WHAT IS VARIED\n" + as_mdoc("Without a study's name:") + list_of(offered_axes(axes));
  text += ".Sh OPTIONS\n" + list_of(offered_options({})) + ".Sh THE STEP THAT ADVISE IS ASKED ABOUT\n" +
          list_of(offered_axes(advise_axes())) + studies_as_mdoc();
  text += ".Sh EXIT STATUS\n.Bl -tag -width Ds\n";
  for (const auto& [code, what] : endings) text += fmt::format(".It {}\n{}", code, as_mdoc(what));
  text += ".El\n.Sh EXAMPLES\n.Bl -tag -width Ds\n";
  for (const auto& [line, what] : examples)
    text += fmt::format(".It Li {}\n{}", as_argument(line), as_mdoc(what));
  return text + ".El\n.Sh SEE ALSO\n.Xr mpirun 1 ,\n.Xr srun 1\n";
}

}  // namespace mgsync
