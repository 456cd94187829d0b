// The crash-safe store of a sweep: JSON Lines, every sample appended at once, so that a crash loses no
// sample. Only one process may write it (store_lock.hpp). Each line is one write(2) with O_APPEND and ends
// with its checksum; fdatasync is called per finished point. An incomplete last line is cut off on opening, a
// damaged line elsewhere is reported and skipped. Format: docs/results.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/files/atomic_file.hpp"
#include "src/results/files/store_lock.hpp"
#include "src/results/values/machine_record.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

inline constexpr std::string_view store_schema = "mgsync-store/2";

struct store_header {
  machine_record machine;
  std::string command;
  std::uint64_t seed = 0;
  std::string started;  // UTC, "2026-01-31T12:00:00Z"
  std::map<std::string, std::string>
      settings;  // settings that affect results: precision, max-time, check-rounds, ...
};
void fields(auto& way, store_header& h) {
  way.needs("machine", h.machine);
  way.needs("command", h.command);
  way.needs("seed", h.seed);
  way.needs("started", h.started);
  way.needs("settings", h.settings);
}

// A point that is to be continued or tried again: it has samples but no result, or one that an interruption
// or an error cut short, or it failed.
struct unfinished_point {
  mgsync::point point;
  std::vector<sample> samples;       // in order, with their batch numbers; empty for a failed attempt
  std::uint32_t next_batch = 0;      // the first free batch number, as new samples must not join an old batch
  std::vector<metric_name> metrics;  // the metrics whose values the samples hold
  std::string method;
  std::uint32_t attempt = 1;  // the number that the next attempt has
  std::string before;         // a sentence about how the previous attempt ended; empty: there was none
};

// What a store holds.
struct store_contents {
  store_header header;  // of the command that began it
  std::vector<result>
      finished;  // the last result of each point with its samples, in the order of the points' first lines
  std::vector<unfinished_point> unfinished;  // in the order of their first sample
  bool complete = false;                     // the last command reached its end
  std::string ended;  // why the last command ended: "complete", "interrupted", ...; may be empty
  std::vector<std::string> damage;  // one sentence each: a torn tail, a damaged line
};

// Reads a store without changing or locking it. Throws usage_error when the file is not a store.
store_contents read_store(const std::filesystem::path& file);

enum class if_exists { refuse, resume };

class store {
 public:
  // Opens `file` for this process alone and makes the header durable. An existing store is refused, or, to
  // resume, repaired and read; then its machine and settings must be the header's. Throws usage_error
  // (exists; another writer; no store; one of another schema; another machine or other settings; cannot be
  // created), write_error when writing fails.
  store(const std::filesystem::path& file, const store_header& header, if_exists policy = if_exists::refuse);

  // What earlier commands wrote; empty in a new store.
  const store_contents& before() const { return before_; }

  // Appends. A failed write throws write_error, and the store ends at the last whole line. The samples of a
  // point are the values of these metrics (by name, unit and direction), taken by `method`.
  void add(const point&, const std::vector<metric_name>&, const std::string& method, const sample&);
  void finish(const result&);  // the point is done, whatever its status; durable on return
  // Appends how the command ended ("complete", "interrupted", ...) and, if early, the reason; durable on
  // return.
  void end(std::string_view why, std::string_view reason = {});
  // From now on nothing is appended, although the command may still go on for a moment. From any thread.
  void seal();

  // Makes all that was appended durable. May be called from any thread, at any time of the store's life, and
  // from a signal handler. False: the system reported an error.
  bool sync() const noexcept;

 private:
  void append(const std::string& line);

  std::mutex appending_;  // the watchdog's thread may append the end while the command goes on
  bool sealed_ = false;
  std::filesystem::path file_;
  unique_descriptor descriptor_;
  std::unique_ptr<store_lock> lock_;
  store_contents before_;
  std::set<std::string> declared_;  // short keys of the points that the file has a describing line for
};

}  // namespace mgsync
