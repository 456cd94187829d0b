#include "topology/sources/cpu_quota.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace mgsync::topology { namespace {

namespace fs = std::filesystem;

// A made-up "/", removed at the end.
class cpu_quota_files : public testing::Test {
 protected:
  cpu_quota_files() {
    std::string name = (fs::temp_directory_path() / "mgsync-quota-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~cpu_quota_files() override { fs::remove_all(root_); }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void v2(const std::string& group, const std::string& shows = "/") const {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo", "24 1 0:22 / /proc rw - proc proc rw\n30 23 0:26 " + shows +
                                     " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void v1(const std::string& group, const std::string& shows = "/") const {
    write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:" + group + "\n0::/\n");
    write("proc/self/mountinfo",
          "33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n34 30 0:30 " + shows +
              " /sys/fs/cgroup/cpu,cpuacct rw shared:12 - cgroup cgroup rw,cpu,cpuacct\n");
  }
  double cpus() const {
    const auto found = read_cpu_quota(root_);
    return found ? found->cpus : 0;
  }
  fs::path root_;
};

TEST_F(cpu_quota_files, v2_takes_the_tightest_of_the_groups_around_it) {
  v2("/pod/container");
  EXPECT_FALSE(read_cpu_quota(root_));
  write("sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_cpu_quota(root_));
  write("sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(cpus(), 1.5);
  write("sys/fs/cgroup/pod/container/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cpus(), 1.5);
  write("sys/fs/cgroup/pod/container/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(cpus(), 1);
}

TEST_F(cpu_quota_files, v1_likewise) {
  v1("/docker/abc");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(read_cpu_quota(root_));
  write("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cpus(), 2);
}

TEST_F(cpu_quota_files, a_container_sees_its_group_as_the_top) {
  v1("/docker/abc", "/docker/abc");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cpus(), 0.5);
  fs::remove_all(root_ / "sys");
  // A namespace of its own, and groups that do not show here.
  for (const std::string group : {"/", "/../other"}) {
    v2(group, "/");
    write("sys/fs/cgroup/cpu.max", "300000 100000\n");
    EXPECT_DOUBLE_EQ(cpus(), 3) << group;
  }
}

TEST_F(cpu_quota_files, those_who_share_it_can_be_told) {
  v2("/pod/a");
  write("sys/fs/cgroup/pod/cpu.max", "100000 100000\n");
  const auto a = read_cpu_quota(root_);
  v2("/pod/b");
  const auto b = read_cpu_quota(root_);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->cgroup, b->cgroup);
  write("sys/fs/cgroup/pod/b/cpu.max", "50000 100000\n");
  EXPECT_NE(read_cpu_quota(root_)->cgroup, a->cgroup);
}

TEST_F(cpu_quota_files, nonsense_is_no_quota) {
  for (const char* text : {"", "max", "x y", "100000 0", "0 100000", "nan 100000", "1 "}) {
    v2("/a");
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_FALSE(read_cpu_quota(root_)) << text;
  }
  write("proc/self/mountinfo", "garbage\n - \n");
  write("proc/self/cgroup", "no colon\n");
  EXPECT_FALSE(read_cpu_quota(root_));
  EXPECT_FALSE(read_cpu_quota(root_ / "nowhere"));
}

}}  // namespace mgsync::topology
