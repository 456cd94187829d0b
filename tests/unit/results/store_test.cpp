#include "src/results/files/store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "made_up_results.hpp"
#include "scratch_folder.hpp"
#include "src/base/errors.hpp"
#include "src/results/values/checksum.hpp"
#include "tests/unit/refused.hpp"

// As on a file system without it. Stands in for the C library's.
static bool has_flock = true;
extern "C" int flock(int descriptor, int operation) noexcept {
  if (has_flock) return static_cast<int>(syscall(SYS_flock, descriptor, operation));
  errno = ENOLCK;
  return -1;
}

namespace mgsync { namespace {

using test::content_of;
using test::refused;
using test::write_to;

store_header a_header() {
  return {test::a_machine(), "mgsync --store x", 42, "2026-01-31T12:00:00Z", {{"precision", "0.01"}}};
}

void add(store& out, const result& of, const sample& one) {
  out.add(of.point, {of.metrics.begin(), of.metrics.end()}, of.method, one);
}

void write_whole(store& out, const result& one) {
  for (const sample& each : one.samples) add(out, one, each);
  out.finish(one);
}

result a_result(int members) {
  return test::measured(test::a_point("multigrid", "inbox", members), 0.1 * members);
}

TEST(store, that_is_sealed_takes_nothing_more) {
  const test::scratch_folder folder;
  const result one = a_result(2);
  store out(folder / "s.jsonl", a_header());
  out.end("error", "rank 1 is gone");
  out.seal();
  write_whole(out, one);
  out.end("complete");
  const store_contents in = read_store(folder / "s.jsonl");
  EXPECT_EQ(in.ended, "error");
  EXPECT_TRUE(in.finished.empty());
}

TEST(store, has_one_writer_where_there_is_no_flock_too) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl", lock = folder / "s.jsonl.lock";
  has_flock = false;
  {
    store out(file, a_header());
    EXPECT_TRUE(std::filesystem::exists(lock));
    EXPECT_NE(refused([&] {
                store(file, a_header(), if_exists::resume);
              }).find(fmt::format("process {} on ", getpid())),
              std::string::npos);
    write_whole(out, a_result(2));
  }
  EXPECT_FALSE(std::filesystem::exists(lock)) << "the end of the store frees it";
  // Left by a process that was killed: this host knows that it is gone, another one does not.
  const pid_t killed = fork();
  if (killed == 0) {
    store out(file, a_header(), if_exists::resume);
    _exit(0);
  }
  ASSERT_EQ(waitpid(killed, nullptr, 0), killed);
  ASSERT_TRUE(std::filesystem::exists(lock));
  { const store again(file, a_header(), if_exists::resume); }
  EXPECT_FALSE(std::filesystem::exists(lock));
  write_to(lock, "elsewhere 1234-5678 1\n");
  EXPECT_NE(refused([&] { store(file, a_header(), if_exists::resume); })
                .find(fmt::format(
                    "process 1 on elsewhere is writing to '{}': wait for it, or name another file; if it is "
                    "gone, remove '{}'",
                    file.string(), lock.string())),
            std::string::npos);
  has_flock = true;
}

TEST(store, gives_back_what_was_written) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  const result done = a_result(2), cut = a_result(4),
               waived = test::waived(test::a_point("nccl", "stream", 2), "no GPU");
  result interrupted = a_result(8);
  interrupted.status = result_status::interrupted;
  interrupted.stopped = stop_reason::interrupted;
  {
    store out(file, a_header());
    write_whole(out, done);
    add(out, cut, cut.samples[0]);
    add(out, cut, cut.samples[7]);
    write_whole(out, interrupted);
    out.finish(waived);
    EXPECT_TRUE(out.sync());
    out.end("interrupted");
  }
  const store_contents in = read_store(file);
  EXPECT_TRUE(in.damage.empty());
  EXPECT_TRUE(in.complete);
  EXPECT_EQ(in.ended, "interrupted");
  EXPECT_EQ(in.header.machine, a_header().machine);
  EXPECT_EQ(in.header.command, a_header().command);
  EXPECT_EQ(in.header.seed, 42U);
  EXPECT_EQ(in.header.settings, a_header().settings);
  ASSERT_EQ(in.finished.size(), 2U);
  EXPECT_TRUE(test::same(in.finished[0], done));
  EXPECT_TRUE(test::same(in.finished[1], waived));
  ASSERT_EQ(in.unfinished.size(), 2U);
  EXPECT_EQ(in.unfinished[0].point, cut.point);
  EXPECT_TRUE(test::same(in.unfinished[0].samples, {cut.samples[0], cut.samples[7]}));
  EXPECT_EQ(in.unfinished[0].next_batch, cut.samples[7].batch + 1);
  EXPECT_EQ(in.unfinished[1].point, interrupted.point);
  EXPECT_TRUE(test::same(in.unfinished[1].samples, interrupted.samples));
}

