# splitplane_programs(TARGET FUNCTION [WITHOUT_PREFETCH] SPECS files...): a library of P4 programs compiled ahead of time.
# The tool card_aot_tool writes each .spec as C++. FUNCTION returns the programs (src/card/compiled/programs.h).
function(splitplane_programs target function)
  cmake_parse_arguments(arg "WITHOUT_PREFETCH" "" "SPECS" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${dir})
  set(option "")
  if(arg_WITHOUT_PREFETCH)
    set(option without_prefetch)
  endif()
  set(sources "")
  foreach(spec IN LISTS arg_SPECS)
    cmake_path(GET spec STEM name)
    # The id of a program is its file's name, so each library has separate names.
    set(source ${dir}/${target}_${name}.cpp)
    add_custom_command(OUTPUT ${source} COMMAND card_aot_tool program ${spec} ${source} ${option} DEPENDS card_aot_tool ${spec}
                       COMMENT "Writing ${name}.spec as C++" VERBATIM)
    list(APPEND sources ${source})
  endforeach()
  add_custom_command(OUTPUT ${dir}/index.cpp COMMAND card_aot_tool index ${dir}/index.cpp ${function} ${sources}
                     DEPENDS card_aot_tool ${arg_SPECS} VERBATIM)
  add_library(${target} STATIC ${sources} ${dir}/index.cpp)
  target_link_libraries(${target} PUBLIC card_compiled)
  if(SPLITPLANE_UNITY)  # most of a file's time goes into DPDK's headers
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
  # Labels and casts are the generator's, not a reader's. -O3 made them no faster, and slower to compile.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2> -Wno-unused-label -fomit-frame-pointer)
endfunction()
