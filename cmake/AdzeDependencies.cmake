# The dependencies in the cache folder of scripts/setup.sh: the ONNX C++ library
# (adze::onnx) and DLPack's header (adze::dlpack).
set(default_cache "$ENV{ADZE_CACHE}")
if(NOT default_cache)
  set(default_cache "$ENV{XDG_CACHE_HOME}")
  if(NOT default_cache)
    set(default_cache "$ENV{HOME}/.cache")
  endif()
  set(default_cache "${default_cache}/adze")
endif()
set(ADZE_CACHE "${default_cache}" CACHE PATH "The folder that scripts/setup.sh filled")

find_path(ADZE_DLPACK_INCLUDE dlpack/dlpack.h PATHS ${ADZE_CACHE}/include NO_DEFAULT_PATH)
if(NOT ADZE_DLPACK_INCLUDE)
  message(FATAL_ERROR "expected dlpack/dlpack.h in ${ADZE_CACHE}/include: run scripts/setup.sh")
endif()
add_library(adze_dlpack INTERFACE)
add_library(adze::dlpack ALIAS adze_dlpack)
target_include_directories(adze_dlpack SYSTEM INTERFACE
  $<BUILD_INTERFACE:${ADZE_DLPACK_INCLUDE}> $<INSTALL_INTERFACE:include>)

# Checksums of weights: XXH3, header-only.
find_path(ADZE_XXHASH_INCLUDE xxhash.h)
if(NOT ADZE_XXHASH_INCLUDE)
  message(FATAL_ERROR "expected xxhash.h (Debian's libxxhash-dev): run scripts/setup.sh")
endif()

if(NOT ADZE_RUNTIME_ONLY)
  find_package(Protobuf REQUIRED)
  find_package(ONNX 1.23.2 CONFIG PATHS ${ADZE_CACHE}/onnx-1.23.2 NO_DEFAULT_PATH)
  if(NOT ONNX_FOUND)
    message(FATAL_ERROR "expected the ONNX library in ${ADZE_CACHE}/onnx-1.23.2: run scripts/setup.sh")
  endif()
  # Exceptions are enabled only in targets that link this library. No frame of MLIR
  # may be between a throw and its catch.
  add_library(adze_onnx INTERFACE)
  add_library(adze::onnx ALIAS adze_onnx)
  target_link_libraries(adze_onnx INTERFACE ONNX::onnx)
  target_compile_options(adze_onnx INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fexceptions>)
endif()
