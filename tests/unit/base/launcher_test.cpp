#include "src/base/launcher.hpp"

#include <unistd.h>

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

namespace mgsync { namespace {

launch read(std::map<std::string, std::string> variables) {
  return read_launch([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(launcher, of_mpich_is_asked_as_it_asks_to_be) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  unsetenv("HYDI_CONTROL_FD");
  setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
  EXPECT_FALSE(ask_launcher_to_end_job(1)) << "PMI_FD alone may be Slurm's, which speaks otherwise";
  setenv("HYDI_CONTROL_FD", "7", 1);
  EXPECT_TRUE(ask_launcher_to_end_job(42));
  char said[64] = {};
  EXPECT_GT(::read(ends[0], said, sizeof said - 1), 0);
  EXPECT_STREQ(said, "cmd=abort exitcode=42\n");
  unsetenv("PMI_FD");
  EXPECT_FALSE(ask_launcher_to_end_job(1));
  unsetenv("HYDI_CONTROL_FD");
  for (const int end : ends) close(end);
}

TEST(launcher, is_none_without_a_process_manager) {
  const auto found = read({{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(found.launcher, "none");
  EXPECT_FALSE(found.under_mpi);
  EXPECT_FALSE(found.local_rank.has_value());
}

TEST(launcher, reads_local_ranks_of_all_launchers) {
  const auto open_mpi = read({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
  EXPECT_EQ(open_mpi.launcher, "Open MPI");
  EXPECT_EQ(open_mpi.rank, 5);
  EXPECT_EQ(open_mpi.local_rank, 1);
  EXPECT_FALSE(open_mpi.local_size.has_value());
  EXPECT_EQ(read({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}}).local_size, 8);
  EXPECT_EQ(read({{"PMI_RANK", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"}}).local_size, 4);
  for (const char* uneven : {"4,2", "4(x2),2"})
    EXPECT_FALSE(read({{"PMI_RANK", "1"}, {"SLURM_STEP_TASKS_PER_NODE", uneven}}).local_size.has_value())
        << uneven;
  EXPECT_TRUE(open_mpi.under_mpi);
  EXPECT_EQ(read({{"PMI_RANK", "2"}, {"MPI_LOCALRANKID", "0"}}).local_rank, 0);
  EXPECT_EQ(read({{"MV2_COMM_WORLD_RANK", "2"}, {"MV2_COMM_WORLD_LOCAL_RANK", "2"}}).local_rank, 2);
  EXPECT_EQ(read({{"PALS_RANKID", "9"}, {"PALS_LOCAL_RANKID", "3"}}).local_rank, 3);
  EXPECT_EQ(read({{"FLUX_TASK_RANK", "4"}, {"FLUX_TASK_LOCAL_ID", "0"}}).local_rank, 0);
}

TEST(launcher, takes_the_local_id_of_a_slurm_step_and_never_its_global_one) {
  const auto pmix =
      read({{"PMIX_RANK", "7"}, {"SLURM_PROCID", "7"}, {"SLURM_LOCALID", "3"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(pmix.launcher, "Slurm");
  EXPECT_EQ(pmix.local_rank, 3);
  const auto pmi2 =
      read({{"PMI_RANK", "7"}, {"SLURM_PROCID", "7"}, {"SLURM_LOCALID", "2"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(pmi2.launcher, "Slurm");
  EXPECT_EQ(pmi2.local_rank, 2);
}

TEST(launcher, knows_how_many_processes_it_started) {
  EXPECT_EQ(read({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).size, 4);
  EXPECT_EQ(read({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}).size, 3);
  EXPECT_EQ(read({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}}).size, 8);
  // mpirun inside a step, or a shell that srun started.
  EXPECT_EQ(
      read({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}})
          .size,
      4);
  EXPECT_FALSE(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).size.has_value())
      << "a batch script by itself";
  EXPECT_FALSE(read({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).size.has_value());
}

TEST(launcher, refuses_processes_that_do_not_meet) {
  const auto no_pmi = read({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}});
  EXPECT_FALSE(no_pmi.under_mpi);
  EXPECT_EQ(no_pmi.rank, 3);
  EXPECT_NE(why_apart(no_pmi, 1, "none").find("srun started 4 processes and told none"), std::string::npos);
  const auto slurm = read({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(why_apart(slurm, 4, "MPICH 4"), "");
  EXPECT_NE(why_apart(slurm, 1, "MPICH 4").find("and MPI (MPICH 4) counts 1"), std::string::npos);
  const auto other = read({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_NE(why_apart(other, 1, "MPICH 4").find("the mpirun of the MPI that this mgsync was built with"),
            std::string::npos);
  EXPECT_EQ(why_apart(read({}), 1, "none"), "");
}

TEST(launcher, ignores_a_local_rank_that_is_no_number) {
  for (const char* none : {"x", "-1", "1x", "1 ", ""})
    EXPECT_FALSE(
        read({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", none}}).local_rank.has_value())
        << none;
}

}}  // namespace mgsync
