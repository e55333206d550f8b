# Precompiled headers in the cache folder, not in the build folder: they hold
# headers of LLVM and the system only, so all checkouts share them, and since
# their path is the same everywhere ccache finds objects that another checkout
# compiled. The folder's name is a hash of all that goes in.

# adze_precompile(NAME HEADER FLAG...): a target NAME that makes HEADER's
# precompiled form; NAME_OPTIONS are the options that use it.
function(adze_precompile name header)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  get_directory_property(options COMPILE_OPTIONS)
  get_directory_property(definitions COMPILE_DEFINITIONS)
  list(TRANSFORM definitions PREPEND -D)
  list(APPEND flags -std=gnu++${CMAKE_CXX_STANDARD} ${options} ${definitions} -fpch-instantiate-templates
       -isystem ${LLVM_INCLUDE_DIRS} ${ARGN})
  file(READ ${header} text)
  string(SHA256 hash "${text};${flags};${CMAKE_CXX_COMPILER_VERSION};${LLVM_PACKAGE_VERSION}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(folder ${ADZE_CACHE}/pch/${hash})
  get_filename_component(file ${header} NAME)
  configure_file(${header} ${folder}/${file} COPYONLY)
  # Made under another name: a build that is stopped leaves no half of it. It is
  # made anew when a header changes, since clang refuses one of headers that an
  # upgrade of the system replaced.
  set(pch ${folder}/${file}.pch)
  add_custom_command(OUTPUT ${pch}
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -x c++-header ${folder}/${file} -o ${pch}.${name}
      -MD -MT ${pch} -MF ${CMAKE_BINARY_DIR}/${name}.d
    DEPFILE ${CMAKE_BINARY_DIR}/${name}.d
    COMMAND ${CMAKE_COMMAND} -E rename ${pch}.${name} ${pch}
    COMMENT "Precompiling ${file} into ${folder}" VERBATIM)
  add_custom_target(${name} DEPENDS ${pch})
  set(${name}_OPTIONS -fpch-instantiate-templates "SHELL:-Xclang -include-pch -Xclang ${pch}" PARENT_SCOPE)
endfunction()
