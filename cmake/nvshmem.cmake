# NVSHMEM's barriers in a shared object of their own, as MGSYNC_NVSHMEM says: OFF, ON, or AUTO (where CUDA and NVSHMEM are
# found; NVSHMEM_HOME says where). Its device library is relocatable device code, which doubles symbols where a program has
# other kernels: so nothing else links it. Sets MGSYNC_WITH_NVSHMEM; makes mgsync_nvshmem.so beside the program.

set(MGSYNC_WITH_NVSHMEM OFF)
if(NOT MGSYNC_NVSHMEM STREQUAL "OFF" AND MGSYNC_WITH_CUDA)
  find_path(MGSYNC_NVSHMEM_INCLUDE nvshmemx.h HINTS ENV NVSHMEM_HOME PATH_SUFFIXES include)
  find_library(MGSYNC_NVSHMEM_HOST NAMES libnvshmem_host.so libnvshmem_host.so.3 HINTS ENV NVSHMEM_HOME PATH_SUFFIXES lib lib64)
  find_library(MGSYNC_NVSHMEM_DEVICE libnvshmem_device.a HINTS ENV NVSHMEM_HOME PATH_SUFFIXES lib lib64)
  if(MGSYNC_NVSHMEM_INCLUDE AND MGSYNC_NVSHMEM_HOST AND MGSYNC_NVSHMEM_DEVICE)
    set(MGSYNC_WITH_NVSHMEM ON)
  endif()
endif()
if(MGSYNC_NVSHMEM STREQUAL "ON" AND NOT MGSYNC_WITH_NVSHMEM)
  message(FATAL_ERROR "MGSYNC_NVSHMEM is ON and NVSHMEM was not found with CUDA: set NVSHMEM_HOME to the folder with its include "
    "and lib (of a Python installation: site-packages/nvidia/nvshmem), turn MGSYNC_CUDA on, or set MGSYNC_NVSHMEM=OFF")
endif()
if(MGSYNC_WITH_NVSHMEM)
  set(object "${PROJECT_BINARY_DIR}/mgsync_nvshmem.so")
  set(architectures "")
  foreach(one IN LISTS MGSYNC_BUILT_ARCHITECTURES)
    string(REGEX MATCH "^[0-9]+" number "${one}")
    if(number AND NOT number LESS 70)
      list(APPEND architectures "-gencode=arch=compute_${number},code=sm_${number}")
    endif()
  endforeach()
  get_filename_component(folder "${MGSYNC_NVSHMEM_HOST}" DIRECTORY)
  get_filename_component(host "${MGSYNC_NVSHMEM_HOST}" NAME)
  add_custom_command(OUTPUT "${object}"
    COMMAND "${CMAKE_CUDA_COMPILER}" -std=c++17 -O3 -rdc=true --expt-relaxed-constexpr ${architectures} -shared -Xcompiler -fPIC
      -I "${PROJECT_SOURCE_DIR}" -isystem "${MGSYNC_NVSHMEM_INCLUDE}" -o "${object}"
      "${PROJECT_SOURCE_DIR}/barriers/nvshmem/nvshmem_object.cu" -L "${folder}" "-l:${host}" -lnvshmem_device -lcuda
      -Xlinker -rpath -Xlinker "${folder}"
    DEPENDS "${PROJECT_SOURCE_DIR}/barriers/nvshmem/nvshmem_object.cu" "${PROJECT_SOURCE_DIR}/barriers/nvshmem/nvshmem_object.hpp"
      "${PROJECT_SOURCE_DIR}/barriers/parts/algorithm/local_arrival.hpp"
      "${PROJECT_SOURCE_DIR}/barriers/parts/algorithm/cuda_operations.hpp"
      "${PROJECT_SOURCE_DIR}/barriers/parts/algorithm/cuda_policy.hpp"
      "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/cuda_passes.hpp"
      "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/device_rounds.hpp"
      "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/device_run.hpp"
    COMMENT "Building NVSHMEM's barriers" VERBATIM)
  add_custom_target(mgsync_nvshmem ALL DEPENDS "${object}")
  install(FILES "${object}" DESTINATION lib/mgsync)
endif()
