#include "src/results/comparison/ledger.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "made_up_results.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

json_document run_of(std::uint64_t seed, std::string sources = "0123") {
  json_document document;
  document.started = "2026-01-31T12:00:00Z";
  document.seed = seed;
  document.machine.cpu_model = "a processor";
  document.settings["sources"] = std::move(sources);
  for (const auto& p : {test::hub, test::inbox}) document.results.push_back(test::measured(p, 1));
  return document;
}

TEST(ledger, adds_up_the_rounds_of_different_runs) {
  std::vector<ledger_entry> ledger;
  EXPECT_EQ(add_to_ledger(ledger, ledger_entries(run_of(1))), 2u);
  EXPECT_EQ(add_to_ledger(ledger, ledger_entries(run_of(2))), 2u);
  const auto t = ledger_table(ledger);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0], (std::vector<std::string>{"multigrid:hub", "4 host members", "a processor",
                                                 "sources 0123", "1", "40000", "0", "7.5e-05"}));
}

TEST(ledger, counts_a_run_once) {
  std::vector<ledger_entry> ledger;
  add_to_ledger(ledger, ledger_entries(run_of(1)));
  EXPECT_EQ(add_to_ledger(ledger, ledger_entries(run_of(1))), 0u);
  EXPECT_EQ(ledger.size(), 2u);
}

TEST(ledger, keeps_different_code_apart) {
  std::vector<ledger_entry> ledger;
  add_to_ledger(ledger, ledger_entries(run_of(1, "aa")));
  add_to_ledger(ledger, ledger_entries(run_of(2, "bb")));
  EXPECT_EQ(ledger_table(ledger).rows.size(), 4u);
}

// What names its kernel's machine code adds up over builds of other sources.
TEST(ledger, adds_up_the_rounds_of_the_same_machine_code) {
  std::vector<ledger_entry> ledger;
  for (const auto& [seed, sources, code] :
       {std::tuple(1, "aa", "9.0 0123"), std::tuple(2, "bb", "9.0 0123"), std::tuple(3, "bb", "9.0 4567")}) {
    auto document = run_of(static_cast<std::uint64_t>(seed), sources);
    document.results.resize(1);
    document.results[0].environment["code"] = code;
    add_to_ledger(ledger, ledger_entries(document));
  }
  const auto t = ledger_table(ledger);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0][3], "machine code 9.0 0123");
  EXPECT_EQ(t.rows[0][5], "40000");
  EXPECT_EQ(t.rows[1][3], "machine code 9.0 4567");
  EXPECT_EQ(t.rows[1][5], "20000");
}

TEST(ledger, counts_no_check_without_its_control_unless_it_found_something) {
  auto document = run_of(1);
  document.results[0].verdict.control_flagged = document.results[1].verdict.control_flagged = false;
  document.results[1].verdict.violations = 3;
  const auto entries = ledger_entries(document);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].violations, 3u);
  EXPECT_EQ(ledger_table(entries).rows[0].back(), "-");
}

TEST(ledger, takes_the_files_that_were_merged_and_not_the_merged_one) {
  auto document = run_of(1);
  document.settings["merged_1"] = "a.json: mgsync";
  EXPECT_TRUE(ledger_entries(document).empty());
}

TEST(ledger, is_read_as_it_was_written) {
  const auto entries = ledger_entries(run_of(1));
  const auto text = format_ledger(entries);
  EXPECT_TRUE(is_ledger(text));
  EXPECT_EQ(read_ledger(text, "l"), entries);
  EXPECT_EQ(test::refused([&] { read_ledger(text + "{}\n", "l"); }),
            "l, line 3: no line of a ledger; accepted: what mgsync ledger --into writes");
}

}}  // namespace mgsync
