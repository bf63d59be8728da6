// For tests of card/control only: the configuration of a card whose sides are not connected, so it needs no device.
#pragma once

#include "config/config.h"

namespace splitplane::app::test {

[[nodiscard]] inline Config unconnected_card(const std::string& name) {
  Config config{.file_prefix = name};
  config.memory.mbufs = 1024;
  config.card = CardConfig{.name = name, .max_bearers = 100};
  return config;
}

}  // namespace splitplane::app::test
