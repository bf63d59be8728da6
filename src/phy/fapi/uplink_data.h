// RX_DATA.indication and CRC.indication: the transport blocks that the PHY received in a slot, and which of them are
// right (SCF-222.10.02 3.4.7 and 3.4.8).
#pragma once

#include "phy/fapi/bounded.h"
#include "phy/fapi/message_id.h"
#include "phy/fapi/payload.h"
#include "phy/fapi/slot_time.h"

namespace splitplane::fapi {

// The counts have 16 bits; a slot has at most as many PUSCH as UL_TTI.request has PDUs.
inline constexpr std::size_t kMaxIndicated = 255;

// What the PHY measured on a PUSCH or PUCCH.
struct UlMeasurement {
  static constexpr std::uint8_t kNoCqi = 0xFF;
  static constexpr std::uint16_t kNoTimingAdvance = 0xFFFF, kNoRssi = 0xFFFF;

  std::uint8_t ul_cqi = kNoCqi;                     // SINR from -64 to 63 dB in steps of 0.5 dB
  std::uint16_t timing_advance = kNoTimingAdvance;  // 0..63 (TS 38.213 4.2)
  std::uint16_t rssi = kNoRssi;                     // 0..1280

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("ul_cqi", m.ul_cqi);
    io("timing_advance", m.timing_advance);
    io("rssi", m.rssi);
  }

  friend bool operator==(const UlMeasurement&, const UlMeasurement&) = default;
};

// Table 3-61, with the 32 bits for PDU_Length that implementations give it: 16 bits hold no block above 65535 octets.
struct RxDataIndication {
  static constexpr MessageId kId = MessageId::kRxDataIndication;

  struct Pdu {
    std::uint32_t handle = 0;  // from UL_TTI.request
    std::uint16_t rnti = 0;
    std::uint8_t harq_id = 0;
    UlMeasurement measurement;
    Payload pdu;  // empty where the CRC is wrong

    friend bool operator==(const Pdu&, const Pdu&) = default;
  };

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  Bounded<Pdu, kMaxIndicated> pdus;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    io.template list<std::uint16_t>("number_of_pdus", "pdus", m.pdus, [](auto& each, auto& pdu) {
      auto pdu_length = static_cast<std::uint32_t>(pdu.pdu.size());
      each("handle", pdu.handle);
      each("rnti", pdu.rnti);
      each("harq_id", pdu.harq_id);
      each("pdu_length", pdu_length);
      UlMeasurement::fields(each, pdu.measurement);
      each.payload("pdu", pdu.pdu, pdu_length);
    });
  }

  friend bool operator==(const RxDataIndication&, const RxDataIndication&) = default;
};

// Table 3-62.
struct CrcIndication {
  static constexpr MessageId kId = MessageId::kCrcIndication;

  struct Crc {
    std::uint32_t handle = 0;
    std::uint16_t rnti = 0;
    std::uint8_t harq_id = 0;
    std::uint8_t tb_crc_status = 0;  // 0 right, 1 wrong
    std::uint16_t num_cb = 0;        // 0 without code block groups
    Payload cb_crc_status;
    UlMeasurement measurement;

    friend bool operator==(const Crc&, const Crc&) = default;
  };

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  Bounded<Crc, kMaxIndicated> crcs;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    io.template list<std::uint16_t>("num_crcs", "crcs", m.crcs, [](auto& each, auto& crc) {
      each("handle", crc.handle);
      each("rnti", crc.rnti);
      each("harq_id", crc.harq_id);
      each("tb_crc_status", crc.tb_crc_status);
      each("num_cb", crc.num_cb);
      each.payload("cb_crc_status", crc.cb_crc_status, (crc.num_cb + 7U) / 8);
      UlMeasurement::fields(each, crc.measurement);
    });
  }

  friend bool operator==(const CrcIndication&, const CrcIndication&) = default;
};

}  // namespace splitplane::fapi
