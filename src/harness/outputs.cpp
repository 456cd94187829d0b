#include "src/harness/outputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "src/base/communicator.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/watchdog.hpp"
#include "src/results/files/anonymous.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/document_forms.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/files/result_file.hpp"
#include "src/results/frame/results_table.hpp"
#include "topology/sources/gpu_state.hpp"

namespace mgsync {

namespace {

constexpr const char* ended_because = "ended_because";  // a key of the document's settings

struct named_file {
  std::string_view option;
  std::string name;
};

// The files that a command writes once, at its end; "-" is stdout.
std::vector<named_file> files_at_the_end(const output_request& asked) {
  std::vector<named_file> all{
      {"json", asked.json}, {"html", asked.html}, {"markdown", asked.markdown}, {"svg", asked.svg}};
  for (const auto& [option, file] : asked.forms) all.push_back({option, file});
  std::erase_if(all, [](const named_file& f) { return f.name.empty(); });
  return all;
}

void must_be_writable(const named_file& file) {
  if (file.name == "-") return;
  if (is_packed_name(file.name) && !can_pack())
    throw usage_error(fmt::format("--{} {}: this mgsync was built without liblzma; name a file without .xz",
                                  file.option, file.name));
  if (const auto why = why_not_writable(file.name); !why.empty())
    throw usage_error(fmt::format("--{} {}: {}; name another file", file.option, file.name, why));
}

// Compares what symbolic links point to.
bool are_one_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code absent;
  return std::filesystem::equivalent(a, b, absent) || behind_links(a) == behind_links(b);
}

// All files that the command writes.
std::vector<named_file> files_to_write(const output_request& asked) {
  auto written = files_at_the_end(asked);
  if (!asked.store.empty()) written.push_back({"store", asked.store});
  return written;
}

// One would be written over the other.
void refuse_equal_paths(const output_request& asked) {
  const auto written = files_to_write(asked);
  for (std::size_t i = 0; i < written.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (are_one_file(written[j].name, written[i].name))
        throw usage_error(fmt::format("--{} {} and --{} {} are the same file: name another for one of them",
                                      written[j].option, written[j].name, written[i].option,
                                      written[i].name));
}

void write_to(const std::string& file, const std::string& content) {
  if (file.empty()) return;
  if (file == "-") put_on_stdout(content);
  else write_file_atomically(file, is_packed_name(file) ? packed(content) : content);
}

void make_folder(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder) || access(folder.c_str(), W_OK) != 0)
    throw usage_error(fmt::format("--figures {}: no folder here, or none that can be written; accepted: a "
                                  "folder that is there or can be made",
                                  folder));
}

std::map<std::string, std::string> gpu_states_at(const std::string& when) {
  std::map<std::string, std::string> all;
  for (auto& [uuid, state] : topology::gpu_states()) all[uuid + " " + when] = std::move(state);
  return all;
}

// Whether the file is a document of the command that this one describes.
bool has_written(const std::string& file, const json_document& mine) {
  if (file.empty() || file == "-" || !std::filesystem::exists(file)) return false;
  const auto there = read_result_file(file);
  return !there.is_store && there.document.started == mine.started && there.document.seed == mine.seed;
}

}  // namespace

exit_code exit_code_of(std::span<const result> results) {
  const auto any = [&](result_status s) {
    return std::any_of(results.begin(), results.end(), [s](const auto& r) { return r.status == s; });
  };
  if (any(result_status::failed)) return exit_code::barrier_failed;
  if (any(result_status::error)) return exit_code::failure;
  const bool something =
      any(result_status::measured) ||  // subjects that only have an outcome have no metrics
      std::any_of(results.begin(), results.end(), [](const auto& r) { return r.has_metrics(); });
  return something ? exit_code::success : exit_code::all_waived;
}

void must_not_write_over(const output_request& asked, std::span<const std::string> read) {
  for (const auto& out : files_to_write(asked))
    for (const auto& one : read)
      if (are_one_file(out.name, one))
        throw usage_error(fmt::format(
            "--{} {} is a file that this command reads, and would be written over it: name another",
            out.option, out.name));
}

void prepare_files(const output_request& asked, std::span<const std::string> read) {
  refuse_equal_paths(asked);
  must_not_write_over(asked, read);
  make_folder(asked.figures);
  const auto files = files_at_the_end(asked);
  for (const auto& file : files) must_be_writable(file);
  const bool lasts = std::ranges::any_of(files, [](const named_file& f) { return f.name != "-"; });
  if (lasts || !asked.store.empty() || !asked.figures.empty()) outlive_readers();
}

