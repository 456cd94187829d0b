// What a group refuses, with a reason, before anything is launched: an exchange that is none, a stream with too few SMs.
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_kernels.hpp"
#include "tests/gpu/needs_gpus.hpp"

namespace mgsync::test {

namespace {

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(exchange, that_does_not_return_the_callers_bytes_is_refused) {
  MGSYNC_NEEDS_GPUS(1);
  const auto alone = [](const std::string& mine) { return std::vector<std::string>{mine}; };
  EXPECT_NE(refusal([&] { multi_grid grids({0}, 1, alone); }).find("process number 1 does not fit"), std::string::npos);
  EXPECT_EQ(multi_grid({0}, 0, alone).gpus(), 1u);
}

#if CUDART_VERSION >= 13000
template <class F>
F driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult how{};
  return cudaGetDriverEntryPointByVersion(name, &found, 12080, cudaEnableDefault, &how) == cudaSuccess &&
                 how == cudaDriverEntryPointSuccess
             ? reinterpret_cast<F>(found)
             : nullptr;
}

TEST(green_context, with_too_few_SMs_is_refused) {
  MGSYNC_NEEDS_GPUS(1);
  const auto resource_of = driver<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
  const auto split = driver<decltype(&cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount");
  const auto describe = driver<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
  const auto create = driver<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
  const auto create_stream = driver<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
  const auto destroy_stream = driver<decltype(&cuStreamDestroy)>("cuStreamDestroy");
  const auto destroy = driver<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy");
  if (!resource_of || !split || !describe || !create || !create_stream || !destroy_stream || !destroy)
    GTEST_SKIP() << "this driver has no green contexts";
  multi_grid grids({0});
  CUdevResource all{}, few{};
  unsigned groups = 1;
  CUdevResourceDesc text{};
  CUgreenCtx context{};
  CUstream stream{};
  ASSERT_EQ(resource_of(0, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  ASSERT_EQ(split(&few, &groups, &all, nullptr, 0, 16), CUDA_SUCCESS);
  ASSERT_EQ(describe(&text, &few, 1), CUDA_SUCCESS);
  ASSERT_EQ(create(&context, text, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  ASSERT_EQ(create_stream(&stream, context, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  const auto launch = [&](unsigned blocks) {
    grids.launch(leave_early_kernel(), blocks, 1024, 0, {stream}, 99u, 0u, 0u, 1u, static_cast<findings*>(nullptr));
  };
  const auto why = refusal([&] { launch(all.sm.smCount); });
  EXPECT_NE(why.find("a green context with " + std::to_string(few.sm.smCount) + " SMs"), std::string::npos) << why;
  grids.check();  // nothing was launched
  EXPECT_EQ(destroy_stream(stream), CUDA_SUCCESS);
  EXPECT_EQ(destroy(context), CUDA_SUCCESS);
}
#endif

}  // namespace

}  // namespace mgsync::test
