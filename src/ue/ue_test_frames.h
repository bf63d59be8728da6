// For tests of ue/ only: bearers, and frames as octets, header by header, independent of the code under test.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ue/ue_bearers.h"
#include "ue/ue_uplink.h"
#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::ue::test {

using wire::test::from_hex;
using wire::test::HeapOctets;
using wire::test::tidy;
using wire::test::to_hex;

inline constexpr const char* kLink = "020000000001 020000000002 88b5";  // to the UE from the gNB
inline constexpr const char* kPacket = SPLITPLANE_TEST_IP;              // 10.45.0.2:40001 > 8.8.8.8:40002, UDP "hi"
inline constexpr const char* kPacketV6 =                                // fd00:45::2 > fd00:45::9, UDP, no data
    "60000000 0008 11 40 fd000045000000000000000000000002 fd000045000000000000000000000009 9c41 9c42 0008 0000";

inline constexpr const char* kToGnb = "020000000001 020000000002 88b5";
inline const AirLink kAir{.ours = MacAddress::parse("02:00:00:00:00:02").value(),
                          .peer = MacAddress::parse("02:00:00:00:00:01").value(),
                          .mtu = 1500};

inline IpAddress ip(const char* text) {
  return IpAddress::parse(text).value();
}

// Identity 0x01020304, UE 10.45.0.2 and fd00:45::2.
inline ran::BearerConfig bearer(RlcMode mode, unsigned rlc_sn_bits, unsigned pdcp_sn_bits, bool sdap = true) {
  ran::BearerConfig config;
  config.id = BearerId{0x01020304};
  config.qfi = Qfi{9};
  config.rlc_mode = mode;
  config.rlc_sn_bits = static_cast<std::uint8_t>(rlc_sn_bits);
  config.pdcp_sn_bits = static_cast<std::uint8_t>(pdcp_sn_bits);
  config.sdap_header_dl = config.sdap_header_ul = sdap;
  config.poll_pdu = 2;
  config.ue_ipv4 = ip("10.45.0.2");
  config.ue_ipv6 = ip("fd00:45::2");
  return config;
}

// Octets of a frame whose parts are given in hex, in a heap span of exactly that size. `air` is airhdr without its
// length; `padding` lies behind the PDU.
inline HeapOctets frame(const std::string& air, const std::string& pdu, const std::string& padding = "") {
  return HeapOctets(from_hex(fmt::format("{}{}{:04x}{}{}", kLink, air, from_hex(pdu).size(), pdu, padding)));
}

}  // namespace splitplane::ue::test
