// The section `ue` of a `splitplane ue` file: its keys as plain data (part of config.h's Config), reader and checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ip_address.h"
#include "phy/impairment.h"
#include "power/settings.h"

namespace splitplane::app {

class YamlValue;
struct Config;
struct Finding;

// What the air does to frames on their way between the port and the UE side.
struct UeAirConfig {
  std::uint64_t seed = 1;
  std::size_t capacity = 4096;  // frames held at most, in each direction
  phy::Impairments downlink, uplink;
};

// `splitplane ue`: the UE side of the air, in header mode.
struct UeConfig {
  std::string port;              // air port
  std::string tun = "splitue0";  // name of the TUN device it creates
  unsigned tun_mtu = 1400;       // of that device; with the air's headers a packet must fit the air port's MTU
  bool default_route = false;    // IPv4 and IPv6 default routes through that device
  std::string gnb_control;       // control socket of the gNB, from which it learns the bearers
  MacAddress peer_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  unsigned core = 0;
  power::Settings policy;
  std::optional<UeAirConfig> air;  // absent: frames cross nothing
};

// Throws Refusal.
[[nodiscard]] UeConfig read_ue(const YamlValue& value);
// Checks that the port is there and the only one, that the TUN's packets fit it, and that the air leaves it buffers.
[[nodiscard]] std::optional<Finding> check_ue(const Config& config);

}  // namespace splitplane::app
