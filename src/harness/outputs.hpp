// Where results go: the table, the JSON and CSV files, the store. Holds what has been measured so far, so
// that it is written also when the command ends early, from whichever thread ends it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/errors.hpp"
#include "src/results/json_document.hpp"
#include "src/results/not_measured.hpp"
#include "src/results/result.hpp"
#include "src/results/store.hpp"

namespace mgsync {

// Where a command writes, and how much it says.
struct output_request {
  std::string typed;  // the whole command line, for the results
  std::string json;   // file, "-" for stdout, "" for none; and so the others
  std::map<std::string, std::string, std::less<>> forms;  // of the results, by option (document_forms.hpp)
  std::string html;                                       // of report
  std::string markdown;                                   // of report
  std::string svg;                                        // of show --figure
  std::string store;
  std::string figures;     // a folder
  bool resume = false;     // the store continues
  bool anonymous = false;  // results do not tell where they come from
  bool verbose = false;

  detail listed() const { return verbose ? detail::every : detail::grouped; }
};

// What the results say: barrier_failed when one did, all_waived when none was measured, else success.
exit_code exit_code_of(std::span<const result>);

// Before the work of a command that writes files: throws usage_error where one cannot be written, or is
// another one of them, or one of those that the command reads, or the folder of --figures cannot be. From
// here on a reader that leaves (`2>&1 | head`) does not end the command before they are written; without
// files there is nothing to stay for.
void prepare_files(const output_request&, std::span<const std::string> read = {});

// Every step, although one before it threw; then throws the first of these, having said the others.
void do_each(const std::vector<std::function<void()>>& steps);

// The same where only the work has shown what was read.
void must_not_write_over(const output_request&, std::span<const std::string> read);

// A text to --json, where that was asked for.
void write_json(const output_request&, const std::string& text);

// The document to --json and in the other forms that were asked for; each although another cannot be written.
void write_documents(const output_request&, const json_document&);

// To stdout, or to stderr where a document goes to stdout.
void print_table(const output_request&, std::string_view text) noexcept;

// Files of these names into the folder of --figures, where that was asked for.
using named_files = std::map<std::string, std::string>;
void write_figures(const output_request&, const named_files&);

class outputs {
 public:
  // Finds out now whether the files can be written (usage_error), not after an hour of measuring. `about`
  // says what decides a result, `surroundings` what else is known of this command alone: a store may be
  // resumed on another day. Rank 0 only.
  void open(const output_request&, store_header about, std::map<std::string, std::string> surroundings = {});
  // Of another rank: remembers the same, for take_over(), and opens nothing.
  void stand_by(const output_request&, store_header about,
                std::map<std::string, std::string> surroundings = {});
  // Where the rank that had opened them is gone: what the store holds is what there is. Does nothing where
  // nobody stands by.
  void take_over();
  bool has_files() const { return opened_; }

  mgsync::store* store() { return store_.get(); }

  // Every point that is to be measured, waived ones with their status and reason, the others as errors: what
  // an early end leaves of them.
  void plan(std::vector<result>);
  // What is being made or measured right now; nothing is.
  void measuring(const point&);
  void idle();
  // One more result, as soon as it is there.
  void add(const result&);
  // Something about the whole command, for the document: where its time went.
  void note(const std::string& key, std::string value);
  // The final list, in the plan's order: replaces what was added.
  void replace(std::vector<result>);
  // Writes the files, then `remarks` to stderr and the table; throws what kept a file from being written
  // after all of that. `end` is what the store says of the end.
  void write(const std::string& end, std::string_view remarks = {});
  // The same from another thread while the command is stuck: the files and the store, with `why` as the
  // reason of the point in flight, which `blame` says of it: failed, error or interrupted. Points that were
  // not tried are errors, or interrupted. Never blocks for long; does nothing the second time. False: the
  // command is writing, and it could not.
  bool write_in_emergency(const std::string& why, result_status blame);
  // The same of a command that was asked to end and goes on to do so, in case that it does not get there:
  // what it writes then replaces this. What cannot be replaced (a pipe) is not written. False as above.
  bool write_meanwhile(const std::string& why);

 private:
  void describe(const output_request&, store_header about, std::map<std::string, std::string> surroundings);
  void open_store(if_exists);
  std::unique_lock<std::mutex> lock_soon();
  json_document with_unfinished(const std::string& why, result_status blame,
                                std::optional<result>& blamed) const;

  std::mutex mutex_;
  output_request asked_;
  json_document document_;
  store_header about_;
  std::unique_ptr<mgsync::store> store_;
  point current_;  // no subject: none
  std::vector<result> planned_;
  bool stands_by_ = false;
  std::atomic<bool> opened_ = false;
  bool done_ = false;
};

}  // namespace mgsync
