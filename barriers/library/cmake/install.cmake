# What is installed of the library: headers that need no other file of ours (component mgsync_headers: copy them to vendor the device
# code alone), the library, the CMake package (find_package(mgsync CONFIG): mgsync::device, mgsync::multi_grid) and mgsync.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/mgsync")
install(DIRECTORY "${public}/mgsync" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT mgsync_headers)
install(TARGETS mgsync_device mgsync_multi_grid EXPORT mgsync-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mgsync_library
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mgsync_library
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT mgsync-targets NAMESPACE mgsync:: DESTINATION "${package}" COMPONENT mgsync_library)
configure_package_config_file(cmake/mgsync-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/mgsync-config.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/mgsync-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mgsync-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/mgsync-config-version.cmake"
  DESTINATION "${package}" COMPONENT mgsync_library)

# nvcc brings the CUDA runtime itself; a program that another compiler links asks pkg-config with --static. A shared mgsync
# shares its runtime with the program: kernels are registered with one, and nvcc's own would be another.
if(BUILD_SHARED_LIBS)
  set(public_libraries " -L${CUDAToolkit_LIBRARY_DIR} -lcudart")
  set(private_libraries "")
else()
  set(public_libraries "")
  set(private_libraries "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ -lm -lpthread -ldl -lrt")
endif()
file(RELATIVE_PATH pc_up "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/mgsync.pc.in "${CMAKE_CURRENT_BINARY_DIR}/mgsync.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mgsync.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT mgsync_library)
