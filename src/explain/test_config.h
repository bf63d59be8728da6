// For tests of explain/ only: a gNB of one worker and one bearer, whose identity is kFirst.
#pragma once

#include <gtest/gtest.h>

#include "gnb/config/read.h"

namespace splitplane::app::test {

inline constexpr std::uint32_t kFirst = 0x04000000;

[[nodiscard]] inline GnbConfig one_worker() {
  auto config = Document::parse(R"(
instance: 1
memory: {hugepages: never, megabytes: 256, mbufs: 4095}
ports:
  n3: {device: net_null0}
  air: {device: net_null1}
n3: [{port: n3, ipv4: 10.100.0.1}]
air: [{port: air}]
max_bearers: 1024
workers:
  w0: {function: gnb, core: 0, n3: n3, air: air}
bearers:
  - {upf: 10.100.0.2, ul_teid: 0x1001, ue_ipv4: 10.45.0.2}
)",
                                "explain.yaml")
                    .and_then(read_gnb);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(GnbConfig{});
}

}  // namespace splitplane::app::test
