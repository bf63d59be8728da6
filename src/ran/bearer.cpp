#include "ran/bearer.h"

#include <bit>

#include "ran/source_key.h"

namespace splitplane::ran {
namespace {

// Where each part of RLC | PDCP | SDAP lies in the right-aligned header word, in bits from the right.
struct Layout {
  unsigned sdap_bits, pdcp_bits, rlc_bits;

  [[nodiscard]] unsigned pdcp_shift() const { return sdap_bits; }
  [[nodiscard]] unsigned rlc_shift() const { return sdap_bits + pdcp_bits; }
  [[nodiscard]] unsigned bytes() const { return (sdap_bits + pdcp_bits + rlc_bits) / 8; }
};

// A complete SDU's RLC header: none in TM, one octet without SN in UM, two or three octets in AM (TS 38.322 6.2.2).
unsigned rlc_header_bits(RlcMode mode, unsigned sn_bits) {
  if (mode == RlcMode::kTm) return 0;
  if (mode == RlcMode::kUm) return 8;
  return sn_bits == 12 ? 16 : 24;
}

Layout layout_of(const BearerConfig& config, bool sdap) {
  return {.sdap_bits = sdap ? 8U : 0U,
          .pdcp_bits = config.pdcp_sn_bits == 12 ? 16U : 24U,
          .rlc_bits = rlc_header_bits(config.rlc_mode, config.rlc_sn_bits)};
}

// The leftmost bit of PDCP's header is D/C = 1 (data), of an AMD PDU's header likewise.
std::uint64_t dc_bits(const BearerConfig& config, const Layout& at) {
  std::uint64_t bits = 1ULL << (at.pdcp_shift() + at.pdcp_bits - 1);
  if (config.rlc_mode == RlcMode::kAm) bits |= 1ULL << (at.rlc_shift() + at.rlc_bits - 1);
  return bits;
}

}  // namespace

std::uint8_t airhdr_modes(const BearerConfig& config, Direction direction) {
  const unsigned sn_code = config.rlc_sn_bits / 6U;  // 0, 6, 12, 18 -> 0..3
  const bool sdap = direction == Direction::kDownlink ? config.sdap_header_dl : config.sdap_header_ul;
  return static_cast<std::uint8_t>(static_cast<unsigned>(direction) << 7 | static_cast<unsigned>(config.rlc_mode) << 5 |
                                   sn_code << 3 | (config.pdcp_sn_bits == 18 ? 1U : 0U) << 2 | (sdap ? 1U : 0U) << 1);
}

BearerDownlink make_downlink(const BearerConfig& config) {
  const Layout at = layout_of(config, config.sdap_header_dl);
  const bool am = config.rlc_mode == RlcMode::kAm;
  BearerDownlink line;
  line.id = config.id.value;
  line.header = dc_bits(config, at);
  line.poll_bit = am && config.poll_pdu != 0 ? 1U << (at.rlc_shift() + at.rlc_bits - 2 - kPollShift) : 0;
  line.upf = source_key(config.upf);
  // airhdr's first octet: version 2, kind 0 (an RLC PDU follows).
  const std::uint32_t first_octets =
      0x20000000U | static_cast<std::uint32_t>(airhdr_modes(config, Direction::kDownlink)) << 16;
  line.airhdr = std::endian::native == std::endian::little ? __builtin_bswap32(first_octets) : first_octets;
  line.poll_pdu = config.poll_pdu;
  line.header_bytes = static_cast<std::uint8_t>(at.bytes());
  line.rlc_sn_bits = am ? config.rlc_sn_bits : std::uint8_t{0};
  line.rlc_shift = static_cast<std::uint8_t>(at.rlc_shift());
  line.pdcp_sn_bits = config.pdcp_sn_bits;
  line.pdcp_shift = static_cast<std::uint8_t>(at.pdcp_shift());
  line.sdap_mask = config.sdap_header_dl ? 0x7f : 0;
  line.qfi = config.qfi.value;
  line.count_limit = kCountEnd;
  line.options =
      static_cast<std::uint8_t>((config.require_psc ? kRequirePsc : 0) | (config.n3_reorder ? kReorder : 0) |
                                (config.acknowledged ? kAcknowledged : 0) | (config.security ? kSecured : 0) |
                                (config.acknowledged && config.ecn ? kMarked : 0));
  if ((line.options & (kSecured | kMarked)) != 0) line.count_limit = line.pdcp_tx_next;
  return line;
}

BearerUplink make_uplink(const BearerConfig& config, PeerId peer) {
  const Layout at = layout_of(config, config.sdap_header_ul);
  const bool am = config.rlc_mode == RlcMode::kAm;
  BearerUplink line;
  line.id = config.id.value;
  line.uplink_teid = config.uplink_teid.value;
  line.constant = dc_bits(config, at);
  line.constant_mask = line.constant;
  if (am) line.constant_mask |= 3ULL << (at.rlc_shift() + at.rlc_bits - 4);                               // SI = 00
  if (config.rlc_mode == RlcMode::kUm) line.constant_mask |= 3ULL << (at.rlc_shift() + at.rlc_bits - 2);  // SI = 00
  if (config.sdap_header_ul) {
    line.constant_mask |= 0x80;  // SDAP D/C = 1: data
    line.constant |= 0x80;
  }
  if (config.security) {
    line.constant_mask = 0;
    line.constant = 1;
  }
  line.peer = peer.value;
  line.home_peer = static_cast<std::uint8_t>(peer.value);
  line.airhdr_modes = airhdr_modes(config, Direction::kUplink);
  line.header_bytes = static_cast<std::uint8_t>(at.bytes());
  line.rlc_sn_bits = am ? config.rlc_sn_bits : std::uint8_t{0};
  line.rlc_shift = static_cast<std::uint8_t>(at.rlc_shift());
  line.pdcp_sn_bits = config.pdcp_sn_bits;
  line.pdcp_shift = static_cast<std::uint8_t>(at.pdcp_shift());
  line.rlc_dc = am ? 0x80 : 0;
  line.sdap_mask = config.sdap_header_ul ? 0x3f : 0;
  line.qfi = config.sdap_header_ul ? std::uint8_t{0} : config.qfi.value;
  return line;
}

BearerDownlink make_released(std::uint32_t teid) {
  BearerDownlink line;
  line.header = teid;
  return line;
}

BearerDownlink make_on_card(const BearerConfig& config) {
  const Layout at = layout_of(config, config.sdap_header_dl);
  BearerDownlink line;
  line.header = config.id.value;
  line.header_bytes = static_cast<std::uint8_t>(at.bytes());
  line.qfi = config.qfi.value;
  line.options = kOnCard;
  card_credit(line) = card_mark(line) = 0;
  return line;
}

void carry_over(const BearerDownlink& old, BearerDownlink& changed) {
  changed.received = old.received;
  changed.bytes = old.bytes;
  changed.pdcp_tx_next = old.pdcp_tx_next;
  changed.rlc_tx_next = old.rlc_tx_next;
  changed.pdu_without_poll = old.pdu_without_poll;
  changed.count_limit = old.count_limit;
  changed.airhdr = old.airhdr;  // the modes do not change, and the epoch stays
}

void carry_over(const BearerUplink& old, BearerUplink& changed) {
  changed.received = old.received;
  changed.bytes = old.bytes;
  changed.control = old.control;
  changed.pdcp_rx_next = old.pdcp_rx_next;
  changed.rlc_rx_next_highest = old.rlc_rx_next_highest;
}

}  // namespace splitplane::ran
