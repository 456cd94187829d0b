#include "src/probes/probe_runner.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <cuda.h>
#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/errors.hpp"

namespace mgsync::probes {

namespace {

constexpr std::uint32_t never = 0xdeadbee1u;

struct driver {
  decltype(&cuModuleLoadData) load_data =
      cuda::driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  decltype(&cuModuleUnload) unload = cuda::driver_function<decltype(&cuModuleUnload)>("cuModuleUnload");
  decltype(&cuModuleGetFunction) get_function =
      cuda::driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(&cuFuncSetAttribute) set_attribute =
      cuda::driver_function<decltype(&cuFuncSetAttribute)>("cuFuncSetAttribute");
  decltype(&cuFuncGetAttribute) get_attribute =
      cuda::driver_function<decltype(&cuFuncGetAttribute)>("cuFuncGetAttribute");
  decltype(&cuLaunchKernelEx) launch = cuda::driver_function<decltype(&cuLaunchKernelEx)>("cuLaunchKernelEx");
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) resident_blocks =
      cuda::driver_function<decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>(
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  decltype(&cuOccupancyMaxActiveClusters) resident_clusters =
      cuda::driver_function<decltype(&cuOccupancyMaxActiveClusters)>("cuOccupancyMaxActiveClusters");

  static const driver& get() {
    static const driver found;
    return found;
  }
};

// Waits for the stream by polling it, at most `most_seconds`, so that a kernel that hangs does not block the
// process.
void wait_for(cudaStream_t stream, double most_seconds, const std::string& kernel) {
  const auto begin = std::chrono::steady_clock::now();
  const auto deadline = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                    std::chrono::duration<double>(most_seconds));
  for (;;) {
    const auto status = cudaStreamQuery(stream);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) cuda::check(status, fmt::format("running the probe {}", kernel));
    if (std::chrono::steady_clock::now() > deadline)
      throw timeout_error(fmt::format("the probe {} did not end within {} s", kernel, most_seconds));
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Random words, different for every lane, small and odd, so that chains of floats stay in range.
std::vector<std::uint32_t> inputs(unsigned threads, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> words(std::size_t{input_words_per_thread} * threads);
  for (unsigned k = 0; k < words.size(); ++k)
    words[k] = static_cast<std::uint32_t>(random() % 512) * 2048 + 2 * (k % 1024) + 1;
  return words;
}

template <class T>
cuda::memory on_gpu(int ordinal, const std::vector<T>& values) {
  auto memory = cuda::memory::on_gpu(ordinal, values.size() * sizeof(T));
  cuda::check(cudaMemcpy(memory.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
              "copying a probe's input");
  return memory;
}

template <class T>
std::vector<T> from_gpu(const cuda::memory& memory, std::size_t count) {
  std::vector<T> values(count);
  cuda::check(cudaMemcpy(values.data(), memory.get(), count * sizeof(T), cudaMemcpyDeviceToHost),
              "copying what a probe saw");
  return values;
}

// The image for that GPU; nullptr, and the reason, where there is none.
const image* image_on(std::span<const image> images, int ordinal, std::string& reason) {
  int major = 0, minor = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
              "reading the compute capability");
  cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal),
              "reading the compute capability");
  const image* code = image_for(images, major, minor);
  if (code == nullptr)
    reason = fmt::format("this build has no machine code for compute capability {}.{}: build with "
                         "MGSYNC_CUDA_ARCHITECTURES={}{}",
                         major, minor, major, minor);
  return code;
}

class loaded_module {
 public:
  loaded_module(const image& code, int ordinal) {
    cuda::check_driver(driver::get().load_data(&module_, code.bytes.data()),
                       fmt::format("loading probes on GPU {}", ordinal));
  }
  ~loaded_module() { driver::get().unload(module_); }
  loaded_module(const loaded_module&) = delete;
  loaded_module& operator=(const loaded_module&) = delete;
  std::optional<CUfunction> find(const std::string& kernel) const {
    CUfunction found = nullptr;
    if (driver::get().get_function(&found, module_, kernel.c_str()) != CUDA_SUCCESS) return std::nullopt;
    return found;
  }

