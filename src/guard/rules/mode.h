// What the guard does for a protected server.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace splitplane::guard {

enum class Mode : std::uint8_t {
  kBypass,   // nothing: not even a look at the server's counters
  kObserve,  // counts and learns, acts never
  kAuth,     // RST cookies when armed
  kProxy,    // SYN cookies when armed
};
inline constexpr std::array<std::string_view, 4> kModeNames{"bypass", "observe", "auth", "proxy"};
[[nodiscard]] constexpr std::string_view name_of(Mode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}
[[nodiscard]] constexpr std::optional<Mode> mode_named(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

enum class Arm : std::uint8_t { kAuto, kAlways };
inline constexpr std::array<std::string_view, 2> kArmNames{"auto", "always"};

}  // namespace splitplane::guard