void do_each(const std::vector<std::function<void()>>& steps) {
  std::exception_ptr first;
  for (const auto& step : steps) {
    try {
      step();
    } catch (const std::exception& error) {
      if (first) say("mgsync: {}\n", error.what());
      else first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void write_json(const output_request& asked, const std::string& text) { write_to(asked.json, text); }

void write_form(const output_request& asked, std::string_view form, const std::string& text) {
  if (const auto file = asked.forms.find(form); file != asked.forms.end()) write_to(file->second, text);
}

void write_documents(const output_request& asked, const json_document& document) {
  if (asked.anonymous) {
    output_request open = asked;
    open.anonymous = false;
    json_document hidden = document;
    make_anonymous(hidden);
    return write_documents(open, hidden);
  }
  std::vector<std::function<void()>> steps;
  if (!asked.json.empty()) steps.emplace_back([&] { write_json(asked, format_json(document)); });
  for (const auto& form : document_forms())
    if (const auto file = asked.forms.find(form.option); file != asked.forms.end())
      steps.emplace_back([&form, file, &document] { write_to(file->second, form.text(document)); });
  do_each(steps);
}

void print_table(const output_request& asked, std::string_view text) noexcept {
  const auto shown = printable(text);
  const bool taken = asked.json == "-" ||
                     std::ranges::any_of(asked.forms, [](const auto& form) { return form.second == "-"; });
  if (taken) put_on_stderr(shown);
  else put_on_stdout(shown);
}

void write_figures(const output_request& asked, const named_files& files) {
  if (asked.figures.empty()) return;
  for (const auto& [name, content] : files)
    write_file_atomically(std::filesystem::path(asked.figures) / name, content);
}

void outputs::describe(const output_request& asked, store_header about,
                       std::map<std::string, std::string> surroundings) {
  asked_ = asked;
  if (asked.anonymous) {
    about.command = anonymous_command(about.command);
    make_anonymous(about.machine);
    make_anonymous(about.settings);
  }
  document_.command = about.command;
  document_.seed = about.seed;
  document_.started = about.started;
  document_.machine = about.machine;
  document_.settings = about.settings;
  document_.settings.merge(surroundings);
  about_ = std::move(about);
}

void outputs::open_store(if_exists policy) {
  if (!asked_.store.empty()) store_ = std::make_unique<mgsync::store>(asked_.store, about_, policy);
}

void outputs::open(const output_request& asked, store_header about,
                   std::map<std::string, std::string> surroundings) {
  prepare_files(asked);
  std::lock_guard lock(mutex_);
  describe(asked, std::move(about), std::move(surroundings));
  open_store(asked.resume ? if_exists::resume : if_exists::refuse);
  document_.settings.merge(gpu_states_at("before"));
  if (store_)
    for (const auto& sentence : store_->before().damage) say("mgsync: {}: {}\n", asked.store, sentence);
  opened_ = true;
}

void outputs::stand_by(const output_request& asked, store_header about,
                       std::map<std::string, std::string> surroundings) {
  std::lock_guard lock(mutex_);
  describe(asked, std::move(about), std::move(surroundings));
  stands_by_ = true;
}

void outputs::take_over() {
  const auto lock = lock_soon();
  if (!lock || !stands_by_ || opened_) return;
  try {
    // Rank 0 may have written everything before it ended: it ends the store first.
    if (!asked_.store.empty() ? read_store(asked_.store).complete : has_written(asked_.json, document_))
      return;
    open_store(if_exists::resume);
    if (store_) document_.results = store_->before().finished;
  } catch (const std::exception& error) { say("mgsync: {}\n", error.what()); }
  opened_ = true;
}

void outputs::plan(std::vector<result> all) {
  std::lock_guard lock(mutex_);
  planned_ = std::move(all);
}

void outputs::measuring(const point& current) {
  std::lock_guard lock(mutex_);
  current_ = current;
}

void outputs::add(const result& one) {
  std::lock_guard lock(mutex_);
  document_.results.push_back(one);
}

void outputs::note(const std::string& key, std::string value) {
  std::lock_guard lock(mutex_);
  document_.settings[key] = std::move(value);
}

void outputs::replace(std::vector<result> all) {
  std::lock_guard lock(mutex_);
  document_.results = std::move(all);
}

// The document with a result for every planned point: the point in flight gets `blame`, the others were not
// tried.
json_document outputs::with_unfinished(const std::string& why, result_status blame,
                                       std::optional<result>& blamed) const {
  auto document = document_;
  document.ended = to_string(blame);
  document.settings[ended_because] = why;
  std::set<std::string> known;
  for (const result& one : document.results) known.insert(canonical_text(one.point));
  for (const result& one : planned_) {
    if (!known.insert(canonical_text(one.point)).second) continue;
    result unfinished = one;
    const bool in_flight = !current_.subject.empty() && one.point == current_;
    if (one.status != result_status::waived || in_flight) {
      unfinished.status = in_flight || blame == result_status::interrupted ? blame : result_status::error;
      unfinished.reason = in_flight                             ? why
                          : blame == result_status::interrupted ? "interrupted before it was measured"
                                                                : "not tried, or not to its end: " + why;
    }
    if (in_flight) blamed = unfinished;
    document.results.push_back(std::move(unfinished));
  }
  return document;
}

void outputs::write(const std::string& end, std::string_view remarks) {
  // Another rank may have received the signal first; waits up to a second for this rank's own, to name it.
  for (int i = 0; i < 100 && end != "complete" && signal_in_words().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::lock_guard lock(mutex_);
  if (!opened_ || done_) return;
  done_ = true;
  document_.settings.merge(gpu_states_at("after"));
  document_.ended = end;
  auto why = end == "complete" ? "" : signal_in_words();
  if (why.empty() && end != "complete") why = "another rank was asked to end";
  if (!why.empty()) document_.settings[ended_because] = why;
  // The files come before the text on the terminal, and each is written even if another cannot be.
  do_each({[&] {
             if (store_) store_->end(end, why);
           },
           [&] { write_documents(asked_, document_); },
           [&] {
             put_on_stderr(remarks);
             print_table(asked_,
                         format_table(document_.results, asked_.listed(), terminal_at(STDOUT_FILENO)) +
                             format_notes(document_.machine));
           }});
}

void outputs::idle() {
  std::lock_guard lock(mutex_);
  current_ = {};
}

// Tries for 0.3 s: the other thread holds the lock either briefly, or because it is writing the files itself.
std::unique_lock<std::mutex> outputs::lock_soon() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < 30 && !lock; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    static_cast<void>(lock.try_lock());  // the loop's condition tests it
  }
  return lock;
}

bool outputs::write_in_emergency(const std::string& why, result_status blame) {
  const auto lock = lock_soon();
  if (!lock) return false;
  if (!opened_ || done_) {
    communicator::files_are_written();
    return true;
  }
  done_ = true;
  try {
    std::optional<result> blamed;
    document_ = with_unfinished(why, blame, blamed);
    do_each({[&] {
               if (store_ && blamed && blame != result_status::interrupted) store_->finish(*blamed);
             },
             [&] {
               if (!store_) return;
               store_->end(to_string(blame), why);
               store_->seal();
             },
             [&] { write_documents(asked_, document_); },
             [&] {
               const auto tells = [](const result& r) {
                 return r.has_metrics() || r.status == result_status::failed;
               };
               if (std::ranges::any_of(document_.results, tells))
                 say("measured before that:\n{}",
                     format_table(document_.results, asked_.listed(), terminal_at(STDERR_FILENO)));
             }});
  } catch (const std::exception& error) { say("mgsync: {}\n", error.what()); }
  communicator::files_are_written();
  return true;
}

bool outputs::write_meanwhile(const std::string& why) {
  const auto lock = lock_soon();
  if (!lock) return false;
  if (!opened_ || done_) return true;
  auto replaceable = asked_;
  const auto stays = [](const std::string& file) {
    std::error_code absent;
    return file != "-" &&
           (!std::filesystem::exists(file, absent) || std::filesystem::is_regular_file(file, absent));
  };
  if (!stays(replaceable.json)) replaceable.json.clear();
  std::erase_if(replaceable.forms, [&](const auto& form) { return !stays(form.second); });
  try {
    std::optional<result> in_flight;
    const auto document = with_unfinished(why, result_status::interrupted, in_flight);
    do_each({[&] {
               if (store_) store_->end(document.ended, why);
             },
             [&] { write_documents(replaceable, document); }});
  } catch (const std::exception&) {
    // Not reported: the command will meet the same error and report it.
  }
  return true;
}

}  // namespace mgsync
