// The configuration of `splitplane ue` as plain data. read.h reads it from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ip_address.h"
#include "phy/channel/impairment.h"
#include "power/settings.h"
#include "runtime/config/config.h"

namespace splitplane::app {

// What the air does to frames on their way between the port and the UE side.
struct UeAirConfig {
  std::uint64_t seed = 1;
  std::size_t capacity = 4096;  // frames held at most, in each direction
  phy::Impairments downlink, uplink;
};

// What UEs have above the air, in header mode and in full mode.
struct UeUpperConfig {
  std::string tun = "splitue0";  // name of the TUN device it creates
  unsigned tun_mtu = 1400;       // of that device
  bool default_route = false;    // IPv4 and IPv6 default routes through that device
  std::string gnb_control;       // control socket of the gNB, from which it learns the bearers
  std::string key_file;          // keys of secured bearers; empty: none
};

// The UE side of the air, in header mode: the section `ue`, and what every file says. With the air's headers a packet
// of the TUN device must fit the air port's MTU.
struct UeConfig : ProgramConfig, UeUpperConfig {
  std::string port;  // air port
  MacAddress peer_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  unsigned core = 0;
  power::Settings policy;
  std::optional<UeAirConfig> air;  // absent: frames cross nothing
};

}  // namespace splitplane::app
