# cmake -DBUILD=<folder> -DFOLDER=<folder> -DSOURCE=<folder> -P install.cmake
#
# Installs the library out of BUILD and moves it to FOLDER/prefix, as a package that travels does. Fails where an
# installed CMake file still names the tree or the place of installation.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --component library --prefix "${FOLDER}/unpacked"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${FOLDER}/unpacked" "${FOLDER}/prefix")
file(GLOB installed "${FOLDER}/prefix/lib/cmake/brigade/*.cmake")
if(NOT installed)
  message(FATAL_ERROR "nothing was installed into lib/cmake/brigade")
endif()
foreach(file IN LISTS installed)
  file(READ "${file}" text)
  foreach(place IN ITEMS "${SOURCE}" "${BUILD}" "${FOLDER}")
    string(FIND "${text}" "${place}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${place}, which is not on the machine of whoever uses the package")
    endif()
  endforeach()
endforeach()
