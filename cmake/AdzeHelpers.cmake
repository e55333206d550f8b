# Functions that all CMakeLists.txt files of the tree use.

# adze_tablegen(TARGET FILE.td  OUT.inc -gen-flag [-extra..] ; ...): each
# trailing argument is one output, as a quoted string "OUT.inc -gen-x -y".
function(adze_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  foreach(line ${ARGN})
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words out)
    mlir_tablegen(${out} ${words} -I${CMAKE_SOURCE_DIR}/include)
  endforeach()
  add_public_tablegen_target(${target})
endfunction()

# adze_use_precompiled(TARGET PCH): see AdzePrecompile.cmake. Without a PCH, adze_pch.
function(adze_use_precompiled target pch)
  if(NOT pch)
    set(pch adze_pch)
  endif()
  target_compile_options(${target} PRIVATE ${${pch}_OPTIONS})
  add_dependencies(${target} ${pch})
endfunction()

# adze_add_library(NAME SRC... [ONNX] [NO_PCH] [PCH pch] [DEPENDS target...] [LINK lib...]):
# a static library of the compiler, with the common flags and a precompiled header:
# PCH, or adze_pch. ONNX: it calls the ONNX library, so it has exceptions and a separate
# precompiled header.
function(adze_add_library name)
  cmake_parse_arguments(arg "NO_PCH;ONNX" "PCH" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY ADZE_LIBRARIES ${name})
  target_link_libraries(${name} PRIVATE adze_compile_flags PUBLIC ${arg_LINK})
  # All headers are generated before any file is compiled, which is simple and takes
  # little time.
  add_dependencies(${name} adze_tablegen_all ${arg_DEPENDS})
  if(arg_ONNX)
    target_link_libraries(${name} PRIVATE adze::onnx)
    adze_use_precompiled(${name} adze_pch_onnx)
  elseif(NOT arg_NO_PCH)
    adze_use_precompiled(${name} "${arg_PCH}")
  endif()
endfunction()

# adze_add_tool(NAME SRC... [PCH pch] [LINK lib...]): an executable in build/bin.
function(adze_add_tool name)
  cmake_parse_arguments(arg "" "PCH" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE adze_compile_flags ${arg_LINK} MLIR LLVM)
  # MLIR must not bind to our definitions of its symbols (Support/Statistics.cpp);
  # all shared libraries must bind to a sanitizer's allocation functions.
  set(hidden ALL)
  if(ADZE_SANITIZE)
    set(hidden libAdzeSupport.a)
  endif()
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,${hidden})
  adze_use_precompiled(${name} "${arg_PCH}")
  add_dependencies(${name} adze_tablegen_all)
endfunction()

# adze_add_unittest(NAME SRC... [PCH pch] [LINK lib...]): a GoogleTest executable; each of
# its cases is a ctest.
function(adze_add_unittest name)
  cmake_parse_arguments(arg "" "PCH" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE adze_compile_flags ${arg_LINK} GTest::gmock GTest::gtest_main MLIR LLVM)
  adze_use_precompiled(${name} "${arg_PCH}")
  add_dependencies(${name} adze_tablegen_all)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()

# adze_add_doc(FILE.td OUT.md -gen-flag...): a page generated from TableGen, in the
# current binary folder.
function(adze_add_doc td out)
  set(LLVM_TARGET_DEFINITIONS ${CMAKE_SOURCE_DIR}/include/${td})
  tablegen(MLIR ${out} ${ARGN} -I${CMAKE_SOURCE_DIR}/include)
  string(MAKE_C_IDENTIFIER ${out} name)
  add_custom_target(adze-doc-${name} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${out})
  add_dependencies(adze-docs adze-doc-${name})
endfunction()
