#include "src/app/options.hpp"

#include <algorithm>
#include <filesystem>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/app/completion.hpp"
#include "src/app/option_table.hpp"
#include "src/base/closest_word.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"

namespace mgsync {
namespace {

// The short form of an axis: its first letter, where no other axis begins with it and it is not `h`, which
// means help; 0: none.
char letter_of(const axis_declaration& axis, declared_axes axes) {
  const char first = axis.name.front();
  const auto same = std::ranges::count_if(axes, [&](const auto* a) { return a->name.front() == first; });
  return same == 1 && first != 'h' ? first : char{0};
}

// The option's name as boost::program_options takes it: "name,letter".
std::string with_letter(std::string name, char letter) {
  if (letter != 0) name += fmt::format(",{}", letter);
  return name;
}

const described_command& command_named(std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& c : all_commands()) {
    if (c.name == word) return c;
    names.push_back(c.name);
  }
  const auto meant = closest(word, names);
  throw usage_error(fmt::format("unknown command '{}'{}; accepted: {}", word,
                                meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                fmt::join(names, ", ")));
}

const described_command& description_of(command what) {
  return *std::ranges::find(all_commands(), what, &described_command::what);
}

// Everything that this command accepts: the studies' axes, and options.
std::vector<std::string> accepted_by(command what, declared_axes axes) {
  std::vector<std::string> names;
  for (const auto* axis : axes) names.push_back(axis->option());
  for (const auto& option : all_options())
    if (option.used_by.contains(what)) names.emplace_back(option.name);
  return names;
}

// Throws usage_error for an option that only other commands (`owners`) take; it names these and what this
// command accepts.
[[noreturn]] void refuse_option(command what, std::string_view name, declared_axes axes,
                                const std::vector<std::string>& owners) {
  throw usage_error(fmt::format("mgsync {} does not take --{} ({} {}); accepted: --{}",
                                description_of(what).name, name, fmt::join(owners, ", "),
                                owners.size() == 1 ? "does" : "do",
                                fmt::join(accepted_by(what, axes), " --")));
}

void must_take(command what, const described_option& option, declared_axes axes) {
  if (option.used_by.contains(what)) return;
  std::vector<std::string> owners;
  for (const auto& other : all_commands())
    if (option.used_by.contains(other.what)) owners.push_back(fmt::format("mgsync {}", other.name));
  refuse_option(what, option.name, axes, owners);
}

namespace po = boost::program_options;

// Throws usage_error for a name that is not an option here: either an axis of other studies, or unknown.
[[noreturn]] void explain_unknown(std::string name, command what, declared_axes axes) {
  const auto typed = name.find_first_not_of('-') == 1 ? name : "";  // of one letter
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::vector<std::string> owners;
  for (const auto* s : studies())
    if (std::ranges::any_of(s->axes, [&](const auto* axis) { return axis->option() == name; }))
      owners.push_back(fmt::format("mgsync study {}", s->name));
  if (!owners.empty()) refuse_option(what, name, axes, owners);
  const auto names = accepted_by(what, axes);
  const std::vector<std::string_view> accepted(names.begin(), names.end());
  const auto meant = closest(name, accepted);
  throw usage_error(fmt::format("unknown option '{}'{}; accepted: --{}", typed.empty() ? "--" + name : typed,
                                meant ? fmt::format(" (did you mean --{}?)", *meant) : "",
                                fmt::join(names, " --")));
}

[[noreturn]] void explain(const po::error_with_option_name& error, command what, declared_axes axes) {
  const std::string name = error.get_option_name();
  if (dynamic_cast<const po::unknown_option*>(&error) != nullptr) explain_unknown(name, what, axes);
  for (const auto& option : all_options())
    if (name == fmt::format("--{}", option.name))
      throw usage_error(fmt::format(
          "{}{}", error.what(),
          option.value.empty() ? "" : fmt::format("; it takes {}: {}", option.value, option.help)));
  throw usage_error(error.what());
}

po::parsed_options parse(std::span<const std::string> arguments, declared_axes axes,
                         std::vector<std::string>& words) {
  po::options_description all;
  const auto add = [&all](const std::string& name, bool is_switch) {
    if (is_switch) all.add_options()(name.c_str(), "");
    else all.add_options()(name.c_str(), po::value<std::string>(), "");
  };
  for (const auto* axis : axes)
    add(with_letter(axis->option(), letter_of(*axis, axes)), axis->counts == word_count::none);
  for (const auto& option : all_options())
    add(with_letter(std::string(option.name), option.letter), option.value.empty());
  all.add_options()("command", po::value<std::vector<std::string>>());
  po::positional_options_description positions;
  positions.add("command", -1);
  namespace style = po::command_line_style;
  const int form = style::allow_long | style::allow_short | style::long_allow_adjacent |
                   style::long_allow_next | style::short_allow_adjacent | style::short_allow_next |
                   style::allow_dash_for_short;
  auto parsed = po::command_line_parser(std::vector<std::string>(arguments.begin(), arguments.end()))
                    .options(all)
                    .positional(positions)
                    .style(form)
                    .run();
  std::erase_if(parsed.options, [&](const po::option& o) {
    if (o.string_key != "command") return false;
    words.insert(words.end(), o.value.begin(), o.value.end());
    return true;
  });
  return parsed;
}

// An empty word is probably an unset variable of a script, so it does not count as "without this option".
void refuse_nothing(std::string_view option, std::string_view value, std::string_view takes,
                    std::string_view help) {
  if (value.empty())
    throw usage_error(
        fmt::format("--{} is followed by an empty word; accepted: {}: {}", option, takes, help));
}

// Takes the words after a command that reads files.
void check_files(const options& o) {
  if (o.command != command::study && std::ranges::count(o.files, std::string()) > 0)
    throw usage_error(fmt::format("mgsync {} is followed by an empty word; accepted: names of files",
                                  description_of(o.command).name));
  const auto files = o.files.size();
  const bool several = !o.figure.empty() || !o.tables.empty() || !o.pivot.by.empty();
  switch (o.command) {
  case command::study:
    if (files > 1)
      throw usage_error(fmt::format("one study at a time, or all: not '{}'", fmt::join(o.files, " ")));
    return;
  case command::show:
    if (files == 0 && several)
      throw usage_error("mgsync show --figure, --tables and --by take files, written by --json or --store");
    if (files != 1 && !several)
      throw usage_error("mgsync show takes one file, written by --json or --store; several with --by, "
                        "--tables or --figure; mgsync report "
                        "shows several together");
    return;
  case command::report:
    if (files == 0)
      throw usage_error("mgsync report takes files: results (--json or --store), machine descriptions, raw "
                        "rows of a study");
    return;
  case command::compare:
    if (o.reference && files != 1)
      throw usage_error("mgsync compare --reference takes one file, NEW: the other comes with mgsync");
    if (!o.reference && files != 2)
      throw usage_error(
          "mgsync compare takes two files, BASE and NEW, written by --json or --store; several for a side: "
          "a.json,b.json");
    return;
  case command::audit:
    if (files == 0)
      throw usage_error(
          "mgsync audit takes files: PTX, cubins, fat binaries, shared objects or programs with such");
    return;
  case command::check:
    if (files == 0)
      throw usage_error(
          "mgsync check takes files: shared objects with barriers, made with <mgsync/check.hpp> or "
          "<mgsync/check.cuh>; FILE:NAME is one barrier of a file");
    return;
  case command::merge:
    if (files == 0) throw usage_error("mgsync merge takes files written by --store or --json");
    return;
  case command::ledger:
    if (files == 0 && o.into.empty())
      throw usage_error("mgsync ledger takes files: results (--json or --store), ledgers (--into)");
    return;
  case command::completion:
    if (files != 1)
      throw usage_error(fmt::format("mgsync completion takes a shell's name; accepted: {}",
                                    fmt::join(shell_names(), ", ")));
    return;
  default: return;
  }
}

// --gpus is --members and --device gpu in one.
void settle_gpus(options& o) {
  if (o.gpus.empty()) return;
  if (o.axes.contains("members"))
    throw usage_error("--members and --gpus are two names for one number; accepted: one of them");
  if (o.device == "host")
    throw usage_error(fmt::format(
        "--gpus {} and --device host contradict each other; accepted: --members {} for host threads", o.gpus,
        o.gpus));
  o.device = "gpu";
}

// Typed options override those of a profile.
void apply_profile(options& o) {
  if (o.given.contains("quick") && o.given.contains("full"))
    throw usage_error("--quick and --full are two profiles; accepted: one of them");
  for (const auto& [name, word] : o.profile)
    if (!o.given.contains(name) && !(name == "check-rounds" && o.given.contains("no-check")))
      std::ranges::find(all_options(), name, &described_option::name)->set(o, name, word);
}

void reject_contradictions(const options& o) {
  if (o.allow_missing && !o.fail_slower)
    throw usage_error("--allow-missing is for `mgsync compare BASE NEW --fail-slower SHARE`");
  if (const auto ending = std::filesystem::path(o.svg).extension();
      !ending.empty() && ending != ".svg" && ending != ".SVG")
    throw usage_error(fmt::format(
        "--svg {}: the picture is written as SVG, and not as {}; accepted: a name that ends in .svg, or -",
        o.svg, ending.string()));
  if (!o.svg.empty() && o.figure.empty())
    throw usage_error("--svg writes the picture that --figure NAME names");
  if (!o.figure.empty() + !o.tables.empty() + !o.pivot.by.empty() > 1)
    throw usage_error("--figure, --tables and --by: one of them");
  for (const auto* name : {"value", "relative-to", "sum", "summary"})
    if (o.given.contains(name) && (o.pivot.by.empty() || o.pivot.by == "shape"))
      throw usage_error(fmt::format(
          "--{} is about the table of --by: shapes, members, file, or an axis such as load", name));
  if (o.over_processes && !o.store.empty())
    throw usage_error("--over-processes cannot write a store: a store is there to be resumed, and these are "
                      "samples of processes "
                      "that have ended");
  if (!o.points.empty() && !o.axes.empty())
    throw usage_error(
        fmt::format("--points {} says what is measured, and so does --{}; accepted: one of them", o.points,
                    o.axes.begin()->first));
  if (o.reference && !o.against.empty())
    throw usage_error("--against and --reference: one of them says what the node is held against");
  if (o.processes > 1 && (!o.store.empty() || o.dry_run))
    throw usage_error("--processes takes --json and --csv, but not --store, --resume or --dry-run");
  if (o.given.contains("no-check") && o.given.contains("check-rounds"))
    throw usage_error("--no-check skips the check that --check-rounds is about; accepted: one of them");
  if (o.resume && o.store.empty()) throw usage_error("--resume continues a store: name it with --store FILE");
  std::vector<std::string_view> on_stdout;
  if (o.json == "-") on_stdout.emplace_back("json");
  for (const auto& [form, file] : o.forms)
    if (file == "-") on_stdout.emplace_back(form);
  if (on_stdout.size() > 1)
    throw usage_error(
        fmt::format("--{} - cannot both be stdout: name a file for one", fmt::join(on_stdout, " - and --")));
}

}  // namespace