TEST(store, goes_on_where_it_ended) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  result one = a_result(4);
  {
    store out(file, a_header(), if_exists::resume);  // a new file may be resumed too
    EXPECT_TRUE(out.before().finished.empty());
    add(out, one, one.samples[0]);
  }
  EXPECT_FALSE(read_store(file).complete);
  {
    store out(file, a_header(), if_exists::resume);
    ASSERT_EQ(out.before().unfinished.size(), 1U);
    one.samples[1].batch = out.before().unfinished[0].next_batch;
    add(out, one, one.samples[1]);
    one.samples.resize(2);
    one.metrics = {summarize({"latency", "us"}, one.samples)};
    out.finish(one);
    out.end("complete");
  }
  const store_contents in = read_store(file);
  ASSERT_EQ(in.finished.size(), 1U);
  EXPECT_TRUE(test::same(in.finished[0], one));
  EXPECT_TRUE(in.unfinished.empty());
  EXPECT_TRUE(in.complete);
}

TEST(store, of_another_schema_is_refused_by_name) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  write_to(file, seal(R"({"t":"header","schema":"mgsync-store/1"})") + "\n");
  const auto sentence =
      fmt::format("'{}' is a store of schema 'mgsync-store/1', which is not read; accepted: 'mgsync-store/2'",
                  file.string());
  EXPECT_EQ(refused([&] { read_store(file); }), sentence);
  EXPECT_EQ(refused([&] { store(file, a_header(), if_exists::resume); }), sentence);
}

TEST(store, existing_is_refused_without_resume) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  { store out(file, a_header()); }
  const std::string before = content_of(file);
  const std::string message = refused([&] { store again(file, a_header()); });
  EXPECT_NE(message.find("--resume"), std::string::npos) << message;
  EXPECT_NE(message.find("another file"), std::string::npos) << message;
  EXPECT_EQ(content_of(file), before);
}

TEST(store, another_machine_or_other_settings_are_refused_by_name) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  { store out(file, a_header()); }
  const std::string before = content_of(file);
  store_header other = a_header();
  other.machine.cores = 64;
  other.settings["precision"] = "0.02";
  other.settings["max-time"] = "5";
  const std::string message = refused([&] { store out(file, other, if_exists::resume); });
  EXPECT_NE(message.find("cores is 64, was 4"), std::string::npos) << message;
  EXPECT_NE(message.find("precision is '0.02', was '0.01'"), std::string::npos) << message;
  EXPECT_NE(message.find("max-time is '5', was absent"), std::string::npos) << message;
  EXPECT_EQ(message.find("host"), std::string::npos) << message;
  EXPECT_EQ(content_of(file), before);
  store_header same = a_header();
  same.seed = 7;
  same.started = "2026-02-01T00:00:00Z";
  same.command = "mgsync --resume";
  EXPECT_NO_THROW(store(file, same, if_exists::resume));
}

TEST(store, two_writers_are_refused) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  store first(file, a_header());
  EXPECT_NE(refused([&] { store second(file, a_header(), if_exists::resume); }).find("another process"),
            std::string::npos);
  EXPECT_NO_THROW(read_store(file));
}

