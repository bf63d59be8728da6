// The configuration of `splitplane phy` as plain data. read.h reads it from a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "phy/emulator/air_loss.h"
#include "runtime/config/config.h"
#include "ue/config/config.h"

namespace splitplane::app {

// Transport blocks as Wireshark reads them, in a pcapng file.
struct BlockCaptureConfig {
  std::string file;
  bool lost = false;    // also blocks that the air lost
  unsigned max_mb = 0;  // a file grows to this size; 0: no limit
  unsigned files = 1;   // kept when max_mb is reached; 1: the capture ends there
};

// The emulated PHY of one cell, and its air: the section `phy`. A gNB says by its key `phy` whom it talks to.
struct EmulatedPhyConfig {
  IpAddress local = IpAddress::v4({127, 0, 0, 1});    // ours
  IpAddress address = IpAddress::v4({127, 0, 0, 1});  // of the gNB
  std::uint16_t local_p5_port = 7701, local_p7_port = 7702;
  std::uint16_t p5_port = 7711, p7_port = 7712;
  std::uint16_t phy_id = 0;
  std::uint16_t max_datagram = 1472;  // octets of UDP
  unsigned core = 0;
  std::uint64_t seed = 1;
  phy::AirLoss loss;
  std::optional<BlockCaptureConfig> capture;
};

// The UEs behind that air, in one process with it: the section `ue`.
struct TerminalsConfig : UeUpperConfig {
  std::optional<std::uint32_t> gnb_worker;  // only the bearers of this worker; absent: the gNB has one in full mode
  unsigned tun_ues = 64;  // UEs whose addresses the TUN device has: the first ones; what others receive is sunk
};

struct PhyProgramConfig : ProgramConfig {
  EmulatedPhyConfig phy;
  TerminalsConfig ue;
};

}  // namespace splitplane::app
