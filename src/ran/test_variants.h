// For tests only: every variant that a bearer can have, and its headers as the writers of wire/ make them. The writers
// share no code with the header word of bearer.cpp.
#pragma once

#include <ostream>
#include <vector>

#include "ran/bearer_config.h"
#include "wire/airhdr.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"

namespace splitplane::ran {

inline void PrintTo(const BearerConfig& c, std::ostream* out) {
  *out << rlc_name(c.rlc_mode, c.rlc_sn_bits) << " pdcp" << unsigned{c.pdcp_sn_bits}
       << (c.sdap_header_dl ? " sdap-dl" : "") << (c.sdap_header_ul ? " sdap-ul" : "") << " poll" << c.poll_pdu;
}

namespace test {

using Bytes = std::vector<std::uint8_t>;

// RLC mode and SN length x PDCP SN length x SDAP header x pollPDU.
inline std::vector<BearerConfig> all_variants() {
  std::vector<BearerConfig> variants;
  for (const char* rlc : {"am18", "am12", "um12", "um6", "tm"}) {
    for (const unsigned pdcp : {12U, 18U}) {
      for (const bool sdap : {false, true}) {
        for (const unsigned poll : {0U, 1U, 32U}) {
          BearerConfig c;
          c.id = BearerId{make_teid(5, ShardId{0xa7}, 0x3fffe)};
          c.uplink_teid = Teid{0xdeadbeef};
          if (!parse_rlc_name(rlc, c.rlc_mode, c.rlc_sn_bits)) continue;
          c.pdcp_sn_bits = static_cast<std::uint8_t>(pdcp);
          c.sdap_header_dl = c.sdap_header_ul = sdap;
          c.poll_pdu = static_cast<std::uint16_t>(poll);
          variants.push_back(c);
        }
      }
    }
  }
  return variants;
}

template <class Predicate>
std::vector<BearerConfig> variants_where(Predicate wanted) {
  auto variants = all_variants();
  std::erase_if(variants, [&](const BearerConfig& c) { return !wanted(c); });
  return variants;
}

template <class Write>
void put(Bytes& out, Write write) {
  std::uint8_t room[16];
  const std::size_t n = write(wire::MutableOctets(room));
  out.insert(out.end(), room, room + n);
}

// Without the length, which set_length() writes when the PDU is complete.
inline void put_airhdr(Bytes& out, const BearerConfig& c, Direction direction) {
  wire::airhdr::Header h;
  h.direction = direction;
  h.rlc_mode = c.rlc_mode;
  h.rlc_sn_bits = c.rlc_sn_bits;
  h.pdcp_sn_bits = c.pdcp_sn_bits;
  h.sdap_header = direction == Direction::kDownlink ? c.sdap_header_dl : c.sdap_header_ul;
  h.bearer = c.id;
  put(out, [&](wire::MutableOctets to) { return wire::airhdr::write(to, h); });
}

// Writes the length of a PDU, of which `sdu_bytes` octets will follow, into the airhdr at the begin.
inline void set_length(Bytes& out, std::size_t sdu_bytes = 0) {
  const std::size_t pdu = out.size() + sdu_bytes - wire::airhdr::kHeaderBytes;
  wire::store_be16(out.data() + wire::airhdr::kLengthOffset, static_cast<std::uint32_t>(pdu));
}

inline void put_rlc(Bytes& out, const BearerConfig& c, std::uint32_t number, bool poll,
                    wire::rlc::Segment si = wire::rlc::Segment::kComplete) {
  const std::uint32_t sn = c.rlc_sn_bits == 0 ? 0 : number & ((1U << c.rlc_sn_bits) - 1);
  const std::uint16_t so = wire::rlc::has_segment_offset(si) ? 20 : 0;
  put(out, [&](wire::MutableOctets to) -> std::size_t {
    switch (c.rlc_mode) {
      case RlcMode::kAm:
        return wire::rlc::write_am(to, c.rlc_sn_bits, {.poll = poll, .si = si, .so = so, .sn = sn});
      case RlcMode::kUm:
        return wire::rlc::write_um(to, c.rlc_sn_bits, {.si = si, .so = so, .sn = sn});
      case RlcMode::kTm:
        break;
    }
    return 0;
  });
}

inline void put_pdcp(Bytes& out, const BearerConfig& c, std::uint32_t count) {
  put(out, [&](wire::MutableOctets to) {
    return wire::pdcp::write_data(to, c.pdcp_sn_bits, count & ((1U << c.pdcp_sn_bits) - 1));
  });
}

// What write_downlink must write for an SDU of `sdu_bytes` octets with this COUNT and RLC number.
inline Bytes downlink_headers(const BearerConfig& c, std::uint32_t count, std::uint32_t rlc_number, bool poll, bool rqi,
                              Qfi qfi, std::size_t sdu_bytes) {
  Bytes out;
  put_airhdr(out, c, Direction::kDownlink);
  put_rlc(out, c, rlc_number, poll);
  put_pdcp(out, c, count);
  if (c.sdap_header_dl) {
    put(out, [&](wire::MutableOctets to) {
      return wire::sdap::write(to, wire::sdap::DownlinkHeader{.rdi = false, .rqi = rqi, .qfi = qfi});
    });
  }
  set_length(out, sdu_bytes);
  return out;
}

// An uplink frame from airhdr on: what the UE side sends for one complete SDU.
inline Bytes uplink_pdu(const BearerConfig& c, std::uint32_t count, std::uint32_t rlc_number, Qfi qfi, const Bytes& sdu,
                        bool poll = false) {
  Bytes out;
  put_airhdr(out, c, Direction::kUplink);
  put_rlc(out, c, rlc_number, poll);
  put_pdcp(out, c, count);
  if (c.sdap_header_ul) {
    put(out, [&](wire::MutableOctets to) {
      return wire::sdap::write(to, wire::sdap::UplinkHeader{.is_data = true, .qfi = qfi});
    });
  }
  out.insert(out.end(), sdu.begin(), sdu.end());
  set_length(out);
  return out;
}

}  // namespace test
}  // namespace splitplane::ran
