#include "src/app/options.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/words.hpp"
#include "src/base/closest_word.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"

namespace mgsync {

namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view accepted) {
  throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, value, accepted));
}

double number(std::string_view option, std::string_view text, std::string_view accepted) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) refuse(option, text, accepted);
  return value;
}

std::uint64_t whole(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    refuse(option, text, fmt::format("a whole number from {} to {}", least, most));
  return value;
}

// "2", "2s", "500ms", "1min".
std::chrono::nanoseconds duration(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a time from 1ms to 24h, such as 500ms, 2s, 5min (seconds without a unit)";
  struct unit {
    std::string_view name;
    double seconds;
  };
  constexpr unit units[] = {{"ms", 1e-3}, {"min", 60}, {"s", 1}, {"h", 3600}};
  double scale = 1;
  std::string_view digits = text;
  for (const auto& u : units) {
    if (!digits.ends_with(u.name)) continue;
    digits.remove_suffix(u.name.size());
    scale = u.seconds;
    break;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !(value * scale >= 1e-3 && value * scale <= 86400))
    refuse(option, text, accepted);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(value * scale * 1e9));
}

double share(std::string_view option, std::string_view text, std::string_view accepted) {
  const bool percent = text.ends_with('%');
  return number(option, percent ? text.substr(0, text.size() - 1) : text, accepted) / (percent ? 100 : 1);
}

double fraction(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a share above 0 and up to 1, such as 0.01 or 1%";
  const double value = share(option, text, accepted);
  if (!(value > 0 && value <= 1)) refuse(option, text, accepted);
  return value;
}

double excess(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a share from 0 to 10, such as 0.1 or 10%";
  const double value = share(option, text, accepted);
  if (!(value >= 0 && value <= 10)) refuse(option, text, accepted);
  return value;
}

std::string one_of(std::string_view option, std::string_view text, std::span<const std::string_view> accepted) {
  for (const auto word : accepted)
    if (word == text) return std::string(text);
  refuse(option, text, fmt::format("{}", fmt::join(accepted, ", ")));
}

std::vector<std::uint32_t> microseconds(std::string_view option, std::string_view text) {
  std::vector<std::uint32_t> all;
  for (auto word : split_at_commas(text)) {
    if (word.ends_with("us")) word.remove_suffix(2);
    all.push_back(static_cast<std::uint32_t>(whole(option, word, 0, 1'000'000)));
  }
  return all;
}

// near,spread,list:0,3,5: a list swallows the numbers that follow it.
std::vector<std::string> placements(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "near, far, spread, list:0,3,5, or several of them separated by commas";
  std::vector<std::string> found;
  for (const auto each : split_at_commas(text)) {
    const std::string word(each);
    const bool digits = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (digits && !found.empty() && found.back().starts_with("list:"))
      found.back() += "," + word;
    else if (word == "near" || word == "far" || word == "spread" ||
             (word.starts_with("list:") && word.size() > 5 && word.find_first_not_of("0123456789", 5) == std::string::npos))
      found.push_back(word);
    else
      refuse(option, text, accepted);
  }
  return found;
}

constexpr std::string_view devices[] = {"auto", "host", "gpu"};
constexpr std::string_view memories[] = {"ipc", "vmm"};
constexpr std::string_view formats[] = {"text", "json", "xml", "dot", "svg", "description"};

using setter = void (*)(options&, std::string_view name, std::string_view value);

struct described_option {
  std::string_view name;   // "backend,b": the long name and, after the comma, the letter
  std::string_view used_by;  // the letters of the commands that take it (described_command)
  std::string_view value;  // what --help calls it; empty: a switch
  std::string_view help;
  setter set;
};

