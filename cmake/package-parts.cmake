# Read by CPack for each package: only archives contain the libraries.
set(CPACK_COMPONENTS_ALL Unspecified)
if(CPACK_GENERATOR STREQUAL "TZST")
  list(APPEND CPACK_COMPONENTS_ALL bundle)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
