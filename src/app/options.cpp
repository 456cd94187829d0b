#include "src/app/options.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/words.hpp"
#include "src/app/option_words.hpp"
#include "src/base/closest_word.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"

namespace mgsync {
namespace {

constexpr std::string_view devices[] = {"auto", "host", "gpu"};
constexpr std::string_view memories[] = {"ipc", "vmm"};
constexpr std::string_view formats[] = {"text", "json", "xml", "dot", "svg", "description"};

using setter = void (*)(options&, std::string_view name, std::string_view value);

struct described_option {
  std::string_view name;     // "backend,b": the long name and, after the comma, the letter
  std::string_view used_by;  // the letters of the commands that take it (described_command)
  std::string_view value;    // what --help calls it; empty: a switch
  std::string_view help;
  setter set;
};

// clang-format off
constexpr described_option option_table[] = {
    {"backend,b", "m", "LIST", "what to compare: name, name:variant, name:* (all variants), all; separated by commas [the default variant of every backend]",
     [](options& o, std::string_view, std::string_view v) { o.backends = v; }},
    {"members,m", "mla", "LIST", "how many members take part, such as 1-4,8 [powers of two up to all of them; 1 to all for GPUs]",
     [](options& o, std::string_view n, std::string_view v) { parse_members(v, n); o.members = v; }},
    {"gpus,g", "mla", "LIST", "the same of GPUs alone: never host threads in their place",
     [](options& o, std::string_view n, std::string_view v) { parse_members(v, n); o.gpus = v; }},
    {"shape,s", "mla", "LIST", "blocks per SM x threads per block, such as 1x32,4x256; b1x32: one block per GPU; all: every power of two (host members: threads per member) [1x32]",
     [](options& o, std::string_view, std::string_view v) { parse_shapes(v); o.shapes = v; }},
    {"device", "mltau", "WHERE", "auto, host or gpu [auto: GPUs where there are any]",
     [](options& o, std::string_view n, std::string_view v) { o.device = one_of(n, v, devices); }},
    {"placement", "ml", "LIST", "which members: near, far, spread, list:0,3,5 [near]",
     [](options& o, std::string_view n, std::string_view v) { o.placements = placements(n, v); }},
    {"members-per-rank", "mlt", "M", "members that each MPI rank runs [all in one rank without mpirun, else 1]",
     [](options& o, std::string_view n, std::string_view v) { o.members_per_rank = static_cast<int>(whole(n, v, 1, 4096)); }},
    {"per-node", "ml", "", "measure on each of several nodes by itself, one after the other; --members then counts a node's members",
     [](options& o, std::string_view, std::string_view) { o.per_node = true; }},
    {"load", "ml", "LIST", "traffic beside the barrier: idle, peer-stores, peer-loads, local-stores, local-loads, host-reads; with strength (blocks per GPU x threads) and place: peer-stores:16x512@others (SMs that the barrier does not use), peer-stores:x128@all [idle]",
     [](options& o, std::string_view, std::string_view v) { o.loads = parse_loads(v); }},
    {"work", "mla", "LIST", "how long each round works before it synchronizes, such as 0,20us (microseconds without a unit). This time is not counted, and neither is what hides behind it, such as a kernel's launch [0]",
     [](options& o, std::string_view n, std::string_view v) { o.work = microseconds(n, v); }},
    {"bytes", "a", "B", "of `mgsync advise`: what each member gives to others in a step, such as 4096 or 1MiB [0]",
     [](options& o, std::string_view n, std::string_view v) { o.bytes = static_cast<double>(bytes(n, v)); }},
    {"within", "a", "TIME", "of `mgsync advise` without files: how long the measurement may take; the answer comes from what was measured by then [20s]",
     [](options& o, std::string_view n, std::string_view v) { o.within = duration(n, v); }},
    {"late", "ml", "LIST", "how long the last member works before each round while the others wait for it, such as 0,5ms (microseconds without a unit). This time is not counted [0]",
     [](options& o, std::string_view n, std::string_view v) { o.late = microseconds(n, v); }},
    {"peer-memory", "ml", "HOW", "ipc or vmm: how processes share GPU memory [chosen]",
     [](options& o, std::string_view n, std::string_view v) { o.peer_memory = one_of(n, v, memories); }},
    {"no-pin", "mlt", "", "leave the threads where the system puts them",
     [](options& o, std::string_view, std::string_view) { o.pin = false; }},
    {"oversubscribe", "ml", "", "measure even where there are more threads than cores; waits then yield, and the result says so",
     [](options& o, std::string_view, std::string_view) { o.oversubscribe = true; }},
    {"mpi-threads", "mlt", "LEVEL", "MPI's thread level, which adds to the cost of MPI_Barrier: single, funneled, serialized or multiple; mgsync calls MPI from one thread only [single]",
     [](options& o, std::string_view n, std::string_view v) { o.mpi_threads = thread_level_named(one_of(n, v, thread_level_words)); }},
    {"precision", "m", "SHARE", "stop sampling once the 95 % confidence interval of the median is within this share of it [1%]",
     [](options& o, std::string_view n, std::string_view v) { o.precision = fraction(n, v); }},
    {"max-time", "m", "TIME", "stop sampling a point after this time; a slow point gets twice that time for its first six batches [2s; less in a sweep of more than 8 points, so that sampling takes about 16s in all, but at least 60ms a point]",
     [](options& o, std::string_view n, std::string_view v) { o.max_time = duration(n, v); }},
    {"timeout", "mltu", "TIME", "give up on a barrier, and name who did not arrive, within this time [30s]",
     [](options& o, std::string_view n, std::string_view v) { o.timeout = duration(n, v); }},
    {"check-rounds", "m", "N", "rounds of the check that precedes every timing [10000]",
     [](options& o, std::string_view n, std::string_view v) { o.check_rounds = whole(n, v, 1, 1'000'000'000); }},
    {"no-check", "m", "", "skip that check; the result then says unchecked",
     [](options& o, std::string_view, std::string_view) { o.check = false; }},
    {"seed", "mu", "N", "the number that the random order of samples and the check's random delays start from [taken from the clock; the result records it]",
     [](options& o, std::string_view n, std::string_view v) { o.seed = whole(n, v, 0, std::numeric_limits<std::uint64_t>::max()); }},
    {"processes", "m", "N", "run the sweep in N fresh processes, one after the other. The interval is then over processes, and so contains the shift that a process has as a whole; 95 % takes six or more [1]",
     [](options& o, std::string_view n, std::string_view v) { o.processes = static_cast<unsigned>(whole(n, v, 1, 1000)); }},
    {"json", "mgau", "FILE", "write the results as JSON to this file; - is stdout, and then the table goes to stderr",
     [](options& o, std::string_view, std::string_view v) { o.json = v; }},
    {"csv", "mgu", "FILE", "write the results as CSV to this file; - is stdout, and then the table goes to stderr",
     [](options& o, std::string_view, std::string_view v) { o.csv = v; }},
    {"anonymous", "mgru", "", "write neither the names of hosts, nor paths of the command line, nor values of environment variables, nor UUIDs of GPUs: hashes stand for them, which still tell hosts apart (who guesses a name can check it)",
     [](options& o, std::string_view, std::string_view) { o.anonymous = true; }},
    {"store", "mgu", "FILE", "append every sample to this file at once, so that nothing measured is lost",
     [](options& o, std::string_view, std::string_view v) { o.store = v; }},
    {"resume", "mu", "", "continue where the store of an earlier command ends",
     [](options& o, std::string_view, std::string_view) { o.resume = true; }},
    {"dry-run", "mu", "", "print what would be measured, and where",
     [](options& o, std::string_view, std::string_view) { o.dry_run = true; }},
    {"verbose", "musg", "", "list every point that was waived or not reached, and of --dry-run every cell, in place of their groups",
     [](options& o, std::string_view, std::string_view) { o.verbose = true; }},
    {"figures", "u", "DIR", "of `mgsync study`: the folder for its figures (SVG), and for what the study timeline recorded",
     [](options& o, std::string_view, std::string_view v) { o.figures = v; }},
    {"topology", "mlt", "FILE", "take the machine from this file (hwloc XML or mgsync's own description) instead of looking",
     [](options& o, std::string_view, std::string_view v) { o.topology_file = v; }},
    {"format", "t", "FORMAT", "of `mgsync topology`: text, json, xml, dot, svg, description [text]",
     [](options& o, std::string_view n, std::string_view v) { o.format = one_of(n, v, formats); }},
    {"html", "r", "FILE", "of `mgsync report`: write one page that needs no network and no other file; - is stdout [sentences and tables as text]",
     [](options& o, std::string_view, std::string_view v) { o.html = v; }},
    {"markdown", "r", "FILE", "of `mgsync report`: write sentences and tables as Markdown; - is stdout",
     [](options& o, std::string_view, std::string_view v) { o.markdown = v; }},
    {"reference", "c", "", "of `mgsync compare`: is this node normal? Holds NEW against the results that mgsync brings along of the same kind of machine, judges the points that both have and says it in a sentence (--fail-slower: 10 % where it is left out); MGSYNC_REFERENCE names a folder with others",
     [](options& o, std::string_view, std::string_view) { o.reference = true; }},
    {"where", "s", "LIST", "of `mgsync show`: only the points that have these values, such as members=4,shape=1x32,subject=multigrid:auto/grid; device, ranks, study, placement and every axis can be asked for too",
     [](options& o, std::string_view, std::string_view v) { o.where = v; }},
    {"figure", "s", "NAME", "of `mgsync show`: write one picture of what the files say; for an unknown name mgsync lists those there are",
     [](options& o, std::string_view, std::string_view v) { o.figure = v; }},
    {"tables", "s", "LIST", "of `mgsync show`: print these tables of what the files say in Markdown, or the sentences; for an unknown name mgsync lists those there are",
     [](options& o, std::string_view, std::string_view v) { o.tables = v; }},
    {"svg", "s", "FILE", "of `mgsync show --figure`: the file for the picture, as .svg; - is stdout [stdout]",
     [](options& o, std::string_view, std::string_view v) { o.svg = v; }},
    {"by", "s", "WHAT", "of `mgsync show`: print tables in Markdown over the shapes (shape: a table for each subject; shapes: a column for each), or over members, ranks, placement, node or any axis of the results, such as load",
     [](options& o, std::string_view, std::string_view v) { o.by = v; }},
    {"less-order", "msrau", "", "rank what orders less than a barrier (marked: what joins not all of its members, or orders not all of memory) among the barriers all the same; without it that is no fastest of anything, and no advice",
     [](options& o, std::string_view, std::string_view) { o.less_order = true; }},
    {"fail-slower", "c", "SHARE", "of `mgsync compare`: end with exit code 5 when a point is worse by more than this and beyond noise, was lost, or is missing in NEW",
     [](options& o, std::string_view n, std::string_view v) { o.fail_slower = excess(n, v); }},
    {"allow-missing", "c", "", "of `mgsync compare --fail-slower`: points that NEW never tried do not count as failures",
     [](options& o, std::string_view, std::string_view) { o.allow_missing = true; }},
    {"noise", "c", "SHARE", "of `mgsync compare`: what a process as a whole may be shifted by [4%; 0 with four files or more a side]",
     [](options& o, std::string_view n, std::string_view v) { o.noise = excess(n, v); }},
    {"across", "cgr", "WHAT", "of `mgsync compare` and `merge`: what the machines may differ in: nothing, hosts (same hardware) or machines (anything) [nothing]; of `report`: what files of one machine may differ in [hosts]",
     [](options& o, std::string_view n, std::string_view v) { o.across = across_named(n, v); }},
    {"over-processes", "g", "", "of `mgsync merge`: count each file as one process; the interval is then over processes",
     [](options& o, std::string_view, std::string_view) { o.over_processes = true; }},
    {"help,h", "mltscgrau", "", "print this text",
     [](options& o, std::string_view, std::string_view) { o.command = command::help; }},
    {"version", "mltscgrau", "", "print the version and what it was built with",
     [](options& o, std::string_view, std::string_view) { o.command = command::version; }},
};
// clang-format on

std::string_view long_name(const described_option& option) {
  return option.name.substr(0, option.name.find(','));
}

struct described_command {
  char letter;
  std::string_view name;
  command what;
  bool takes_words;  // files, or the name of a study
  std::string_view help;
};

constexpr described_command commands[] = {
    {'m', "measure", command::measure, false, "compare barriers (the default)"},
    {'l', "list", command::list, false, "every backend and variant, and whether it can run here"},
    {'t', "topology", command::topology, false, "the machine as mgsync sees it"},
    {'u', "study [NAME]", command::study, true,
     "the papers' studies: without a name what there is, with one (or all) its measurement"},
    {'s', "show FILE", command::show, true, "the table of a results file (--json) or of a store (--store)"},
    {'c', "compare BASE NEW", command::compare, true,
     "what got slower or faster from one such file to another; a side may be several: a.json,b.json"},
    {'r', "report FILE...", command::report, true,
     "what such files say: verdict, tables, machines; with --html one page with all figures"},
    {'a', "advise [FILE...]", command::advise, true,
     "which barrier a program should call for a step of --work us on --gpus N, from files or a short "
     "measurement"},
    {'g', "merge FILE...", command::merge, true, "make one file of several: --json, --csv, --store"},
};

std::string_view word_of(const described_command& c) { return c.name.substr(0, c.name.find(' ')); }

const described_command& command_named(std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& c : commands) {
    if (word_of(c) == word) return c;
    names.push_back(word_of(c));
  }
  const auto meant = closest(word, names);
  throw usage_error(fmt::format("unknown command '{}'{}; accepted: {}", word,
                                meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                fmt::join(names, ", ")));
}

const described_command& description_of(command what) {
  return *std::ranges::find(commands, what, &described_command::what);
}

bool takes(const described_command& c, const described_option& option) {
  return option.used_by.find(c.letter) != std::string_view::npos;
}

// The options of the table that an axis of the same name does not stand for.
std::vector<const described_option*> besides(declared_axes axes) {
  std::vector<const described_option*> rest;
  for (const auto& option : option_table)
    if (std::ranges::none_of(axes, [&](const auto* axis) { return axis->option() == long_name(option); }))
      rest.push_back(&option);
  return rest;
}

// An option that the command does not use is refused, with whose it is and what the command takes.
void must_take(const described_command& c, const described_option& option, declared_axes axes) {
  if (takes(c, option)) return;
  std::vector<std::string> owners, accepted;
  for (const auto& other : commands)
    if (takes(other, option)) owners.push_back(fmt::format("mgsync {}", word_of(other)));
  for (const auto* axis : axes) accepted.push_back(fmt::format("--{}", axis->option()));
  for (const auto* other : besides(axes))
    if (takes(c, *other)) accepted.push_back(fmt::format("--{}", long_name(*other)));
  throw usage_error(fmt::format("mgsync {} does not take --{} ({} does); accepted: {}", word_of(c),
                                long_name(option), fmt::join(owners, ", "), fmt::join(accepted, " ")));
}

namespace po = boost::program_options;

[[noreturn]] void explain(const po::error_with_option_name& error, declared_axes axes) {
  const std::string name = error.get_option_name();
  const auto rest = besides(axes);
  if (dynamic_cast<const po::unknown_option*>(&error) != nullptr) {
    std::vector<std::string> names;
    for (const auto* axis : axes) names.push_back(axis->option());
    for (const auto* option : rest)
      if (axes.empty() || takes(description_of(command::study), *option))
        names.emplace_back(long_name(*option));
    const std::vector<std::string_view> accepted(names.begin(), names.end());
    const auto meant =
        closest(std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size())), accepted);
    throw usage_error(fmt::format("unknown option '{}'{}; accepted: --{}", name,
                                  meant ? fmt::format(" (did you mean --{}?)", *meant) : "",
                                  fmt::join(names, " --")));
  }
  for (const auto* option : rest)
    if (name == fmt::format("--{}", long_name(*option)))
      throw usage_error(fmt::format(
          "{}{}", error.what(),
          option->value.empty() ? "" : fmt::format("; it takes {}: {}", option->value, option->help)));
  throw usage_error(error.what());
}

po::parsed_options parse(std::span<const std::string> arguments, declared_axes axes,
                         std::vector<std::string>& words) {
  po::options_description all;
  for (const auto* axis : axes) {
    if (axis->counts == word_count::none) all.add_options()(axis->option().c_str(), "");
    else all.add_options()(axis->option().c_str(), po::value<std::string>(), "");
  }
  for (const auto* option : besides(axes)) {
    if (option->value.empty()) all.add_options()(std::string(option->name).c_str(), "");
    else all.add_options()(std::string(option->name).c_str(), po::value<std::string>(), "");
  }
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

// An empty word is a variable of a script that is not set, and not "without this option".
void refuse_nothing(std::string_view option, std::string_view value, std::string_view takes,
                    std::string_view help) {
  if (value.empty())
    throw usage_error(
        fmt::format("--{} is followed by an empty word; accepted: {}: {}", option, takes, help));
}

// The words that follow a command which reads files.
void check_files(const options& o) {
  if (o.command != command::study && std::ranges::count(o.files, std::string()) > 0)
    throw usage_error(fmt::format("mgsync {} is followed by an empty word; accepted: names of files",
                                  word_of(description_of(o.command))));
  const auto files = o.files.size();
  const bool several = !o.figure.empty() || !o.tables.empty() || !o.by.empty();
  switch (o.command) {
  case command::study:
    if (files > 1)
      throw usage_error(fmt::format("one study at a time, or all: not '{}'", fmt::join(o.files, " ")));
    return;
  case command::show:
    if (files == 0 && several)
      throw usage_error("mgsync show --figure, --tables and --by take files, written by --json or --store");
    if (files != 1 && !several) throw usage_error("mgsync show takes one file, written by --json or --store");
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
  case command::merge:
    if (files == 0) throw usage_error("mgsync merge takes files written by --store or --json");
    return;
  default: return;
  }
}

// --gpus is --members and --device gpu in one.
void settle_gpus(options& o) {
  if (o.gpus.empty()) return;
  if (!o.members.empty() || o.axes.contains("members"))
    throw usage_error("--members and --gpus are two names for one number; accepted: one of them");
  if (o.device == "host")
    throw usage_error(fmt::format(
        "--gpus {} and --device host contradict each other; accepted: --members {} for host threads", o.gpus,
        o.gpus));
  o.members = o.gpus;
  o.device = "gpu";
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
  if (!o.figure.empty() + !o.tables.empty() + !o.by.empty() > 1)
    throw usage_error("--figure, --tables and --by: one of them");
  if (o.over_processes && !o.store.empty())
    throw usage_error("--over-processes cannot write a store: a store is there to be resumed, and these are "
                      "samples of processes "
                      "that have ended");
  if (o.processes > 1 && (!o.store.empty() || o.dry_run))
    throw usage_error("--processes takes --json and --csv, but not --store, --resume or --dry-run");
  if (o.resume && o.store.empty()) throw usage_error("--resume continues a store: name it with --store FILE");
  if (o.json == "-" && o.csv == "-")
    throw usage_error("--json - and --csv - cannot both be stdout: name a file for one");
}

std::string help_line(std::string_view name, std::string_view value, std::string_view help) {
  const auto comma = name.find(',');
  std::string left = fmt::format("  --{}", name.substr(0, comma));
  if (comma != std::string_view::npos) left += fmt::format(", -{}", name.substr(comma + 1));
  if (!value.empty()) left += fmt::format(" {}", value);
  std::string text = fmt::format("{:<26}", left);
  constexpr std::size_t width = 78;
  for (bool first = true; !help.empty(); first = false) {
    const std::size_t cut = help.size() <= width ? help.size() : help.rfind(' ', width);
    text += fmt::format("{}{}\n",
                        first ? (left.size() >= 26 ? "\n                          " : "")
                              : "                          ",
                        help.substr(0, cut));
    help.remove_prefix(std::min(help.size(), cut + 1));
  }
  return text;
}

}  // namespace

options parse_options(std::span<const std::string> arguments, declared_axes axes) {
  options result;
  result.typed = fmt::format("mgsync {}", fmt::join(arguments, " "));
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
      for (const auto* option : besides(axes))
        if (given.string_key == long_name(*option)) {
          if ((option->value == "FILE" || option->value == "DIR") && value.starts_with("-") && value != "-")
            throw usage_error(fmt::format("--{} takes a file's name, not the option '{}'; accepted: {}, or "
                                          "./{} for a name that begins so",
                                          long_name(*option), value, option->value, value));
          option->set(result, long_name(*option),
                      value);  // most say themselves what they take in place of nothing
          if (!option->value.empty()) refuse_nothing(long_name(*option), value, option->value, option->help);
          used.push_back(option);
          result.given.push_back(long_name(*option));
        }
    }
  } catch (const po::error_with_option_name& error) { explain(error, axes); } catch (const po::error& error) {
    throw usage_error(error.what());
  }
  const auto& named = words.empty() ? description_of(command::measure) : command_named(words.front());
  if (words.size() > 1 && !named.takes_words)
    throw usage_error(fmt::format("one command at a time, not '{}'", fmt::join(words, " ")));
  if (!words.empty()) result.files.assign(words.begin() + 1, words.end());
  if (result.command == command::help && !words.empty()) result.help_for = named.what;
  if (result.command == command::measure) result.command = named.what;
  check_files(result);
  for (const auto* option : used) must_take(named, *option, axes);
  settle_gpus(result);
  reject_contradictions(result);
  return result;
}

