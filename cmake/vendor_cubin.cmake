# The vendor's multi-grid barrier on CUDA 13: kernels in a cubin that an older nvcc makes (MGSYNC_LEGACY_NVCC) or that is
# brought along (MGSYNC_VENDOR_CUBIN). Makes the target mgsync_vendor_image, the cubin as an array of that name; no such
# target: there is none.

set(MGSYNC_LEGACY_NVCC "" CACHE FILEPATH "An nvcc of CUDA 11 or 12, to build the vendor's multi-grid barrier")
set(MGSYNC_VENDOR_CUBIN "" CACHE FILEPATH "The vendor's multi-grid barrier, built elsewhere (docs/vendor-barrier.md)")
set(MGSYNC_VENDOR_ARCHITECTURE 90 CACHE STRING "Compute capability of the cubin that MGSYNC_LEGACY_NVCC builds")

set(cubin "${MGSYNC_VENDOR_CUBIN}")
if(MGSYNC_WITH_CUDA AND (MGSYNC_LEGACY_NVCC OR cubin))
  set(folder "${PROJECT_BINARY_DIR}/generated/vendor")
  file(MAKE_DIRECTORY "${folder}")
  if(MGSYNC_LEGACY_NVCC)
    # Barriers that are timed, those that some are absent from, and those inside sums.
    set(timed "${PROJECT_SOURCE_DIR}/barriers/multigrid/vendor_kernels.cu")
    set(cases "${PROJECT_SOURCE_DIR}/src/studies/blocking/vendor_cases.cu")
    set(sums "${PROJECT_SOURCE_DIR}/src/studies/reduction/vendor_sums.cu")
    set(cubin "${folder}/vendor.cubin")
    set(arch "-arch=sm_${MGSYNC_VENDOR_ARCHITECTURE}")
    set(compile "${MGSYNC_LEGACY_NVCC}" -std=c++17 -O3 -rdc=true ${arch} -I "${PROJECT_SOURCE_DIR}" -cubin)
    add_custom_command(OUTPUT "${cubin}"
      COMMAND ${compile} -o "${folder}/timed.cubin" "${timed}"
      COMMAND ${compile} -o "${folder}/cases.cubin" "${cases}"
      COMMAND ${compile} -o "${folder}/sums.cubin" "${sums}"
      COMMAND "${MGSYNC_LEGACY_NVCC}" -dlink ${arch} -cubin -o "${cubin}" "${folder}/timed.cubin" "${folder}/cases.cubin" "${folder}/sums.cubin" -lcudadevrt
      DEPENDS "${timed}" "${cases}" "${sums}"
              "${PROJECT_SOURCE_DIR}/src/studies/reduction/gpu_joining.cuh"
              "${PROJECT_SOURCE_DIR}/src/studies/reduction/gpu_kernels.hpp"
              "${PROJECT_SOURCE_DIR}/src/studies/reduction/gpu_reading.cuh"
              "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/device_rounds.hpp"
              "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/device_run.hpp"
              "${PROJECT_SOURCE_DIR}/barriers/parts/round_loop/phase_check.hpp"
              "${PROJECT_SOURCE_DIR}/barriers/parts/algorithm/policy.hpp"
              "${PROJECT_SOURCE_DIR}/src/studies/blocking/gpu_board.cuh"
              "${PROJECT_SOURCE_DIR}/src/studies/blocking/gpu_case_kernels.hpp"
      COMMENT "Building the vendor's multi-grid barrier with ${MGSYNC_LEGACY_NVCC}" VERBATIM)
  endif()
  add_custom_command(OUTPUT "${folder}/vendor_image.cpp"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${cubin}" "-DOUTPUT=${folder}/vendor_image.cpp" -DSYMBOL=mgsync_vendor_image
            -P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${cubin}" VERBATIM)
  add_library(mgsync_vendor_image STATIC "${folder}/vendor_image.cpp")
endif()
