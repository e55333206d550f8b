# `make package`: a .deb that depends on Debian's packages, and a .tar.zst that
# contains all libraries except glibc and runs where it is unpacked.
install(FILES LICENSE DESTINATION share/doc/adze RENAME copyright)
install(FILES README.md CHANGELOG.md DESTINATION share/doc/adze)

# The libraries of the archive, in addition to libadze_rt.
configure_file(cmake/bundle-libraries.cmake.in bundle-libraries.cmake @ONLY)
install(SCRIPT ${CMAKE_BINARY_DIR}/bundle-libraries.cmake COMPONENT bundle EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB TZST)
set(CPACK_PACKAGE_NAME adze)
set(CPACK_PACKAGE_VENDOR "The Adze authors")
set(CPACK_PACKAGE_CONTACT "The Adze authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Ahead-of-time compiler from ONNX models to loadable modules")
set(CPACK_PACKAGE_FILE_NAME adze-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package-parts.cmake)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
