# mgsync_mpi_test(name RANKS n [PER_NODE n] COMMAND program... [LABELS ...]) runs the program under mpirun, with the
# environment that works with more ranks than cores, in containers and as root. With PER_NODE, so many ranks at a time are
# on a virtual node (jobs/virtual-nodes.sh). Nothing without MPI.
set(MGSYNC_MPI_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_btl=self,vader
  LD_BIND_NOW=1  # Open MPI 4.1's thread looked a function up while another closed a library, and crashed in the loader
  MPIEXEC_TIMEOUT=1180
  ASAN_OPTIONS=detect_leaks=0)  # Open MPI leaks; what is ours is looked for in the tests without mpirun

function(mgsync_mpi_test name)
  cmake_parse_arguments(arg "" "RANKS;PER_NODE" "COMMAND;LABELS" ${ARGN})
  if(NOT MGSYNC_WITH_MPI)
    return()
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(arg_PER_NODE)
    set(on_node bash "${PROJECT_SOURCE_DIR}/jobs/virtual-nodes.sh" --rank ${arg_PER_NODE})
  endif()
  add_test(NAME ${name}
    COMMAND "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${arg_RANKS} ${on_node} $<TARGET_FILE:${program}> ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS};mpi" TIMEOUT 1200 RUN_SERIAL ON SKIP_RETURN_CODE 77
    ENVIRONMENT "${MGSYNC_MPI_ENVIRONMENT}")
endfunction()