// clang-format off
constexpr described_option every_option[] = {
    {"backend,b", "m", "LIST", "what to compare: name, name:variant, name:* (all variants), all; separated by commas [the default variant of every backend]",
     [](options& o, std::string_view, std::string_view v) { o.backends = v; }},
    {"members,m", "mla", "LIST", "how many members, such as 1-4,8 [powers of two up to all of them; 1 to all for GPUs]",
     [](options& o, std::string_view, std::string_view v) { parse_members(v); o.members = v; }},
    {"gpus,g", "mla", "LIST", "the same as --members",
     [](options& o, std::string_view, std::string_view v) { parse_members(v); o.members = v; }},
    {"shape,s", "mla", "LIST", "blocks per SM x threads per block, such as 1x32,4x256; b1x32: one block per GPU; all: every power of two (host members: threads per member) [1x32]",
     [](options& o, std::string_view, std::string_view v) { parse_shapes(v); o.shapes = v; }},
    {"device", "mlta", "WHERE", "auto, host or gpu [auto: GPUs where there are any]",
     [](options& o, std::string_view n, std::string_view v) { o.device = one_of(n, v, devices); }},
    {"placement", "ml", "LIST", "which members: near, far, spread, list:0,3,5 [near]",
     [](options& o, std::string_view n, std::string_view v) { o.placements = placements(n, v); }},
    {"members-per-rank", "mlt", "M", "members that each MPI rank runs [all in one rank without mpirun, else 1]",
     [](options& o, std::string_view n, std::string_view v) { o.members_per_rank = static_cast<int>(whole(n, v, 1, 4096)); }},
    {"per-node", "ml", "", "measure on each node of several by itself, one after the other; --members counts a node's members",
     [](options& o, std::string_view, std::string_view) { o.per_node = true; }},
    {"load", "ml", "LIST", "traffic beside the barrier: idle, peer-stores, peer-loads, local-stores, local-loads, host-reads; with strength (blocks per GPU x threads) and place: peer-stores:16x512@others (SMs that the barrier does not use), peer-stores:x128@all [idle]",
     [](options& o, std::string_view, std::string_view v) { o.loads = parse_loads(v); }},
    {"work", "mla", "LIST", "microseconds that each round works before it synchronizes, such as 0,20; they are not counted, so what is hidden behind work (a kernel's launch) is not either [0]",
     [](options& o, std::string_view n, std::string_view v) { o.work = microseconds(n, v); }},
    {"bytes", "a", "B", "of `mgsync advise`: what each member gives to others in a step [0]",
     [](options& o, std::string_view n, std::string_view v) { o.bytes = static_cast<double>(whole(n, v, 0, std::uint64_t{1} << 50)); }},
    {"within", "a", "TIME", "of `mgsync advise` without files: how long the measurement may take; what it has by then is used [20s]",
     [](options& o, std::string_view n, std::string_view v) { o.within = duration(n, v); }},
    {"late", "ml", "LIST", "microseconds that the last member works before each round while the others wait for it, such as 0,5000; not counted either [0]",
     [](options& o, std::string_view n, std::string_view v) { o.late = microseconds(n, v); }},
    {"peer-memory", "ml", "HOW", "ipc or vmm: how processes share GPU memory [chosen]",
     [](options& o, std::string_view n, std::string_view v) { o.peer_memory = one_of(n, v, memories); }},
    {"no-pin", "mlt", "", "leave the threads where the system puts them",
     [](options& o, std::string_view, std::string_view) { o.pin = false; }},
    {"oversubscribe", "ml", "", "measure more threads than cores too; waits yield, and the result says so",
     [](options& o, std::string_view, std::string_view) { o.oversubscribe = true; }},
    {"mpi-threads", "mlt", "LEVEL", "MPI's thread level, which MPI_Barrier pays for: single, funneled, serialized or multiple; mgsync calls MPI from one thread only [single]",
     [](options& o, std::string_view n, std::string_view v) { o.mpi_threads = thread_level_named(one_of(n, v, thread_level_words)); }},
    {"precision", "m", "SHARE", "stop sampling once the 95 % confidence interval of the median is within this share of it [1%]",
     [](options& o, std::string_view n, std::string_view v) { o.precision = fraction(n, v); }},
    {"max-time", "m", "TIME", "stop sampling a point after this time; a slow one gets twice of it for its first six batches [2s; in a sweep of more than 8 points less, so that sampling takes about 16s, but at least 60ms]",
     [](options& o, std::string_view n, std::string_view v) { o.max_time = duration(n, v); }},
    {"timeout", "mlt", "TIME", "give up on a barrier, and name who did not arrive, within this time [30s]",
     [](options& o, std::string_view n, std::string_view v) { o.timeout = duration(n, v); }},
    {"check-rounds", "m", "N", "rounds of the check that precedes every timing [10000]",
     [](options& o, std::string_view n, std::string_view v) { o.check_rounds = whole(n, v, 1, 1'000'000'000); }},
    {"no-check", "m", "", "skip that check; the result then says unchecked",
     [](options& o, std::string_view, std::string_view) { o.check = false; }},
    {"seed", "m", "N", "seed of the random order of samples and of the check's delays [taken from the clock; the result records it]",
     [](options& o, std::string_view n, std::string_view v) { o.seed = whole(n, v, 0, std::numeric_limits<std::uint64_t>::max()); }},
    {"processes", "m", "N", "run the sweep in N fresh processes, one after the other; the interval is over them, so that it holds what a process as a whole is shifted by; six or more for 95 % [1]",
     [](options& o, std::string_view n, std::string_view v) { o.processes = static_cast<unsigned>(whole(n, v, 1, 1000)); }},
    {"json", "mga", "FILE", "write the results as JSON; - for stdout, the table then goes to stderr",
     [](options& o, std::string_view, std::string_view v) { o.json = v; }},
    {"csv", "mg", "FILE", "write the results as CSV; - for stdout, the table then goes to stderr",
     [](options& o, std::string_view, std::string_view v) { o.csv = v; }},
    {"store", "mg", "FILE", "append every sample to this file at once, so that nothing measured is lost",
     [](options& o, std::string_view, std::string_view v) { o.store = v; }},
    {"resume", "m", "", "continue where the store ends",
     [](options& o, std::string_view, std::string_view) { o.resume = true; }},
    {"dry-run", "m", "", "print what would be measured, and where",
     [](options& o, std::string_view, std::string_view) { o.dry_run = true; }},
    {"topology", "mlt", "FILE", "take the machine from this file (hwloc XML or mgsync's own description) instead of looking",
     [](options& o, std::string_view, std::string_view v) { o.topology_file = v; }},
    {"format", "t", "FORMAT", "of `mgsync topology`: text, json, xml, dot, svg, description [text]",
     [](options& o, std::string_view n, std::string_view v) { o.format = one_of(n, v, formats); }},
    {"html", "r", "FILE", "of `mgsync report`: write one page, which needs no network and no other file; - for stdout [sentences and tables as text]",
     [](options& o, std::string_view, std::string_view v) { o.html = v; }},
    {"markdown", "r", "FILE", "of `mgsync report`: write sentences and tables as a page of documents; - for stdout",
     [](options& o, std::string_view, std::string_view v) { o.markdown = v; }},
    {"reference", "c", "", "of `mgsync compare`: hold NEW alone against the results of its own kind of machine that came with mgsync",
     [](options& o, std::string_view, std::string_view) { o.reference = true; }},
    {"where", "s", "LIST", "of `mgsync show`: only points of these, such as members=4,shape=1x32,subject=multigrid:auto/grid; besides these device, ranks, study, placement and the axes",
     [](options& o, std::string_view, std::string_view v) { o.where = v; }},
    {"figure", "s", "NAME", "of `mgsync show`: one picture of what the files say; a name that none has lists them",
     [](options& o, std::string_view, std::string_view v) { o.figure = v; }},
    {"tables", "s", "LIST", "of `mgsync show`: these tables of what the files say, in Markdown, or sentences; a name that none has lists them",
     [](options& o, std::string_view, std::string_view v) { o.tables = v; }},
    {"svg", "s", "FILE", "of `mgsync show --figure`: where to; - for stdout [stdout]",
     [](options& o, std::string_view, std::string_view v) { o.svg = v; }},
    {"by", "s", "WHAT", "of `mgsync show`: tables in Markdown over the shapes (shape: a table for each subject; shapes: a column for each), or over members, ranks, placement, node or any axis of the results, such as load",
     [](options& o, std::string_view, std::string_view v) { o.by = v; }},
    {"fail-slower", "c", "SHARE", "of `mgsync compare`: exit code 5 when a point is worse by more than this and beyond noise, was lost, or is missing in NEW",
     [](options& o, std::string_view n, std::string_view v) { o.fail_slower = excess(n, v); }},
    {"allow-missing", "c", "", "of `mgsync compare --fail-slower`: points that NEW never tried do not count as failures",
     [](options& o, std::string_view, std::string_view) { o.allow_missing = true; }},
    {"noise", "c", "SHARE", "of `mgsync compare`: what a process as a whole may be shifted by [4%; 0 with four files or more a side]",
     [](options& o, std::string_view n, std::string_view v) { o.noise = excess(n, v); }},
    {"across", "cgr", "WHAT", "of `mgsync compare` and `merge`: what the machines may differ in: nothing, hosts (same hardware) or machines (anything) [nothing]; of `report`: what files of one machine may differ in [hosts]",
     [](options& o, std::string_view n, std::string_view v) { o.across = across_named(n, v); }},
    {"over-processes", "g", "", "of `mgsync merge`: each file is one process, and counts once; the interval is over them",
     [](options& o, std::string_view, std::string_view) { o.over_processes = true; }},
    {"help,h", "mltscgra", "", "print this",
     [](options& o, std::string_view, std::string_view) { o.command = command::help; }},
    {"version", "mltscgra", "", "print the version and what it was built with",
     [](options& o, std::string_view, std::string_view) { o.command = command::version; }},
};
// clang-format on

std::string_view long_name(const described_option& option) { return option.name.substr(0, option.name.find(',')); }

struct described_command {
  char letter;
  std::string_view name;
  command what;
  std::string_view help;
};

constexpr described_command commands[] = {
    {'m', "measure", command::measure, "compare barriers (the default)"},
    {'l', "list", command::list, "every backend and variant, and whether it can run here"},
    {'t', "topology", command::topology, "the machine as mgsync sees it"},
    {'s', "show FILE", command::show, "the table of a results file (--json) or of a store (--store)"},
    {'c', "compare BASE NEW", command::compare, "what got slower or faster from one such file to another; several: a.json,b.json"},
    {'r', "report FILE...", command::report, "what any such files say: verdict, figures, machines; --html: one offline page"},
    {'a', "advise [FILE...]", command::advise, "which barrier for a step of --work us on --gpus N, from files or a short measurement"},
    {'g', "merge FILE...", command::merge, "several such files as one: --json, --csv, --store"},
};

command command_named(std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& c : commands) {
    const auto name = c.name.substr(0, c.name.find(' '));
    if (name == word) return c.what;
    names.push_back(name);
  }
  const auto meant = closest(word, names);
  throw usage_error(fmt::format("unknown command '{}'{}; accepted: {}", word,
                                meant ? fmt::format(" (did you mean '{}'?)", *meant) : "", fmt::join(names, ", ")));
}

const described_command& description_of(command what) {
  for (const auto& c : commands)
    if (c.what == what) return c;
  return commands[0];
}

std::string_view word_of(const described_command& c) { return c.name.substr(0, c.name.find(' ')); }

bool takes(const described_command& c, const described_option& option) { return option.used_by.find(c.letter) != std::string_view::npos; }

// An option that the command does not use is refused, with whose it is and what the command takes.
void must_take(const described_command& c, const described_option& option) {
  if (takes(c, option)) return;
  std::vector<std::string> owners, accepted;
  for (const auto& other : commands)
    if (takes(other, option)) owners.push_back(fmt::format("mgsync {}", word_of(other)));
  for (const auto& other : every_option)
    if (takes(c, other)) accepted.push_back(fmt::format("--{}", long_name(other)));
  throw usage_error(fmt::format("mgsync {} does not take --{} ({} does); accepted: {}", word_of(c), long_name(option),
                                fmt::join(owners, ", "), fmt::join(accepted, " ")));
}

namespace po = boost::program_options;

po::options_description describe() {
  po::options_description described;
  for (const auto& option : every_option) {
    if (option.value.empty())
      described.add_options()(std::string(option.name).c_str(), "");
    else
      described.add_options()(std::string(option.name).c_str(), po::value<std::string>(), "");
  }
  return described;
}

[[noreturn]] void explain(const po::error_with_option_name& error) {
  const std::string name = error.get_option_name();
  if (dynamic_cast<const po::unknown_option*>(&error) != nullptr) {
    const auto names = option_names();
    const auto meant = closest(std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size())), names);
    throw usage_error(fmt::format("unknown option '{}'{}; accepted: --{}", name,
                                  meant ? fmt::format(" (did you mean --{}?)", *meant) : "", fmt::join(names, " --")));
  }
  for (const auto& option : every_option)
    if (name == fmt::format("--{}", long_name(option)))
      throw usage_error(fmt::format("{}{}", error.what(), option.value.empty() ? "" : fmt::format("; it takes {}: {}", option.value, option.help)));
  throw usage_error(error.what());
}

