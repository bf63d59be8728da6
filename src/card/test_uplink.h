// For tests of card/ only: random frames from the air, from the most frequent forms to forms that no UE should send.
#pragma once

#include "card/test_random.h"
#include "ran/test_variants.h"

namespace splitplane::nic::test {

class UplinkMaker : PacketParts {
 public:
  using PacketParts::PacketParts;

  Packet usual() {
    const TestBearer& b = any([](const TestBearer& one) { return !one.monitored; });
    Bytes pdu = data_pdu(b, payload(uplink_bytes()));
    Packet p{.octets = from_airhdr(pdu), .what = "usual uplink", .downlink = false, .bearer = &b};
    p.octets[16] = static_cast<std::uint8_t>(random_());                       // reserved
    p.octets[15] = static_cast<std::uint8_t>(p.octets[15] | (random_() & 1));  // reserved
    p.octets[17] = static_cast<std::uint8_t>(random_());                       // epoch: no peer acknowledges here
    reserved_bits(b, p.octets);
    p.valid = p.octets.size() >= 32 && b.peer != kPeerUnresolved && is_am(b);
    return p;
  }

  Packet next() {
    if (below(2) == 0) return usual();
    const TestBearer& b = any([](const TestBearer& one) { return !one.monitored; });
    Packet p{.downlink = false, .bearer = &b};
    const std::size_t headers = ran::make_uplink(b.config, PeerId{0}).header_bytes;
    p.octets = from_airhdr(data_pdu(b, payload(bytes())));
    switch (below(12)) {
      case 0:
        p.what = "RLC control";
        p.octets[24] &= 0x7f;
        p.octets.resize(25 + below(p.octets.size() - 24));
        break;
      case 1:
        p.what = "segment";
        p.octets[24] |= static_cast<std::uint8_t>((1 + below(3)) << (is_am(b) ? 4 : 6));
        break;
      case 2:
        p.what = "PDCP control";
        p.octets[24 + headers - (b.config.sdap_header_ul ? 1 : 0) - (b.config.pdcp_sn_bits == 18 ? 3 : 2)] &= 0x7f;
        break;
      case 3:
        p.what = "SDAP control";
        p.octets[24 + headers - 1] &= 0x7f;
        if (below(2) == 0) p.octets.resize(24 + headers);
        break;
      case 4:
        p.what = "unknown bearer";
        wire::store_be32(p.octets.data() + 18, below(3) == 0 ? 0 : below(2) == 0 ? teid(kLines - 1) : below(1U << 31));
        p.bearer = nullptr;
        break;
      case 5:
        p.what = "wrong modes";
        p.octets[15] ^= static_cast<std::uint8_t>(2U << below(7));
        break;
      case 6:
        p.what = "another version or kind";
        p.octets[14] = static_cast<std::uint8_t>(below(2) == 0 ? 0x21 : random_());
        break;
      case 7:
        p.what = "no frame of the air";
        if (below(2) == 0)
          p.octets = to(b).make();
        else
          p.octets[12 + below(2)] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 8:
        p.what = "too long for N3, or nearly";
        p.octets = from_airhdr(data_pdu(b, payload(1455 + below(40))));
        break;
      case 9:
        p.what = "truncated";
        p.octets.resize(below(std::min<std::size_t>(p.octets.size(), 40)));
        break;
      case 10:
        p.what = "no SDU";
        p.octets.resize(24 + below(headers + 2));
        break;
      default:
        p.what = "damaged";
        damage(p.octets, 24 + headers);
        break;
    }
    // Most lengths are those of the PDU. Otherwise it ends before the frame does, or the frame is cut.
    if (p.octets.size() >= 24 && below(8) != 0) {
      wire::store_be16(p.octets.data() + 22, static_cast<std::uint32_t>(p.octets.size() - 24));
    }
    p.what += ", uplink";
    return p;
  }

 private:
  Bytes data_pdu(const TestBearer& b, const Bytes& sdu, wire::rlc::Segment si = wire::rlc::Segment::kComplete) {
    Bytes out;
    ran::test::put_airhdr(out, b.config, Direction::kUplink);
    const auto count = static_cast<std::uint32_t>(random_());
    ran::test::put_rlc(out, b.config, static_cast<std::uint32_t>(random_()), below(4) == 0, si);
    ran::test::put_pdcp(out, b.config, count);
    if (b.config.sdap_header_ul) out.push_back(static_cast<std::uint8_t>(0x80 | below(64)));
    out.insert(out.end(), sdu.begin(), sdu.end());
    ran::test::set_length(out);
    return out;
  }
  static Bytes from_airhdr(const Bytes& pdu) { return datapath::test::TestGnb::from_ue(pdu); }

  // The R bits that a receiver ignores: AMD PDU with 18 bits (TS 38.322 6.2.3.8), PDCP data PDU (TS 38.323 6.3.4),
  // SDAP.
  void reserved_bits(const TestBearer& b, Bytes& frame) {
    std::size_t at = 24;
    if (is_am(b) && b.config.rlc_sn_bits == 18) frame[at] |= static_cast<std::uint8_t>(below(4) << 2);
    at += is_am(b) ? (b.config.rlc_sn_bits == 18 ? 3 : 2) : b.config.rlc_mode == RlcMode::kUm ? 1 : 0;
    frame[at] |= static_cast<std::uint8_t>(b.config.pdcp_sn_bits == 18 ? below(32) << 2 : below(8) << 4);
    at += b.config.pdcp_sn_bits == 18 ? 3 : 2;
    if (b.config.sdap_header_ul) frame[at] |= static_cast<std::uint8_t>(below(2) << 6);
  }
};

}  // namespace splitplane::nic::test
