# find_package(Adze): Adze::rt (shared), Adze::rt_static, Adze::compiler (the
# compiler as a library, if it is installed), and
# adze_compile(TARGET MODEL.onnx OUT.so [FLAG...]), which compiles a module at build
# time.
get_filename_component(ADZE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_package(Threads REQUIRED)

if(NOT TARGET Adze::rt)
  add_library(Adze::rt SHARED IMPORTED)
  set_target_properties(Adze::rt PROPERTIES
    IMPORTED_LOCATION "${ADZE_PREFIX}/lib/libadze_rt.so"
    INTERFACE_INCLUDE_DIRECTORIES "${ADZE_PREFIX}/include")
  add_library(Adze::rt_static STATIC IMPORTED)
  set_target_properties(Adze::rt_static PROPERTIES
    IMPORTED_LOCATION "${ADZE_PREFIX}/lib/libadze_rt.a"
    INTERFACE_INCLUDE_DIRECTORIES "${ADZE_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
if(NOT TARGET Adze::compiler AND EXISTS "${ADZE_PREFIX}/lib/libadze_compiler.so")
  add_library(Adze::compiler SHARED IMPORTED)
  set_target_properties(Adze::compiler PROPERTIES
    IMPORTED_LOCATION "${ADZE_PREFIX}/lib/libadze_compiler.so"
    INTERFACE_INCLUDE_DIRECTORIES "${ADZE_PREFIX}/include")
endif()

function(adze_compile target model output)
  add_custom_command(OUTPUT ${output}
    COMMAND ${ADZE_PREFIX}/bin/atranslate ${model} -o ${output} ${ARGN}
    DEPENDS ${model} VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()