po::parsed_options parse(const po::options_description& described, std::span<const std::string> arguments,
                         std::vector<std::string>& words) {
  po::options_description all = described;
  all.add_options()("command", po::value<std::vector<std::string>>());
  po::positional_options_description positions;
  positions.add("command", -1);
  namespace style = po::command_line_style;
  const int form = style::allow_long | style::allow_short | style::long_allow_adjacent | style::long_allow_next |
                   style::short_allow_adjacent | style::short_allow_next | style::allow_dash_for_short;
  auto parsed = po::command_line_parser(std::vector<std::string>(arguments.begin(), arguments.end()))
                    .options(all).positional(positions).style(form).run();
  std::erase_if(parsed.options, [&](const po::option& o) {
    if (o.string_key != "command") return false;
    words.insert(words.end(), o.value.begin(), o.value.end());
    return true;
  });
  return parsed;
}

// The words that follow a command which reads files.
void take_files(options& o, std::vector<std::string>& words) {
  if (words.empty() || (words.front() != "show" && words.front() != "compare" && words.front() != "merge" && words.front() != "report" && words.front() != "advise")) return;
  o.files.assign(words.begin() + 1, words.end());
  words.resize(1);
  if (o.command == command::help || o.command == command::version) return;
  if (words.front() == "show" && o.files.empty() && (!o.figure.empty() || !o.tables.empty() || !o.by.empty()))
    throw usage_error("mgsync show --figure, --tables and --by take files, written by --json or --store");
  if (words.front() == "report" && o.files.empty())
    throw usage_error("mgsync report takes files: results (--json or --store), machine descriptions, raw rows of a study");
  if (words.front() == "show" && o.files.size() != 1 && o.figure.empty() && o.tables.empty() && o.by.empty())
    throw usage_error("mgsync show takes one file, written by --json or --store");
  if (words.front() == "compare" && o.reference && o.files.size() != 1) throw usage_error("mgsync compare --reference takes one file, NEW: the other comes with mgsync");
  if (words.front() == "compare" && !o.reference && o.files.size() != 2)
    throw usage_error("mgsync compare takes two files, BASE and NEW, written by --json or --store; several for a side: "
                      "a.json,b.json");
  if (words.front() == "merge" && o.files.empty())
    throw usage_error("mgsync merge takes files written by --store or --json");
}

