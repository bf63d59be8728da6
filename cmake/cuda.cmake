# The CUDA programs of src/gpu/cuda, only with SPLITPLANE_WITH_CUDA (preset gpu, setup/gpu.sh): nothing else needs nvcc.
# FindCUDAToolkit of CMake 3.25 does not know CUDA 13, and is not needed: CMake links cudart_static by itself. Nor does it
# know that nvcc has C++20.
option(SPLITPLANE_WITH_CUDA "Build the programs of src/gpu/cuda with nvcc" OFF)
if(NOT SPLITPLANE_WITH_CUDA)
  return()
endif()
set(splitplane_gpus 75 80 90)
list(TRANSFORM splitplane_gpus APPEND -real OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
enable_language(CUDA)
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
add_library(splitplane_cuda_flags INTERFACE)
target_compile_options(splitplane_cuda_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:
  -DFMT_CONSTEVAL= -DFMT_USE_CONSTEXPR=1  # fmt 9 takes nvcc for a compiler of C++14
  --expt-relaxed-constexpr --Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror,-Wno-unknown-pragmas,-Wno-missing-field-initializers>)

# splitplane_cuda_program(NAME DEPENDS targets...): src/gpu/cuda/NAME.cu becomes build/gpu/bin/NAME with code for each
# GPU, and build/gpu/ptx/NAME.sm_NN.ptx, on which tests/gpu asserts.
function(splitplane_cuda_program name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  set(source ${CMAKE_SOURCE_DIR}/src/gpu/cuda/${name}.cu)
  add_executable(gpu_${name} ${source})
  set_target_properties(gpu_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  target_link_libraries(gpu_${name} PRIVATE ${arg_DEPENDS} splitplane_cuda_flags Threads::Threads)
  add_dependencies(gpu_programs gpu_${name})
  foreach(gpu IN LISTS splitplane_gpus)
    set(object gpu_${name}_ptx_${gpu})
    add_library(${object} OBJECT ${source})
    set_target_properties(${object} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES ${gpu}-virtual)
    target_link_libraries(${object} PRIVATE ${arg_DEPENDS} splitplane_cuda_flags)
    set(ptx ${CMAKE_BINARY_DIR}/ptx/${name}.sm_${gpu}.ptx)
    add_custom_command(OUTPUT ${ptx} COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:${object}> ${ptx}
                       DEPENDS ${object} $<TARGET_OBJECTS:${object}> VERBATIM)
    add_custom_target(${object}_file DEPENDS ${ptx})
    add_dependencies(gpu_programs ${object}_file)
  endforeach()
endfunction()

add_custom_target(gpu_programs)
splitplane_cuda_program(device_check DEPENDS gpu_cuda)
splitplane_cuda_program(host_bypass DEPENDS gpu_cuda)
