#include "src/results/files/merging.hpp"

#include <gtest/gtest.h>

#include "made_up_results.hpp"
#include "scratch_folder.hpp"
#include "src/base/errors.hpp"
#include "src/results/values/machine_likeness.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

using test::a_point;
using test::failed;
using test::measured;
using test::waived;

using test::hub;
using test::inbox;

result_file file_of(std::string name, std::vector<result> results) {
  result_file file;
  file.name = std::move(name);
  file.document.machine = test::a_machine();
  file.document.started = "2026-01-01T00:00:00Z";
  file.document.settings = {{"precision", "0.01"}};
  file.document.results = std::move(results);
  return file;
}

TEST(merging, puts_the_points_of_all_files_together) {
  auto late = file_of("b", {measured(inbox, 3)});
  late.document.started = "2025-12-31T00:00:00Z";
  late.document.settings["precision"] = "0.05";
  const auto merged = merge_results(std::vector{file_of("a", {measured(hub, 2)}), late});
  ASSERT_EQ(merged.document.results.size(), 2u);
  EXPECT_TRUE(test::same(merged.document.results[0], measured(hub, 2)));
  EXPECT_TRUE(test::same(merged.document.results[1], measured(inbox, 3)));
  EXPECT_EQ(merged.document.started, "2025-12-31T00:00:00Z");
  EXPECT_EQ(merged.document.settings.at("precision"), "0.01, 0.05");
  EXPECT_TRUE(merged.notes.empty());
  auto updated = file_of("b", {measured(inbox, 3)}), before = file_of("a", {measured(hub, 2)});
  before.document.settings["driver"] = "580", updated.document.settings["driver"] = "590";
  EXPECT_EQ(merge_results(std::vector{before, updated}).notes,
            std::vector<std::string>{
                "these files are of several versions of driver (580, 590), and their batches count alike"});
}

TEST(merging, joins_the_samples_of_different_runs_as_batches_of_their_own) {
  const auto one = measured(hub, 2, 1), other = measured(hub, 2.2, 2, 6);
  const auto merged = merge_results(std::vector{file_of("a", {one}), file_of("b", {other})});
  ASSERT_EQ(merged.document.results.size(), 1u);
  const result& joined = merged.document.results.front();
  EXPECT_EQ(joined.samples.size(), one.samples.size() + other.samples.size());
  EXPECT_EQ(joined.metrics[0].raw.size(), 16u);
  EXPECT_EQ(batches_of(joined.samples, "latency").size(), 16u);
  EXPECT_EQ(joined.metrics[0].median, summarize({"latency", "us"}, joined.samples).median);
  EXPECT_EQ(joined.verdict.rounds, 40000u);
  EXPECT_DOUBLE_EQ(*joined.verdict.bound, 3.0 / 40000);
  EXPECT_TRUE(joined.verdict.control_flagged);
  EXPECT_EQ(merged.notes.size(), 1u);
  EXPECT_EQ(joined.verdict.scope, verdict_scope::all);
  // What was checked within hosts alone, in either, is so joined.
  auto within = other;
  within.verdict.scope = verdict_scope::within_hosts;
  for (const auto& files : {std::vector{file_of("a", {one}), file_of("b", {within})},
                            std::vector{file_of("a", {within}), file_of("b", {one})}})
    EXPECT_EQ(merge_results(files).document.results.at(0).verdict.scope, verdict_scope::within_hosts);
  // Joined with an unchecked one it is unchecked.
  auto unchecked = other;
  unchecked.verdict = {};
  EXPECT_EQ(merge_results(std::vector{file_of("a", {one}), file_of("b", {unchecked})})
                .document.results[0]
                .verdict.kind,
            verdict_kind::unchecked);
}

TEST(merging, counts_the_same_measurement_once) {
  const auto whole = measured(hub, 2);
  auto part = whole;
  part.samples.resize(17);
  part.status = result_status::interrupted;
  part.stopped = stop_reason::interrupted;
  for (const auto& files : {std::vector{file_of("a", {whole}), file_of("b", {whole})},
                            std::vector{file_of("a", {whole}), file_of("b", {part})},
                            std::vector{file_of("a", {part}), file_of("b", {whole})}}) {
    const auto merged = merge_results(files);
    ASSERT_EQ(merged.document.results.size(), 1u);
    EXPECT_TRUE(test::same(merged.document.results[0], whole));
    EXPECT_TRUE(merged.notes.empty());
  }
}

TEST(merging, a_failure_anywhere_stays_one) {
  for (const auto& files :
       {std::vector{file_of("a", {measured(hub, 2)}), file_of("b", {failed(hub, "violated")})},
        std::vector{file_of("a", {failed(hub, "violated")}), file_of("b", {measured(hub, 2)})}}) {
    const auto merged = merge_results(files);
    EXPECT_EQ(merged.document.results.at(0).status, result_status::failed);
    EXPECT_EQ(merged.notes.size(), 1u);
  }
}

