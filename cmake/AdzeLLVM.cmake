# LLVM, MLIR and lld. Only the dylibs are linked: another MLIR* component would
# link a second, static copy of MLIRIR, whose TypeIDs differ.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/lld)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST})

# The flags of all libraries and tools of the compiler: RTTI on, exceptions off.
add_library(adze_compile_flags INTERFACE)
target_compile_options(adze_compile_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -Wno-unused-parameter>)

# One precompiled header of MLIR for all of them (a conversion file: 11 s -> 0.7 s),
# one for files that call the ONNX library, and, based on the first, those of our
# dialects (a file of patterns: 4 s -> 1.3 s). A library uses the one with the
# dialects that most of its files use.
include(AdzePrecompile)
adze_precompile(adze_pch ${CMAKE_SOURCE_DIR}/include/Support/Precompiled.h -fno-exceptions)
adze_precompile(adze_pch_onnx ${CMAKE_SOURCE_DIR}/include/Support/PrecompiledONNX.h
  -fexceptions -DONNX_NAMESPACE=onnx -DONNX_ML=1 -isystem ${ADZE_CACHE}/onnx-1.23.2/include)
adze_precompile_dialects(adze_pch_tile adze_pch Dialect/Tile/IR/Tile.h Dialect/Host/IR/Host.h)
adze_precompile_dialects(adze_pch_gpu adze_pch_tile
  mlir/Dialect/GPU/IR/GPUDialect.h mlir/Dialect/LLVMIR/NVVMDialect.h)
adze_precompile_dialects(adze_pch_graph adze_pch Dialect/Graph/IR/Graph.h)
adze_precompile_dialects(adze_pch_dialects adze_pch_graph Dialect/Tile/IR/Tile.h Dialect/Host/IR/Host.h)