 private:
  CUmodule module_ = nullptr;
};

}  // namespace

struct runner::state {
  state(const image& its_code, int its_ordinal, std::size_t shared)
      : ordinal(its_ordinal),
        code(&its_code),
        most_shared(shared),
        module(its_code, its_ordinal),
        stream(cuda::make_stream()) {}
  int ordinal;
  const image* code;
  std::size_t most_shared;
  loaded_module module;
  cuda::stream stream;

  std::size_t shared_of(const probe_order& o, CUfunction f) const {
    if (!o.fill_sms) return o.dynamic_shared_bytes;
    int fixed = 0;
    cuda::check_driver(driver::get().get_attribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f),
                       "reading a probe's shared memory");
    return most_shared - static_cast<std::size_t>(fixed);
  }

  // What a launch needs: how the kernel is set up for it, and its attributes.
  CUlaunchConfig configure(const probe_order& o, CUfunction f, CUlaunchAttribute& cluster) const {
    const auto& d = driver::get();
    const auto shared = shared_of(o, f);
    if (shared > 0)
      cuda::check_driver(
          d.set_attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared)),
          "asking for shared memory");
    if (o.cluster > 8)
      cuda::check_driver(d.set_attribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                         "asking for a large cluster");
    CUlaunchConfig config{};
    config.gridDimX = o.blocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = o.threads;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = static_cast<unsigned>(shared);
    config.hStream = stream.get();
    if (o.cluster > 1) {
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim.x = o.cluster;
      cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
      config.attrs = &cluster;
      config.numAttrs = 1;
    }
    return config;
  }
};

runner::runner(std::unique_ptr<state> s) : state_(std::move(s)) {}

runner::~runner() = default;

std::unique_ptr<runner> runner::load(std::string_view source, int ordinal, std::string& reason) {
  const cuda::device_scope scope(ordinal);
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
  int most_shared = 0;
  cuda::check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
              "reading the shared memory's size");
  const image* code = image_on(images_of(source), ordinal, reason);
  if (code == nullptr) return nullptr;
  return std::unique_ptr<runner>(
      new runner(std::make_unique<state>(*code, ordinal, static_cast<std::size_t>(most_shared))));
}

const image& runner::loaded() const { return *state_->code; }

bool runner::has(const std::string& kernel) const { return state_->module.find(kernel).has_value(); }

unsigned runner::resident_blocks(const probe_order& o) const {
  const cuda::device_scope scope(state_->ordinal);
  const auto f = state_->module.find(o.kernel);
  if (!f) return 0;
  CUlaunchAttribute cluster{};
  state_->configure(o, *f, cluster);  // sets the limit of shared memory first
  int blocks = 0;
  if (driver::get().resident_blocks(&blocks, *f, static_cast<int>(o.threads), state_->shared_of(o, *f)) !=
      CUDA_SUCCESS)
    return 0;
  return static_cast<unsigned>(blocks);
}

unsigned runner::resident_clusters(const probe_order& o) const {
  const cuda::device_scope scope(state_->ordinal);
  const auto f = state_->module.find(o.kernel);
  if (!f) return 0;
  CUlaunchAttribute cluster{};
  const auto config = state_->configure(o, *f, cluster);
  int clusters = 0;
  return driver::get().resident_clusters(&clusters, *f, &config) == CUDA_SUCCESS
             ? static_cast<unsigned>(clusters)
             : 0;
}

