// For tests of card/control only: the configuration of a card whose sides are not connected, so it needs no device.
#pragma once

#include "card/config/config.h"

namespace splitplane::app::test {

[[nodiscard]] inline CardConfig unconnected_card(const std::string& name) {
  CardConfig config{.name = name, .max_bearers = 100};
  config.file_prefix = name;
  config.memory.mbufs = 1024;
  return config;
}

}  // namespace splitplane::app::test