void reject_contradictions(const options& o) {
  if (o.allow_missing && !o.fail_slower) throw usage_error("--allow-missing is for `mgsync compare BASE NEW --fail-slower SHARE`");
  if (!o.svg.empty() && o.figure.empty()) throw usage_error("--svg writes the picture that --figure NAME names");
  if (!o.figure.empty() + !o.tables.empty() + !o.by.empty() > 1) throw usage_error("--figure, --tables and --by: one of them");
  if (o.over_processes && !o.store.empty())
    throw usage_error("--over-processes cannot write a store: a store is there to be resumed, and these are samples of processes "
                      "that have ended");
  if (o.processes > 1 && (!o.store.empty() || o.dry_run))
    throw usage_error("--processes takes --json and --csv, but not --store, --resume or --dry-run");
  if (o.resume && o.store.empty()) throw usage_error("--resume continues a store: name it with --store FILE");
  if (o.json == "-" && o.csv == "-") throw usage_error("--json - and --csv - cannot both be stdout: name a file for one");
}

std::string help_line(const described_option& option) {
  std::string text;
  const auto name = long_name(option);
  std::string left = fmt::format("  --{}", name);
  if (name.size() != option.name.size()) left += fmt::format(", -{}", option.name.back());
  if (!option.value.empty()) left += fmt::format(" {}", option.value);
  text += fmt::format("{:<26}", left);
  constexpr std::size_t width = 78;
  std::string_view rest = option.help;
  for (bool first = true; !rest.empty(); first = false) {
    std::size_t cut = rest.size() <= width ? rest.size() : rest.rfind(' ', width);
    text += fmt::format("{}{}\n", first ? (left.size() >= 26 ? "\n                          " : "")
                                        : "                          ", rest.substr(0, cut));
    rest.remove_prefix(std::min(rest.size(), cut + 1));
  }
  return text;
}

}  // namespace