TEST(merging, a_measurement_beats_a_waiver) {
  const auto merged = merge_results(
      std::vector{file_of("a", {waived(hub, "interrupted before it was measured"), waived(inbox, "first")}),
                  file_of("b", {measured(hub, 2), waived(inbox, "second")})});
  EXPECT_EQ(merged.document.results.at(0).status, result_status::measured);
  EXPECT_EQ(merged.document.results.at(1).reason, "first");
}

TEST(merging, an_outcome_has_no_samples_and_beats_an_error) {
  auto held = measured(hub, 2);
  held.samples.clear();
  held.metrics.clear();
  held.verdict.kind = verdict_kind::outcome;
  held.verdict.details["outcome"] = "held";
  auto broken = held, hung = held;
  broken.status = result_status::error;
  hung.verdict.details["outcome"] = "hung";
  for (const auto& files : {std::vector{file_of("a", {held}), file_of("b", {broken})},
                            std::vector{file_of("a", {broken}), file_of("b", {held})}})
    EXPECT_EQ(merge_results(files).document.results.at(0).status, result_status::measured);
  EXPECT_TRUE(merge_results(std::vector{file_of("a", {held}), file_of("b", {held})}).notes.empty());
  const auto differ = merge_results(std::vector{file_of("a", {held}), file_of("b", {hung})});
  EXPECT_EQ(differ.document.results.at(0).verdict.details.at("outcome"), "held");
  ASSERT_EQ(differ.notes.size(), 1u);
  EXPECT_NE(differ.notes[0].find("held in one file and hung in b"), std::string::npos) << differ.notes[0];
}

TEST(merging, keeps_the_samples_of_a_store_that_was_cut_short) {
  const auto whole = measured(hub, 2);
  auto cut = file_of("a.jsonl", {});
  unfinished_point begun;
  begun.point = hub;
  begun.samples = {whole.samples.begin(), whole.samples.begin() + 12};
  begun.next_batch = 3;
  begun.metrics = {{"latency", "us"}};
  cut.unfinished = {begun};
  const auto merged = merge_results(std::vector{cut});
  ASSERT_EQ(merged.document.results.size(), 1u);
  const result& early = merged.document.results[0];
  EXPECT_EQ(early.status, result_status::interrupted);
  EXPECT_EQ(early.samples.size(), 12u);
  EXPECT_EQ(early.metrics.at(0).raw.size(), 3u);
  EXPECT_EQ(early.verdict.kind, verdict_kind::unchecked) << "the store does not say that it passed";
  // Its document does.
  auto checked = early;
  checked.verdict = whole.verdict;
  for (const auto& files :
       {std::vector{cut, file_of("a.json", {checked})}, std::vector{file_of("a.json", {checked}), cut}})
    EXPECT_EQ(merge_results(files).document.results.at(0).verdict.rounds, whole.verdict.rounds);
}

