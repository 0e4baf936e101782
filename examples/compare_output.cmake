# cmake -DPROGRAM=... -DARGUMENTS=... -DEXPECTED=... -P compare_output.cmake
#
# Fails unless the program ends with 0 and prints exactly what the file EXPECTED holds.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} OUTPUT_VARIABLE printed ERROR_VARIABLE complaint RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} ended with ${code}: ${complaint}")
endif()
file(READ "${EXPECTED}" expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} did not print what ${EXPECTED} holds; it printed:\n${printed}")
endif()
