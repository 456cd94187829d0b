#include "src/results/files/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "scratch_folder.hpp"
#include "src/base/errors.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync { namespace {

using test::content_of;

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(atomic_file, creates_and_replaces) {
  const test::scratch_folder folder;
  const auto file = folder / "results.json";
  write_file_atomically(file, "one");
  EXPECT_EQ(content_of(file), "one");
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  write_file_atomically(file, std::string(1 << 20, 'x'));
  EXPECT_EQ(content_of(file).size(), std::size_t{1} << 20);
  struct stat what {};
  ASSERT_EQ(::stat(file.c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 07777U, 0640U);
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(atomic_file, follows_a_link_instead_of_replacing_it) {
  const test::scratch_folder folder;
  write_file_atomically(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(content_of(folder / "real"), "new");
}

TEST(atomic_file, follows_a_link_to_a_file_that_is_not_there_yet) {
  const test::scratch_folder folder;
  std::filesystem::create_directory(folder / "inside");
  std::filesystem::create_symlink("inside/second", folder / "first");
  std::filesystem::create_symlink(folder / "inside" / "real", folder / "inside" / "second");
  EXPECT_EQ(behind_links(folder / "first"), std::filesystem::canonical(folder / "inside") / "real");
  write_file_atomically(folder / "first", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "inside" / "second"));
  EXPECT_EQ(content_of(folder / "inside" / "real"), "new");
  std::filesystem::create_symlink("circle", folder / "circle");
  EXPECT_NE(why_not_writable(folder / "circle"), "");
}

TEST(atomic_file, tells_beforehand_what_cannot_be_written) {
  const test::scratch_folder folder;
  EXPECT_EQ(why_not_writable(folder / "new"), "");
  EXPECT_EQ(why_not_writable("/dev/null"), "");
  EXPECT_EQ(files_in(folder.path()), 0U);
  write_file_atomically(folder / "old", "content");
  EXPECT_EQ(why_not_writable(folder / "old"), "");
  EXPECT_EQ(content_of(folder / "old"), "content");
  EXPECT_EQ(why_not_writable(folder.path()), "it is a directory");
  EXPECT_NE(why_not_writable(folder / "no" / "such"), "");
  EXPECT_NE(why_not_writable("/proc/nothing"), "");
}

TEST(atomic_file, writes_to_what_is_no_regular_file) {
  EXPECT_NO_THROW(write_file_atomically("/dev/null", "nothing"));
  try {
    write_file_atomically("/dev/full", "nothing");
    ADD_FAILURE();
  } catch (const write_error& error) {
    EXPECT_STREQ(error.what(), "writing '/dev/full' failed: No space left on device");
  }
}

// As /dev/stderr leads to a log that was removed or rotated: root would have replaced /dev/stderr itself.
TEST(atomic_file, a_link_to_an_open_file_that_was_removed_stays_a_link) {
  const test::scratch_folder folder;
  const auto removed = folder / "log", link = folder / "link";
  const unique_descriptor log(::open(removed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_TRUE(log);
  std::filesystem::remove(removed);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(log.get()), link);
  EXPECT_EQ(why_not_writable(link), "");
  write_file_atomically(link, "first and long");
  write_file_atomically(link, "second");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  char text[32];
  const auto size = pread(log.get(), text, sizeof text, 0);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))), "second");
}

TEST(atomic_file, says_what_cannot_be_written) {
  const test::scratch_folder folder;
  for (const auto& file : {folder / "no" / "such" / "folder", folder.path()}) {
    try {
      write_file_atomically(file, "x");
      ADD_FAILURE() << file;
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << error.what();
    }
  }
}

TEST(atomic_file, keeps_the_old_content_when_writing_fails) {
  const test::scratch_folder folder;
  const auto file = folder / "results.json";
  write_file_atomically(file, "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &tiny) != 0) ::_exit(9);
    try {
      write_file_atomically(file, std::string(5000, 'x'));
    } catch (const write_error&) { ::_exit(0); } catch (...) {
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(content_of(file), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

// It exists and may be written, and cannot be opened: told before anything is measured, not after.
TEST(atomic_file, a_socket_is_no_file_to_write_to) {
  const test::scratch_folder folder;
  const auto file = (folder / "socket").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(file.size(), sizeof address.sun_path);
  file.copy(address.sun_path, file.size());
  const unique_descriptor made(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(why_not_writable(file), "it is a socket, which is no file to write to (- is stdout)");
}

TEST(atomic_file, is_whole_when_the_writer_is_killed) {
  const test::scratch_folder folder;
  const auto file = folder / "results.json";
  write_file_atomically(file, std::string(300'000, 'a'));
  for (unsigned i = 0; i < 40; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (char letter = 'b';; letter = letter == 'z' ? 'b' : static_cast<char>(letter + 1))
        write_file_atomically(file, std::string(300'000, letter));
    ::usleep(500 + 137 * i);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const std::string content = content_of(file);
    ASSERT_EQ(content.size(), 300'000U);
    EXPECT_EQ(static_cast<std::size_t>(std::count(content.begin(), content.end(), content[0])),
              content.size());
  }
}

TEST(atomic_file, a_line_begins_behind_one_that_was_cut_short) {
  const test::scratch_folder folder;
  const auto file = folder / "nodes.jsonl";
  EXPECT_EQ(why_not_appendable(file), "");
  append_line(file, "a"), append_line(file, "b");
  EXPECT_EQ(content_of(file), "a\nb\n");
  write_file_atomically(file, "a\nb");
  append_line(file, "c");
  EXPECT_EQ(content_of(file), "a\nb\nc\n");
  EXPECT_NE(why_not_appendable(folder / "none" / "nodes.jsonl").find("no file can be created"),
            std::string::npos);
  EXPECT_NE(why_not_appendable(folder.path()), "");
  EXPECT_THROW(append_line("/dev/full", "a"), write_error);
}

}}  // namespace mgsync
