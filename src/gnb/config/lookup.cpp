#include "gnb/config/lookup.h"

#include <algorithm>
#include <charconv>

namespace splitplane::app {

const CardLinkConfig* card_before(const GnbConfig& config, const std::string& port) {
  const auto at =
      std::ranges::find_if(config.cards, [&](const CardLinkConfig& c) { return c.n3 == port || c.air == port; });
  return at == config.cards.end() ? nullptr : &*at;
}

const CardLinkConfig* find_card(const GnbConfig& config, const std::string& name) {
  const auto at = std::ranges::find(config.cards, name, &CardLinkConfig::name);
  return at == config.cards.end() ? nullptr : &*at;
}

std::optional<std::pair<Qfi, std::uint8_t>> parse_dscp(std::string_view item) {
  constexpr unsigned kMost = 63;
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<unsigned> {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    return error == std::errc{} && end == digits.end() && value <= kMost ? std::optional(value) : std::nullopt;
  };
  const auto qfi = number(item.substr(0, equals)), dscp = number(item.substr(equals + 1));
  if (!qfi || !dscp) return std::nullopt;
  return std::pair{Qfi{static_cast<std::uint8_t>(*qfi)}, static_cast<std::uint8_t>(*dscp << 2)};
}

TosByQfi tos_of_port(const GnbConfig& config, const std::string& port) {
  TosByQfi tos{};
  const auto n3 = std::ranges::find(config.n3, port, &N3Config::port);
  if (n3 == config.n3.end()) return tos;
  for (const std::string& item : n3->dscp) {
    if (const auto mark = parse_dscp(item)) tos[mark->first.value] = mark->second;
  }
  return tos;
}

bool is_fed(const GnbConfig& config, const WorkerConfig& worker) {
  return std::any_of(config.workers.begin(), config.workers.end(), [&](const WorkerConfig& other) {
    return other.function == WorkerConfig::Function::kDispatch &&
           std::count(other.to.begin(), other.to.end(), worker.name) != 0;
  });
}

}  // namespace splitplane::app
