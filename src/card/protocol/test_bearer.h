// For tests only: a bearer whose members all differ from their defaults, as far as a host sends them.
#pragma once

#include "card/protocol/bearer.h"

namespace splitplane::nic::test {

inline CardBearer whole_bearer() {
  return {.id = {0x04000001},
          .teid = {0x04000002},
          .has_flows = true,
          .session = {0x04000003},
          .flows = 0x8000000000000021,
          .ue_ipv4 = IpAddress::v4({10, 45, 0, 2}),
          .ue_ipv6 = *IpAddress::parse("fd00:45::2"),
          .place = Place::kHost,
          .rlc_sn_bits = 12,
          .pdcp_sn_bits = 12,
          .sdap_dl = false,
          .sdap_ul = true,
          .epoch = 7,
          .poll_pdu = 16,
          .qfi = {5},
          .n3_ipv4 = 0x0100640a,
          .n3_ipv6 = *IpAddress::parse("fd00:100::1"),
          .n3_vlan = 100,
          .air_dst = {{2, 0, 0, 0, 0, 1}},
          .air_src = {{2, 0, 0, 0, 0, 2}},
          .vf_n3 = 1,
          .vf_air = 2,
          .copies_vf = 3,
          .uplink_teid = {0x1001},
          .peer = 255,
          .next_count = 0xffffffff,
          .next_rlc = 77,
          .ahead = 2047,
          .lease = 1024};
}

}  // namespace splitplane::nic::test
