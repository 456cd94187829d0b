// What a group refuses, with a reason, before anything is launched: an exchange that is none, a stream that
// cannot take the launch, more shared memory than the kernel may use.
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_groups.hpp"
#include "tests/gpu/needs_gpus.hpp"

namespace mgsync::test { namespace {

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const usage_error& e) { return e.what(); }
  return "nothing thrown";
}

TEST(exchange, that_does_not_return_the_callers_bytes_is_refused) {
  MGSYNC_NEEDS_GPUS(1);
  const auto alone = [](const std::string& mine) { return std::vector<std::string>{mine}; };
  EXPECT_NE(refusal([&] { multi_grid grids({0}, 1, alone); }).find("process number 1 does not fit"),
            std::string::npos);
  EXPECT_EQ(multi_grid({0}, 0, alone).gpus(), 1u);
}

// What it is refused for; a kernel that is launched is waited for.
std::string launched(multi_grid& grids, found_by& found, std::size_t shared_bytes,
                     const std::vector<cudaStream_t>& streams) {
  return refusal([&] {
    grids.launch(leave_early_kernel(), 8, 64, shared_bytes, streams, 99u, 0u, 0u, 1u, found.of(0));
    grids.wait();
  });
}

TEST(stream, that_is_being_captured_takes_no_kernel_that_was_not_prepared_and_goes_on) {
  MGSYNC_NEEDS_GPUS(1);
  multi_grid grids({0});
  found_by found(1);
  grids.resize(8);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  for (const unsigned flags : {cudaStreamNonBlocking, cudaStreamDefault}) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_NE(cudaSetDevice(9999), cudaSuccess);
    const auto why = launched(grids, found, 0, {stream});
    EXPECT_NE(why.find("the stream of the launch on GPU 0 is being captured"), std::string::npos) << why;
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice) << "the caller's error is as before";
    if (flags == cudaStreamDefault)
      EXPECT_NE(launched(grids, found, 0, {nullptr}).find("is being captured"), std::string::npos);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    if (graph != nullptr) { EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess); }
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  EXPECT_EQ(launched(grids, found, 0, {}), "nothing thrown");
  EXPECT_EQ(found.of(0)->passed, 8u) << "nothing was launched before";
}

TEST(stream, of_another_GPU_is_refused) {
  MGSYNC_NEEDS_GPUS(2);
  int driver = 0;
  ASSERT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  if (driver < 12080) GTEST_SKIP() << "this driver does not tell a stream's GPU";
  multi_grid grids({0});
  found_by found(1);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto why = launched(grids, found, 0, {stream});
  EXPECT_NE(why.find("the stream of the launch on GPU 0 belongs to GPU 1"), std::string::npos) << why;
  for (const cudaStream_t of_any : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread})
    EXPECT_EQ(launched(grids, found, 0, {of_any}), "nothing thrown");
  EXPECT_EQ(found.of(0)->passed, 3u * 8);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(shared_memory, that_the_kernel_may_not_use_yet_is_refused_until_it_may) {
  MGSYNC_NEEDS_GPUS(1);
  multi_grid grids({0});
  found_by found(1);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  int most = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  const int wanted = most - 1024;
  cudaFuncAttributes before{};
  const auto kernel = reinterpret_cast<const void*>(leave_early_kernel());
  ASSERT_EQ(cudaFuncGetAttributes(&before, kernel), cudaSuccess);
  ASSERT_GT(wanted, before.maxDynamicSharedSizeBytes);
  const auto launch = [&](int bytes) { return launched(grids, found, static_cast<std::size_t>(bytes), {}); };
  EXPECT_NE(launch(wanted).find("cudaFuncAttributeMaxDynamicSharedMemorySize"), std::string::npos)
      << launch(wanted);
  EXPECT_EQ(launch(most + 1).find("cudaFuncAttributeMaxDynamicSharedMemorySize"), std::string::npos)
      << "no attribute gives that";
  EXPECT_NE(launch(wanted), "nothing thrown");
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted), cudaSuccess);
  EXPECT_EQ(launch(wanted), "nothing thrown");
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 before.maxDynamicSharedSizeBytes),
            cudaSuccess);
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
    grids.launch(leave_early_kernel(), blocks, 1024, 0, {stream}, 99u, 0u, 0u, 1u,
                 static_cast<findings*>(nullptr));
  };
  const auto why = refusal([&] { launch(all.sm.smCount); });
  EXPECT_NE(why.find("a green context with " + std::to_string(few.sm.smCount) + " SMs"), std::string::npos)
      << why;
  grids.check();  // nothing was launched
  EXPECT_EQ(destroy_stream(stream), CUDA_SUCCESS);
  EXPECT_EQ(destroy(context), CUDA_SUCCESS);
}
#endif

// 227 KiB on compute capability 9.0: a kernel that needs every byte of it has room for a group.
TEST(shared_memory, of_a_block_is_all_the_kernels) {
  MGSYNC_NEEDS_GPUS(1);
  const int gpus = gpus_here() < 2 ? 1 : 2;
  multi_grid grids(first_gpus(gpus));
  const auto kernel = fill_shared_kernel();
  int most = 0;
  for (int g = 0; g < gpus; ++g) {
    ASSERT_EQ(cudaSetDevice(g), cudaSuccess);
    ASSERT_EQ(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, g), cudaSuccess);
    cudaFuncAttributes about{};
    ASSERT_EQ(cudaFuncGetAttributes(&about, reinterpret_cast<const void*>(kernel)), cudaSuccess);
    EXPECT_EQ(about.sharedSizeBytes, 0u) << "static shared memory of a kernel with a group";
    ASSERT_EQ(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, most),
              cudaSuccess);
  }
  found_by found(grids.gpus());
  grids.launch_each(kernel, sms(), 128, static_cast<std::size_t>(most), {}, [&](unsigned local) {
    return std::tuple(static_cast<unsigned>(most) / 4, 20u, found.of(local));
  });
  grids.wait();
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    EXPECT_EQ(found.of(g)->wrong, 0u);
    EXPECT_EQ(found.of(g)->passed, 20 * sms());
  }
}

}}  // namespace mgsync::test