TEST(store, what_is_no_store_is_neither_read_nor_changed) {
  const test::scratch_folder folder;
  const auto file = folder / "notes.txt";
  for (const std::string content :
       {"precious words", "precious\nwords\n", "{}\n", "{\"t\":\"header\",\"schema\":\"other/1\"}\n"}) {
    write_to(file, content);
    refused([&] { read_store(file); });
    refused([&] { store out(file, a_header(), if_exists::resume); });
    EXPECT_EQ(content_of(file), content);
  }
  refused([&] { read_store(folder / "absent"); });
  refused([&] { store out("/dev/null", a_header()); });
  refused([&] { store out(folder.path(), a_header()); });
  refused([&] { store out(folder / "no" / "such" / "folder", a_header()); });
  write_to(file, "");
  refused([&] { read_store(file); });
  write_to(file, seal(R"({"t":"header","schema":"mgsync-store/9"})") + "\n");
  EXPECT_NE(refused([&] { read_store(file); }).find("mgsync-store/9"), std::string::npos);
}

// Without optimization, as under the address sanitizer, reading takes thirty times as long: every seventh
// length there.
#ifdef __OPTIMIZE__
constexpr std::size_t lengths_apart = 1;
#else
constexpr std::size_t lengths_apart = 7;
#endif

TEST(store, torn_tails_of_every_length_are_cut_back) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  {
    store out(file, a_header());
    for (const int members : {1, 2}) {
      result one = a_result(members);
      one.samples.resize(2);
      one.metrics = {summarize({"latency", "us"}, one.samples)};
      write_whole(out, one);
    }
  }
  const std::string whole = content_of(file);
  for (std::size_t length = 0; length < whole.size(); length += lengths_apart) {
    const std::string torn = whole.substr(0, length);
    const auto newlines = std::count(torn.begin(), torn.end(), '\n');
    write_to(file, torn);
    const store_contents before = store(file, a_header(), if_exists::resume).before();
    EXPECT_EQ(before.damage.empty(), length == 0 || torn.back() == '\n') << length;
    EXPECT_EQ(before.finished.size(), newlines >= 5 ? 1U : 0U)
        << length;  // header, point, 2 samples, result, ...
    // What is appended now stands on a line of its own.
    const store_contents after = read_store(file);
    EXPECT_TRUE(after.damage.empty()) << length;
    EXPECT_EQ(after.finished.size(), before.finished.size()) << length;
    EXPECT_EQ(after.unfinished.size(), before.unfinished.size()) << length;
  }
}

TEST(store, damaged_lines_inside_are_reported_and_skipped) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  {
    store out(file, a_header());
    for (const int members : {1, 2, 3}) write_whole(out, a_result(members));
    out.end("complete");
  }
  const std::string whole = content_of(file);
  std::mt19937 random(5);
  const std::size_t body = whole.find('\n') + 1;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    const std::size_t at = body + random() % (whole.size() - body);
    damaged[at] = static_cast<char>(random());
    if (damaged == whole) continue;
    write_to(file, damaged);
    const store_contents in = read_store(file);
    EXPECT_FALSE(in.damage.empty()) << at;
    EXPECT_GE(in.finished.size() + in.unfinished.size(), 2U) << at;
    EXPECT_NO_THROW(store(file, a_header(), if_exists::resume)) << at;
  }
}

TEST(store, lines_that_are_sealed_but_make_no_sense_are_reported_and_skipped) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  const result one = a_result(2);
  {
    store out(file, a_header());
    write_whole(out, one);
    out.finish(one);
  }
  std::string content = content_of(file);
  for (const char* odd :
       {R"({"t":"poem"})", R"([1,2])", R"({"t":"sample","key":"0"})", R"({"t":"sample","t":"sample"})", "{}",
        R"({"t":"sample","key":"0000000000000000","batch":0,"values":{"latency":1}})"})
    content += seal(odd) + "\n";
  write_to(file, content);
  const store_contents in = read_store(file);
  EXPECT_EQ(in.damage.size(), 7U);  // the second result of the point too
  ASSERT_EQ(in.finished.size(), 1U);
  EXPECT_TRUE(test::same(in.finished[0], one));
}

