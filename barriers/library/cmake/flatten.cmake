# mgsync_flatten(source file): writes `source` to `file` with this repository's own includes ("barriers/...", "src/...") put
# in their places, each once: what is installed needs no other file of ours than <mgsync/...>. An include of such a header
# stays, and what is in it is not put in again behind it. Done at configure time; a change of any of the sources
# configures again.

get_filename_component(_mgsync_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

function(_mgsync_flat_text source seen_name text_name)
  file(READ "${source}" text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  set(seen "${${seen_name}}")
  string(REPLACE "#pragma once\n" "" text "${text}")
  string(REGEX MATCHALL "[^\n]*#include (\"(barriers|src)/[^\"]+\"|<mgsync/[^>]+>)\n" includes "${text}")
  list(FILTER includes INCLUDE REGEX "^#include")  # not those in comments
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include [\"<]([^\">]+)[\">]\n" "\\1" path "${include}")
    set(public OFF)
    if(include MATCHES "<mgsync/")
      set(public ON)
      string(PREPEND path "barriers/library/include/")
    endif()
    set(inner "")
    if(NOT path IN_LIST seen)
      list(APPEND seen "${path}")
      _mgsync_flat_text("${_mgsync_root}/${path}" seen inner)
      set(inner "\n// ---- ${path}\n${inner}")
    endif()
    if(NOT public)
      string(REPLACE "${include}" "${inner}" text "${text}")
    endif()
  endforeach()
  set(${seen_name} "${seen}" PARENT_SCOPE)
  set(${text_name} "${text}" PARENT_SCOPE)
endfunction()

function(mgsync_flatten source file)
  set(seen "")
  _mgsync_flat_text("${source}" seen text)
  file(CONFIGURE OUTPUT "${file}" CONTENT "// Generated from mgsync ${PROJECT_VERSION}.\n#pragma once\n@text@" @ONLY)
endfunction()
