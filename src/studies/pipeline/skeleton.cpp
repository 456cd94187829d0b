// Skeletons are put together from the sources of the kernels that the study measures, which are embedded:
// what stands between lines `// skeleton >> NAME` and `// << skeleton`, without what only the study needs.
#include "src/studies/pipeline/skeleton.hpp"

#include <algorithm>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"

// Made by cmake/embed.cmake; each ends with a zero.
extern const unsigned char mgsync_skeleton_agents[], mgsync_skeleton_check[], mgsync_skeleton_frame[],
    mgsync_skeleton_mma[], mgsync_skeleton_order[], mgsync_skeleton_semaphores[], mgsync_skeleton_wgmma[],
    mgsync_skeleton_wgmma_instructions[];

namespace mgsync::pipeline {
namespace {

// The part of a source that has this name.
std::string part_of(const unsigned char* source, std::string_view name) {
  const std::string_view text = reinterpret_cast<const char*>(source);
  const auto mark = text.find(fmt::format("// skeleton >> {}", name));
  const auto begin = text.find('\n', mark) + 1, end = text.find("// << skeleton\n", begin);
  if (mark == text.npos || end == text.npos)
    throw std::logic_error(fmt::format("no source has a part {} for skeletons", name));
  std::string part(text.substr(begin, end - begin));
  while (part.ends_with("\n\n")) part.pop_back();
  return "\n" + part;
}

// Throws std::logic_error where there is nothing to replace: the kernels and this file then differ.
void replace(std::string& text, const char* what, const std::string& by) {
  const std::regex pattern(what);
  if (!std::regex_search(text, pattern))
    throw std::logic_error(fmt::format("a kernel's source has no {} that skeletons leave out", what));
  text = std::regex_replace(text, pattern, by);
}

// Leaves of `if (x.parts...) { always } else { never }` what is in the first braces.
void unwrap(std::string& text) {
  const std::regex head(R"(\n( *)if \(x\.parts[^\n]*\{\n)");
  std::smatch found;
  if (!std::regex_search(text, found, head))
    throw std::logic_error("a kernel's source has no parts that skeletons always have");
  const std::string indent = "\n" + found[1].str();
  const auto begin = static_cast<std::size_t>(found.position()), inside = begin + found[0].str().size();
  const auto otherwise = text.find(indent + "}", inside - 1), end = text.find(indent + "}\n", inside - 1);
  std::string kept = text.substr(inside - 1, otherwise - inside + 1);
  replace(kept, "\n  ", "\n");
  text.replace(begin, end + indent.size() + 1 - begin, kept);
}

std::string wgmma_text(const gemm_instance& of) {
  std::string warps = part_of(mgsync_skeleton_wgmma, "warps");
  unwrap(warps);  // loads
  unwrap(warps);  // multiplying
  replace(warps, R"(\n *(unsigned filled = 0|\+\+filled);)", "");
  replace(warps, R"(if \(x\.parts\.epilogue\) )", "");
  replace(warps, R"(, class (Recorder|Buffer)\b)", "");
  replace(warps, R"(\n[^\n]*Buffer::on && threadIdx[^\n]*)", "");
  replace(warps, R"( && !Buffer::on;[^\n]*)", ";");
  replace(warps, R"(\n *(notes\.|not_recorded |event_recorder notes)[^\n]*;)", "");
  replace(warps, R"(,\s*((Recorder|event_recorder<Buffer>)& )?notes\))", ")");
  std::string head = part_of(mgsync_skeleton_wgmma, "kernel");
  replace(head, R"(\n *gemm_parts parts;)", "");
  std::string map = part_of(mgsync_skeleton_wgmma, "map");
  replace(map, "cuda::", "");
  return part_of(mgsync_skeleton_wgmma_instructions, "operands") +
         part_of(mgsync_skeleton_wgmma_instructions, std::to_string(of.tile.n)) + head + warps +
         part_of(mgsync_skeleton_check, "fill") + part_of(mgsync_skeleton_frame, "host") +
         part_of(mgsync_skeleton_frame, "driver") + map + part_of(mgsync_skeleton_frame, "launch wgmma");
}

std::string mma_text() {
  std::string kernel = part_of(mgsync_skeleton_mma, "kernel");
  unwrap(kernel);
  replace(kernel, R"(\n *(unsigned filled = 0|\+\+filled|gemm_parts parts);)", "");
  replace(kernel, R"(if \(x\.parts\.\w+\) )", "");
  replace(kernel, R"(mma_family\.most_producers)", std::to_string(mma_family.most_producers));
  return kernel + part_of(mgsync_skeleton_check, "fill") + part_of(mgsync_skeleton_frame, "host") +
         part_of(mgsync_skeleton_frame, "launch mma");
}

// A name as it may stand between quotation marks.
std::string quotable(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; }, ' ');
  return name;
}