// Throws usage_error for words after a command that takes none.
[[noreturn]] static void refuse_words(const std::vector<std::string>& words, declared_axes axes) {
  if (std::ranges::count(all_commands(), words[1], &described_command::name) > 0)
    throw usage_error(fmt::format("one command at a time, not '{}'", fmt::join(words, " ")));
  throw usage_error(fmt::format("mgsync {} takes options and no other words, not '{}'; accepted: --{}",
                                words.front(), words[1],
                                fmt::join(accepted_by(command_named(words.front()).what, axes), " --")));
}

std::vector<std::string> plain_words(std::span<const std::string> arguments) {
  std::vector<std::string> plain;
  // A word after an unknown option is taken for its value, unless it is a command.
  const auto followed_by_value = [](std::string_view word, std::string_view next) {
    if (word == "-h" || word.find('=') != std::string_view::npos) return false;
    const auto is = [&](std::string_view name) {
      return word.starts_with("--") ? word.substr(2) == name : word.substr(1) == name.substr(0, 1);
    };
    for (const auto& option : all_options())
      if (word.starts_with("--") && is(option.name)) return !option.value.empty();
    for (const auto* s : studies())
      for (const auto* axis : s->axes)
        if (is(axis->option())) return axis->counts != word_count::none;
    return word.starts_with("--") &&
           std::ranges::find(all_commands(), next, &described_command::name) == all_commands().end();
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (!word.starts_with('-') || word == "-") plain.emplace_back(word);
    else if (i + 1 < arguments.size() && followed_by_value(word, arguments[i + 1])) ++i;
  }
  return plain;
}

