#include "src/results/csv_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "made_up_results.hpp"

namespace mgsync {
namespace {

// Rows of fields, read as RFC 4180 says.
std::vector<std::vector<std::string>> parsed(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && text.substr(i + 1, 1) == "\"") {
      field += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text.substr(i, 2) == "\r\n") {
      rows.emplace_back(1);
      ++i;
    } else {
      field += text[i];
    }
  }
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "the last line ends too";
  rows.pop_back();
  return rows;
}

TEST(csv, quotes_what_rfc_4180_asks_for) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(csv, one_row_per_point_under_a_header_that_never_changes) {
  EXPECT_EQ(format_csv({}),
            "backend,variant,device,members,ranks,group,node,placement,pinned,oversubscribed,blocks_per_sm,blocks,"
            "threads_per_block,load,work_units,payload_words,peer_memory_asked,status,reason,check_rounds,"
            "check_violations,latency_us,ci95_low_us,ci95_high_us,ci_confidence,min_us,sigma_us,spread_us,p5_us,p95_us,"
            "samples,batches,rounds_short,rounds_long,stopped,method,algorithm,peer_memory,slowest_member,notes\r\n");
  result odd = test::measured(test::a_point("a,b", "c", 3), 0.25);
  odd.notes = {"one", "two, three"};
  odd.latency_us->sigma = std::numeric_limits<double>::quiet_NaN();
  const result waived = test::waived(test::a_point("mpi", "default", 2), "says \"no\",\r\nreally");
  const auto rows = parsed(format_csv(std::vector{odd, waived}));
  ASSERT_EQ(rows.size(), 3U);
  const auto field = [&rows](std::size_t row, const char* name) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin();
    return rows[row].at(static_cast<std::size_t>(at));
  };
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(field(1, "backend"), "a,b");
  EXPECT_EQ(field(1, "group"), "0 1 2");
  EXPECT_EQ(std::stod(field(1, "latency_us")), odd.latency_us->median);
  EXPECT_EQ(field(1, "sigma_us"), "");
  EXPECT_EQ(field(1, "p5_us"), "");
  EXPECT_EQ(field(1, "notes"), "one; two, three");
  EXPECT_EQ(field(1, "rounds_long"), "1010");
  EXPECT_EQ(field(2, "status"), "waived");
  EXPECT_EQ(field(2, "reason"), waived.reason);
  EXPECT_EQ(field(2, "latency_us"), "");
  EXPECT_EQ(field(2, "check_violations"), "");
}

}  // namespace
}  // namespace mgsync
