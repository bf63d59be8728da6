// Numbers in files of sysfs. A message names the file, and the kernel's reason or what the file holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace splitplane::sensor {

// The first line, without spaces at its ends. Error: "<path>: Permission denied".
[[nodiscard]] Expected<std::string> read_text(const std::string& path);
// Error: as above, or "<path>: holds 'fast' and no whole number".
[[nodiscard]] Expected<std::uint64_t> read_count(const std::string& path);
// A number of watts: digits, with a decimal fraction or without, and perhaps the unit W or Watts behind it.
[[nodiscard]] Expected<double> watts_in(std::string_view text);

// Names in a directory, in the order of the numbers in them; empty if it cannot be read.
[[nodiscard]] std::vector<std::string> entries_of(const std::string& directory);

}  // namespace splitplane::sensor
