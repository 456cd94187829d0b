#include "src/results/files/result_file.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "made_up_results.hpp"
#include "scratch_folder.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

using test::refused;

TEST(result_file, what_is_no_results_is_told_by_what_it_is) {
  const auto said = [](const char* text) { return refused([&] { result_file_of("f", text); }); };
  const std::string end = "; accepted: a file of --json or --store";
  EXPECT_EQ(said("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
            "f: a picture, a page or XML, and no results" + end);
  EXPECT_EQ(said("\n <!DOCTYPE html>"), "f: a picture, a page or XML, and no results" + end);
  EXPECT_EQ(said("{\"gpus\": []}"), "f: JSON of another kind, and no results (it has no \"schema\")" + end);
  for (const char* text : {"backend,variant\n", "[1, 2]", "Machine vm"})
    EXPECT_EQ(said(text), "f: text of another kind, and no results" + end) << text;
  for (const char* text : {"", " \n"}) EXPECT_EQ(said(text), "f: the file is empty" + end);
  EXPECT_NE(said("{\"schema\": \"mgsync-results/2\", ").find("f: parse error at line 1"), std::string::npos)
      << "a document that is cut off is told by where";
}

// `mgsync show <(cat store)`: a pipe can be read once.
TEST(result_file, a_store_is_read_through_a_pipe) {
  const test::scratch_folder folder;
  const auto pipe = folder / "pipe", file = folder / "s.jsonl";
  {
    store out(file, {test::a_machine(), "mgsync --store x", 42, "2026-01-31T12:00:00Z", {}});
    const auto one = test::measured(test::a_point("multigrid", "inbox", 2), 0.2);
    for (const sample& each : one.samples)
      out.add(one.point, {one.metrics.begin(), one.metrics.end()}, one.method, each);
    out.finish(one);
  }
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << test::content_of(file); });
  const auto piped = read_result_file(pipe);
  writer.join();
  const auto whole = read_result_file(file);
  EXPECT_TRUE(piped.is_store);
  EXPECT_EQ(piped.document.command, whole.document.command);
  EXPECT_FALSE(whole.document.results.empty());
  EXPECT_EQ(piped.document.results.size(), whole.document.results.size());
  EXPECT_EQ(piped.unfinished.size(), whole.unfinished.size());
}

}}  // namespace mgsync
