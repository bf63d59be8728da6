# splitplane_folder(NAME [IN folder] DEPENDS targets...): the library of src/NAME (or src/folder), and NAME_test from the
# *_test.cpp beside the sources.
# A folder's headers are reachable as "NAME/header.h" only by targets that link it: each folder publishes an include
# root that holds nothing but a link to itself, so an include against the dependency rule does not compile.

add_library(splitplane_flags INTERFACE)
target_compile_options(splitplane_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wno-interference-size -Wno-missing-field-initializers
  -march=${SPLITPLANE_MARCH} -fno-omit-frame-pointer>)  # nvcc has its own: cmake/cuda.cmake
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(splitplane_flags INTERFACE -Wno-unknown-warning-option)
endif()
if(SPLITPLANE_SANITIZE)
  target_compile_options(splitplane_flags INTERFACE -fsanitize=${SPLITPLANE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(splitplane_flags INTERFACE -fsanitize=${SPLITPLANE_SANITIZE})
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

function(splitplane_folder name)
  cmake_parse_arguments(arg "" "IN" "DEPENDS" ${ARGN})
  if(NOT arg_IN)
    set(arg_IN ${name})
  endif()
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/src/${arg_IN})
  set(root ${CMAKE_CURRENT_BINARY_DIR}/include/${name})
  cmake_path(GET arg_IN PARENT_PATH above)
  file(MAKE_DIRECTORY ${root}/${above})
  file(CREATE_LINK ${dir} ${root}/${arg_IN} SYMBOLIC)

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
  target_include_directories(${name} ${scope} ${root})
  target_link_libraries(${name} ${scope} ${arg_DEPENDS} splitplane_flags)
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} GTest::gmock GTest::gtest_main rapidcheck)
    # Test code need not be fast, and g++ 12's bounds warnings are wrong about inserting into vectors at -O3.
    target_compile_options(${name}_test PRIVATE -O1 -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                           $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>)
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
endfunction()
