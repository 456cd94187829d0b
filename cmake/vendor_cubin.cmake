# The vendor's multi-grid barrier on CUDA 13: kernels in a cubin that an older nvcc makes (MGSYNC_LEGACY_NVCC) or that is
# brought along (MGSYNC_VENDOR_CUBIN). Sets MGSYNC_VENDOR_SOURCES for barriers/multigrid; empty: there are none.

set(MGSYNC_LEGACY_NVCC "" CACHE FILEPATH "An nvcc of CUDA 11 or 12, to build the vendor's multi-grid barrier")
set(MGSYNC_VENDOR_CUBIN "" CACHE FILEPATH "The vendor's multi-grid barrier, built elsewhere from vendor_kernels.cu")
set(MGSYNC_VENDOR_ARCHITECTURE 90 CACHE STRING "Compute capability of the cubin that MGSYNC_LEGACY_NVCC builds")

set(MGSYNC_VENDOR_SOURCES "")
if(MGSYNC_WITH_CUDA AND (MGSYNC_LEGACY_NVCC OR MGSYNC_VENDOR_CUBIN))
  set(folder "${PROJECT_BINARY_DIR}/generated/vendor")
  file(MAKE_DIRECTORY "${folder}")
  set(cubin "${MGSYNC_VENDOR_CUBIN}")
  if(MGSYNC_LEGACY_NVCC)
    set(source "${PROJECT_SOURCE_DIR}/barriers/multigrid/vendor_kernels.cu")
    set(cubin "${folder}/vendor.cubin")
    set(arch "-arch=sm_${MGSYNC_VENDOR_ARCHITECTURE}")
    add_custom_command(OUTPUT "${cubin}"
      COMMAND "${MGSYNC_LEGACY_NVCC}" -std=c++17 -O3 -rdc=true ${arch} -I "${PROJECT_SOURCE_DIR}" -cubin
              -o "${folder}/kernels.cubin" "${source}"
      COMMAND "${MGSYNC_LEGACY_NVCC}" -dlink ${arch} -cubin -o "${cubin}" "${folder}/kernels.cubin" -lcudadevrt
      DEPENDS "${source}"
              "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/device_rounds.hpp"
              "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/device_run.hpp"
              "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/phase_check.hpp"
              "${PROJECT_SOURCE_DIR}/barriers/parts/algorithm/policy.hpp"
      COMMENT "Building the vendor's multi-grid barrier with ${MGSYNC_LEGACY_NVCC}" VERBATIM)
  endif()
  add_custom_command(OUTPUT "${folder}/vendor_image.cpp"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${cubin}" "-DOUTPUT=${folder}/vendor_image.cpp" -DSYMBOL=mgsync_vendor_image
            -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${cubin}" VERBATIM)
  set(MGSYNC_VENDOR_SOURCES vendor.cpp "${folder}/vendor_image.cpp")
endif()
