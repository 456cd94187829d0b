// The device headers under NVRTC, which has no standard library: as a program that compiles its kernels as it
// runs includes them, with no folder but that of mgsync's headers. Needs no GPU.
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nvrtc.h>

namespace {

// The PTX, or the compiler's complaint.
struct compiled {
  std::string ptx, log;
};

compiled compile(const char* source, const std::string& architecture, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--std=c++17", "--gpu-architecture=" + architecture, "-I" MGSYNC_PUBLIC_HEADERS});
  std::vector<const char*> options;
  for (const auto& option : more) options.push_back(option.c_str());
  nvrtcProgram program = nullptr;
  EXPECT_EQ(nvrtcCreateProgram(&program, source, "kernel.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  const auto status = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  compiled made;
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  made.log.resize(size);
  nvrtcGetProgramLog(program, &made.log[0]);
  if (status == NVRTC_SUCCESS) {
    nvrtcGetPTXSize(program, &size);
    made.ptx.resize(size);
    nvrtcGetPTX(program, &made.ptx[0]);
  }
  nvrtcDestroyProgram(&program);
  return made;
}

constexpr const char* barrier = R"(
#include <mgsync/many_gpus.cuh>
#include <mgsync/multi_grid.cuh>
#include <mgsync/timeline.cuh>
#include <mgsync/traced.cuh>
extern "C" __global__ void step(const __grid_constant__ mgsync::multi_grid_handle handle, float* data) {
  auto grids = mgsync::this_multi_grid(handle);
  data[grids.thread_rank()] = 1.0f;
  if (!grids.sync()) return;
  grids.barrier_wait(grids.barrier_arrive());
  data[0] = grids.sync_reduce(data[0], mgsync::by_max{}).value;
}
extern "C" __global__ void traced(const __grid_constant__ mgsync::multi_grid_handle handle) {
  mgsync::this_traced_multi_grid(handle).sync();
}
extern "C" __global__ void of_many(const __grid_constant__ mgsync::multi_grid_handle handle) {
  mgsync::this_multi_grid_of_many(handle).sync();
}
extern "C" __global__ void recorded(mgsync::warp_events<64, true>* out, float* data) {
  __shared__ mgsync::event_buffer<4, 64, true> buffer;
  mgsync::event_recorder recorder(buffer);
  recorder.stamp(1, __float_as_uint(data[threadIdx.x]));
  recorder.flush(out);
})";

TEST(nvrtc, compiles_the_device_headers_for_every_architecture_it_has) {
  int count = 0;
  ASSERT_EQ(nvrtcGetNumSupportedArchs(&count), NVRTC_SUCCESS);
  std::vector<int> known(static_cast<std::size_t>(count));
  ASSERT_EQ(nvrtcGetSupportedArchs(known.data()), NVRTC_SUCCESS);
  for (const int architecture : known) {
    if (architecture < 70) continue;
    const auto made = compile(barrier, "compute_" + std::to_string(architecture));
    EXPECT_NE(made.ptx.find(".entry step"), std::string::npos) << architecture << ": " << made.log;
    EXPECT_EQ(made.log.find("warning"), std::string::npos) << made.log;
  }
}

// A program's own integers stay its own.
TEST(nvrtc, leaves_the_integers_to_a_program_that_has_them) {
  const std::string source = std::string(R"(
namespace std { using uint16_t = unsigned short; using uint32_t = unsigned; using uint64_t = unsigned long long;
                using int32_t = int; using size_t = unsigned long; })") +
                             barrier;
  EXPECT_TRUE(compile(source.c_str(), "compute_90").ptx.empty())
      << "two different std::uint64_t are an error";
  const auto made = compile(source.c_str(), "compute_90", {"-DMGSYNC_STD_INTEGERS"});
  EXPECT_FALSE(made.ptx.empty()) << made.log;
}

// A kernel with every call of the recorder, and the same without any of them.
std::string kernel_with(const std::string& buffer, const std::string& begin, const std::string& end,
                        const std::string& flush) {
  return R"(
#include <mgsync/timeline.cuh>
extern "C" __global__ void add(const float* from, float* to, mgsync::warp_events<64, true>* out) {
)" + buffer +
         R"(
  float sum = 0;
  for (int i = 0; i < 64; ++i) {
)" + begin +
         R"(
    const float value = from[i * blockDim.x + threadIdx.x];
)" + end +
         R"(
    sum += value * value;
    __syncthreads();
  }
  to[threadIdx.x] = sum;
)" + flush +
         "}\n";
}

TEST(nvrtc, a_recorder_that_is_off_leaves_no_code) {
  const auto recorded_by = [](const char* buffer) {
    return kernel_with(std::string("__shared__ ") + buffer +
                           " buffer; mgsync::event_recorder recorder(buffer);",
                       "recorder.begin(0); if (threadIdx.x == 0) recorder.stamp(2);",
                       "recorder.stamp(1, __float_as_uint(value)); recorder.end(0, __float_as_uint(value)); "
                       "recorder.end(3);",
                       "recorder.flush(out); recorder.flush_to(out[threadIdx.x / 32]);");
  };
  const auto without = compile(kernel_with("", "", "", "").c_str(), "compute_90");
  const auto off = compile(recorded_by("mgsync::event_buffer<4, 64, true, false>").c_str(), "compute_90");
  const auto on = compile(recorded_by("mgsync::event_buffer<4, 64, true>").c_str(), "compute_90");
  ASSERT_FALSE(without.ptx.empty()) << without.log;
  EXPECT_EQ(off.ptx, without.ptx) << off.log;
  EXPECT_NE(on.ptx, without.ptx) << on.log;
  EXPECT_NE(on.ptx.find("%globaltimer"), std::string::npos);
}

}  // namespace
