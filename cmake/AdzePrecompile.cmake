# Precompiled headers in two layers. Run as a script, this file
# - with -DNEW=FILE -DOLD=FILE renames NEW to OLD, or removes it if both are equal;
# - with -DDEPFILE=FILE -DOUT=FILE writes the checksum of the inputs of a precompiled
#   header.
#
# Those of headers of LLVM and the system are in the cache folder: all checkouts
# share them, and as their paths are equal, ccache finds objects that another
# checkout compiled. The name of the folder is a hash of all inputs.
#
# Those with the classes of our dialects are in the build folder and include one of
# the former. Their bytes differ between checkouts, so ccache compares the checksum
# next to them instead (CCACHE_PCH_EXTSUM).
if(CMAKE_SCRIPT_MODE_FILE AND NEW)
  file(SHA256 ${NEW} new)
  if(EXISTS ${OLD})
    file(SHA256 ${OLD} old)
  endif()
  if("${new}" STREQUAL "${old}")
    file(REMOVE ${NEW})
  else()
    file(RENAME ${NEW} ${OLD})
  endif()
  return()
elseif(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${DEPFILE} text)
  string(REGEX REPLACE "^[^:]*:|\\\\\n" " " text "${text}")
  separate_arguments(headers UNIX_COMMAND "${text}")
  set(sums "")
  foreach(header IN LISTS headers)
    file(SHA256 ${header} sum)
    string(APPEND sums "${sum}\n")
  endforeach()
  string(SHA256 sum "${sums}")
  file(WRITE ${OUT} "${sum}\n")
  return()
endif()

# Sets the variable OUT to the flags of all precompiled headers.
function(adze_precompile_flags out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  get_directory_property(options COMPILE_OPTIONS)
  get_directory_property(definitions COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND -D)
  set(${out} ${flags} -std=gnu++${CMAKE_CXX_STANDARD} ${options} ${definitions} -fpch-instantiate-templates)
  if(LLVM_INCLUDE_DIRS)
    list(APPEND ${out} -isystem ${LLVM_INCLUDE_DIRS})
  endif()
  set(${out} ${${out}} PARENT_SCOPE)
endfunction()

# adze_precompile(NAME HEADER FLAG...): a target NAME that makes HEADER's
# precompiled form; NAME_OPTIONS are the options that use it.
function(adze_precompile name header)
  adze_precompile_flags(flags)
  list(APPEND flags ${ARGN})
  file(READ ${header} text)
  string(SHA256 hash "${text};${flags};${CMAKE_CXX_COMPILER_VERSION};${LLVM_PACKAGE_VERSION}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(folder ${ADZE_CACHE}/pch/${hash})
  get_filename_component(file ${header} NAME)
  configure_file(${header} ${folder}/${file} COPYONLY)
  # Written under another name, so that an interrupted build leaves no partial file.
  # It is built again when a header changes, as clang rejects it after an upgrade of
  # the system. An equal file is kept: if its time changed, clang would reject what
  # another checkout builds on it at this moment.
  set(pch ${folder}/${file}.pch)
  add_custom_command(OUTPUT ${pch}
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -x c++-header ${folder}/${file} -o ${pch}.${name}
      -MD -MT ${pch} -MF ${CMAKE_BINARY_DIR}/${name}.d
    DEPFILE ${CMAKE_BINARY_DIR}/${name}.d
    COMMAND ${CMAKE_COMMAND} -DNEW=${pch}.${name} -DOLD=${pch} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Precompiling ${file} into ${folder}" VERBATIM)
  add_custom_target(${name} DEPENDS ${pch})
  set(${name}_FILE ${pch} PARENT_SCOPE)
  set(${name}_OPTIONS -fpch-instantiate-templates "SHELL:-Xclang -include-pch -Xclang ${pch}" PARENT_SCOPE)
endfunction()

# adze_precompile_dialects(NAME BASE HEADER...): the same for the classes of
# dialects, based on the precompiled header BASE.
function(adze_precompile_dialects name base)
  set(folder ${CMAKE_BINARY_DIR}/pch)
  set(text "")
  foreach(include ${ARGN})
    string(APPEND text "#include \"${include}\"\n")
  endforeach()
  set(header ${folder}/${name}.h)
  file(CONFIGURE OUTPUT ${header} CONTENT "${text}" @ONLY)
  adze_precompile_flags(flags)
  set(pch ${header}.pch)
  add_custom_command(OUTPUT ${pch}
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -fno-exceptions -Wno-unused-parameter -I${CMAKE_SOURCE_DIR}/include
      -I${CMAKE_BINARY_DIR}/include -Xclang -include-pch -Xclang ${${base}_FILE}
      -x c++-header ${header} -o ${pch} -MD -MT ${pch} -MF ${pch}.d
    COMMAND ${CMAKE_COMMAND} -DDEPFILE=${pch}.d -DOUT=${pch}.sum -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPFILE ${pch}.d
    DEPENDS ${${base}_FILE} adze_tablegen_all
    COMMENT "Precompiling the dialects of ${name}" VERBATIM)
  add_custom_target(${name} DEPENDS ${pch})
  add_dependencies(${name} ${base})
  set(${name}_FILE ${pch} PARENT_SCOPE)
  set(${name}_OPTIONS -fpch-instantiate-templates "SHELL:-Xclang -include-pch -Xclang ${pch}" PARENT_SCOPE)
endfunction()
