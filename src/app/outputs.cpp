#include "src/app/outputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "src/app/surroundings.hpp"
#include "src/results/packed_text.hpp"
#include "src/results/atomic_file.hpp"
#include "src/results/csv_document.hpp"
#include "src/results/table.hpp"

namespace mgsync {

namespace {

// A result file appears only at the end, so its folder is tried with another name.
void must_be_writable(std::string_view option, const std::string& file) {
  if (is_packed_name(file) && !can_pack()) throw usage_error(fmt::format("--{} {}: this mgsync was built without liblzma; name a file without .xz", option, file));
  if (file.empty() || file == "-" || std::filesystem::exists(file)) {
    if (!file.empty() && file != "-" && access(file.c_str(), W_OK) != 0)
      throw usage_error(fmt::format("--{} {}: this file cannot be written; name another", option, file));
    return;
  }
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder) || access(folder.c_str(), W_OK) != 0)
    throw usage_error(fmt::format("--{} {}: no file can be created in {}; name a folder that exists and is writable",
                                  option, file, folder.string()));
}

// One would be written over the other; links count as what they lead to.
void refuse_equal_paths(const options& asked) {
  const std::pair<std::string_view, std::string> all[] = {{"json", asked.json}, {"csv", asked.csv}, {"store", asked.store}};
  const auto real = [](const std::string& file) {
    std::error_code unknown;
    const auto path = std::filesystem::weakly_canonical(file, unknown);
    return unknown ? std::filesystem::absolute(file) : path;
  };
  for (std::size_t i = 0; i < std::size(all); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [a, first] = all[j];
      const auto& [b, second] = all[i];
      if (first.empty() || second.empty() || first == "-" || second == "-") continue;
      std::error_code absent;
      if (real(first) == real(second) || std::filesystem::equivalent(first, second, absent))
        throw usage_error(fmt::format("--{} {} and --{} {} are the same file: name another for one of them", a, first, b, second));
    }
}

void write_to(const std::string& file, const std::string& content) {
  if (file.empty()) return;
  if (file == "-")
    std::fwrite(content.data(), 1, content.size(), stdout), std::fflush(stdout);
  else
    write_file_atomically(file, is_packed_name(file) ? packed(content) : content);
}

}  // namespace

exit_code exit_code_of(std::span<const result> results) {
  const auto any = [&](result_status s) {
    return std::any_of(results.begin(), results.end(), [s](const auto& r) { return r.status == s; });
  };
  if (any(result_status::failed)) return exit_code::barrier_failed;
  if (any(result_status::error)) return exit_code::failure;
  const bool something = any(result_status::measured) ||  // an outcome is no metric
                         std::any_of(results.begin(), results.end(), [](const auto& r) { return r.has_metrics(); });
  return something ? exit_code::success : exit_code::all_waived;
}

void must_be_writable(const options& asked) {
  refuse_equal_paths(asked);
  must_be_writable("json", asked.json);
  must_be_writable("csv", asked.csv);
}

void write_documents(const options& asked, const json_document& document) {
  write_to(asked.json, asked.json.empty() ? "" : format_json(document));
  write_to(asked.csv, asked.csv.empty() ? "" : format_csv(document));
}

void outputs::open(const options& asked, const machine_record& machine, std::uint64_t seed, const std::string& started) {
  must_be_writable(asked);
  std::lock_guard lock(mutex_);
  options_ = asked;
  document_.command = asked.typed;
  document_.seed = seed;
  document_.started = started;
  document_.machine = machine;
  document_.settings = {{"precision", fmt::format("{}", asked.precision)},
                        {"max_time_s", fmt::format("{}", std::chrono::duration<double>(asked.max_time.value()).count())},
                        {"check_rounds", asked.check ? fmt::format("{}", asked.check_rounds) : "0"}};
  if (!asked.store.empty())
    store_ = std::make_unique<mgsync::store>(asked.store,
                                             store_header{machine, asked.typed, seed, started, document_.settings},
                                             asked.resume ? if_exists::resume : if_exists::refuse);
  // Of this command alone: a store may be resumed on another day.
  document_.settings.merge(surroundings());
  document_.settings.merge(gpu_states_at("before"));
  if (store_)
    for (const auto& sentence : store_->before().damage) fmt::print(stderr, "mgsync: {}: {}\n", asked.store, sentence);
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

// The point in flight is to blame, or what broke is; the points that the plan holds besides were not tried.
void outputs::add_unfinished(const std::string& why, result_status blame) {
  std::set<std::string> known;
  for (const result& one : document_.results) known.insert(canonical_text(one.point));
  for (const result& one : planned_) {
    if (!known.insert(canonical_text(one.point)).second) continue;
    result unfinished = one;
    const bool in_flight = !current_.subject.empty() && one.point == current_;
    if (one.status != result_status::waived || in_flight) {
      unfinished.status = in_flight || blame == result_status::interrupted ? blame : result_status::error;
      unfinished.reason = in_flight                                ? why
                          : blame == result_status::interrupted ? "interrupted before it was measured"
                                                                 : "not tried, or not to its end: " + why;
    }
    if (store_ && in_flight && blame != result_status::interrupted) store_->finish(unfinished);
    document_.results.push_back(std::move(unfinished));
  }
}

void outputs::write(const std::string& end) {
  std::lock_guard lock(mutex_);
  if (!opened_ || done_) return;
  done_ = true;
  document_.settings.merge(gpu_states_at("after"));
  document_.ended = end;
  // The table's reader may be gone (| head): whatever lasts is written before it.
  if (store_) store_->end(end);
  write_documents(options_, document_);
  std::FILE* table = options_.json == "-" || options_.csv == "-" ? stderr : stdout;
  fmt::print(table, "{}{}", format_table(document_.results), format_notes(document_.machine));
  std::fflush(table);
}

void outputs::idle() {
  std::lock_guard lock(mutex_);
  current_ = {};
}

void outputs::write_in_emergency(const std::string& why, result_status blame) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !opened_ || done_) return;
  done_ = true;
  document_.ended = to_string(blame);
  try {
    add_unfinished(why, blame);
    if (store_) store_->sync();
    write_documents(options_, document_);
    if (!document_.results.empty()) fmt::print(stderr, "measured before that:\n{}", format_table(document_.results));
  } catch (const std::exception& error) {
    fmt::print(stderr, "mgsync: {}\n", error.what());
  }
}

}  // namespace mgsync
