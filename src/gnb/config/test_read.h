// How tests read a configuration of a gNB.
#pragma once

#include <string>

#include "gnb/config/read.h"

namespace splitplane::app::test {

inline Expected<GnbConfig> parse(const std::string& text, const std::string& file) {
  return Document::parse(text, file).and_then(read_gnb);
}

}  // namespace splitplane::app::test
