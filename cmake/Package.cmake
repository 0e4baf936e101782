# What `cmake --install` gives: the package that find_package(brigade) finds, and the program `brigade`.
#
#   bin/brigade                                 lib/libbrigade_*.a, lib/libbrigade_onednn.so
#   include/brigade/parallel/zero/...           lib/cmake/brigade/: targets, version, FindLibtorch
#
# Includes are spelled as in this tree ("parallel/zero/sharded_module.h"): a program builds unchanged in it and against
# the package. The folder may be moved. Components: `library` is all but the program.
include(CMakePackageConfigHelpers)

set(BRIGADE_PACKAGE_FOLDER lib/cmake/brigade)

# install_package(<module>...): the modules that become targets brigade::<module> of the package.
function(install_package)
  list(TRANSFORM ARGN PREPEND brigade_ OUTPUT_VARIABLE targets)
  install(TARGETS ${targets} EXPORT brigade ARCHIVE DESTINATION lib COMPONENT library
    FILE_SET HEADERS DESTINATION include/brigade COMPONENT library)
  if(TARGET brigade_onednn)
    install(TARGETS brigade_onednn LIBRARY DESTINATION lib COMPONENT library)
  endif()
  install(EXPORT brigade NAMESPACE brigade:: FILE brigade-targets.cmake DESTINATION "${BRIGADE_PACKAGE_FOLDER}"
    COMPONENT library)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/brigade-config.cmake.in"
    "${PROJECT_BINARY_DIR}/brigade-config.cmake" INSTALL_DESTINATION "${BRIGADE_PACKAGE_FOLDER}")
  # Before 1.0 a minor version may change anything.
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/brigade-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/brigade-config.cmake" "${PROJECT_BINARY_DIR}/brigade-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindLibtorch.cmake" DESTINATION "${BRIGADE_PACKAGE_FOLDER}" COMPONENT library)
endfunction()

# install_program(<target>): into bin/; finds what it loads in ../lib, and libtorch where it was built with it.
function(install_program target)
  set(run_path "$ORIGIN/../lib:${LIBTORCH_ROOT}/lib")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${run_path}")
  install(TARGETS ${target} RUNTIME DESTINATION bin COMPONENT program)
  # CMake changes its own entries; those that link options brought, of this build tree, would stay before them.
  install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/$<TARGET_FILE_NAME:${target}>\"
    NEW_RPATH \"${run_path}\")" COMPONENT program)
endfunction()
