#include "barriers/round_loop/kernel_barrier.hpp"

#include "barriers/algorithm/layout.hpp"
#include "barriers/symmetric_memory/peer_access.hpp"

namespace mgsync::round_loop {

namespace {

constexpr unsigned words = algorithm::line_bytes / sizeof(std::uint32_t);

class kernel_barrier final : public barrier {
 public:
  kernel_barrier(const topology::group& group, unsigned blocks, unsigned threads, session& where,
                 std::unique_ptr<symmetric_memory> board, kernel_barrier_parts given)
      : parts_(std::move(given)),
        crew_(group, where, std::move(board),
              {blocks, threads, parts_.bounded, parts_.what, parts_.kernels, parts_.load, parts_.preloaded,
               arguments(group, where.rank())}) {
    if (parts_.launch) crew_.launch_with(parts_.launch);
  }
  trial run(const run_request& request) override { return crew_.run(request); }

 private:
  std::vector<const void*> arguments(const topology::group& group, int rank) const {
    std::vector<const void*> all(gpus_of(group, rank).size(), parts_.arguments.data());
    for (std::size_t l = 0; l < parts_.arguments_of_gpu.size(); ++l) all[l] = parts_.arguments_of_gpu[l].data();
    return all;
  }

  kernel_barrier_parts parts_;
  gpu_crew crew_;
};

}  // namespace

flag_image layout_image(unsigned members, unsigned blocks) {
  const algorithm::layout lines{members};
  flag_image image(std::size_t{lines.lines()} * words, first_gpu_epoch);
  image[std::size_t{lines.arrivals()} * words] = algorithm::counter_start(blocks, first_gpu_epoch);
  image[std::size_t{lines.center()} * words] = algorithm::counter_start(members, first_gpu_epoch);
  return image;
}

flag_image relay_image(unsigned blocks) {
  const algorithm::relay_layout lines{};
  flag_image image(std::size_t{lines.lines()} * words, 0);
  image[std::size_t{lines.counter(0)} * words] = algorithm::counter_start(blocks, first_gpu_epoch);
  for (unsigned r = 0; r < algorithm::relay_shape::most_words; ++r)
    for (unsigned from = 0; from < most_gpus; ++from) image[std::size_t{lines.inbox(r)} * words + from] = first_gpu_epoch;
  return image;
}

flag_image spread_image(unsigned blocks) {
  const algorithm::spread_layout lines{};
  flag_image image(std::size_t{lines.lines()} * words, 0);
  for (unsigned copy = 0; copy < algorithm::spread_shape::most; ++copy)
    image[std::size_t{lines.counter(copy, 0)} * words] = algorithm::counter_start(blocks, first_gpu_epoch);
  return image;
}

allocation allocate_flags(const topology::group& group, const flag_image& image) {
  auto made = allocate_peer_memory(group, image.size() * sizeof(std::uint32_t));
  if (!made.memory) return made;
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const cuda::device_scope scope(group.members[m].gpu);
    cuda::check(cudaMemcpy(made.memory->part(static_cast<unsigned>(m)), image.data(),
                           image.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice), "setting the flags of a barrier");
    cuda::check(cudaDeviceSynchronize(), "setting the flags of a barrier");
  }
  return made;
}

flag_barrier_request request_of(const topology::group& group, const configuration& asked, session& where,
                                std::string backend) {
  const auto gpus = gpus_of(group, where.rank());
  const unsigned one_per_sm = blocks_of({}, gpus);
  return {group, where, std::move(backend), blocks_of(asked, gpus), asked.threads_per_block.value_or(32), one_per_sm,
          asked.load};
}

creation make_kernel_barrier(const topology::group& group, unsigned blocks, unsigned threads, session& where,
                             kernel_barrier_parts parts) {
  auto board = allocate_peer_memory(group, device_board::bytes(blocks));
  if (!board.memory) return {nullptr, board.reason, {}, {}};
  creation made;
  made.algorithm = parts.algorithm;
  if (parts.flags) made.peer_memory = parts.flags->provider();
  made.barrier = std::make_unique<kernel_barrier>(group, blocks, threads, where, std::move(board.memory), std::move(parts));
  return made;
}

}  // namespace mgsync::round_loop
