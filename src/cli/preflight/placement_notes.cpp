#include "cli/preflight/placement_notes.h"

#include <fmt/format.h>

namespace splitplane::app {

std::vector<std::string> placement_notes(const GnbConfig& config) {
  const placement::Settings& settings = config.placement;
  const bool is_ratio = settings.mode == placement::Mode::kRatio;
  if (is_ratio && settings.ratio_percent == 0)
    return {"placement: mode ratio with ratio 0 takes all bearers off the cards"};
  if (!is_ratio && settings.ratio_percent != 0) {
    return {fmt::format("placement: ratio {} does nothing in mode {}, only in mode ratio", settings.ratio_percent,
                        placement::kModeNames[static_cast<std::size_t>(settings.mode)])};
  }
  return {};
}

}  // namespace splitplane::app
