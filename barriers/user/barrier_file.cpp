#include "barriers/user/barrier_file.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/parts/round_loop/device_run.hpp"
#include "src/base/errors.hpp"

namespace mgsync::user {

namespace {

constexpr const char* entry = "mgsync_check_file";

bool is_a_name(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), fits);
}

std::string what_is_wrong_with(const check::barrier_table& of) {
  if (of.name == nullptr || !is_a_name(of.name))
    return fmt::format("it has a barrier named '{}'; accepted: lower-case letters, digits and '-'",
                       of.name == nullptr ? "" : of.name);
  const bool on_gpu = of.on_gpu != 0;
  if (of.bytes == nullptr || of.takes == nullptr || of.start == nullptr ||
      (on_gpu ? of.launch == nullptr || of.resident == nullptr : of.run == nullptr))
    return fmt::format("its table of '{}' lacks a function", of.name);
  return {};
}

std::string names_of(const check::file_table& file) {
  std::vector<std::string> names;
  for (const auto* b : std::span(file.barriers, file.count)) names.emplace_back(b->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string what_is_wrong(const check::file_table* file) {
  using check::file_table;
  if (file == nullptr || file->magic != file_table::this_magic)
    return fmt::format("its {}() is not that of MGSYNC_CHECK_BARRIER", entry);
  if (file->interface != file_table::this_interface)
    return fmt::format(
        "it was compiled with headers of interface {}, and this mgsync {} speaks interface {}: compile "
        "it with the headers that came with this mgsync",
        file->interface, MGSYNC_CHECK_TEXT(MGSYNC_VERSION_MAJOR) "." MGSYNC_CHECK_TEXT(MGSYNC_VERSION_MINOR),
        file_table::this_interface);
  std::uint32_t here[file_table::sizes_told];
  check::inside::tell_sizes(here, sizeof(round_loop::device_run));
  constexpr unsigned of_a_kernel = file_table::sizes_told - 1;
  if (file->sizes[of_a_kernel] == 0) here[of_a_kernel] = 0;  // a file without kernels
  if (!std::equal(std::begin(here), std::end(here), std::begin(file->sizes)))
    return fmt::format(
        "it was compiled (by {}) with headers of mgsync {} that are not this program's: compile it with "
        "those that came with this mgsync",
        file->compiler, file->mgsync);
  if (file->count == 0 || file->barriers == nullptr) return "it holds no barrier";
  std::set<std::string> names;
  for (const auto* b : std::span(file->barriers, file->count)) {
    if (auto wrong = what_is_wrong_with(*b); !wrong.empty()) return wrong;
    if (!names.insert(b->name).second) return fmt::format("it has two barriers named '{}'", b->name);
  }
  return {};
}

std::shared_ptr<const barrier_file> barrier_file::open(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error(fmt::format("'{}' cannot be used as a barrier: {}", path, why));
  };
  if (access(path.c_str(), R_OK) != 0) refuse("there is no such file, or it cannot be read");
  // A name without a slash would be looked for in the system's folders.
  const auto where = path.find('/') == std::string::npos ? "./" + path : path;
  void* const loaded = dlopen(where.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* told = dlerror();
    const std::string why = told == nullptr ? "no reason given" : told;
    if (why.find("tsan") != why.npos)
      refuse(
          "it was compiled with -fsanitize=thread, whose library must be there first: begin the command with "
          "LD_PRELOAD=$(g++ -print-file-name=libtsan.so)");
    refuse(fmt::format(
        "it is no shared object that can be loaded here ({}); make one with 'g++ -shared -fPIC' or "
        "'nvcc -shared -Xcompiler -fPIC'",
        why));
  }
  std::shared_ptr<barrier_file> file(new barrier_file(path, loaded));
  const auto ask = reinterpret_cast<const check::file_table* (*)()>(dlsym(loaded, entry));
  if (ask == nullptr)
    refuse("it holds no barrier: its source ends with MGSYNC_CHECK_BARRIER(your_struct), from "
           "<mgsync/check.hpp> or "
           "<mgsync/check.cuh>");
  file->table_ = ask();
  if (const auto wrong = what_is_wrong(file->table_); !wrong.empty()) refuse(wrong);
  return file;
}

barrier_file::~barrier_file() { dlclose(loaded_); }

const check::barrier_table& barrier_file::barrier(std::string_view name) const {
  for (const auto* b : barriers())
    if (b->name == name) return *b;
  throw usage_error(fmt::format("'{}' has no barrier '{}'; it has: {}", path_, name, names_of(*table_)));
}

}  // namespace mgsync::user