std::string help_lines(declared_axes axes) {
  std::string text;
  for (const auto* axis : axes)
    text += axis->counts == word_count::none
                ? help_line(axis->option(), "", axis->help)
                : help_line(axis->option(), axis->counts == word_count::one ? "WORD" : "LIST",
                            fmt::format(
                                "{} ({}accepted: {})", axis->help,
                                axis->defaults().empty() ? "" : fmt::format("default {}; ", axis->defaults()),
                                axis->accepted()));
  return text;
}

std::string help_text(std::optional<command> of, declared_axes axes) {
  if (of) {
    const auto& c = description_of(*of);
    std::string text = fmt::format("mgsync {}: {}\n", c.name, c.help);
    if (!axes.empty()) text += "\nAxes:\n" + help_lines(axes);
    text += "\nOptions:\n";
    for (const auto* option : besides(axes))
      if (takes(c, *option)) text += help_line(option->name, option->value, option->help);
    return text;
  }
  std::string text =
      "mgsync: measures every way to synchronize GPUs (or host threads) on this machine, proves that each is "
      "a\n"
      "barrier, and says which is fastest.\n\n"
      "  mgsync                                        every barrier that runs here, compared\n"
      "  mpirun -np 4 mgsync --backend multigrid       one member per rank\n"
      "  mgsync --backend all --members 2,4 --json results.json\n\nCommands:\n";
  for (const auto& c : commands) text += fmt::format("  {:<22}{}\n", c.name, c.help);
  text += "\nOptions:\n";
  for (const auto& option : option_table) text += help_line(option.name, option.value, option.help);
  text += "\n`mgsync COMMAND --help` lists what a command takes, `mgsync study NAME --help` what a study "
          "varies.\n";
  text += "\nExit codes: 0 measured and correct, 1 failure, 2 wrong use, 3 a barrier was violated or stuck,\n"
          "4 nothing could be measured or judged here, 5 slower than `mgsync compare --fail-slower` lets "
          "through, or a node\n"
          "that `--reference` finds not normal, 128+n ended by signal n.\n";
  return text;
}

void refuse_gpus(const options& o, std::string_view why) {
  if (o.gpus.empty())
    throw usage_error(fmt::format("--device is 'gpu', and {}; accepted: host, or auto", why));
  throw usage_error(fmt::format(
      "--gpus is '{}', and {}; accepted: --members {}, which takes host threads where there are no GPUs",
      o.gpus, why, o.gpus));
}

std::vector<std::string_view> option_names() {
  std::vector<std::string_view> names;
  for (const auto& option : option_table) names.push_back(long_name(option));
  return names;
}

}  // namespace mgsync
