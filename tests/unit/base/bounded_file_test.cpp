// Files that others wrote: whatever they are, reading them ends.
#include "src/base/bounded_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

using namespace std::chrono_literals;

class bounded_file : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    char made[] = "/tmp/bounded-file-XXXXXX";
    ASSERT_NE(mkdtemp(made), nullptr);
    folder_ = made;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string pipe() const {
    EXPECT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    return path("pipe");
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(bounded_file, is_read_up_to_the_bound_and_not_a_byte_further) {
  std::ofstream(path("file")) << std::string(3000, 'x');
  EXPECT_EQ(read_bounded_file(path("file"), "f", "", 3000), std::string(3000, 'x'));
  EXPECT_EQ(test::refused([&] { read_bounded_file(path("file"), "f", "a file of --json", 2999); }),
            "f: larger than 2999 bytes; accepted: a file of --json");
  std::ofstream(path("empty")).flush();
  EXPECT_EQ(read_bounded_file(path("empty"), "f", ""), "");
}

TEST_F(bounded_file, without_an_end_is_refused) {
  EXPECT_EQ(test::refused([] { read_bounded_file("/dev/zero", "/dev/zero", "", std::size_t{8} << 20); }),
            "/dev/zero: larger than 8 MiB");
}

TEST_F(bounded_file, that_nobody_writes_to_is_refused) {
  const auto name = pipe();
  EXPECT_EQ(test::refused([&] { read_bounded_file(name, "f", "", largest_file_bytes, 300ms); }),
            "f: not read to its end within 0.3 s");
}

TEST_F(bounded_file, that_comes_too_slowly_is_refused) {
  const auto name = pipe();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    const int out = open(name.c_str(), O_WRONLY | O_CLOEXEC);
    while (!done && write(out, "x", 1) == 1) std::this_thread::sleep_for(5ms);
    close(out);
  });
  EXPECT_EQ(test::refused([&] { read_bounded_file(name, "f", "", largest_file_bytes, 500ms); }),
            "f: not read to its end within 0.5 s");
  done = true;
  // Where the writer came too late to be read from.
  const int in = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  writer.join();
  close(in);
}

TEST_F(bounded_file, may_be_a_pipe_whose_writer_comes_later_and_pauses) {
  const auto name = pipe();
  std::thread writer([&] {
    std::this_thread::sleep_for(50ms);
    std::ofstream out(name);
    out << std::string(200000, 'a') << std::flush;
    std::this_thread::sleep_for(50ms);
    out << "b";
  });
  EXPECT_EQ(read_bounded_file(name, "f", "", largest_file_bytes, 60s), std::string(200000, 'a') + "b");
  writer.join();
}

TEST_F(bounded_file, that_is_none_is_refused_in_a_sentence) {
  EXPECT_EQ(test::refused([&] { read_bounded_file(path("absent"), "f", "a machine file"); }),
            "f: the file cannot be opened; accepted: a machine file");
  EXPECT_EQ(test::refused([&] { read_bounded_file("/", "f", ""); }), "f: the file cannot be read");
}

}}  // namespace mgsync
