# AdzeCommit.h: the commit that is built, and its targets. Included, this file
# defines the target adze_commit; run as a script (-DOUT=FILE), it writes the header
# if its content changes.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(out ${CMAKE_BINARY_DIR}/generated/AdzeCommit.h)
  add_custom_target(adze_commit BYPRODUCTS ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
      -P ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
  add_library(adze_version INTERFACE)
  target_include_directories(adze_version INTERFACE ${CMAKE_BINARY_DIR}/generated)
  add_dependencies(adze_version adze_commit)
  return()
endif()

execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed) # an archive without its history
  set(commit "unknown")
endif()
set(text "#define ADZE_VERSION \"${VERSION}\"\n#define ADZE_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
