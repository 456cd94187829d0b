#include "src/base/loaded_libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mgsync { namespace {

TEST(loaded_libraries, are_found_by_their_names) {
  const auto found = loaded_components("libc.");
  EXPECT_EQ(found, std::vector<std::string>{"so.6"});
  EXPECT_TRUE(loaded_components("libnothing_of_the_kind").empty());
  const auto all = loaded_components("lib");
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_NE(std::ranges::find(all, "fmt"), all.end());
}

TEST(loaded_libraries, say_which_mpi_they_are) {
  constexpr std::string_view
      mpich = "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7\nMPICH Device:\tch4:ucx\n",
      open_mpi = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022";
  EXPECT_EQ(mpi_name(mpich), "MPICH 4.0.2");
  EXPECT_EQ(mpi_device(mpich), "ch4:ucx");
  EXPECT_EQ(mpi_name(open_mpi), "Open MPI v4.1.4");
  EXPECT_EQ(mpi_device(open_mpi), "");
  EXPECT_EQ(mpi_name("Intel(R) MPI Library 2021.9 for Linux* OS\n"),
            "Intel(R) MPI Library 2021.9 for Linux* OS");
}

TEST(openmp_runtime, is_named_by_its_file) {
  // This program has none of its own; linked with one, its name begins so.
  const auto name = openmp_runtime();
  EXPECT_TRUE(name.starts_with("lib") || name == "a part of this program" || name == "none") << name;
}

}}  // namespace mgsync
