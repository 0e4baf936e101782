# cmake -DEXAMPLE=<source folder> -DFOLDER=<folder> -DNAME=<name> -DGENERATOR=... -P build_example.cmake -- <-D...>...
#
# Configures and builds an example in a fresh folder, FOLDER/NAME, against the package in FOLDER/prefix alone.
set(options "")
set(is_option FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(is_option)
    list(APPEND options "${CMAKE_ARGV${index}}")
  elseif(CMAKE_ARGV${index} STREQUAL "--")
    set(is_option TRUE)
  endif()
endforeach()
file(REMOVE_RECURSE "${FOLDER}/${NAME}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${EXAMPLE}" -B "${FOLDER}/${NAME}" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix" ${options} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}/${NAME}" COMMAND_ERROR_IS_FATAL ANY)