TEST(merging, over_processes_each_file_counts_once_and_the_interval_is_over_them) {
  // Six processes, each shifted as a whole by more than its own batches differ.
  std::vector<result_file> files;
  std::vector<double> medians;
  for (unsigned i = 0; i < 6; ++i) {
    files.push_back(file_of("process " + std::to_string(i), {measured(hub, 2 + 0.05 * i, i, 8, 0.001)}));
    medians.push_back(files.back().document.results[0].metrics[0].median);
  }
  const auto over_processes = merge_results(files, replication::processes);
  const result& one = over_processes.document.results.at(0);
  EXPECT_TRUE(over_processes.notes.empty());
  EXPECT_EQ(one.found("processes"), "6");
  ASSERT_EQ(one.metrics.at(0).raw.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(one.metrics[0].raw[i], medians[i], 0.01);
  EXPECT_NEAR(one.metrics[0].ci95_low, 2, 0.01);
  EXPECT_NEAR(one.metrics[0].ci95_high, 2.25, 0.01);
  // The same samples taken for batches of one process make an interval that the next process falls out of.
  const auto as_batches = merge_results(files).document.results.at(0);
  EXPECT_TRUE(as_batches.found("processes").empty());
  EXPECT_LT(as_batches.metrics[0].ci95_high - as_batches.metrics[0].ci95_low, 0.2);
}

TEST(merging, one_process_has_no_interval_over_processes) {
  const auto merged =
      merge_results(std::vector{file_of("a", {measured(hub, 2, 1, 8)})}, replication::processes);
  const metric& one = merged.document.results.at(0).metrics.at(0);
  EXPECT_EQ(merged.document.results[0].found("processes"), "1");
  EXPECT_EQ(one.raw.size(), 1u) << "its batches are no processes";
  EXPECT_EQ(one.confidence, 0);
  EXPECT_NEAR(one.median, 2, 0.02);
}

TEST(merging, names_the_host_of_what_comes_from_another) {
  auto other = file_of("b", {measured(inbox, 3)});
  other.document.machine.host = "n7";
  other.document.machine.hosts = {"n7"};
  const auto merged = merge_results(std::vector{file_of("a", {measured(hub, 2)}), other});
  EXPECT_TRUE(merged.document.results[0].notes.empty());
  EXPECT_EQ(merged.document.results[1].notes, std::vector<std::string>{"on host n7"});
  EXPECT_EQ(merged.document.machine.hosts, (std::vector<std::string>{"n1", "n2", "n7"}));
}

TEST(result_file, reads_a_document_or_a_store) {
  const test::scratch_folder folder;
  const auto one = measured(hub, 2);
  {
    store writing(folder / "s", {test::a_machine(), "mgsync --store s", 7, "2026-01-01T00:00:00Z", {}});
    for (const auto& s : one.samples) writing.add(hub, {{"latency", "us"}}, one.method, s);
    writing.finish(one);
    writing.add(inbox, {{"latency", "us"}}, one.method, one.samples.front());
  }
  const auto stored = read_result_file((folder / "s").string());
  EXPECT_TRUE(stored.is_store);
  EXPECT_FALSE(stored.complete);
  EXPECT_EQ(stored.document.machine, test::a_machine());
  ASSERT_EQ(stored.document.results.size(), 1u);
  EXPECT_TRUE(test::same(stored.document.results[0], one));
  EXPECT_EQ(stored.unfinished.size(), 1u);
  test::write_to(folder / "d", format_json(stored.document));
  const auto document = read_result_file((folder / "d").string());
  EXPECT_FALSE(document.is_store);
  EXPECT_FALSE(document.complete) << "it says what its store said";
  EXPECT_TRUE(test::same(document.document.results.at(0), one));
  for (const auto* foreign :
       {"", "no results", "a,b\n1,2\n", "{}", "{\"schema\": \"mgsync-results/9\"}", "[1]"}) {
    test::write_to(folder / "x", foreign);
    const auto said = test::refused([&] { read_result_file((folder / "x").string()); });
    EXPECT_TRUE(said.ends_with("; accepted: a file of --json or --store")) << said;
  }
  // Who may not resume, such as merge, is told first what it can do.
  EXPECT_TRUE(test::refused([&] {
                store(folder / "s", {}, if_exists::refuse);
              }).ends_with("' exists: name another file; a measurement can go on with it by --resume"));
  EXPECT_THROW(read_result_file((folder / "absent").string()), usage_error);
}

TEST(machine_likeness, knows_a_host_a_model_and_a_stranger) {
  const auto base = test::a_machine();
  EXPECT_EQ(likeness_of(base, base).level, across::nothing);
  auto same = base;
  same.kernel = "Linux 7";
  same.mgsync = "0.2.0";
  same.allowed_cpus = {0};
  EXPECT_EQ(likeness_of(base, same).level, across::nothing);
  EXPECT_EQ(software_difference(base, same), "mgsync is 0.2.0, was 0.1.0; the kernel is Linux 7, was Linux "
                                             "6.1; the number of allowed CPUs is 1, was 5");
  EXPECT_EQ(software_difference(base, base, {{"driver", "580"}, {"NCCL", "2"}}, {{"driver", "590"}}),
            "driver is 590, was 580");
  auto other_host = base;
  other_host.hosts = {"n2", "n3"};
  EXPECT_EQ(likeness_of(base, other_host).level, across::hosts);
  auto other_gpus = base;
  other_gpus.gpus[0].uuid = "GPU-9";
  EXPECT_EQ(likeness_of(base, other_gpus).level, across::hosts);
  auto unknown = base;
  unknown.gpus[0].sm_count.reset();
  EXPECT_EQ(likeness_of(base, unknown).level, across::nothing);
  for (const auto change_it :
       {+[](machine_record& m) { m.gpus[0].name = "another GPU"; },
        +[](machine_record& m) { m.gpus.clear(); }, +[](machine_record& m) { m.cores = 8; },
        +[](machine_record& m) { m.cpu_model = "another"; },
        +[](machine_record& m) { m.hosts.push_back("n3"); }}) {
    auto stranger = base;
    change_it(stranger);
    EXPECT_EQ(likeness_of(base, stranger).level, across::machines);
    EXPECT_FALSE(likeness_of(base, stranger).difference.empty());
    EXPECT_THROW(refuse_unless_alike(base, "a", stranger, "b", across::hosts), usage_error);
    EXPECT_NO_THROW(refuse_unless_alike(base, "a", stranger, "b", across::machines));
  }
}

}}  // namespace mgsync
