#include "src/results/frame/not_measured.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>
#include <vector>

#include "made_up_results.hpp"

namespace mgsync { namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct sweep {
  std::vector<point> points;
  std::vector<std::string> reasons;
  void add(const char* subject, const char* variant, int members, std::string why) {
    points.push_back(test::a_point(subject, variant, members));
    reasons.push_back(std::move(why));
  }
  std::vector<not_measured> all() const {
    std::vector<not_measured> view;
    for (std::size_t i = 0; i < points.size(); ++i) view.push_back({&points[i], reasons[i]});
    return view;
  }
};

constexpr const char* too_many = "more host threads than hardware threads here: let the ranks have more "
                                 "(mpirun --bind-to none, srun --cpus-per-task), or "
                                 "--oversubscribe measures it all the same, with yielding waits";

TEST(not_measured, is_grouped_by_reason_and_counted) {
  sweep s;
  for (const int members : {2, 4}) {
    s.add("grid", "auto", members, "for GPU members");
    s.add("grid", "hub", members, "for GPU members");
    s.add("nccl", "stream", members, "for GPU members");
    s.add("mpi", "default", members, "two or more ranks");
  }
  s.add("openmp", "runtime", 4, too_many);
  EXPECT_EQ(
      by_reason("waived", s.all(), 12),
      "waived: 9 of 12 points, by reason (--verbose lists each)\n"
      "  6  for GPU members: grid (2 variants), nccl:stream\n"
      "  2  two or more ranks: mpi:default\n"
      "  1  more host threads than hardware threads here: let the ranks have more (mpirun --bind-to none,\n"
      "     srun --cpus-per-task), or --oversubscribe measures it all the same, with yielding waits\n"
      "     (members 4): openmp:runtime\n");
}

TEST(not_measured, one_subject_with_one_reason_is_a_line) {
  sweep s;
  EXPECT_EQ(by_reason("waived", s.all(), 3), "");
  for (const int members : {2, 3, 4, 8}) s.add("mpi", "default", members, "two or more ranks");
  EXPECT_EQ(by_reason("waived", s.all(), 12), "waived  mpi:default  two or more ranks (members 2-4,8)\n");
}

TEST(not_measured, each_has_its_line_where_all_are_asked_for) {
  sweep s;
  s.add("grid", "auto", 2, "for GPU members");
  s.add("mpi", "default", 2, "two or more ranks");
  s.add("grid", "auto", 4, "for GPU members");
  EXPECT_EQ(each_of("error", s.all()), "error   grid:auto    for GPU members (members 2,4)\nerror   "
                                       "mpi:default  two or more ranks (members 2)\n");
}

// `--members 1-4096`, and reasons that each name a number: never more than a page, and nothing uncounted.
TEST(not_measured, takes_a_page_whatever_the_sweep) {
  sweep s;
  for (int members = 1; members <= 4096; ++members) {
    s.add("multigrid", "auto", members, too_many);
    for (const char* variant : {"default", "other"})
      s.add("list", variant, members, fmt::format("--placement list names 3 cores for {} threads", members));
  }
  for (int i = 0; i < 100; ++i) s.add(fmt::format("subject-{}", i).c_str(), "default", 2, "for GPU members");
  const auto lines = lines_of(by_reason("waived", s.all(), s.points.size()));
  EXPECT_LE(lines.size(), 60u);
  std::size_t counted = 0;
  for (const auto& line : lines) {
    EXPECT_LE(line.size(), 100u) << line;
    if (line.starts_with("  ") && line.find_first_not_of(' ') < 6) counted += std::stoul(line);
  }
  EXPECT_EQ(counted, s.points.size());
  EXPECT_NE(lines.back().find("for 4078 other reasons"), std::string::npos) << lines.back();
  EXPECT_NE(lines[1].find("more host threads"), std::string::npos) << "what is true for most comes first";
}

}}  // namespace mgsync
