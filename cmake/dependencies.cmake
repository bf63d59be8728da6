# Third-party libraries, all from distribution packages (setup/packages.txt).
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark QUIET)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

find_path(EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
add_library(expected INTERFACE)
target_include_directories(expected SYSTEM INTERFACE ${EXPECTED_INCLUDE})

find_path(RAPIDCHECK_INCLUDE rapidcheck.h REQUIRED)
find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
add_library(rapidcheck INTERFACE)
target_include_directories(rapidcheck SYSTEM INTERFACE ${RAPIDCHECK_INCLUDE})
target_link_libraries(rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})

pkg_check_modules(PCAP REQUIRED IMPORTED_TARGET libpcap)
add_library(pcap ALIAS PkgConfig::PCAP)

pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.18)
add_library(sodium ALIAS PkgConfig::SODIUM)

pkg_check_modules(DPDK libdpdk>=22.11)
option(SPLITPLANE_WITH_DPDK "Build the folders that need DPDK" ${DPDK_FOUND})
if(SPLITPLANE_WITH_DPDK)
  if(NOT DPDK_FOUND)
    message(FATAL_ERROR "libdpdk >= 22.11 was not found by pkg-config; 'make setup' installs it, "
                        "-DSPLITPLANE_WITH_DPDK=OFF builds what does without it")
  endif()
  find_package(yaml-cpp REQUIRED)
  # Libraries only: ncurses' flags would set feature macros for all that links it.
  find_path(MICROHTTPD_INCLUDE microhttpd.h REQUIRED)
  find_library(MICROHTTPD_LIBRARY microhttpd REQUIRED)
  add_library(microhttpd INTERFACE)
  target_include_directories(microhttpd SYSTEM INTERFACE ${MICROHTTPD_INCLUDE})
  target_link_libraries(microhttpd INTERFACE ${MICROHTTPD_LIBRARY})
  pkg_check_modules(NCURSES REQUIRED ncursesw)
  add_library(ncurses INTERFACE)
  target_link_libraries(ncurses INTERFACE ${NCURSES_LINK_LIBRARIES})
  # Ciphering. The library has no .pc file. NEA4 to NEA6 and NIA4 to NIA6 need a version that knows them: 1.3 does not.
  find_path(IPSEC_MB_INCLUDE intel-ipsec-mb.h REQUIRED)
  find_library(IPSEC_MB_LIBRARY IPSec_MB REQUIRED)
  add_library(ipsec_mb INTERFACE)
  target_include_directories(ipsec_mb SYSTEM INTERFACE ${IPSEC_MB_INCLUDE})
  target_link_libraries(ipsec_mb INTERFACE ${IPSEC_MB_LIBRARY})
  include(CheckSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${IPSEC_MB_INCLUDE})
  check_source_compiles(CXX "#include <intel-ipsec-mb.h>
    const int all[] = {IMB_CIPHER_SNOW5G_NEA4, IMB_CIPHER_AES_NEA5, IMB_CIPHER_ZUC_NEA6,
                       IMB_AUTH_SNOW5G_NIA4, IMB_AUTH_AES_NIA5, IMB_AUTH_ZUC_NIA6};
    int main() { return all[0]; }" IPSEC_MB_HAS_256_BIT)
  unset(CMAKE_REQUIRED_INCLUDES)
  if(IPSEC_MB_HAS_256_BIT)
    target_compile_definitions(ipsec_mb INTERFACE SPLITPLANE_IPSEC_MB_256)
  endif()
  # DPDK's own -march comes before ours (splitplane_flags is linked last), and its headers count as system headers.
  add_library(dpdk INTERFACE)
  set(dpdk_cflags ${DPDK_CFLAGS})
  list(FILTER dpdk_cflags EXCLUDE REGEX "^-(I|march)")
  target_compile_options(dpdk INTERFACE ${dpdk_cflags})
  target_include_directories(dpdk SYSTEM INTERFACE ${DPDK_INCLUDE_DIRS})
  target_link_libraries(dpdk INTERFACE ${DPDK_LDFLAGS} Threads::Threads)
  target_compile_definitions(dpdk INTERFACE ALLOW_EXPERIMENTAL_API)
endif()
