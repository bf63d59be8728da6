#include "ran/session_line.h"

#include <algorithm>
#include <bit>

namespace splitplane::ran {
namespace {

void enter_flow(SessionDownlink& line, Qfi qfi, unsigned number) {
  std::uint8_t& pair = line.flows[qfi.value / 2U];
  const unsigned shift = qfi.value % 2U * 4U;
  pair = static_cast<std::uint8_t>((pair & ~(0xfU << shift)) | number << shift);
}

}  // namespace

BearerDownlink make_session(const SessionConfig& config) {
  SessionDownlink line;
  line.instance = static_cast<std::uint8_t>(config.teid().value >> (kIndexBits + kShardBits));
  for (unsigned number = 1; number <= config.bearers.size(); ++number) {
    const SessionBearer& bearer = config.bearers[number - 1];
    const std::uint32_t index = index_of((number == kFirstBearer ? config.spare : bearer.config.id).value);
    for (unsigned octet = 0; octet < 3; ++octet) {
      line.places[3 * (number - 1) + octet] = static_cast<std::uint8_t>(index >> 8 * octet);
    }
    if (bearer.drb == config.default_drb) line.default_number = static_cast<std::uint8_t>(number);
  }
  line.flows.fill(static_cast<std::uint8_t>(line.default_number << 4 | line.default_number));
  for (unsigned number = 1; number <= config.bearers.size(); ++number) {
    for (const Qfi qfi : config.bearers[number - 1].flows) enter_flow(line, qfi, number);
  }
  return std::bit_cast<BearerDownlink>(line);
}

void set_flow(BearerDownlink& session, Qfi qfi, unsigned number) {
  auto line = std::bit_cast<SessionDownlink>(session);
  enter_flow(line, qfi, number);
  session = std::bit_cast<BearerDownlink>(line);
}

BearerDownlink make_session_bearer(const SessionBearer& bearer) {
  BearerDownlink line = make_downlink(bearer.config);
  if (bearer.reflective) line.header |= 0x80;  // RDI, the leftmost bit of the SDAP octet
  return line;
}

BearerUplink make_session_uplink(const BearerConfig& config, PeerId peer) {
  BearerUplink line = make_uplink(config, peer);
  line.constant |= kSessionBit;
  return line;
}

}  // namespace splitplane::ran
