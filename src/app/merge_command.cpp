#include "src/app/commands.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/harness/outputs.hpp"
#include "src/harness/study.hpp"
#include "src/results/files/anonymous.hpp"
#include "src/results/files/merging.hpp"
#include "src/results/files/store.hpp"
#include "src/results/frame/results_table.hpp"

namespace mgsync {
namespace {

std::vector<result_file> read_all(const options& asked) {
  std::vector<result_file> files;
  for (const auto& name : asked.files) {
    std::error_code absent;
    // An empty file is what a job leaves that was ended before it began.
    if (std::filesystem::file_size(name, absent) == 0 && !absent) {
      say("mgsync: {} is empty and was left out\n", name);
      continue;
    }
    files.push_back(read_result_file(name));
    const auto& first = files.front();
    refuse_unless_alike(first.document.machine, first.name, files.back().document.machine, name,
                        asked.across.value_or(across::nothing));
    for (const auto& sentence : files.back().damage) say("mgsync: {}\n", sentence);
    if (!files.back().complete)
      say("mgsync: {} is not complete: its command was cut short, or goes on\n", name);
  }
  if (files.empty()) throw usage_error("mgsync merge: all of these files are empty");
  return files;
}

// Of an interrupted point only the samples are written, so that --resume continues it.
void write_store(const std::string& file, const json_document& document,
                 const std::map<std::string, std::string>& settings) {
  store merged(file, {document.machine, document.command, document.seed, document.started, settings});
  bool complete = true;
  for (const auto& one : document.results) {
    for (const auto& measured : one.samples)
      merged.add(one.point, {one.metrics.begin(), one.metrics.end()}, one.method, measured);
    if (one.status == result_status::interrupted) complete = false;
    else if (one.status != result_status::waived) merged.finish(one);
  }
  merged.end(complete ? "complete" : "interrupted");
}

}  // namespace

int merge_command(const options& asked) {
  prepare_files(asked, asked.files);
  const auto files = read_all(asked);
  auto merged = merge_results(files, asked.over_processes ? replication::processes : replication::batches);
  auto& document = merged.document;
  know_facts(studies(), document.results, false);  // which files of an older mgsync lack
  if (asked.anonymous) make_anonymous(document);
  const auto settings = document.settings;
  document.command = asked.anonymous ? anonymous_command(asked.typed) : asked.typed;
  std::erase_if(document.settings, [](const auto& one) { return one.first.starts_with("merged_"); });
  int commands = 0;
  for (const auto& file : files)
    for (const auto& command : measuring_commands(file.document))
      document.settings[fmt::format("merged_{}", ++commands)] = fmt::format("{}: {}", file.name, command);
  for (const auto& note : merged.notes) say("note: {}\n", note);
  do_each({[&] {
             if (!asked.store.empty()) write_store(asked.store, document, settings);
           },
           [&] { write_documents(asked, document); },
           [&] {
             print_table(asked, format_table(document.results, asked.listed(), terminal_at(STDOUT_FILENO)));
           }});
  return static_cast<int>(exit_code_of(document.results));
}

}  // namespace mgsync
