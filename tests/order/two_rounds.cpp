#include "tests/order/two_rounds.hpp"

#include <cstring>

#include <fmt/format.h>

#include "barriers/parts/algorithm/relay.hpp"
#include "src/models/ptx/stale_reads.hpp"

namespace mgsync::test {

namespace {

// Where what lies, of each GPU.
enum class region : std::uint64_t { flags, records, stopped, payload, scratch, host };
constexpr std::uint64_t at(unsigned gpu, region of) {
  return (std::uint64_t{gpu} + 1) << 40 | (static_cast<std::uint64_t>(of) << 32);
}
constexpr std::uint64_t word_of_thread(const ptx::position& p, region of) {
  return at(p.gpu, of) + 256 * p.block + 8 * p.thread;
}
constexpr std::uint64_t told = std::uint64_t{1} << 50;

std::string name_of_word(std::uint64_t address) {
  const auto gpu = (address >> 40) - 1, of = address >> 32 & 0xff, offset = address & 0xffffffff;
  const auto thread = [&] {
    return fmt::format("GPU {} block {} thread {}", gpu, offset / 256, offset % 256 / 8);
  };
  if (address >= std::uint64_t{1} << 58) return fmt::format("shared word {}", address & 0xffffff);
  switch (static_cast<region>(of)) {
  case region::flags: {
    const auto line = offset / algorithm::line_bytes / algorithm::relay_layout::stride;
    const auto word = offset % algorithm::line_bytes / 4;
    if (line < algorithm::relay_shape::most_counters) return fmt::format("counter {} of GPU {}", line, gpu);
    if (line == algorithm::relay_shape::most_counters + algorithm::relay_shape::most_words)
      return fmt::format("split counter of GPU {}", gpu);
    return fmt::format("inbox {} of GPU {}, word of GPU {}", line - algorithm::relay_shape::most_counters,
                       gpu, word);
  }
  case region::payload: return fmt::format("payload of {}", thread());
  case region::scratch: return fmt::format("own word of {}", thread());
  case region::records:
    return fmt::format("record of GPU {} block {}, byte {}", gpu, offset / sizeof(multi_grid_block),
                       offset % sizeof(multi_grid_block));
  case region::host: return fmt::format("line {} of GPU {} on the host", offset / algorithm::line_bytes, gpu);
  case region::stopped: break;
  }
  return fmt::format("stop word of GPU {}", gpu);
}

// Of the lines of a backend's kernel: by number.
std::string name_of_line(std::uint64_t address) {
  const auto gpu = (address >> 40) - 1, of = address >> 32 & 0xff, offset = address & 0xffffffff;
  if (static_cast<region>(of) != region::flags) return name_of_word(address);
  return fmt::format("line {} of GPU {}", offset / algorithm::line_bytes, gpu);
}

void put(ptx::memory_image& memory, std::uint64_t where, const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < count; ++i)
    if (from[i] != 0) memory[where + i] = from[i];
}

multi_grid_handle handle_of(const grids& g, unsigned gpu) {
  std::uint32_t* parts[multi_grid_handle::most_gpus] = {};
  for (unsigned m = 0; m < g.gpus; ++m) parts[m] = reinterpret_cast<std::uint32_t*>(at(m, region::flags));
  multi_grid_handle made = describe(g.choice, parts, gpu, g.gpus, g.blocks);
  made.records = reinterpret_cast<multi_grid_block*>(at(gpu, region::records));
  return made;
}

algorithm::flag_image image_of(const grids& g) {
  switch (g.kernel) {
  case memory_of::library: return mgsync::image_of(g.choice, g.blocks);
  case memory_of::lines:
  case memory_of::lines_on_host: return algorithm::layout_image(g.gpus, g.blocks);
  case memory_of::relay: return algorithm::relay_image(g.blocks, g.choice.relay);
  case memory_of::counter: return algorithm::spread_image(g.blocks, g.choice.spread);
  case memory_of::reduction: return algorithm::reduction_image(g.gpus, g.blocks);
  case memory_of::hop: return algorithm::flag_image(288, algorithm::first_gpu_epoch);
  case memory_of::other: return g.image(g.gpus, g.blocks);
  case memory_of::grid_sync: break;  // the driver's memory: zeros
  }
  return {};
}

// What every GPU's lines hold at first, and the records of its blocks.
void fill(ptx::memory_image& memory, const grids& g, unsigned gpu) {
  const algorithm::flag_image image = image_of(g);
  put(memory, at(gpu, region::flags), image.data(), image.size() * sizeof image[0]);
  if (g.kernel == memory_of::lines_on_host)
    put(memory, at(gpu, region::host), image.data(), image.size() * sizeof image[0]);
  if (g.kernel != memory_of::library) return;
  multi_grid_block record = fresh_block();
  record.patience = record.first_patience = UINT32_MAX;
  record.told = reinterpret_cast<std::uint32_t*>(told);
  record.watched = reinterpret_cast<std::uint32_t*>(at(gpu, region::stopped));
  for (unsigned b = 0; b < g.blocks; ++b)
    put(memory, at(gpu, region::records) + b * sizeof record, &record, sizeof record);
}

template <class Value>
void append(std::vector<std::uint8_t>& bytes, const Value& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

void append_lines(std::vector<std::uint8_t>& bytes, const grids& g, region of) {
  constexpr unsigned most_members = 16;
  for (unsigned m = 0; m < most_members; ++m) append(bytes, m < g.gpus ? at(m, of) : std::uint64_t{0});
}

// What a pass of backends.cu takes, and `place`.
std::vector<std::uint8_t> arguments_of_pass(const grids& g, unsigned gpu) {
  std::vector<std::uint8_t> bytes;
  if (g.kernel != memory_of::grid_sync) append_lines(bytes, g, region::flags);
  switch (g.kernel) {
  case memory_of::lines_on_host: append_lines(bytes, g, region::host); break;
  case memory_of::relay:
    append(bytes, g.choice.relay.counters);
    append(bytes, g.choice.relay.replicas);
    break;
  case memory_of::counter:
    append(bytes, g.choice.spread.counters);
    append(bytes, g.choice.spread.copies);
    append(bytes, std::uint64_t{0});  // the first poll is not held back
    break;
  case memory_of::grid_sync: append(bytes, std::uint64_t{0}); break;
  default: break;
  }
  append(bytes, told);  // the word that ends all waits, and until when they may take
  append(bytes, std::uint64_t{1} << 40);
  append(bytes, gpu);
  append(bytes, g.gpus);
  return bytes;
}

ptx::launch launch_of(const ptx::kernel& kernel, const grids& g, const word_pair& asked) {
  const bool numbered = g.kernel != memory_of::library && g.kernel != memory_of::relay;
  ptx::launch made{.kernel = &kernel,
                   .gpus = g.gpus,
                   .blocks = g.blocks,
                   .threads = g.threads,
                   .warp = g.warp,
                   .memory = {},
                   .parameters = {},
                   // Where the driver puts the memory of grid.sync.
                   .registers = {{"%envreg1", at(0, region::flags) >> 32},
                                 {"%envreg2", at(0, region::flags) & 0xffffffff}},
                   .name_of = numbered ? name_of_line : name_of_word};
  for (unsigned gpu = 0; gpu < g.gpus; ++gpu) fill(made.memory, g, gpu);
  made.parameters = [g, asked](const ptx::position& p) {
    const auto is = [&](const ptx::position& one) {
      return one.gpu == p.gpu && one.block == p.block && one.thread == p.thread;
    };
    const auto word = word_of_thread(asked.writer, region::payload), own = word_of_thread(p, region::scratch);
    std::vector<std::uint8_t> bytes;
    if (g.kernel == memory_of::library) append(bytes, handle_of(g, p.gpu));
    else bytes = arguments_of_pass(g, p.gpu);
    append(bytes, is(asked.writer) ? word : own);
    append(bytes, is(asked.reader) ? word : own);
    return bytes;
  };
  return made;
}

}  // namespace

std::vector<word_pair> all_pairs(const grids& g) {
  std::vector<ptx::position> positions;
  for (unsigned gpu = 0; gpu < g.gpus; ++gpu)
    for (unsigned block = 0; block < g.blocks; ++block)
      for (unsigned thread = 0; thread < g.threads; ++thread) positions.push_back({gpu, block, thread});
  std::vector<word_pair> pairs;
  for (const auto& writer : positions)
    for (const auto& reader : positions)
      if (&writer != &reader) pairs.push_back({writer, reader});
  return pairs;
}

memory_order::program asked_of(const ptx::kernel& kernel, const grids& g, const word_pair& asked,
                               const kept& as_well, int round) {
  ptx::launch launch = launch_of(kernel, g, asked);
  launch.failed_polls = as_well.failed_polls;
  launch.whole = as_well.whole;
  auto made = ptx::record(launch);
  const int reader = ptx::thread_number(launch, asked.reader);
  const auto word = word_of_thread(asked.writer, region::payload);
  made.program.question = ptx::stale_reads(made, reader, word, round);
  return made.program;
}

memory_order::program completeness_of(const ptx::kernel& kernel, const grids& g) {
  auto made = ptx::record(launch_of(kernel, g, all_pairs(g).front()));
  made.program.question = made.unexplored;
  return made.program;
}

}  // namespace mgsync::test
