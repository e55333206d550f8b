# Man pages and completions for bash, zsh and fish, generated from the output of
# `--help` of each tool (cli-files.awk).
set(cli ${CMAKE_BINARY_DIR}/cli)
file(MAKE_DIRECTORY ${cli})
set(cli_files)
foreach(tool arun atranslate aopt adze-reduce)
  if(NOT TARGET ${tool})
    continue()
  endif()
  set(generate awk -v tool=${tool} -v version=${PROJECT_VERSION} -f ${CMAKE_SOURCE_DIR}/cmake/cli-files.awk)
  set(files ${cli}/${tool}.1 ${cli}/${tool}.bash ${cli}/_${tool} ${cli}/${tool}.fish)
  add_custom_command(OUTPUT ${files}
    COMMAND $<TARGET_FILE:${tool}> --help >${cli}/${tool}.help
    COMMAND ${generate} -v mode=man ${cli}/${tool}.help >${cli}/${tool}.1
    COMMAND ${generate} -v mode=bash ${cli}/${tool}.help >${cli}/${tool}.bash
    COMMAND ${generate} -v mode=zsh ${cli}/${tool}.help >${cli}/_${tool}
    COMMAND ${generate} -v mode=fish ${cli}/${tool}.help >${cli}/${tool}.fish
    DEPENDS ${tool} ${CMAKE_SOURCE_DIR}/cmake/cli-files.awk)
  list(APPEND cli_files ${files})
  install(FILES ${cli}/${tool}.1 DESTINATION share/man/man1)
  install(FILES ${cli}/${tool}.bash DESTINATION share/bash-completion/completions RENAME ${tool})
  install(FILES ${cli}/_${tool} DESTINATION share/zsh/vendor-completions)
  install(FILES ${cli}/${tool}.fish DESTINATION share/fish/vendor_completions.d)
endforeach()
add_custom_target(adze-cli-files ALL DEPENDS ${cli_files})
