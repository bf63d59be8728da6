// The kernel's list of sensors, /sys/class/hwmon: chips by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace splitplane::sensor {

// Files called <kind>N_<what>, as power1_average, of all chips of that name, by their paths. Older drivers have them in
// the chip's device.
[[nodiscard]] std::vector<std::string> hwmon_files(const std::string& root, std::string_view chip,
                                                   std::string_view kind, std::string_view what);
// Names of the chips that are there, for messages: "nvme, coretemp", or "none".
[[nodiscard]] std::string hwmon_chips(const std::string& root);

}  // namespace splitplane::sensor
