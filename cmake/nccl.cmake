# NCCL, as MGSYNC_NCCL says: OFF, ON, or AUTO (where CUDA and NCCL are found). Sets MGSYNC_WITH_NCCL, and
# MGSYNC_WITH_NCCL_DEVICE where its device API (2.28) is there too; defines mgsync_nccl.

set(MGSYNC_WITH_NCCL OFF)
set(MGSYNC_WITH_NCCL_DEVICE OFF)
if(NOT MGSYNC_NCCL STREQUAL "OFF" AND MGSYNC_WITH_CUDA)
  find_path(MGSYNC_NCCL_INCLUDE nccl.h HINTS ENV NCCL_HOME ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(MGSYNC_NCCL_LIBRARY nccl HINTS ENV NCCL_HOME ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
  if(MGSYNC_NCCL_INCLUDE AND MGSYNC_NCCL_LIBRARY)
    set(MGSYNC_WITH_NCCL ON)
    if(EXISTS "${MGSYNC_NCCL_INCLUDE}/nccl_device.h")
      set(MGSYNC_WITH_NCCL_DEVICE ON)
    endif()
  endif()
endif()
if(MGSYNC_NCCL STREQUAL "ON" AND NOT MGSYNC_WITH_NCCL)
  message(FATAL_ERROR "MGSYNC_NCCL is ON and NCCL was not found with CUDA: install libnccl-dev (or set NCCL_HOME), turn "
    "MGSYNC_CUDA on, or set MGSYNC_NCCL=OFF")
endif()
if(MGSYNC_WITH_NCCL)
  add_library(mgsync_nccl INTERFACE)
  target_include_directories(mgsync_nccl SYSTEM INTERFACE "${MGSYNC_NCCL_INCLUDE}")
  target_link_libraries(mgsync_nccl INTERFACE "${MGSYNC_NCCL_LIBRARY}" mgsync_cuda)
endif()
