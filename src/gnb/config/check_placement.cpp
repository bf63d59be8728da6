#include "gnb/config/check_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "gnb/config/lookup.h"

namespace splitplane::app {
namespace {

// Bearers of an entry of `placement.pin`.
struct PinnedRange {
  std::string upf;
  std::uint64_t first = 0, last = 0;
  std::size_t entry = 0;
};

std::optional<Finding> check_pins(const GnbConfig& config) {
  std::vector<PinnedRange> ranges;
  for (std::size_t i = 0; i < config.pins.size(); ++i) {
    const placement::PinList& pin = config.pins[i];
    const std::string key = fmt::format("placement.pin[{}]", i);
    if (pin.on != "host" && find_card(config, pin.on) == nullptr) {
      std::vector<std::string_view> places{"host"};
      for (const CardLinkConfig& card : config.cards) places.emplace_back(card.name);
      return Finding{key + ".on",
                     fmt::format("there is no card '{}'; allowed: {}", printable(pin.on), comma_list(places))};
    }
    const std::uint64_t first = pin.ul_teid.value, last = first + pin.count - 1;
    if (last > UINT32_MAX) {
      return Finding{key + ".ul_teid",
                     fmt::format("with count {} it runs past the last value; allowed: a lower one", pin.count)};
    }
    ranges.push_back({pin.upf.to_string(), first, last, i});
  }
  std::ranges::sort(ranges, {}, [](const PinnedRange& range) { return std::pair(range.upf, range.first); });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const PinnedRange &one = ranges[i - 1], &next = ranges[i];
    if (one.upf != next.upf || next.first > one.last) continue;
    const auto [low, high] = std::minmax(one.entry, next.entry);
    return Finding{fmt::format("placement.pin[{}].ul_teid", high),
                   fmt::format("names bearer {:#x} at {} again, after placement.pin[{}]; allowed: each bearer once",
                               next.first, next.upf, low)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_placement(const GnbConfig& config) {
  const placement::Settings& settings = config.placement;
  if (settings.mode != placement::Mode::kStatic && config.cards.empty()) {
    return Finding{"placement.mode", fmt::format("is {}, and there is no section cards; allowed: static",
                                                 placement::kModeNames[static_cast<std::size_t>(settings.mode)])};
  }
  const auto serving = std::ranges::count(config.workers, WorkerConfig::Function::kGnb, &WorkerConfig::function);
  if (settings.consolidation.on && serving < 2) {
    return Finding{"placement.consolidate",
                   fmt::format("is true, and {} worker has function gnb; allowed: with two or more", serving)};
  }
  if (const auto wrong = placement::refuse(settings.consolidation)) {
    const std::size_t colon = wrong->find(": ");
    return Finding{"placement." + wrong->substr(0, colon), wrong->substr(colon + 2)};
  }
  return check_pins(config);
}

}  // namespace splitplane::app
