// How bearers are placed: the section `placement` of the gNB's file, and what `ctl place` may change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
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

// On how many cores the workers run (consolidation.h).
struct ConsolidationSettings {
  bool on = false;
  unsigned fill_percent = 60;  // no core is busier than that when a guest comes to it
  unsigned busy_percent = 85;  // a core that is busier sends a guest home
  unsigned calm_ms = 2000;     // the load has fitted on one core less for so long

  friend bool operator==(const ConsolidationSettings&, const ConsolidationSettings&) = default;
};

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
  ConsolidationSettings consolidation;

  friend bool operator==(const Settings&, const Settings&) = default;
};

// What is wrong between the settings, with its key and what is allowed; nothing if they fit together.
[[nodiscard]] std::optional<std::string> refuse(const ConsolidationSettings& settings);

}  // namespace splitplane::placement
