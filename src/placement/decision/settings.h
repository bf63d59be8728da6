// How bearers are placed: the section `placement` of the gNB's file, and what `ctl place` may change.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace splitplane::placement {

// kStatic: each bearer stays where it was put. kRatio: a share of them is on cards. kSpill: the busiest ones that fit
// are on cards.
enum class Mode : std::uint8_t { kStatic, kRatio, kSpill };
inline constexpr std::array<std::string_view, 3> kModeNames{"static", "ratio", "spill"};

enum class RatioOf : std::uint8_t { kBearers, kLoad };
inline constexpr std::array<std::string_view, 2> kRatioOfNames{"bearers", "load"};

// What a bearer's load is: what a core or a card spends goes by packets, what a port spends by octets.
enum class LoadOf : std::uint8_t { kPackets, kOctets };
inline constexpr std::array<std::string_view, 2> kLoadOfNames{"packets", "octets"};

struct Settings {
  Mode mode = Mode::kStatic;
  unsigned ratio_percent = 0;  // kRatio: on cards
  RatioOf ratio_of = RatioOf::kBearers;
  LoadOf load_of = LoadOf::kPackets;
  unsigned period_ms = 500;               // between two decisions
  unsigned load_ms = 3000;                // a bearer's load is its mean over about so long
  unsigned most_moves_per_second = 1000;  // of bearers
  unsigned min_stay_ms = 5000;            // a bearer that moved by its load stays so long
  unsigned hysteresis_percent = 25;       // a busier bearer takes an entry of the card if it has so much more load

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace splitplane::placement
