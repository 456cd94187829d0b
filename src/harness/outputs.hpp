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
#include "src/results/files/json_document.hpp"
#include "src/results/files/store.hpp"
#include "src/results/frame/not_measured.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

// Where a command writes, and how much it says.
struct output_request {
  std::string typed;  // the whole command line, for the results
  std::string json;   // file, "-" for stdout, "" for none; and so the others
  std::map<std::string, std::string, std::less<>>
      forms;             // files for other forms of the results, by option (document_forms.hpp)
  std::string html;      // of report
  std::string markdown;  // of report and ledger
  std::string svg;       // of show --figure
  std::string store;
  std::string figures;     // a folder
  bool resume = false;     // continue the store of an earlier command
  bool anonymous = false;  // replace the names of hosts by pseudonyms
  bool verbose = false;

  detail listed() const { return verbose ? detail::every : detail::grouped; }
};

// barrier_failed when a barrier failed, all_waived when nothing was measured, else success or failure.
exit_code exit_code_of(std::span<const result>);

// Before the work of a command that writes files: throws usage_error where one cannot be written, or is
// another one of them, or one of those that the command reads, or the folder of --figures cannot be. Where
// files are to be written, SIGPIPE does not end the command from now on (`2>&1 | head`).
void prepare_files(const output_request&, std::span<const std::string> read = {});

// Carries out every step, also after one that threw. Then throws the first exception; the others are printed
// on stderr.
void do_each(const std::vector<std::function<void()>>& steps);

// Throws usage_error where an output is one of the files in `read`, for commands that learn late what they
// read.
void must_not_write_over(const output_request&, std::span<const std::string> read);

// Writes the text to the file of --json, where that was given.
void write_json(const output_request&, const std::string& text);
// The same for --csv, or another form of documents.
void write_form(const output_request&, std::string_view form, const std::string& text);

// Writes the document to --json and in the other requested forms. Tries all of them even if one cannot be
// written.
void write_documents(const output_request&, const json_document&);

// Prints the text to stdout, or to stderr where a document goes to stdout.
void print_table(const output_request&, std::string_view text) noexcept;

// Writes files of these names into the folder of --figures, where that was given.
using named_files = std::map<std::string, std::string>;
void write_figures(const output_request&, const named_files&);

class outputs {
 public:
  // Throws usage_error where a file cannot be written, before anything is measured. `about` holds what
  // determines results and must match when a store is resumed; `surroundings` is what may differ then. Called
  // by rank 0 only.
  void open(const output_request&, store_header about, std::map<std::string, std::string> surroundings = {});
  // Called by another rank: keeps the arguments for take_over(), and opens nothing.
  void stand_by(const output_request&, store_header about,
                std::map<std::string, std::string> surroundings = {});
  // Called after stand_by() when rank 0 is gone: continues with the results that the store holds, so that
  // this rank can write the files. Otherwise does nothing.
  void take_over();
  bool has_files() const { return opened_; }

  mgsync::store* store() { return store_.get(); }

  // Takes a result for every planned point, to be written if the command ends early: waived ones with their
  // reason, the others as errors.
  void plan(std::vector<result>);
  // Sets the point that is being measured now; idle(): none is.
  void measuring(const point&);
  void idle();
  // Adds the result of a point that is done.
  void add(const result&);
  // Adds an entry to the document's settings, such as the time spent.
  void note(const std::string& key, std::string value);
  // Replaces all results that were added by the final list, in the plan's order.
  void replace(std::vector<result>);
  // Writes the files, then `remarks` to stderr, then the table. Where a file could not be written, throws
  // after all of that. `end` is stored as how the command ended.
  void write(const std::string& end, std::string_view remarks = {});
  // Writes the files and the store from another thread while the command is stuck. The point in flight gets
  // the status `blame` (failed, error or interrupted) and the reason `why`; points that were not tried become
  // errors, or interrupted. Waits less than a second for the lock, and does nothing when called again. False:
  // the command held the lock, and nothing was written.
  bool write_in_emergency(const std::string& why, result_status blame);
  // Writes the same while a command that was asked to end is still ending, in case that it is killed before.
  // Its own writing later replaces these files, so nothing is written to pipes. False as above.
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
  point current_;  // without a subject: no point is being measured
  std::vector<result> planned_;
  bool stands_by_ = false;
  std::atomic<bool> opened_ = false;
  bool done_ = false;
};

}  // namespace mgsync
