// What `splitplane top` writes, as lines of a width: the same for a terminal and for plain output. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/rates.h"

namespace splitplane::app {

enum class TopPage { kAll, kStages, kPorts, kDrops, kBearers, kGuard };
inline constexpr std::array<std::string_view, 6> kTopPageNames{"all", "stages", "ports", "drops", "bearers", "guard"};

struct TopLine {
  enum class Style { kPlain, kHead, kAlarm };
  std::string text;
  Style style = Style::kPlain;
};

struct TopState {
  Rates rates;
  std::optional<std::vector<BearerRate>> bearers;  // page kBearers; absent: the page was not asked for yet
  bool by_rate = false;                            // order: as the instance lists them, or the highest rate first
};

// Lines of at most `width` characters; wide ones have more columns.
[[nodiscard]] std::vector<TopLine> top_lines(const TopState& state, TopPage page, std::size_t width);

// "256 bearers"; of the buffering service "1200 SDUs held"; of a guard "3 servers".
[[nodiscard]] std::string what_it_has(const Rates& rates);

// A name in at most `width` characters, at least one: one that is too long ends in ~.
[[nodiscard]] std::string fit(const std::string& name, std::size_t width);

// 4 significant digits and a prefix: 0, 12.3, 999, 1.235k, 12.35M, 1.000G. At most 6 characters.
[[nodiscard]] std::string si(double value);

}  // namespace splitplane::app
