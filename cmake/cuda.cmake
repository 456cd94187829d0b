# The CUDA language, as MGSYNC_CUDA says: OFF, ON, or AUTO (where nvcc is found). Sets MGSYNC_WITH_CUDA and defines
# mgsync_cuda: what targets with CUDA code link. Needs no GPU and no driver.

set(MGSYNC_CUDA_ARCHITECTURES "" CACHE STRING
  "Compute capabilities to build for, as in 75;80;90;100 (the default is what the compiler can); PTX of the last is added")

set(MGSYNC_WITH_CUDA OFF)
if(NOT MGSYNC_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(MGSYNC_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(MGSYNC_NVCC)
      set(CMAKE_CUDA_COMPILER "${MGSYNC_NVCC}")
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER)
    # The architectures are ours to give (below): CMake must neither ask the machine nor add its own.
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    enable_language(CUDA)
    # CMake 3.25 knows no C++20 for nvcc 13.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA_STANDARD_DEFAULT 17)
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(MGSYNC_WITH_CUDA ON)
  elseif(MGSYNC_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MGSYNC_CUDA is ON and no nvcc was found: install the CUDA toolkit (12 or 13), name its compiler "
      "with CMAKE_CUDA_COMPILER, or set MGSYNC_CUDA=OFF")
  endif()
endif()

if(MGSYNC_WITH_CUDA)
  set(architectures ${MGSYNC_CUDA_ARCHITECTURES})
  if(NOT architectures)
    set(architectures 75 80 90)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
      list(PREPEND architectures 70)
    endif()
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
      list(APPEND architectures 100)
    endif()
  endif()
  set(MGSYNC_BUILT_ARCHITECTURES ${architectures})
  set(targets_of_nvcc "")
  foreach(arch IN LISTS architectures)
    list(APPEND targets_of_nvcc "SHELL:-gencode=arch=compute_${arch},code=sm_${arch}")
  endforeach()
  list(GET architectures -1 last)
  list(APPEND targets_of_nvcc "SHELL:-gencode=arch=compute_${last},code=compute_${last}")

  add_library(mgsync_cuda INTERFACE)
  target_compile_options(mgsync_cuda INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-lineinfo;-Xcompiler=-Wall,-Wextra;${targets_of_nvcc}>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${MGSYNC_WERROR}>>:-Werror=all-warnings>)
  target_link_libraries(mgsync_cuda INTERFACE CUDA::cudart_static)
endif()
