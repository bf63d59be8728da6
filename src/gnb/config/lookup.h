// What one part of a gNB's configuration says of another: which card stands before a port, which worker feeds another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gnb/config/config.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {

// The card in front of a port that is its N3 or air side; nullptr: none.
[[nodiscard]] const CardLinkConfig* card_before(const GnbConfig& config, const std::string& port);
// By name; nullptr: none.
[[nodiscard]] const CardLinkConfig* find_card(const GnbConfig& config, const std::string& name);

// The type of service of uplink packets that leave by an N3 port, by QFI: what its `dscp` says. parse_dscp() has found
// the items right.
[[nodiscard]] TosByQfi tos_of_port(const GnbConfig& config, const std::string& port);
// "5=46" as QFI and type of service; nothing if it is something else.
[[nodiscard]] std::optional<std::pair<Qfi, std::uint8_t>> parse_dscp(std::string_view item);

// Whether a dispatching worker receives for this one.
[[nodiscard]] bool is_fed(const GnbConfig& config, const WorkerConfig& worker);

}  // namespace splitplane::app