options parse_options(std::span<const std::string> arguments, declared_axes axes) {
  options result;
  result.typed = fmt::format("mgsync {}", fmt::join(arguments, " "));
  const auto plain = plain_words(arguments);
  const auto what = plain.empty() ? command::measure : command_named(plain.front()).what;
  std::vector<std::string> words;
  std::vector<const described_option*> used;
  try {
    for (const auto& given : parse(arguments, axes, words).options) {
      const std::string_view value = given.value.empty() ? std::string_view() : given.value.front();
      for (const auto* axis : axes)
        if (given.string_key == axis->option()) {
          if (axis->counts != word_count::none) refuse_nothing(axis->option(), value, "LIST", axis->help);
          const auto list = split_at_commas(axis->counts == word_count::none ? "on" : value);
          result.axes[std::string(axis->name)] = {list.begin(), list.end()};
          if (axis->name == "gpus") result.gpus = value;
        }
      for (const auto& option : all_options())
        if (given.string_key == option.name) {
          if ((option.value == "FILE" || option.value == "DIR") && value.starts_with("-") && value != "-")
            throw usage_error(fmt::format("--{} takes a file's name, not the option '{}'; accepted: {}, or "
                                          "./{} for a name that begins so",
                                          option.name, value, option.value, value));
          option.set(result, option.name,
                     value);  // before refuse_nothing(): most setters refuse an empty value themselves
          if (!option.value.empty()) refuse_nothing(option.name, value, option.value, option.help);
          used.push_back(&option);
          result.given.emplace(option.name, value);
        }
    }
  } catch (const po::error_with_option_name& error) {
    explain(error, what, axes);
  } catch (const po::error& error) { throw usage_error(error.what()); }
  if (words.size() > 1 && description_of(what).words.empty()) refuse_words(words, axes);
  if (!words.empty()) result.files.assign(words.begin() + 1, words.end());
  if (result.command == command::help && !words.empty()) result.help_for = what;
  if (result.command == command::measure) result.command = what;
  check_files(result);
  for (const auto* option : used) must_take(what, *option, axes);
  apply_profile(result);
  settle_gpus(result);
  reject_contradictions(result);
  return result;
}

