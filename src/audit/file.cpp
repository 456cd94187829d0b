#include "src/audit/file.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>

#include <fmt/format.h>

#include "src/base/bounded_file.hpp"
#include "src/base/errors.hpp"
#include "src/probes/fat_binary/images.hpp"

namespace mgsync::audit {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;
constexpr std::size_t most_steps_of_a_file = 5'000'000;
constexpr std::chrono::seconds longest_reading_of_images(60);
constexpr std::string_view accepted = "PTX, a cubin, a fat binary, or a shared object or program with one";

std::string capability(unsigned architecture) {
  return fmt::format("{}.{}", architecture / 10, architecture % 10);
}

// What a build does without is said; so is what is left out of a library of thousands of kernels.
void add_images(audited_file& all, const std::string& name, std::span<const std::byte> file) {
  const auto images = fat_binary::images_in(file);
  if (images.empty()) throw usage_error("there is no code for GPUs in it");
  const auto end = std::chrono::steady_clock::now() + longest_reading_of_images;
  std::size_t packed = 0, left = 0, steps = 0;
  for (const fat_binary::image& one : images) {
    if (steps > most_steps_of_a_file || std::chrono::steady_clock::now() > end) {
      ++left;
      continue;
    }
    const auto content = fat_binary::content_of(one);
    if (!content) {
      ++packed;
      continue;
    }
    part made;
    made.name = fmt::format("{}, {} for {}", name, one.is_text ? "PTX" : "machine code",
                            capability(one.architecture));
    if (one.is_text) {
      made.text = content->substr(0, content->find('\0'));
      made.functions = read_ptx(made.text);
    } else made.functions = read_machine_code(std::as_bytes(std::span(*content)));
    for (const function& f : made.functions) steps += f.steps.size();
    all.parts.push_back(std::move(made));
  }
  if (packed != 0)
    all.not_known.push_back(
        fmt::format("{} of the {} images in {}, which are compressed, and this mgsync was built without what "
                    "decompresses them: -DMGSYNC_LZ4=ON -DMGSYNC_ZSTD=ON; or `cuobjdump -xptx all -xelf all "
                    "{}` (of a CUDA toolkit) writes them as files that can be audited",
                    packed, images.size(), name, name));
  if (left != 0)
    all.not_known.push_back(fmt::format(
        "{} of the {} images in {}: those before them have {} instructions, and an audit reads "
        "{} of a file, for {} s",
        left, images.size(), name, steps, most_steps_of_a_file, longest_reading_of_images.count()));
}

void add(audited_file& all, const std::string& name, const std::string& content) {
  const auto bytes = std::as_bytes(std::span(content));
  try {
    if (fat_binary::is_cubin(bytes)) all.parts.push_back({name, read_machine_code(bytes), {}, {}});
    else if (fat_binary::is_elf(bytes) || fat_binary::is_fat_binary(bytes)) add_images(all, name, bytes);
    else if (content.find('\0') != std::string::npos || content.find(".version") == std::string::npos)
      throw usage_error("it begins as none of the files that can be audited");
    else all.parts.push_back({name, read_ptx(content), {}, content});
  } catch (const usage_error& error) {
    throw usage_error(fmt::format("{}: {}; accepted: {}", name, error.what(), accepted));
  }
}

// For a kernel in PTX and in machine code: compares what stands between its clock reads.
void compare_parts(audited_file& all) {
  std::map<std::string_view, const function*> texts;
  for (const part& one : all.parts)
    for (const function& f : one.functions)
      if (f.is_text) texts[f.name] = &f;
  for (part& machine : all.parts)
    for (std::size_t i = 0; i < machine.functions.size(); ++i) {
      const function& f = machine.functions[i];
      report& found = machine.reports[i];
      if (f.is_text || found.clocks == 0) continue;
      if (const auto text = texts.find(f.name); text != texts.end()) compare_clocks(*text->second, f, found);
      else
        found.not_known.push_back(
            {"whether these reads of the clock stand where they did in PTX, which is not here", {}});
    }
}

}  // namespace

audited_file audit_files(const std::vector<std::string>& names, const assumptions& assumed) {
  std::vector<named_bytes> files;
  for (const std::string& name : names) {
    std::string code;
    try {
      code = fat_binary::fat_sections_of(name);
    } catch (const usage_error& error) {
      throw usage_error(fmt::format("{}: {}; accepted: {}", name, error.what(), accepted));
    }
    if (code.empty()) code = read_bounded_file(name, name, accepted, largest_file);
    files.push_back({name, std::move(code)});
  }
  return audit_bytes(files, assumed);
}

audited_file audit_bytes(const std::vector<named_bytes>& files, const assumptions& assumed) {
  audited_file all;
  for (const named_bytes& one : files) add(all, one.name, one.bytes);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  std::size_t left = 0;
  for (part& one : all.parts)
    for (const function& f : one.functions) {
      const bool late = std::chrono::steady_clock::now() > end;
      left += late;
      auto& made = one.reports.emplace_back();
      if (late) made.not_judged = "the audit had taken two minutes by then";
      else made = audit_function(f, assumed);
    }
  if (left != 0)
    all.not_known.push_back(fmt::format("{} functions: the audit had taken two minutes by then", left));
  compare_parts(all);
  return all;
}

}  // namespace mgsync::audit
