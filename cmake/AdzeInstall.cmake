# `make install`: bin/, lib/libadze_rt.{a,so}, lib/libadze_compiler.so, include/,
# lib/cmake/Adze.
set(installed adze_rt_shared adze_rt_static)
if(TARGET adze_compiler)
  list(APPEND installed adze_compiler)
  install(FILES include/CAPI/adze_compiler.h DESTINATION include)
endif()
foreach(tool arun atranslate aopt adze-reduce adze-lsp-server)
  if(TARGET ${tool})
    list(APPEND installed ${tool})
    # Tools find libadze_rt where they are installed, wherever that is.
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  endif()
endforeach()
install(TARGETS ${installed} RUNTIME DESTINATION bin LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
install(FILES runtime/include/adze.h DESTINATION include)
install(FILES ${ADZE_DLPACK_INCLUDE}/dlpack/dlpack.h DESTINATION include/dlpack)

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/AdzeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/AdzeConfig.cmake ${CMAKE_BINARY_DIR}/AdzeConfigVersion.cmake DESTINATION lib/cmake/Adze)
add_custom_target(adze-install-targets DEPENDS ${installed})
