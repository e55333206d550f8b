# Fails when OBJECT has an undefined symbol: it would reach users' modules.
execute_process(COMMAND ${NM} --undefined-only ${OBJECT} OUTPUT_VARIABLE left COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${left}" left)
if(NOT left STREQUAL "")
  message(FATAL_ERROR "${OBJECT} lacks definitions of:\n${left}")
endif()