std::vector<offered_option> offered_axes(declared_axes axes) {
  std::vector<offered_option> all;
  for (const auto* axis : axes) {
    const bool is_switch = axis->counts == word_count::none;
    const auto by_default = axis->defaults().empty() ? "" : fmt::format("default {}; ", axis->defaults());
    all.push_back({axis->option(), letter_of(*axis, axes), is_switch ? "" : "LIST",
                   is_switch ? std::string(axis->help)
                             : fmt::format("{} ({}accepted: {})", axis->help, by_default, axis->accepted()),
                   axis->known_words()});
  }
  return all;
}

std::vector<offered_option> offered_options(std::optional<command> of) {
  std::vector<offered_option> all;
  for (const auto& option : all_options())
    if (!of || option.used_by.contains(*of))
      all.push_back({std::string(option.name), option.letter, std::string(option.value),
                     std::string(option.help),
                     option.words == nullptr ? std::vector<std::string>() : option.words()});
  return all;
}

std::vector<std::string> as_parsed(std::vector<std::string> typed) {
  const auto words = plain_words(typed);
  if (words.size() < 2 || words.front() != description_of(command::help).name) return typed;
  typed.erase(std::ranges::find(typed, words.front()));
  typed.emplace_back("--help");
  return typed;
}

void refuse_gpus(const options& o, std::string_view why) {
  if (o.gpus.empty())
    throw usage_error(fmt::format("--device is 'gpu', and {}; accepted: host, or auto", why));
  throw usage_error(fmt::format(
      "--gpus is '{}', and {}; accepted: --members, which takes host threads where there are no GPUs", o.gpus,
      why));
}

}  // namespace mgsync