std::optional<probe_seen> runner::run(const probe_order& o, std::string& reason, double most_seconds) {
  const cuda::device_scope scope(state_->ordinal);
  const auto f = state_->module.find(o.kernel);
  if (!f) {
    reason = fmt::format("no probe {} for this compute capability", o.kernel);
    return std::nullopt;
  }
  const auto fits = o.cluster > 1 ? resident_clusters(o) : resident_blocks(o);
  if (fits == 0) {
    reason = fmt::format("the GPU cannot hold {} threads x {} blocks of {}", o.threads, o.cluster, o.kernel);
    return std::nullopt;
  }
  probe_seen result;
  result.asked = o;
  result.warps = o.blocks * ((o.threads + 31) / 32);
  const auto input = on_gpu(state_->ordinal, inputs(o.threads, o.seed));
  const auto held = on_gpu(state_->ordinal, std::vector<held_words>{{never, o.loops}});
  const auto output = on_gpu(state_->ordinal, std::vector<std::uint32_t>(o.threads, never));
  const auto stamps =
      cuda::memory::on_gpu(state_->ordinal, std::size_t{o.passes} * result.warps * sizeof(stamp));
  const auto sms = cuda::memory::on_gpu(state_->ordinal, 2 * result.warps * sizeof(std::uint32_t));
  arguments a{input.as<const std::uint32_t>(),
              output.as<std::uint32_t>(),
              stamps.as<stamp>(),
              sms.as<std::uint32_t>(),
              held.as<const held_words>(),
              o.memory,
              o.passes,
              o.window_log2_ns,
              o.lanes,
              o.words,
              o.together ? 1u : 0u};
  void* parameters[] = {&a};
  CUlaunchAttribute cluster{};
  const auto config = state_->configure(o, *f, cluster);
  const auto begin = std::chrono::steady_clock::now();
  cuda::check_driver(driver::get().launch(&config, *f, parameters, nullptr),
                     fmt::format("launching the probe {}", o.kernel));
  wait_for(state_->stream.get(), most_seconds, o.kernel);
  result.host_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  result.stamps = from_gpu<stamp>(stamps, std::size_t{o.passes} * result.warps);
  const auto values = from_gpu<std::uint32_t>(output, o.threads);
  result.threads_that_ended = o.threads - static_cast<std::uint32_t>(std::ranges::count(values, never));
  const auto where = from_gpu<std::uint32_t>(sms, 2 * result.warps);
  result.sm_at_start.assign(where.begin(), where.begin() + result.warps);
  result.sm_at_end.assign(where.begin() + result.warps, where.end());
  return result;
}

ready_probes make_ready(std::span<const probe> those, int ordinal, bool with_clock) {
  ready_probes made;
  auto runner = runner::load(those.front().source, ordinal, made.reason);
  if (!runner) return made;
  const auto code = machine_code::read_cubin(runner->loaded().bytes);
  for (const auto& one : those) {
    if (!one.runs_on(code.architecture)) made.reason = what_it_needs(one);
    else if (auto read = read_code(code, one); !read.complaint.empty())
      made.reason = std::string(not_as_said) + read.complaint;
    else if (!read.twin.empty()) made.twin = std::move(read.twin);
    if (!made.reason.empty()) return made;
  }
  made.code = fmt::format("sm_{}, as it must be", code.architecture);
  if (with_clock) made.mhz = measure_clock(ordinal).mhz;  // over 5 ms of a busy SM, by both clocks
  made.runner = std::move(runner);
  return made;
}

clock_rate measure_clock(int ordinal, double milliseconds) {
  const cuda::device_scope scope(ordinal);
  cuda::check(cudaFree(nullptr), fmt::format("starting CUDA on GPU {}", ordinal));
  std::string reason;
  const image* code = image_on(images_of("clocks"), ordinal, reason);
  if (code == nullptr) return {};
  const loaded_module module(*code, ordinal);
  const auto f = module.find("clocks_side_by_side");
  if (!f) return {};
  const auto out = cuda::memory::on_gpu(ordinal, 3 * sizeof(std::uint64_t));
  const auto stream = cuda::make_stream();
  auto* address = out.as<std::uint64_t>();
  auto least_ns = static_cast<std::uint64_t>(milliseconds * 1e6);
  unsigned readings = 10000;
  void* parameters[] = {&address, &least_ns, &readings};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY =
      config.blockDimZ = 1;
  config.hStream = stream.get();
  cuda::check_driver(driver::get().launch(&config, *f, parameters, nullptr),
                     "launching the probe of the clocks");
  wait_for(stream.get(), 10 + milliseconds / 1000, "clocks_side_by_side");
  const auto values = from_gpu<std::uint64_t>(out, 3);
  return {values[1] == 0 ? 0.0 : static_cast<double>(values[0]) / static_cast<double>(values[1]) * 1000,
          values[2]};
}

}  // namespace mgsync::probes
