# What `cmake --install` puts where: the program, with the one that it starts for what may hang; with CUDA also the library, its headers, the CMake package
# (find_package(mgsync CONFIG): mgsync::device, mgsync::multi_grid) and mgsync.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS mgsync mgsync_blocking_case RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

if(MGSYNC_WITH_CUDA)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/mgsync")
  install(TARGETS mgsync_device mgsync_multi_grid EXPORT mgsync-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${PROJECT_BINARY_DIR}/library/include/mgsync" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT mgsync-targets NAMESPACE mgsync:: DESTINATION "${package}")
  configure_package_config_file(cmake/mgsync-config.cmake.in "${PROJECT_BINARY_DIR}/library/mgsync-config.cmake"
    INSTALL_DESTINATION "${package}")
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/library/mgsync-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/library/mgsync-config.cmake"
    "${PROJECT_BINARY_DIR}/library/mgsync-config-version.cmake" DESTINATION "${package}")

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
  configure_file(cmake/mgsync.pc.in "${PROJECT_BINARY_DIR}/library/mgsync.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/library/mgsync.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

# What `mgsync compare --reference` holds a node against: results of machines that were found good, beside the program
# as it is installed and as it is built.
set(reference_results h100x1-all-backends h200x1-grid-barriers h200x2-library h200x2-sweep h200x4-all-backends h200x4-library h200x4-host-one-process)
list(TRANSFORM reference_results REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/docs/results/\\1.json")
install(FILES ${reference_results} DESTINATION "${CMAKE_INSTALL_DATADIR}/mgsync/reference")
foreach(file IN LISTS reference_results)
  get_filename_component(name "${file}" NAME)
  configure_file("${file}" "${PROJECT_BINARY_DIR}/reference/${name}" COPYONLY)
endforeach()
