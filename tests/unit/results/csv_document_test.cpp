#include "src/results/files/csv_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "made_up_results.hpp"

namespace mgsync { namespace {

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

json_document document_with(std::vector<result> results) {
  json_document document;
  document.machine = test::a_machine();
  document.results = std::move(results);
  return document;
}

class table_of {
 public:
  explicit table_of(std::vector<result> results)
      : rows_(parsed(format_csv(document_with(std::move(results))))) {
    for (const auto& row : rows_) EXPECT_EQ(row.size(), rows_[0].size());
  }
  std::size_t rows() const { return rows_.size(); }
  bool has(const char* name) const {
    return std::find(rows_[0].begin(), rows_[0].end(), name) != rows_[0].end();
  }
  std::string field(std::size_t row, const char* name) const {
    const auto at = std::find(rows_[0].begin(), rows_[0].end(), name) - rows_[0].begin();
    return rows_.at(row).at(static_cast<std::size_t>(at));
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

TEST(csv, has_one_row_per_point_and_says_where_it_was_measured) {
  result odd = test::measured(test::a_point("a,b", "c", 3), 0.25);
  odd.notes = {"one", "two, three"};
  odd.metrics[0].spread = std::numeric_limits<double>::quiet_NaN();
  odd.environment["algorithm"] = "hub: why";
  result elsewhere = test::waived(test::a_point("mpi", "default", 2), "says \"no\",\r\nreally");
  elsewhere.environment["host"] = "n7";
  const table_of table({odd, elsewhere});
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.field(1, "host"), "n1");
  EXPECT_EQ(table.field(2, "host"), "n7");
  EXPECT_EQ(table.field(2, "mgsync"), "0.1.0");
  EXPECT_EQ(table.field(1, "study"), "barriers");
  EXPECT_EQ(table.field(1, "subject"), "a,b");
  EXPECT_EQ(table.field(1, "group"), "0 1 2");
  EXPECT_EQ(std::stod(table.field(1, "latency_us")), odd.metrics[0].median);
  EXPECT_EQ(table.field(1, "latency_us_spread"), "");
  EXPECT_EQ(table.field(1, "latency_us_p5"), "");
  EXPECT_EQ(table.field(1, "latency_us_samples"), "50");
  EXPECT_EQ(table.field(1, "verdict"), "rounds");
  EXPECT_EQ(table.field(1, "algorithm"), "hub: why");
  EXPECT_EQ(table.field(1, "notes"), "one; two, three");
  EXPECT_EQ(table.field(2, "status"), "waived");
  EXPECT_EQ(table.field(2, "reason"), elsewhere.reason);
  EXPECT_EQ(table.field(2, "latency_us"), "");
  EXPECT_EQ(table.field(2, "verdict_violations"), "");
  EXPECT_NO_THROW(format_csv({}));
}

TEST(csv, has_a_column_for_every_axis_and_metric_of_any_row) {
  result barrier = test::measured(test::a_point("mpi", "default", 2), 1);
  result copy = test::measured(test::a_point("copy", "", 1), 1);
  copy.point.study = "bandwidth";
  copy.point.axes = {{"bytes", 65536.0, "B"}, {"direction", "both", ""}};
  test::add_metric(copy, "bandwidth", "GB/s", better::more, 100);
  copy.metrics.erase(copy.metrics.begin());
  copy.verdict.details = {{"outcome", "held, by all"}};
  copy.quantities = {{"clock", {"MHz", {1979.8}}}, {"begin", {"ns", {0, 10.5}}}};
  const table_of table({barrier, copy});
  EXPECT_EQ(table.field(1, "blocks_per_sm"), "1");
  EXPECT_EQ(table.field(2, "blocks_per_sm"), "");
  EXPECT_EQ(table.field(1, "bytes"), "");
  EXPECT_EQ(table.field(2, "bytes"), "65536");
  EXPECT_EQ(table.field(2, "direction"), "both");
  EXPECT_EQ(table.field(1, "bandwidth_GB/s"), "");
  EXPECT_EQ(std::stod(table.field(2, "bandwidth_GB/s")), copy.metrics[0].median);
  EXPECT_EQ(table.field(2, "latency_us"), "");
  EXPECT_EQ(table.field(1, "verdict_outcome"), "");
  EXPECT_EQ(table.field(2, "verdict_outcome"), "held, by all");
  EXPECT_EQ(table.field(1, "clock_MHz"), "");
  EXPECT_EQ(table.field(2, "clock_MHz"), "1979.8");
  EXPECT_EQ(table.field(2, "begin_ns"), "0 10.5");
  EXPECT_FALSE(table.has("threads_per_block")) << "no row has it";
}

}}  // namespace mgsync
