# What `cmake --install` puts where: the program, with the one that it starts for what may hang. With CUDA also the library, whose
# own project says so (barriers/library/CMakeLists.txt).
include(GNUInstallDirs)

install(TARGETS mgsync RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

# What `mgsync compare --reference` holds a node against: results of machines that were found good, beside the program
# as it is installed and as it is built.
set(reference_results h100x2/h100x2.machine h200x2/h200x2.machine h200x4/h200x4.machine)
foreach(name h100x1/barriers h100x1/reference-1 h100x1/reference-2 h100x1/reference-3 h100x2/barriers h100x2/library h200x1/barriers
    h200x1/grid-barriers h200x1/reference-1 h200x1/reference-2 h200x1/reference-3 h200x2/barriers h200x2/library h200x2/reference-1
    h200x2/reference-2 h200x2/reference-3 h200x2/sweep h200x4/all-backends h200x4/barriers h200x4/library host64/one-process)
  list(APPEND reference_results "${name}.json.xz")
endforeach()
file(REMOVE_RECURSE "${PROJECT_BINARY_DIR}/reference") # of a list that was another
foreach(file IN LISTS reference_results)
  configure_file("docs/results/${file}" "${PROJECT_BINARY_DIR}/reference/${file}" COPYONLY)
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/reference" DESTINATION "${CMAKE_INSTALL_DATADIR}/mgsync")

# The documents, where a system keeps them: as one reads them in the sources, less the results that tables are drawn from.
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md" PATTERN "*.cu" PATTERN "*.cuh"
  PATTERN results-schema.json PATTERN ladder.svg REGEX "/docs/results/[^/.]+$" EXCLUDE)

# The manual page, and what shells complete, as this program writes them; a program that does not run here, of another
# machine, is installed without them.
install(CODE "
  set(folder \"${PROJECT_BINARY_DIR}/pages\")
  file(REMOVE_RECURSE \"\${folder}\")
  file(MAKE_DIRECTORY \"\${folder}\")
  function(page name)
    execute_process(COMMAND \"$<TARGET_FILE:mgsync>\" \${ARGN} OUTPUT_FILE \"\${folder}/\${name}\" RESULT_VARIABLE ended)
    if(NOT ended EQUAL 0)
      file(REMOVE \"\${folder}/\${name}\")
      message(WARNING \"mgsync does not run here (\${ended}): \${name} is not installed\")
    endif()
  endfunction()
  page(mgsync.1 help --man)
  page(mgsync completion bash)
  page(_mgsync completion zsh)
  page(mgsync.fish completion fish)
")
install(FILES "${PROJECT_BINARY_DIR}/pages/mgsync.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" OPTIONAL)
install(FILES "${PROJECT_BINARY_DIR}/pages/mgsync" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" OPTIONAL)
install(FILES "${PROJECT_BINARY_DIR}/pages/_mgsync" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" OPTIONAL)
install(FILES "${PROJECT_BINARY_DIR}/pages/mgsync.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" OPTIONAL)
