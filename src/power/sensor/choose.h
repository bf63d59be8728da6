// Which source of power a user chose. A chosen one that fails is an error: no other stands in for it. `auto` takes the
// first that can be read, in the order of trust, and says why not those before it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "power/sensor/source.h"

namespace splitplane::sensor {

// In the order of trust; `file:PATH` and `command:WORDS` stand for a meter at the wall, which none finds by itself.
inline constexpr std::array<std::string_view, 4> kSourceNames{"acpi", "ipmi", "rapl", "amd_energy"};
inline constexpr std::string_view kSourceWords =
    "none, auto, acpi, ipmi, rapl, amd_energy, file:PATH or command:COMMAND";

struct SensorSettings {
  std::string root = "/sys";
  std::string ipmi_tool = "ipmitool";
};

struct Refused {
  std::string source, why;
};
struct Chosen {
  std::unique_ptr<Source> source;  // null: `none`, or `auto` that found none
  std::vector<Refused> refused;    // by `auto`, before it
};

// True if choose() knows the word. It opens nothing.
[[nodiscard]] bool is_source_word(std::string_view word);
// Error: the chosen source cannot be read, and why.
[[nodiscard]] Expected<Chosen> choose_source(const std::string& word, const SensorSettings& settings);
// One of kSourceNames.
[[nodiscard]] Expected<std::unique_ptr<Source>> open_source(std::string_view name, const SensorSettings& settings);

}  // namespace splitplane::sensor