// Each line is intact; together they say what cannot be.
TEST(store, a_line_under_the_key_of_another_point_is_skipped) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  const result one = a_result(2);
  {
    store out(file, a_header());
    add(out, one, one.samples[0]);
  }
  std::string forged;
  const std::string content = content_of(file), key = short_key(one.point),
                    other = short_key(a_result(3).point);
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    auto object = *unseal(line);
    if (const auto at = object.find(key); at != object.npos) object.replace(at, key.size(), other);
    forged += seal(object) + "\n";
  }
  write_to(file, forged);
  const store_contents in = read_store(file);
  ASSERT_EQ(in.damage.size(), 2U) << "the point, and its sample, which no line describes now";
  EXPECT_NE(in.damage[0].find("the key is not that of the point"), std::string::npos) << in.damage[0];
  EXPECT_TRUE(in.finished.empty() && in.unfinished.empty());
}

TEST(store, tells_how_many_samples_are_left_of_those_that_a_summary_is_of) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  const result one = a_result(2);
  {
    store out(file, a_header());
    write_whole(out, one);
  }
  std::string content = content_of(file);
  const auto sample = content.find(R"({"t":"sample")");
  content.erase(sample,
                content.find('\n', sample) + 1 - sample);  // a whole line, so that no other is damaged
  write_to(file, content);
  const store_contents in = read_store(file);
  ASSERT_EQ(in.damage.size(), 1U);
  EXPECT_NE(in.damage[0].find(
                fmt::format(": {} of the {} samples of ", one.samples.size() - 1, one.samples.size())),
            std::string::npos)
      << in.damage[0];
  ASSERT_EQ(in.finished.size(), 1U);
  EXPECT_EQ(in.finished[0].samples.size(), one.samples.size() - 1);
}

TEST(store, samples_of_an_attempt_that_failed_are_none_of_the_next) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  result wrong = a_result(2), right = a_result(2);
  wrong.status = result_status::failed;
  wrong.reason = "member 1 left too early";
  wrong.metrics.clear();
  right.attempt = 2;
  {
    store out(file, a_header());
    write_whole(out, wrong);
  }
  {
    const auto in = read_store(file);
    ASSERT_EQ(in.unfinished.size(), 1U);
    EXPECT_TRUE(in.unfinished[0].samples.empty());
    EXPECT_EQ(in.unfinished[0].attempt, 2U);
  }
  {
    store out(file, a_header(), if_exists::resume);
    write_whole(out, right);
    out.end("complete");
  }
  const store_contents in = read_store(file);
  EXPECT_TRUE(in.damage.empty());
  ASSERT_EQ(in.finished.size(), 1U);
  EXPECT_EQ(in.finished[0].status, result_status::measured);
  EXPECT_TRUE(test::same(in.finished[0].samples, right.samples));
}

TEST(store, a_device_that_is_full_is_found_at_the_header_and_never_tears_a_line) {
  const test::scratch_folder folder;
  const auto file = folder / "s.jsonl";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny{100, 100};
    if (::setrlimit(RLIMIT_FSIZE, &tiny) != 0) ::_exit(9);
    try {
      store out(folder / "header.jsonl", a_header());
    } catch (const write_error&) { ::_exit(0); } catch (...) {
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);

  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{5000, 5000};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(9);
    try {
      store out(file, a_header());
      for (int members = 1; members < 1000; ++members) write_whole(out, a_result(members));
    } catch (const write_error&) { ::_exit(0); } catch (...) {
    }
    ::_exit(1);
  }
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(content_of(file).back(), '\n');
  EXPECT_TRUE(read_store(file).damage.empty());
}

