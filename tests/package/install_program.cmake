# cmake -DBUILD=<folder> -DFOLDER=<folder> -P install_program.cmake
#
# Installs the program beside the library in FOLDER/prefix. Fails where it does not run, or would look into the build
# tree for what it loads.
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --component program --prefix "${FOLDER}/prefix"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(program "${FOLDER}/prefix/bin/brigade")
file(READ_ELF "${program}" RPATH old_path RUNPATH run_path)
if(NOT run_path MATCHES "^.ORIGIN/../lib[:;]" OR run_path MATCHES "${BUILD}" OR old_path)
  message(FATAL_ERROR "${program} loads from: ${run_path} ${old_path}; expected first: $ORIGIN/../lib")
endif()
execute_process(COMMAND "${program}" --version COMMAND_ERROR_IS_FATAL ANY)
