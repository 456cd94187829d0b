# cuBLAS, as MGSYNC_CUBLAS says: OFF, ON, or AUTO (where CUDA and its header are found). Sets MGSYNC_WITH_CUBLAS,
# MGSYNC_CUBLAS_INCLUDE and MGSYNC_CUBLAS_LIBRARY. Nothing links it: a row of the study pipeline loads it.

set(MGSYNC_WITH_CUBLAS OFF)
if(NOT MGSYNC_CUBLAS STREQUAL "OFF" AND MGSYNC_WITH_CUDA)
  find_path(MGSYNC_CUBLAS_INCLUDE cublas_v2.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(MGSYNC_CUBLAS_LIBRARY cublas HINTS ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
  if(MGSYNC_CUBLAS_INCLUDE AND MGSYNC_CUBLAS_LIBRARY)
    set(MGSYNC_WITH_CUBLAS ON)
  endif()
endif()
if(MGSYNC_CUBLAS STREQUAL "ON" AND NOT MGSYNC_WITH_CUBLAS)
  message(FATAL_ERROR "MGSYNC_CUBLAS is ON and cuBLAS was not found with CUDA: install libcublas-dev of the CUDA toolkit, turn "
    "MGSYNC_CUDA on, or set MGSYNC_CUBLAS=OFF")
endif()
