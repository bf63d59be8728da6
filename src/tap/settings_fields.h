// The keys of a tap, one row each, in a file and in a request.
#pragma once

#include <array>
#include <string_view>

#include "fields/field.h"
#include "tap/settings.h"

namespace splitplane::tap {

inline constexpr std::array<std::string_view, 3> kViewNames{"ethernet", "rlc-nr", "pdcp-nr"};  // as View
inline constexpr std::size_t kMostName = 32;
inline constexpr std::size_t kMostPath = 4000;

[[nodiscard]] fields::Fields<Settings> settings_fields();

}  // namespace splitplane::tap