TEST(store, may_be_synced_from_another_thread_while_it_is_written) {
  const test::scratch_folder folder;
  store out(folder / "s.jsonl", a_header());
  std::jthread other([&out](const std::stop_token& stop) {
    while (!stop.stop_requested()) EXPECT_TRUE(out.sync());
  });
  for (int members = 1; members <= 20; ++members) write_whole(out, a_result(members));
}

// The sweep of the test: every point gets its samples one by one, in two batches, then its result.
constexpr int sweep_points = 12;
constexpr int kill_trials = 25;

void sweep(const std::filesystem::path& file) {
  store out(file, a_header(), if_exists::resume);
  std::set<std::string> done;
  for (const result& one : out.before().finished) done.insert(canonical_text(one.point));
  for (int members = 1; members <= sweep_points; ++members) {
    result one = a_result(members);
    if (done.contains(canonical_text(one.point))) continue;
    std::uint32_t next_batch = 0;
    std::vector<sample> samples;
    for (const unfinished_point& each : out.before().unfinished)
      if (each.point == one.point) {
        samples = each.samples;
        next_batch = each.next_batch;
      }
    for (int i = 0; i < 8; ++i) {
      sample now = one.samples[static_cast<std::size_t>(i)];
      now.batch += next_batch;
      add(out, one, now);
      samples.push_back(now);
    }
    one.samples = samples;
    one.metrics = {summarize({"latency", "us"}, one.samples)};
    out.finish(one);
  }
  out.end("complete");
}

// By a timer of this process: who kills another one wakes up late on a busy machine, when the sweep has long
// ended.
void kill_me_after(long us) {
  sigevent how{};
  how.sigev_notify = SIGEV_SIGNAL;
  how.sigev_signo = SIGKILL;
  timer_t timer{};
  itimerspec once{};
  once.it_value = {us / 1'000'000, us % 1'000'000 * 1000};
  if (::timer_create(CLOCK_MONOTONIC, &how, &timer) != 0 || ::timer_settime(timer, 0, &once, nullptr) != 0)
    ::_exit(1);
}

TEST(store, loses_nothing_and_doubles_nothing_when_killed_at_any_moment) {
  const test::scratch_folder folder;
  std::mt19937 random(11);
  int kills = 0;
  for (int trial = 0; trial < kill_trials; ++trial) {
    const auto file = folder.path() / std::to_string(trial);
    double longest_us = 400;
    for (int start = 0;; ++start) {
      ASSERT_LT(start, 1000);
      const auto moment_us = static_cast<long>(1 + random() % static_cast<unsigned>(longest_us));
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        try {
          kill_me_after(moment_us);
          sweep(file);
        } catch (...) { ::_exit(1); }
        ::_exit(0);
      }
      // Later and later, so that every trial comes to its end.
      longest_us = std::min(longest_us * 1.3, 1e6);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      if (WIFEXITED(status)) {
        ASSERT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      ++kills;
    }
    const store_contents in = read_store(file);
    EXPECT_TRUE(in.complete);
    EXPECT_TRUE(in.damage.empty()) << (in.damage.empty() ? "" : in.damage.front());
    EXPECT_TRUE(in.unfinished.empty());
    ASSERT_EQ(in.finished.size(), static_cast<std::size_t>(sweep_points));
    for (int i = 0; i < sweep_points; ++i) {
      const result expected = a_result(i + 1);
      const result& found = in.finished[static_cast<std::size_t>(i)];
      EXPECT_EQ(found.point, expected.point);
      EXPECT_GE(found.samples.size(), 8U);
      std::set<double> of_first_batch;  // a sample that is there twice would have the same batch and time
      for (const sample& one : found.samples)
        EXPECT_TRUE(of_first_batch.insert(one.batch * 1e6 + one.at("long_us")).second);
    }
  }
  std::printf("%d kills in %d sweeps\n", kills, kill_trials);
  EXPECT_GE(kills, kill_trials);
}

}}  // namespace mgsync
