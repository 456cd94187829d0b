#include "src/app/option_table.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "src/results/files/document_forms.hpp"

namespace mgsync {
namespace {

// What parses the values of options throws usage_error, which names the option, the word and what is
// accepted.
[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view accepted) {
  throw usage_error(fmt::format("--{} is '{}'; accepted: {}", option, value, accepted));
}

// The text as a number; nothing unless all of it is one.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Reads 0.1 or 10%; NaN for anything else, which no bounds accept.
double share(std::string_view text) {
  const bool percent = text.ends_with('%');
  return number<double>(percent ? text.substr(0, text.size() - 1) : text).value_or(NAN) / (percent ? 100 : 1);
}

std::uint64_t whole(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value < least || *value > most)
    refuse(option, text, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

// "2", "2s", "500ms", "1min".
std::chrono::nanoseconds duration(std::string_view option, std::string_view text) {
  const double seconds = in_unit(text, "s").value_or(0);
  if (!(seconds >= 1e-3 && seconds <= 86400))
    refuse(option, text, "a time from 1ms to 24h, such as 500ms, 2s, 5min (seconds without a unit)");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

double fraction(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a share above 0 and up to 1, such as 0.01 or 1%";
  const double value = share(text);
  if (!(value > 0 && value <= 1)) refuse(option, text, accepted);
  return value;
}

double excess(std::string_view option, std::string_view text) {
  constexpr std::string_view accepted = "a share from 0 to 10, such as 0.1 or 10%";
  const double value = share(text);
  if (!(value >= 0 && value <= 10)) refuse(option, text, accepted);
  return value;
}

std::string one_of(std::string_view option, std::string_view text,
                   std::span<const std::string_view> accepted) {
  for (const auto word : accepted)
    if (word == text) return std::string(text);
  refuse(option, text, fmt::format("{}", fmt::join(accepted, ", ")));
}

constexpr std::string_view devices[] = {"auto", "host", "gpu"};
constexpr std::string_view formats[] = {"text", "picture", "json", "xml", "dot", "svg", "description"};

// Setters for a switch, for an unchanged word, and for a value that `Read` parses.
template <auto Member, bool Value = true>
void turn(options& o, std::string_view, std::string_view) {
  o.*Member = Value;
}
template <auto Member>
void keep(options& o, std::string_view, std::string_view word) {
  o.*Member = word;
}
template <auto Member, auto Read>
void put(options& o, std::string_view name, std::string_view word) {
  o.*Member = static_cast<std::remove_reference_t<decltype(o.*Member)>>(Read(name, word));
}

template <std::uint64_t Least, std::uint64_t Most>
std::uint64_t whole_from(std::string_view name, std::string_view word) {
  return whole(name, word, Least, Most);
}
// Words of a table, alone or with the values that they stand for.
template <const auto& Words>
std::vector<std::string> listed() {
  std::vector<std::string> all;
  for (const auto& one : Words)
    if constexpr (requires { one.second; }) all.emplace_back(one.second);
    else all.emplace_back(one);
  return all;
}
template <const auto& Words>
std::string word_of(std::string_view name, std::string_view word) {
  return one_of(name, word, Words);
}
// The profiles.
constexpr typed_option quick[] = {{"precision", "5%"}, {"max-time", "60ms"}, {"check-rounds", "1000"}};
constexpr typed_option full[] = {{"precision", "0.5%"}, {"max-time", "10s"}, {"check-rounds", "100000"}};
template <const auto& Profile>
void use(options& o, std::string_view, std::string_view) {
  o.profile = Profile;
}

void keep_form(options& o, std::string_view name, std::string_view file) {
  o.forms[std::string(name)] = file;
}

// Inserts the options for other forms of documents after --json.
std::vector<described_option> with_forms(std::span<const described_option> table) {
  std::vector<described_option> all(table.begin(), table.end());
  auto at = std::ranges::find(all, "json", &described_option::name) + 1;
  for (const auto& form : document_forms()) {
    // A name that accept has too: one option, which keeps the file either way.
    const auto known = std::ranges::find(all, form.option, &described_option::name);
    if (known != all.end()) {
      known->used_by = {command::measure, command::study, command::merge, command::accept};
      continue;
    }
    at = all.insert(at, {form.option,
                         0,
                         {command::measure, command::study, command::merge},
                         "FILE",
                         form.help,
                         keep_form}) +
         1;
  }
  return all;
}
thread_level level_of_threads(std::string_view name, std::string_view word) {
  return thread_level_named(one_of(name, word, thread_level_words));
}

}  // namespace

// clang-format off
std::span<const described_option> all_options() {
  using enum command;
  constexpr command_set campaigns{measure, study}, where_members_are{measure, study, list, topology}, where_machines_are{measure, study, list, topology, accept},
      everywhere{measure, list, topology, study, show, compare, merge, report, advise, audit, accept, check, ledger, who, help, completion};
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  static constexpr described_option table[] = {
    {"device", 0, {measure, study, list, topology, advise, accept}, "WHERE", "auto, host or gpu [auto: GPUs where there are any]",
     put<&options::device, word_of<devices>>, listed<devices>},
    {"members-per-rank", 0, where_members_are, "M", "members that each MPI rank runs [all in one rank without mpirun, else 1]",
     put<&options::members_per_rank, whole_from<1, 4096>>},
    {"per-node", 0, {measure, study, list}, "", "measure on each of several nodes by itself, one after the other; --members then counts a node's members",
     turn<&options::per_node>},
    {"no-pin", 0, where_members_are, "", "leave the threads where the system puts them",
     turn<&options::pin, false>},
    {"oversubscribe", 0, {measure, study, list}, "", "measure even where there are more threads than cores; waits then yield, and the result says so",
     turn<&options::oversubscribe>},
    {"mpi-threads", 0, where_members_are, "LEVEL", "MPI's thread level, which adds to the cost of MPI_Barrier: single, funneled, serialized or multiple; mgsync calls MPI from one thread only [single]",
     put<&options::mpi_threads, level_of_threads>, listed<thread_level_words>},
    {"precision", 0, campaigns, "SHARE", "stop sampling once the 95 % confidence interval of the median is within this share of it [1%; of some studies their own]",
     put<&options::precision, fraction>},
    {"max-time", 0, campaigns, "TIME", "stop sampling a point after this time; a slow point gets twice that time for its first six batches [of barriers 2s, less in a sweep of more than 8 points, so that sampling takes about 16s in all, but at least 60ms a point; of other studies their own]",
     put<&options::max_time, duration>},
    {"timeout", 0, {measure, study, list, topology, accept, check}, "TIME", "give up on a barrier, and name who did not arrive, within this time [30s; of check 10s]",
     put<&options::timeout, duration>},
    {"check-rounds", 0, {measure, study, check}, "N", "rounds of the check that precedes every timing, or of all scenarios of check together [10000]",
     put<&options::check_rounds, whole_from<1, 1'000'000'000>>},
    {"no-check", 0, campaigns, "", "skip that check; the result then says unchecked",
     [](options& o, std::string_view, std::string_view) { o.check_rounds = 0; }},
    {"quick", 0, campaigns, "", "for a first look, the usual table of a node in less than a minute: --precision 5% --max-time 60ms --check-rounds 1000, each unless it is typed",
     use<quick>},
    {"full", 0, campaigns, "", "for results that are kept: --precision 0.5% --max-time 10s --check-rounds 100000, each unless it is typed",
     use<full>},
    {"scenario", 0, {check}, "LIST", "try only these, as in held-back,replay; for an unknown name mgsync lists those there are",
     keep<&options::scenarios>},
    {"seed", 0, {measure, study, check}, "N", "the number that the random order of samples and the check's random delays start from [taken from the clock; the result records it]",
     put<&options::seed, whole_from<0, most>>},
    {"processes", 0, campaigns, "N", "run the sweep in N fresh processes, one after the other. The interval is then over processes, and so contains the shift that a process has as a whole; 95 % takes six or more [1]",
     put<&options::processes, whole_from<1, 1000>>},
    {"json", 0, {measure, study, merge, advise, audit, accept, check}, "FILE", "write the results as JSON to this file; - is stdout, and then the table goes to stderr",
     keep<&options::json>},
    {"anonymous", 0, {measure, study, merge, report, accept}, "", "write neither the names of hosts, nor paths of the command line, nor values of environment variables, nor UUIDs of GPUs: hashes stand for them, which still tell hosts apart (who guesses a name can check it)",
     turn<&options::anonymous>},
    {"store", 0, {measure, study, merge}, "FILE", "append every sample to this file at once, so that nothing measured is lost",
     keep<&options::store>},
    {"resume", 0, campaigns, "", "continue where the store of an earlier command ends",
     turn<&options::resume>},
    {"dry-run", 0, {measure, study, accept}, "", "print what would be measured, and where",
     turn<&options::dry_run>},
    {"verbose", 0, {measure, study, show, merge, compare, accept}, "", "list every point: those that were waived, not reached, not changed or normal, and of --dry-run every cell",
     turn<&options::verbose>},
    {"figures", 0, campaigns, "DIR", "the folder for figures (SVG), and for what the study timeline recorded",
     keep<&options::figures>},
    {"topology", 0, where_machines_are, "FILE", "take the machine from this file (hwloc XML, nvidia-smi topo -m, or mgsync's own description) instead of looking",
     keep<&options::topology_file>},
    {"format", 0, {topology}, "FORMAT", "text, picture, json, xml, dot, svg, description [text, below the picture on a terminal]",
     put<&options::format, word_of<formats>>, listed<formats>},
    {"png", 0, {topology}, "FILE", "write the picture as PNG too, with rsvg-convert, ImageMagick or Inkscape",
     keep<&options::png>},
    {"within", 0, {advise, accept}, "TIME", "how long measuring may take; advise without files answers from what was measured by then [20s; of accept 25s on two GPUs, 60s on eight]",
     put<&options::within, duration>},
    {"html", 0, {report}, "FILE", "write one page that needs no network and no other file; FOLDER/: an index, and a page for each machine; - is stdout [sentences and tables as text]",
     keep<&options::html>},
    {"markdown", 0, {report, ledger}, "FILE", "write sentences and tables as Markdown; - is stdout",
     keep<&options::markdown>},
    {"points", 0, {measure}, "FILE", "measure exactly the points of this results file, in place of --backend, --members, --shape and the others",
     keep<&options::points>},
    {"against", 0, {accept}, "LIST", "results files of nodes of this kind that are known to be good, each from a process of its own: a.json,b.json [those that came with mgsync: --reference]",
     keep<&options::against>},
    {"thresholds", 0, {accept}, "FILE", "a table of what a point may be slower by, lines of subject,members,shape,limit such as *,2,*,10%; the first that fits counts [from the spread between the processes of the reference]",
     keep<&options::thresholds>},
    {"line", 0, {accept}, "FILE", "append the verdict and its figures as one line of JSON, for mgsync report and node databases; - is stdout",
     keep<&options::line>},
    {"junit", 0, {accept}, "FILE", "write the verdict and each point as JUnit's XML; - is stdout", keep_form},
    {"prometheus", 0, {accept}, "FILE", "write the verdict and each point for the textfile collector of Prometheus' node exporter, FILE ending in .prom; - is stdout", keep_form},
    {"reference", 0, {compare, accept}, "", "is this node normal? Holds NEW against the results that mgsync brings along of the same kind of machine, judges the points that both have and says it in a sentence (--fail-slower: 10 % where it is left out); MGSYNC_REFERENCE names a folder with others",
     turn<&options::reference>},
    {"where", 0, {show, compare}, "LIST", "only the points that have these values, such as members=4,shape=1x32,subject=multigrid:auto/grid, or others than these (load!=idle); device, ranks, study, placement and every axis can be asked for too",
     keep<&options::where>},
    {"figure", 0, {show}, "NAME", "write one picture of what the files say; for an unknown name mgsync lists those there are",
     keep<&options::figure>},
    {"tables", 0, {show}, "LIST", "print these tables of what the files say in Markdown, the sentences, or files: what measured each; for an unknown name mgsync lists those there are",
     keep<&options::tables>},
    {"svg", 0, {show}, "FILE", "of --figure: the file for the picture, as .svg; - is stdout [stdout]",
     keep<&options::svg>},
    {"by", 0, {show, compare}, "WHAT", "print tables in Markdown over the shapes (shape: a table for each subject; shapes: a column for each), or over members, ranks, placement, node, file or any axis of the results, such as load; of compare they have NEW over BASE (--value medians: of the medians), and subject gives a row for each",
     [](options& o, std::string_view, std::string_view word) { o.pivot.by = word; }},
    {"value", 0, {show, compare}, "WHAT", "of --by: what stands in a cell: median, ci95 (and its interval), range (and the least and largest sample), width (half the interval in %), or the name of a metric or quantity [median]",
     [](options& o, std::string_view, std::string_view word) { o.pivot.value = word; }},
    {"relative-to", 0, {show}, "SUBJECT", "of --by: the numbers of each column over this subject's",
     [](options& o, std::string_view, std::string_view word) { o.pivot.relative_to = word; }},
    {"sum", 0, {show}, "LIST", "of --by: a further row, what these subjects take together",
     [](options& o, std::string_view, std::string_view word) { o.pivot.sum = word; }},
    {"summary", 0, {show}, "", "of --by (which may be subject): a row for each of its values, with how many numbers there are, the least, the median, what nine of ten are within, and the most",
     [](options& o, std::string_view, std::string_view) { o.pivot.summary = true; }},
    {"less-order", 0, {measure, study, show, report, advise}, "", "rank what orders less than a barrier (marked: what joins not all of its members, or orders not all of memory) among the barriers all the same; without it that is no fastest of anything, and no advice",
     turn<&options::less_order>},
    {"fail-slower", 0, {compare}, "SHARE", "end with exit code 5 when a point is worse by more than this and beyond noise, was lost, or is missing in NEW",
     put<&options::fail_slower, excess>},
    {"allow-missing", 0, {compare}, "", "of --fail-slower: points that NEW never tried do not count as failures",
     turn<&options::allow_missing>},
    {"noise", 0, {compare}, "SHARE", "what a process as a whole may be shifted by [4%; 0 with four files or more a side]",
     put<&options::noise, excess>},
    {"into", 0, {ledger}, "FILE", "keep the rounds in this ledger, which may exist: a run counts once, however often it is given",
     keep<&options::into>},
    {"across", 0, {compare, merge, report, accept}, "WHAT", "what the machines may differ in: nothing, hosts (same hardware) or machines (anything) [nothing; of accept hosts]; of report: what files of one machine may differ in [hosts]",
     put<&options::across, across_named>, listed<enum_words<across>::list>},
    {"over-processes", 0, {merge}, "", "count each file as one process; the interval is then over processes",
     turn<&options::over_processes>},
    {"model", 0, {audit}, "", "of a barrier that is written for check, in PTX: ask a solver for an execution in which something stale is read",
     turn<&options::model>},
    {"across-gpus", 0, {audit}, "", "take every flag for one that another GPU or the host polls, so that what reaches one GPU only is a fault",
     turn<&options::across_gpus>},
    {"man", 0, {help}, "", "print the manual page, as man and mandoc read it",
     turn<&options::manual_page>},
    {"help", 'h', everywhere, "", "print this text",
     [](options& o, std::string_view, std::string_view) { o.command = command::help; }},
    {"version", 'V', everywhere, "", "print the version and what it was built with",
     [](options& o, std::string_view, std::string_view) { o.command = command::version; }},
  };
  static const auto all = with_forms(table);
  return all;
}

std::span<const described_command> all_commands() {
  using enum command;
  static constexpr described_command table[] = {
    {measure, "measure", "", "compare barriers (the default): study barriers"},
    {list, "list", "", "every backend and variant, and whether it can run here"},
    {topology, "topology", "", "the machine as mgsync sees it"},
    {study, "study", "[NAME]", "the papers' studies: without a name what there is, with one (or all) its measurement"},
    {show, "show", "FILE", "the table of a results file (--json) or of a store (--store)"},
    {compare, "compare", "BASE NEW", "what got slower or faster from one such file to another; a side may be several: a.json,b.json"},
    {report, "report", "FILE...", "what such files say: verdict, tables, machines; with --html one page with all figures"},
    {advise, "advise", "[FILE...]", "which barrier a program should call for a step of --work us on --gpus N, from files or a short measurement"},
    {audit, "audit", "FILE...", "what is wrong with the memory order of loops that wait, and with reads of the clock, in PTX, cubins, shared objects"},
    {accept, "accept", "", "is this node normal? Looks at it, measures each GPU, each pair and all of them for seconds, and says so in a sentence and an exit code"},
    {check, "check", "FILE...", "a barrier of your own, in a shared object, is tried: held back, wrapped, replayed; FILE:NAME is one of several"},
    {merge, "merge", "FILE...", "make one file of several: --json, --csv, --store"},
    {ledger, "ledger", "FILE...", "how many rounds of each barrier's code were checked, added up over runs and machines"},
    {who, "who", "[FILE...]", "who is late in a job that hangs: node, process, GPU, blocks and round, of kernels whose groups are traced; without files of this node's jobs"},
    {help, "help", "[COMMAND]", "this text, or what a command takes (as --help behind it); --man: the manual page"},
    {completion, "completion", "SHELL", "the script that completes mgsync's words in a shell: bash, zsh or fish"},
  };
  return table;
}
// clang-format on

}  // namespace mgsync
