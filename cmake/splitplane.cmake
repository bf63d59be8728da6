# splitplane_rooms(): a library for each room of src/rooms.txt and, from the *_test.cpp beside its sources, a test program.
# The targets are called as the room with _ for /: gnb/datapath is gnb_datapath, gnb_datapath_test.
# A room's headers are reachable as "room/header.h" only by targets that link it: each room has an include root with
# links to its own headers and nothing else, so that an include against the table does not compile.

add_library(splitplane_flags INTERFACE)
target_compile_options(splitplane_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wno-interference-size -Wno-missing-field-initializers
  -march=${SPLITPLANE_MARCH} -fno-omit-frame-pointer>)  # nvcc has its own: cmake/cuda.cmake
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(splitplane_flags INTERFACE -Wno-unknown-warning-option)
endif()
if(SPLITPLANE_SANITIZE)
  target_compile_options(splitplane_flags INTERFACE -fsanitize=${SPLITPLANE_SANITIZE} -fno-sanitize-recover=all)
  if(SPLITPLANE_FUZZ)  # what counts the code's branches for libFuzzer; unit tests pass without
    target_compile_options(splitplane_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SPLITPLANE_UNIT_TEST>>>:-fsanitize=fuzzer-no-link>)
    target_link_options(splitplane_flags INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  target_link_options(splitplane_flags INTERFACE -fsanitize=${SPLITPLANE_SANITIZE})
  find_program(SPLITPLANE_LLD ld.lld)  # links a test of 100 MB in a fifth of the time
  if(SPLITPLANE_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_link_options(splitplane_flags INTERFACE -fuse-ld=lld)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # takes optional and variant for uninitialized once they are instrumented
    target_compile_options(splitplane_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  # Compilers do not agree on how they say so.
  if(SPLITPLANE_SANITIZE MATCHES address)
    target_compile_definitions(splitplane_flags INTERFACE SPLITPLANE_ASAN)
  endif()
  if(SPLITPLANE_SANITIZE MATCHES thread)
    target_compile_definitions(splitplane_flags INTERFACE SPLITPLANE_TSAN RTE_USE_C11_MEM_MODEL)
    target_compile_options(splitplane_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()

# Links to the headers of a room under its include root; ROOT gets the root's path.
function(splitplane_include_root room name root)
  set(at ${CMAKE_CURRENT_BINARY_DIR}/include/${name})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${room}/*.h ${CMAKE_CURRENT_SOURCE_DIR}/src/${room}/*.cuh)
  file(GLOB old ${at}/${room}/*)
  foreach(header IN LISTS old)
    cmake_path(GET header FILENAME file)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/${room}/${file})
      file(REMOVE ${header})
    endif()
  endforeach()
  file(MAKE_DIRECTORY ${at}/${room})
  foreach(header IN LISTS headers)
    cmake_path(GET header FILENAME file)
    if(NOT EXISTS ${at}/${room}/${file})
      file(CREATE_LINK ${header} ${at}/${room}/${file} SYMBOLIC)
    endif()
  endforeach()
  set(${root} ${at} PARENT_SCOPE)
endfunction()

# How the code of the control side is optimized, of rooms and of their tests: little, since half of the time of a build is
# JSON and command lines. Nothing where the build type asks for no optimization. With sanitizers that goes for unit
# tests, which compile in half the time, but not for those that would then run longer than they compile.
set(SPLITPLANE_LONG_TESTS bypass guard guard/arming guard/segment guard/state phy/fapi phy/scheduler phy/slots power power/replay ran/ecn ran/mac ran/rlc)
# Rooms whose unit tests only compute: two of them may run at a time. All others wait for threads, sockets or clocks, and
# run alone.
set(SPLITPLANE_UNTIMED_TESTS card config config/yaml fields guard guard/arming guard/cookie guard/rules guard/segment guard/state phy/channel phy/fapi phy/scheduler phy/slots placement/decision power power/model power/replay ran ran/ecn ran/mac ran/mac/ciphering ran/pdcp ran/rlc ran/sdap wire)
# Rooms whose code is not optimized in builds with sanitizers: those that put loops together, which instantiate inline
# functions of the packet path, and those whose unit tests are short. They compile in half the time.
set(SPLITPLANE_UNOPTIMIZED base bypass/matrix card/control explain gnb/control gpu/nic guard/control n3 phy/capture phy/control phy/emulator phy/link phy/mapping phy/worker runtime tap traffic traffic/control ue ue/control ue/terminal)
set(SPLITPLANE_UNIT_TESTS -O1)
if(SPLITPLANE_SANITIZE)
  set(SPLITPLANE_CONTROL_SIDE -O0)
  set(SPLITPLANE_UNIT_TESTS -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL Release)
  set(SPLITPLANE_CONTROL_SIDE -O1 -Wno-maybe-uninitialized)  # g++ 12 takes optional for uninitialized at -O1
endif()

# How many files of a room are one unit for the compiler: names in their anonymous namespaces have to differ. Builds with
# sanitizers are made whole more often than after a change of one file.
set(SPLITPLANE_FILES_AT_ONCE 4)
if(SPLITPLANE_SANITIZE)
  set(SPLITPLANE_FILES_AT_ONCE 8)
endif()

function(splitplane_room room below packages side)
  string(REPLACE "/" "_" name ${room})
  list(TRANSFORM below REPLACE "/" "_")
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/src/${room})
  splitplane_include_root(${room} ${name} root)

  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(sources AND SPLITPLANE_UNITY)  # most of a file's time goes into headers that its neighbours include, too
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SPLITPLANE_FILES_AT_ONCE})
  endif()
  target_include_directories(${name} ${scope} ${root})
  target_link_libraries(${name} ${scope} ${below} ${packages} splitplane_flags)
  set(optimize "")
  if(side STREQUAL "control side" OR (SPLITPLANE_SANITIZE AND room IN_LIST SPLITPLANE_UNOPTIMIZED))
    set(optimize ${SPLITPLANE_CONTROL_SIDE})
  endif()
  if(sources)
    target_compile_options(${name} PRIVATE ${optimize})
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} GTest::gmock GTest::gtest_main rapidcheck)
    set_target_properties(${name}_test PROPERTIES SPLITPLANE_UNIT_TEST ON)
    if(SPLITPLANE_UNITY)  # tests share more: sixteen at once take half the time of four at a time
      set_target_properties(${name}_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    endif()
    # Test code need not be fast, and g++ 12's bounds warnings are wrong about inserting into vectors at -O3.
    set(of_tests ${SPLITPLANE_UNIT_TESTS})
    if(room IN_LIST SPLITPLANE_LONG_TESTS)
      set(of_tests -O1)
    endif()
    target_compile_options(${name}_test PRIVATE ${of_tests} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                           $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>)
    add_test(NAME ${name} COMMAND ${name}_test)
    if(NOT room IN_LIST SPLITPLANE_UNTIMED_TESTS)
      set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
  endif()
endfunction()

function(splitplane_rooms)
  set(table ${CMAKE_CURRENT_SOURCE_DIR}/src/rooms.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^[a-z]")
  set(left_out "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z0-9_/]+):([^|]*)(\\|([^|]*))?(\\| *(control side))?$" matched "${line}")
    if(NOT matched)
      message(FATAL_ERROR "src/rooms.txt: '${line}' is no room; allowed: 'room: rooms | packages | control side'")
    endif()
    set(room ${CMAKE_MATCH_1})
    set(side "${CMAKE_MATCH_6}")
    separate_arguments(below UNIX_COMMAND "${CMAKE_MATCH_2}")
    separate_arguments(packages UNIX_COMMAND "${CMAKE_MATCH_4}")
    if(NOT SPLITPLANE_WITH_DPDK)  # without it, a room whose package was not looked for, and what stands on such a room
      set(missing NO)
      foreach(package IN LISTS packages)
        if(NOT TARGET ${package})
          set(missing YES)
        endif()
      endforeach()
      foreach(other IN LISTS below)
        if(other IN_LIST left_out)
          set(missing YES)
        endif()
      endforeach()
      if(missing)
        list(APPEND left_out ${room})
        continue()
      endif()
    endif()
    splitplane_room(${room} "${below}" "${packages}" "${side}")
  endforeach()
endfunction()
