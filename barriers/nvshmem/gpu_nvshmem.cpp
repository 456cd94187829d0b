#include "barriers/nvshmem/gpu_nvshmem.hpp"

#include <cuda_runtime_api.h>

#include <optional>

#include <fmt/format.h>

#include "barriers/nvshmem/loaded_nvshmem.hpp"
#include "barriers/parts/round_loop/kernel_barrier.hpp"
#include "src/base/errors.hpp"

namespace mgsync {

namespace {

using form = nvshmem_object::form;
using kernel = nvshmem_object::kernel;

// The object knows its kernels by numbers: these addresses stand for them.
constexpr char of_timed = 0, of_checked = 0;
constexpr gpu_team::round_kernels stand_ins{&of_timed, &of_checked, nullptr};
kernel kernel_of(const void* stand_in) {
  return stand_in == stand_ins.timed ? kernel::timed : kernel::checked;
}

// NVSHMEM's processes are the job's, once and for all.
std::string started(const nvshmem_object& object, const round_loop::flag_barrier_request& w) {
  static std::optional<std::string> once;
  if (once) return *once;
  std::string id(object.bytes_of_id, '\0');
  int status = w.where.rank() == 0 ? object.make_id(id.data()) : 0;
  id = w.where.job().broadcast(std::move(id), 0, "sharing NVSHMEM's id");
  const cuda::device_scope scope(w.gpus.front().ordinal);
  if (status == 0) status = object.start(id.data(), w.where.rank(), w.where.job().size());
  once = status == 0
             ? std::string()
             : fmt::format("NVSHMEM did not start (its error {}; NVSHMEM_DEBUG=INFO says more)", status);
  return *once;
}

creation make(form by, const topology::group& group, const configuration& wanted, session& where) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const auto w = round_loop::request_of(group, wanted, where, "nvshmem");
  const auto& loaded = load_nvshmem();
  if (auto reason = first_complaint(where, loaded.reason); !reason.empty()) return creation::none(reason);
  if (where.ranks().size() != where.job().size())
    return creation::none("NVSHMEM's processes are all ranks of the job: let the group have them all");
  if (auto reason = first_complaint(where, started(*loaded.object, w)); !reason.empty())
    return creation::none(reason);
  const auto fit = [&](std::size_t, const void* stand_in, unsigned threads) {
    int blocks = 0;
    cuda::check(static_cast<cudaError_t>(loaded.object->resident(by, kernel_of(stand_in), threads, &blocks)),
                "finding out how many blocks of NVSHMEM's barrier fit");
    return blocks;
  };
  if (auto reason = round_loop::why_no_room(w, stand_ins, fit); !reason.empty())
    return creation::none(std::move(reason));
  auto flags = round_loop::allocate_flags(w.group, round_loop::layout_image(w.members(), w.blocks),
                                          w.peer_memory, where);
  if (!flags.memory) return creation::none(std::move(flags.reason));
  round_loop::kernel_barrier_parts parts;
  nvshmem_lines lines{};
  for (unsigned m = 0; m < w.members(); ++m)
    lines.parts[m] = reinterpret_cast<std::uint32_t*>(flags.memory->part(m, 0));
  parts.arguments.push_back(round_loop::bytes_of(lines));
  parts.what = "nvshmem";
  parts.algorithm =
      fmt::format("{}: barrier_all by a {}", loaded.object->version, by == form::warp ? "warp" : "block");
  parts.kernels = stand_ins;
  parts.preloaded = true;
  parts.bounded = false;
  parts.flags = std::move(flags.memory);
  parts.launch = [by, object = loaded.object](unsigned, const void* stand_in, unsigned grid, unsigned threads,
                                              void** arguments, cudaStream_t stream) {
    cuda::check(
        static_cast<cudaError_t>(object->launch(by, kernel_of(stand_in), grid, threads, arguments, stream)),
        "launching NVSHMEM's barrier");
  };
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

}  // namespace

std::string version_of_nvshmem() {
  const auto* object = load_nvshmem().object;
  return object == nullptr ? std::string() : object->version;
}

namespace gpu_nvshmem {

creation warp(const topology::group& group, const configuration& wanted, session& where) {
  return make(form::warp, group, wanted, where);
}

creation block(const topology::group& group, const configuration& wanted, session& where) {
  return make(form::block, group, wanted, where);
}

}  // namespace gpu_nvshmem

}  // namespace mgsync
