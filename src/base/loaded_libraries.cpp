#include "src/base/loaded_libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace mgsync {
namespace {

// The last symbol version of this family ("GOMP_") that the library defines.
std::string last_symbol_version(const link_map& library, std::string_view family) {
  const ElfW(Verdef)* definition = nullptr;
  const char* names = nullptr;
  // The dynamic loader has relocated some of these addresses; others are still offsets in the file.
  const auto in_process = [&](const ElfW(Dyn) & entry) {
    return entry.d_un.d_ptr + (entry.d_un.d_ptr < library.l_addr ? library.l_addr : 0);
  };
  for (const auto* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_VERDEF) definition = reinterpret_cast<const ElfW(Verdef)*>(in_process(*entry));
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(in_process(*entry));
  }
  if (definition == nullptr || names == nullptr) return {};
  std::string last;
  for (;;) {
    const auto* const at = reinterpret_cast<const char*>(definition);
    const auto& named = *reinterpret_cast<const ElfW(Verdaux)*>(at + definition->vd_aux);
    if (const std::string_view name = names + named.vda_name;
        name.starts_with(family) && name.substr(family.size()).find_first_not_of("0123456789.") == name.npos)
      last = name;
    if (definition->vd_next == 0) return last;
    definition = reinterpret_cast<const ElfW(Verdef)*>(at + definition->vd_next);
  }
}

// "llvm-14" of /usr/lib/llvm-14/lib/libomp.so.5
std::string folder_with_version(const std::filesystem::path& file) {
  for (const auto& part : file)
    if (part.string().starts_with("llvm-")) return part.string();
  return {};
}

}  // namespace

std::string openmp_runtime() {
  void* const known = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  Dl_info found{};
  link_map* library = nullptr;
  if (known == nullptr) return "none";
  if (dladdr1(known, &found, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 ||
      library->l_name[0] == '\0')
    return "a part of this program";
  std::error_code unreadable;
  const std::filesystem::path file(found.dli_fname);
  auto name = file.filename().string();
  name.erase(std::min(name.find(".so"), name.size()));
  auto version = folder_with_version(std::filesystem::canonical(file, unreadable));
  // LLVM's library defines GCC's symbol versions too.
  if (version.empty() && name == "libgomp") version = last_symbol_version(*library, "GOMP_");
  return name + (version.empty() ? "" : " (" + version + ")");
}

std::string mpi_name(std::string_view text) {
  // "Open MPI v4.1.4, package: ..."; "MPICH Version:\t4.0.2\nMPICH Release date: ..."
  std::istringstream line(std::string(text.substr(0, text.find_first_of(",\n"))));
  std::string name;
  for (std::string word; line >> word;)
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
  return name;
}

std::string mpi_device(std::string_view text) {
  constexpr std::string_view label = "MPICH Device:";
  const auto at = text.find(label);
  if (at == std::string_view::npos) return {};
  std::istringstream rest(std::string(text.substr(at + label.size())));
  std::string device;
  rest >> device;
  return device;
}

std::vector<std::string> loaded_components(std::string_view prefix) {
  struct search {
    std::string_view prefix;
    std::vector<std::string> found{};
  } mine{prefix};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        auto& asked = *static_cast<search*>(into);
        const auto name = std::filesystem::path(info->dlpi_name).filename().string();
        if (name.starts_with(asked.prefix))
          asked.found.push_back(name.substr(asked.prefix.size(), name.find(".so") - asked.prefix.size()));
        return 0;
      },
      &mine);
  std::ranges::sort(mine.found);
  return mine.found;
}

}  // namespace mgsync
