// What mgsync and the shared object of its NVSHMEM barriers tell each other. The object holds NVSHMEM's
// device library and our loops around its barrier, compiled together as relocatable device code, which
// nothing else in the program may be; it is loaded where the barrier is asked for. Plain C. C++17.
#pragma once

#include <cstdint>

namespace mgsync {

// The addresses of the members' flags, as the kernels take them.
struct nvshmem_lines {
  std::uint32_t* parts[16];
};

struct nvshmem_object {
  static constexpr std::uint32_t this_magic = 0x6d676e76;
  static constexpr const char* entry = "mgsync_nvshmem_object";
  static constexpr const char* file = "mgsync_nvshmem.so";

  // By which threads of the block that speaks for its GPU: one warp, or all of them.
  enum class form : std::uint32_t { warp, block };
  enum class kernel : std::uint32_t { timed, checked };

  std::uint32_t magic;
  std::uint32_t bytes_of_run, bytes_of_arguments;  // of the structs that the kernels take, to be compared
  std::uint32_t bytes_of_id;
  const char* version;
  // All return 0, or NVSHMEM's or CUDA's number of an error.
  int (*make_id)(void* id);                             // by one of the processes, for all
  int (*start)(const void* id, int number, int count);  // by each, once, on its GPU; together
  int (*launch)(form, kernel, unsigned grid, unsigned threads, void** arguments, void* stream);
  int (*resident)(form, kernel, unsigned threads, int* blocks);
};

}  // namespace mgsync
