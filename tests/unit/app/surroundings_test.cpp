#include "src/app/surroundings.hpp"

#include <gtest/gtest.h>

#include "topology/sources/gpu_state.hpp"

namespace mgsync { namespace {

TEST(surroundings, names_the_variables_that_steer_and_no_others) {
  const char* const environment[] = {"OMP_NUM_THREADS=4",       "PATH=/bin",   "OMPI_MCA_btl=self,vader",
                                     "OMPI_COMM_WORLD_RANK=1",  "NCCL_DEBUG=", "OMPI_MCA_orte_hnp_uri=1.2",
                                     "OMPI_MCA_ess=^singleton", "HOME_OMP_=x", nullptr};
  const std::map<std::string, std::string> expected{{"environment OMP_NUM_THREADS", "4"},
                                                    {"environment OMPI_MCA_btl", "self,vader"},
                                                    {"environment NCCL_DEBUG", ""}};
  EXPECT_EQ(steering_variables(environment), expected);
}

TEST(surroundings, name_the_sources) {
  const auto all = surroundings();
  ASSERT_TRUE(all.contains("sources"));
  EXPECT_EQ(all.at("sources").size(), 64u);
  EXPECT_FALSE(all.contains("mpi_threads")) << "MPI was not started";
}

TEST(gpu_state, tells_what_slows_a_gpu_down) {
  EXPECT_EQ(topology::slowed_by(0), "not slowed");
  EXPECT_EQ(topology::slowed_by(1), "not slowed");
  EXPECT_EQ(topology::slowed_by(0x4), "slowed by power cap");
  EXPECT_EQ(topology::slowed_by(0x61), "slowed by thermal (software), thermal (hardware)");
  EXPECT_EQ(topology::slowed_by(0x1000), "slowed by reasons 0x1000");
}

}}  // namespace mgsync
