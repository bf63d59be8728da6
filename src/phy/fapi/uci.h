// UCI.indication: HARQ feedback, scheduling requests and CSI that the PHY received in a slot (SCF-222.10.02 3.4.9).
#pragma once

#include "phy/fapi/pdu.h"
#include "phy/fapi/uplink_data.h"

namespace splitplane::fapi {

// Bits of pdu_bitmap in all three PDUs.
inline constexpr std::uint8_t kUciHasSr = 1, kUciHasHarq = 2, kUciHasCsiPart1 = 4, kUciHasCsiPart2 = 8;

// HARQ or CSI bits (tables 3-70 to 3-72): as received, the first bit is bit 0 of octet 0.
struct UciBits {
  std::uint8_t crc = 0;  // 0 right, 1 wrong, 2 not checked
  std::uint16_t bit_len = 0;
  Payload bits;

  friend bool operator==(const UciBits&, const UciBits&) = default;
};

template <class Io, class Self>
void uci_bits_fields(Io& io, Self& m, const char* crc, const char* bit_len, const char* payload) {
  io(crc, m.crc);
  io(bit_len, m.bit_len);
  io.payload(payload, m.bits, (m.bit_len + 7U) / 8);
}

// Table 3-64.
struct UciPuschPdu {
  static constexpr std::uint16_t kType = 0;

  std::uint8_t pdu_bitmap = 0;
  std::uint32_t handle = 0;
  std::uint16_t rnti = 0;
  UlMeasurement measurement;
  UciBits harq, csi_part1, csi_part2;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("pdu_bitmap", m.pdu_bitmap);
    io("handle", m.handle);
    io("rnti", m.rnti);
    UlMeasurement::fields(io, m.measurement);
    if ((m.pdu_bitmap & kUciHasHarq) != 0) uci_bits_fields(io, m.harq, "harq_crc", "harq_bit_len", "harq_payload");
    if ((m.pdu_bitmap & kUciHasCsiPart1) != 0) {
      uci_bits_fields(io, m.csi_part1, "csi_part1_crc", "csi_part1_bit_len", "csi_part1_payload");
    }
    if ((m.pdu_bitmap & kUciHasCsiPart2) != 0) {
      uci_bits_fields(io, m.csi_part2, "csi_part2_crc", "csi_part2_bit_len", "csi_part2_payload");
    }
  }

  friend bool operator==(const UciPuschPdu&, const UciPuschPdu&) = default;
};

// PUCCH format 0 or 1: tables 3-65, 3-67, 3-68.
struct UciPucchFormat01Pdu {
  static constexpr std::uint16_t kType = 1;

  std::uint8_t pdu_bitmap = 0;
  std::uint32_t handle = 0;
  std::uint16_t rnti = 0;
  std::uint8_t pucch_format = 0;
  UlMeasurement measurement;
  std::uint8_t sr_indication = 0;
  std::uint8_t sr_confidence_level = 0;
  std::uint8_t harq_confidence_level = 0;
  Bounded<std::uint8_t, 2> harq_values;  // 0 ACK, 1 NACK, 2 not present

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("pdu_bitmap", m.pdu_bitmap);
    io("handle", m.handle);
    io("rnti", m.rnti);
    io("pucch_format", m.pucch_format);
    UlMeasurement::fields(io, m.measurement);
    if ((m.pdu_bitmap & kUciHasSr) != 0) {
      io("sr_indication", m.sr_indication);
      io("sr_confidence_level", m.sr_confidence_level);
    }
    if ((m.pdu_bitmap & kUciHasHarq) != 0) {
      auto num_harq = static_cast<std::uint8_t>(m.harq_values.size());
      io("num_harq", num_harq);
      io("harq_confidence_level", m.harq_confidence_level);
      io.elements("harq_value", m.harq_values, num_harq, [](auto& one, auto& value) { one("", value); });
    }
  }

  friend bool operator==(const UciPucchFormat01Pdu&, const UciPucchFormat01Pdu&) = default;
};

// PUCCH format 2, 3 or 4: tables 3-66, 3-69 to 3-72.
struct UciPucchFormat234Pdu {
  static constexpr std::uint16_t kType = 2;

  std::uint8_t pdu_bitmap = 0;
  std::uint32_t handle = 0;
  std::uint16_t rnti = 0;
  std::uint8_t pucch_format = 0;  // 0: format 2, 1: format 3, 2: format 4
  UlMeasurement measurement;
  std::uint16_t sr_bit_len = 0;
  Payload sr_payload;
  UciBits harq, csi_part1, csi_part2;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("pdu_bitmap", m.pdu_bitmap);
    io("handle", m.handle);
    io("rnti", m.rnti);
    io("pucch_format", m.pucch_format);
    UlMeasurement::fields(io, m.measurement);
    if ((m.pdu_bitmap & kUciHasSr) != 0) {
      io("sr_bit_len", m.sr_bit_len);
      io.payload("sr_payload", m.sr_payload, (m.sr_bit_len + 7U) / 8);
    }
    if ((m.pdu_bitmap & kUciHasHarq) != 0) uci_bits_fields(io, m.harq, "harq_crc", "harq_bit_len", "harq_payload");
    if ((m.pdu_bitmap & kUciHasCsiPart1) != 0) {
      uci_bits_fields(io, m.csi_part1, "csi_part1_crc", "csi_part1_bit_len", "csi_part1_payload");
    }
    if ((m.pdu_bitmap & kUciHasCsiPart2) != 0) {
      uci_bits_fields(io, m.csi_part2, "csi_part2_crc", "csi_part2_bit_len", "csi_part2_payload");
    }
  }

  friend bool operator==(const UciPucchFormat234Pdu&, const UciPucchFormat234Pdu&) = default;
};

// Table 3-63.
struct UciIndication {
  static constexpr MessageId kId = MessageId::kUciIndication;
  using AnyPdu = Pdu<UciPuschPdu, UciPucchFormat01Pdu, UciPucchFormat234Pdu>;

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  Bounded<AnyPdu, kMaxIndicated> ucis;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    io.template list<std::uint16_t>("num_ucis", "ucis", m.ucis,
                                    [](auto& each, auto& pdu) { AnyPdu::fields(each, pdu); });
  }

  friend bool operator==(const UciIndication&, const UciIndication&) = default;
};

}  // namespace splitplane::fapi