std::string top(const skeleton_of& asked, const gemm_family& family, const gemm_instance& of) {
  const bool hopper = &family == &wgmma_family;
  const tile_profile& p = asked.kernel;
  const extent size{asked.size.m, aligned_side(asked.size.n), aligned_side(asked.size.k)};
  std::string out = fmt::format(
      "// C = A B with warp specialization: producers load tiles of A and B into a ring of buffers, "
      "consumers\n"
      "// multiply them ({}). Halves in, 32-bit sums out; A and C row by row, B column by column.\n"
      "//\n"
      "//   nvcc -O3 -std=c++17 {} FILE.cu -o product && ./product\n"
      "//\n"
      "// Printed by: mgsync study pipeline --gemm {} --kernel {} --tile {} --buffers {} --producers {}\n"
      "//   --consumers {}{} --skeleton FILE.cu\n",
      family.instruction, hopper ? "-gencode arch=compute_90a,code=sm_90a" : "-arch=sm_90", text(asked.size),
      p.family, text(p.tile), asked.buffers, p.producers, p.consumers, asked.by_lines ? " --all-tiles" : "");
  out +=
      hopper ? "" : "// On another GPU, of compute capability 8.0 or later, name that in place of sm_90.\n";
  out += asked.by_lines ? "// Its tile was chosen by lines over the tiles that were measured, which is less "
                          "exact than the measured\n// kernels are.\n"
                        : "// This kernel was compiled and measured by mgsync.\n";
  out += hopper ? "#include <cuda.h>\n" : "";
  out += "#include <cuda_fp16.h>\n\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n\n";
  out +=
      fmt::format("constexpr int tile_m = {}, tile_n = {}, tile_k = {};  // of C, and the depth of a stage\n"
                  "constexpr unsigned buffers = {};\n",
                  p.tile.m, p.tile.n, p.tile.k, asked.buffers);
  if (hopper)
    out += fmt::format("constexpr int consumer_groups = {};  // warpgroups, beside the producer's\n"
                       "constexpr bool ping_pong = {};  // whether they take turns, or share each tile\n"
                       "constexpr int traded_consumer_registers = {}, traded_producer_registers = {};\n",
                       of.consumers * of.math_warps / 4, of.consumers == 2, traded_consumer_registers,
                       traded_producer_registers);
  else out += fmt::format("constexpr int producers = {};\n", p.producers);
  return out +
         fmt::format("constexpr int given_m = {}, given_n = {}, given_k = {};\n"
                     "constexpr double foretold_us = {:.3f};\n"
                     "constexpr const char* foretold_on = \"{}\";\n"
                     "constexpr bool runs_on(int compute_capability) {{ return compute_capability {}; }}\n",
                     size.m, size.n, size.k, asked.foretold_us, quotable(asked.on.name),
                     hopper ? "== 90" : ">= 80");
}

const gemm_instance* instance_of(const gemm_family& family, const tile_profile& p) {
  const auto found = std::ranges::find_if(family.instances, [&](const gemm_instance& one) {
    return one.tile == p.tile && one.consumers == p.consumers;
  });
  return found == family.instances.end() ? nullptr : &*found;
}

}  // namespace

std::string skeleton(const skeleton_of& asked) {
  for (const gemm_family* family : gemm_families) {
    const auto* const of = instance_of(*family, asked.kernel);
    if (family->name != asked.kernel.family || of == nullptr ||
        asked.kernel.producers > family->most_producers)
      continue;
    std::string semaphores = part_of(mgsync_skeleton_semaphores, "waits");
    replace(semaphores, R"(__trap\(\))", "give_up(address)");
    std::string ring = part_of(mgsync_skeleton_agents, "ring");
    replace(ring, "MGSYNC_HOST_DEVICE", "__device__");
    return top(asked, *family, *of) + part_of(mgsync_skeleton_semaphores, "shared") +
           part_of(mgsync_skeleton_frame, "late") + part_of(mgsync_skeleton_semaphores, "mbarriers") +
           semaphores + ring + part_of(mgsync_skeleton_order, "order") +
           (family == &wgmma_family ? wgmma_text(*of) : mma_text()) + part_of(mgsync_skeleton_frame, "main");
  }
  throw usage_error(fmt::format("--skeleton: this mgsync compiles no kernel {} with tile {}, {} and {}; "
                                "accepted: those of `mgsync study pipeline --kernel mma,wgmma --dry-run`",
                                asked.kernel.family, text(asked.kernel.tile),
                                counted(asked.kernel.producers, "producer"),
                                counted(asked.kernel.consumers, "consumer")));
}

}  // namespace mgsync::pipeline
