# The Debian package: `cmake --build BUILD --target package` makes mgsync_VERSION_ARCHITECTURE.deb of all that is installed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mgsync)
set(CPACK_PACKAGE_CONTACT "the authors of mgsync" CACHE STRING "Who maintains the package, as Debian writes it: Name <address>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "mgsync compares the barriers of GPUs and host threads, over blocks, processes and nodes,
and checks each before it times it. With CUDA it brings the barrier over all blocks of
several GPUs as a library (mgsync/multi_grid.cuh).")
# What the program is linked with, by the packages that are installed here.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(MGSYNC_WITH_MPI)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)
endif()
set(CPACK_STRIP_FILES ON)
include(CPack)
