#include "barriers/nvshmem/loaded_nvshmem.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "barriers/parts/round_loop/device_run.hpp"

namespace mgsync {

namespace {

namespace fs = std::filesystem;

// In the build and in an installation.
fs::path place_of_object() {
  std::error_code none;
  const auto program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& folder : {program, program.parent_path() / "lib" / "mgsync"})
    if (fs::exists(folder / nvshmem_object::file, none)) return folder / nvshmem_object::file;
  return {};
}

loaded_nvshmem open_object() {
  const auto path = place_of_object();
  if (path.empty())
    return {nullptr,
            fmt::format("{} is neither beside mgsync nor in ../lib/mgsync: build it with NVSHMEM_HOME=<where "
                        "NVSHMEM is> and -DMGSYNC_NVSHMEM=ON",
                        nvshmem_object::file)};
  // Never unloaded: NVSHMEM does not start a second time.
  void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return {nullptr, fmt::format("{} cannot be loaded: {}", path.string(), dlerror())};
  const auto ask = reinterpret_cast<const nvshmem_object* (*)()>(dlsym(loaded, nvshmem_object::entry));
  const nvshmem_object* const told = ask == nullptr ? nullptr : ask();
  if (auto wrong = what_is_wrong(told); !wrong.empty())
    return {nullptr, fmt::format("{} cannot be used: {}", path.string(), wrong)};
  return {told, {}};
}

}  // namespace

std::string what_is_wrong(const nvshmem_object* told) {
  if (told == nullptr || told->magic != nvshmem_object::this_magic)
    return "it is not the object of mgsync's NVSHMEM barriers";
  if (told->bytes_of_run != sizeof(round_loop::device_run) ||
      told->bytes_of_arguments != sizeof(nvshmem_lines))
    return "it was built from another version of mgsync; build it anew";
  return {};
}

const loaded_nvshmem& load_nvshmem() {
  static const loaded_nvshmem loaded = open_object();
  return loaded;
}

}  // namespace mgsync
