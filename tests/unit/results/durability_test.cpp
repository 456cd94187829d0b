// What makes results last: this program watches its own calls to the system, and interrupts them.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/store.hpp"

namespace {

std::vector<std::string> calls;
int interruptions = 0;  // so many of the next writes are
bool in_parts = false;  // a write takes the first half

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// In place of the C library's.
extern "C" int fsync(int descriptor) {
  calls.emplace_back("fsync");
  return real<int(int)>("fsync")(descriptor);
}
extern "C" int fdatasync(int descriptor) {
  calls.emplace_back("fdatasync");
  return real<int(int)>("fdatasync")(descriptor);
}
extern "C" int rename(const char* from, const char* to) noexcept {
  calls.emplace_back("rename");
  return real<int(const char*, const char*)>("rename")(from, to);
}
extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
  if (interruptions > 0 && descriptor > 2) {
    --interruptions;
    errno = EINTR;
    return -1;
  }
  if (descriptor > 2) calls.emplace_back("write");
  return real<ssize_t(int, const void*, size_t)>("write")(
      descriptor, data, in_parts && descriptor > 2 && size > 1 ? size / 2 : size);
}

namespace mgsync { namespace {

class durability : public testing::Test {
 protected:
  void SetUp() override { interruptions = 0, in_parts = false; }
  void TearDown() override { interruptions = 0, in_parts = false; }

  // Whether the last `first` comes before the last `second`.
  static bool in_order(const std::string& first, const std::string& second) {
    std::size_t a = calls.size(), b = calls.size();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i] == first && b == calls.size()) a = i;
      if (calls[i] == second) b = i;
    }
    return a < b && b < calls.size();
  }

  test::scratch_folder folder_;
};

result measured() {
  result one;
  one.point.subject = "multigrid";
  one.point.members = 2;
  one.status = result_status::failed;
  one.reason = "stuck";
  return one;
}

TEST_F(durability, a_document_is_on_the_disk_before_it_has_its_name) {
  calls.clear();
  write_file_atomically(folder_ / "r.json", "all of it");
  EXPECT_TRUE(in_order("fsync", "rename"));
  EXPECT_EQ(calls.back(), "fsync") << "and its name after that";
}

TEST_F(durability, a_finished_point_and_the_end_are_on_the_disk_when_they_are_said_to_be) {
  store all(folder_ / "s.jsonl", store_header{});
  calls.clear();
  all.finish(measured());
  EXPECT_EQ(calls, (std::vector<std::string>{"write", "fdatasync"}));
  calls.clear();
  all.end("error", "rank 1 is gone");
  EXPECT_EQ(calls, (std::vector<std::string>{"write", "fdatasync"}));
}

TEST_F(durability, writes_that_are_interrupted_or_cut_go_on) {
  store all(folder_ / "s.jsonl", store_header{});
  interruptions = 3;
  all.finish(measured());
  in_parts = true;
  all.end("complete");
  interruptions = 2;
  write_file_atomically(folder_ / "r.json", "all of it");
  in_parts = false;
  const auto read = read_store(folder_ / "s.jsonl");
  EXPECT_TRUE(read.damage.empty());
  EXPECT_EQ(read.finished.size(), 1U);
  EXPECT_EQ(read.ended, "complete");
  EXPECT_EQ(test::content_of(folder_ / "r.json"), "all of it");
}

}}  // namespace mgsync
