// A logical channel of a UE in full mode: the RLC entity of one bearer, with what is above and below it.
#pragma once

#include "radio/logical_channel.h"
#include "ue/ue_bearer.h"

namespace splitplane::ue {

class Terminal;

struct TerminalChannel : datapath::LogicalChannel {
  using datapath::LogicalChannel::LogicalChannel;

  Terminal* terminal = nullptr;  // its UE; nullptr: the UE does not have it
  UeBearer* bearer = nullptr;
  std::uint8_t epoch = 0;  // another one: RLC begins anew
};

// An SDU that RLC completed, for PDCP.
struct RlcSdu {
  TerminalChannel* from = nullptr;
  datapath::MbufBuffer sdu;
};

}  // namespace splitplane::ue
