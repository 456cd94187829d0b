#include "barriers/user/gpu_barrier.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"

namespace mgsync::user {

namespace {

// The file knows its kernels by numbers: these addresses stand for them.
constexpr char of_timed = 0, of_checked = 0;
constexpr gpu_team::round_kernels stand_ins{&of_timed, &of_checked, nullptr};

check::kernel kernel_of(const void* stand_in) {
  return stand_in == stand_ins.timed ? check::kernel::timed : check::kernel::checked;
}

gpu_team::resident_blocks fitting(const check::barrier_table& of) {
  return [&of](std::size_t, const void* kernel, unsigned threads) {
    int blocks = 0;
    cuda::check(static_cast<cudaError_t>(of.resident(kernel_of(kernel), threads, &blocks)),
                fmt::format("finding out how many blocks of {} fit", of.name));
    return blocks;
  };
}

round_loop::kernel_launcher launcher(std::shared_ptr<const barrier_file> file,
                                     const check::barrier_table& of) {
  return [file = std::move(file), &of](unsigned, const void* kernel, unsigned grid, unsigned threads,
                                       void** arguments, cudaStream_t stream) {
    const check::launch_order order{kernel_of(kernel), grid, threads, 1, arguments, stream};
    cuda::check(static_cast<cudaError_t>(of.launch(&order)), fmt::format("launching {}", of.name));
  };
}

}  // namespace

creation create_on_gpus(std::shared_ptr<const barrier_file> file, const check::barrier_table& of,
                        const topology::group& group, const configuration& asked, session& where) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const auto w = round_loop::request_of(group, asked, where, of.name);
  const check::shape shape{w.members(), w.blocks, w.members() * w.blocks, 1,
                           of.has_start != 0 ? round_loop::first_gpu_epoch : 0};
  if (of.takes(&shape) == 0)
    return creation::none(
        fmt::format("'{}' is not meant for {} members of {} blocks", of.name, shape.members, shape.blocks));
  if (auto reason = round_loop::why_no_room(w, stand_ins, fitting(of)); !reason.empty())
    return creation::none(std::move(reason));
  const auto bytes = std::max<std::size_t>(of.bytes(&shape), 1);
  auto memory = allocate_group_memory(group, bytes, reach::group, w.peer_memory, where);
  if (!memory.memory) return creation::none(std::move(memory.reason));
  round_loop::kernel_barrier_parts parts;
  for (unsigned l = 0; l < w.gpus.size(); ++l) {
    const cuda::device_scope scope(w.gpus[l].ordinal);
    std::vector<std::byte> image(bytes);
    of.start(image.data(), w.gpus[l].member, &shape);
    cuda::check(
        cudaMemcpy(memory.memory->part(w.gpus[l].member, l), image.data(), bytes, cudaMemcpyHostToDevice),
        "writing the first values of a barrier");
    cuda::check(cudaDeviceSynchronize(), "writing the first values of a barrier");
    check::kernel_arguments given{};
    given.at.streams = 1;
    given.epoch_ahead = shape.epoch - round_loop::first_gpu_epoch;
    for (unsigned m = 0; m < w.members(); ++m) given.parts[m] = memory.memory->part(m, l);
    parts.arguments.push_back(round_loop::bytes_of(given));
  }
  where.ranks().barrier("writing the first values of a barrier");
  parts.what = parts.algorithm = of.name;
  parts.kernels = stand_ins;
  parts.bounded = of.ends_itself != 0;
  parts.preloaded = true;
  parts.flags = std::move(memory.memory);
  parts.launch = launcher(std::move(file), of);
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

}  // namespace mgsync::user
