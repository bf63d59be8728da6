// For the fuzz target `ue`: bearers of every form, and what a slow reader finds in a PDU of each.
#pragma once

#include "ran/test_variants.h"
#include "slow_air.h"

namespace splitplane::fuzz {

// One bearer of each form, with addresses 10.45.0.N and fd00:45::N.
inline std::vector<ran::BearerConfig> forms() {
  std::vector<ran::BearerConfig> all;
  for (ran::BearerConfig c : ran::test::all_variants()) {
    const auto n = static_cast<std::uint8_t>(all.size() + 1);
    c.id = BearerId{n};
    c.ue_ipv4 = IpAddress::v4({10, 45, 0, n});
    std::array<std::uint8_t, 16> v6{0xfd, 0, 0, 0x45};
    v6[15] = n;
    c.ue_ipv6 = IpAddress::v6(v6);
    all.push_back(c);
  }
  return all;
}

// The octets after Ethernet (without tags) and airhdr of a complete SDU's PDU, by the bearer's form.
struct SlowSdu {
  std::uint32_t rlc_sn = 0, pdcp_sn = 0;
  unsigned qfi = 0;
  Octets packet;
};
inline std::optional<SlowSdu> slow_sdu(Octets pdu, const ran::BearerConfig& c, bool sdap) {
  SlowSdu s;
  if (c.rlc_mode != RlcMode::kTm) {
    const auto rlc = c.rlc_mode == RlcMode::kAm ? slow_am(pdu, c.rlc_sn_bits) : slow_um(pdu, c.rlc_sn_bits);
    if (!rlc || rlc->si != 0) return std::nullopt;
    s.rlc_sn = rlc->sn;
    pdu = pdu.subspan(rlc->header);
  }
  const auto pdcp = slow_pdcp_data(pdu, c.pdcp_sn_bits);
  if (!pdcp) return std::nullopt;
  s.pdcp_sn = pdcp->sn;
  pdu = pdu.subspan(pdcp->header);
  if (sdap && pdu.empty()) return std::nullopt;
  if (sdap) s.qfi = pdu[0] & 0x3FU;
  s.packet = pdu.subspan(sdap ? 1 : 0);
  return s;
}

}  // namespace splitplane::fuzz
