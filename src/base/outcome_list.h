// One list makes an enum, its names and its texts: write SPLITPLANE_OUTCOMES(Name, LIST) where LIST(X) holds
// X(identifier, "text for people") rows. Counters indexed by the enum then carry the same names everywhere
// (`splitplane ctl`, statistics).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#define SPLITPLANE_OUTCOME_ENUM_ROW(id, text) id,
#define SPLITPLANE_OUTCOME_NAME_ROW(id, text) std::string_view{#id},
#define SPLITPLANE_OUTCOME_TEXT_ROW(id, text) std::string_view{text},
#define SPLITPLANE_OUTCOME_COUNT_ROW(id, text) +1

// Defines `enum class Name : std::uint8_t`, kNameCount, name_of(Name) and text_of(Name).
#define SPLITPLANE_OUTCOMES(Name, LIST)                                                                            \
  enum class Name : std::uint8_t { LIST(SPLITPLANE_OUTCOME_ENUM_ROW) };                                            \
  inline constexpr std::size_t k##Name##Count = 0 LIST(SPLITPLANE_OUTCOME_COUNT_ROW);                              \
  inline constexpr std::array<std::string_view, k##Name##Count> k##Name##Names{LIST(SPLITPLANE_OUTCOME_NAME_ROW)}; \
  inline constexpr std::array<std::string_view, k##Name##Count> k##Name##Texts{LIST(SPLITPLANE_OUTCOME_TEXT_ROW)}; \
  [[nodiscard]] constexpr std::string_view name_of(Name v) {                                                       \
    return k##Name##Names[static_cast<std::size_t>(v)];                                                            \
  }                                                                                                                \
  [[nodiscard]] constexpr std::string_view text_of(Name v) {                                                       \
    return k##Name##Texts[static_cast<std::size_t>(v)];                                                            \
  }