options parse_options(std::span<const std::string> arguments) {
  options result;
  result.typed = fmt::format("mgsync {}", fmt::join(arguments, " "));
  std::vector<std::string> words;
  std::vector<const described_option*> used;
  try {
    const auto parsed = parse(describe(), arguments, words);
    for (const auto& given : parsed.options)
      for (const auto& option : every_option)
        if (given.string_key == long_name(option)) {
          option.set(result, long_name(option), given.value.empty() ? std::string_view() : given.value.front());
          used.push_back(&option);
        }
  } catch (const po::error_with_option_name& error) {
    explain(error);
  } catch (const po::error& error) {
    throw usage_error(error.what());
  }
  take_files(result, words);
  if (words.size() > 1) throw usage_error(fmt::format("one command at a time, not '{}'", fmt::join(words, " ")));
  const auto named = words.empty() ? command::measure : command_named(words.front());
  if (result.command == command::help && !words.empty()) result.help_for = named;
  if (result.command == command::measure) result.command = named;
  for (const auto* option : used) must_take(description_of(named), *option);
  reject_contradictions(result);
  return result;
}

std::string help_text(std::optional<command> of) {
  if (of) {
    const auto& c = description_of(*of);
    std::string text = fmt::format("mgsync {}: {}\n\nOptions:\n", c.name, c.help);
    for (const auto& option : every_option)
      if (takes(c, option)) text += help_line(option);
    return text;
  }
  std::string text =
      "mgsync: measures every way to synchronize GPUs (or host threads) on this machine, proves that each is a\n"
      "barrier, and says which is fastest.\n\n"
      "  mgsync                                        every barrier that runs here, compared\n"
      "  mpirun -np 4 mgsync --backend multigrid       one member per rank\n"
      "  mgsync --backend all --members 2,4 --json results.json\n\nCommands:\n";
  for (const auto& c : commands) text += fmt::format("  {:<22}{}\n", c.name, c.help);
  text += fmt::format("  {:<22}{}\n", "study [NAME] ...", "the papers' studies: what there is, or one of them measured (mgsync study --help)");
  text += "\nOptions:\n";
  for (const auto& option : every_option) text += help_line(option);
  text += "\n`mgsync COMMAND --help` lists what a command takes.\n";
  text +=
      "\nExit codes: 0 measured and correct, 1 failure, 2 wrong use, 3 a barrier was violated or stuck,\n"
      "4 nothing could be measured here, 5 slower than `mgsync compare --fail-slower` lets through, 128+n ended by signal n.\n";
  return text;
}

std::vector<std::string_view> option_names() {
  std::vector<std::string_view> names;
  for (const auto& option : every_option) names.push_back(long_name(option));
  return names;
}

}  // namespace mgsync
