// For fuzz targets on real mbufs: DPDK in ordinary memory, once per process. A failure of the tests' fixtures ends the
// run.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "engine/eal.h"
#include "engine/test_environment.h"
#include "fuzz.h"

namespace splitplane::fuzz {

// The fixtures of src/ use GoogleTest. Without tests around them, a failure is an exception that is not caught.
inline void start_dpdk(std::size_t megabytes = 256) {
  GTEST_FLAG_SET(throw_on_failure, true);
  auto eal = datapath::Eal::start({.file_prefix = "splitplane-fuzz-" + std::to_string(::getpid()),
                                   .megabytes = megabytes,
                                   .hugepages = false,
                                   .worker_cores = {},
                                   .alone = true,
                                   .log_level = "error"});
  require(eal.has_value(), "{}", eal ? "" : eal.error().message);
  static const datapath::Eal running = std::move(*eal);
}

// Changes a few octets of `frame` as the input says.
inline void damage(Bytes& frame, Input& in, unsigned changes) {
  for (; changes != 0 && !frame.empty(); --changes) {
    const std::size_t at = in.word() % frame.size();
    frame[at] = static_cast<std::uint8_t>(frame[at] ^ in.octet());
  }
}

}  // namespace splitplane::fuzz
